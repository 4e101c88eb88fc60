"""Compute the second moments of a table that is too large to hold, by reading and adding it up in pieces.

    n = number of kept rows,   S = sum of x x^T over them, |x| <= 1,   moment = S / n       (d, d)

One batch and one d x d matrix a hospital are in memory at a time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dppca_core.arrays import Array, Provider
from dppca_core.cohort import Cohort
from dppca_core.numerics.moments import DenseMoment, clip_rows
from dppca_core.tables import files, hospital_assignment, limits
from dppca_core.tables.encoding import Encoded, OwnerCounts, encode
from dppca_core.tables.schema import Schema

_BATCH_CELLS = 2**20
MOST_MATRIX_BYTES = 2**30  # of all hospitals together


@dataclass(frozen=True, eq=False)
class Reduced:
    """Hold a table as one second moment a hospital, without its rows.

    cohort: the moments, for any method. hospitals: their names, in the cohort's order. owner: counts that no
    noise protects, for the table's owner alone.
    """

    cohort: Cohort = field(repr=False)
    hospitals: tuple[str, ...] = field(repr=False)
    owner: OwnerCounts = field(repr=False)


def reduce_file(
    source: files.Source,
    schema: Schema,
    *,
    by: str | None = None,
    encoding: str = "utf-8",
    progress: Callable[[int, int | None], None] | None = None,
) -> Reduced:
    """Return a CSV, TSV or Parquet file of any size as a cohort, equal to reading and encoding it whole.

    by: the column that names the hospitals; None is one hospital. Only the columns of `schema` and `by` are
    read. progress(rows done, rows in all or None) is called after each batch; to stop, let it raise: the
    file is closed and nothing stays. Raises ValueError as `files.opened` and `encoding.encode` do, where no
    row is left, for too many features, and where the hospitals' matrices would not fit.
    """
    sums: dict[str, Array] = {}
    counts: dict[str, int] = {}

    def add(hospital: str, clipped: Array) -> None:
        """Add rows of norm at most 1, (m, d), to their hospital's sum of x x^T."""
        if hospital not in sums:
            check_room(len(sums) + 1, schema.d, by)
            sums[hospital], counts[hospital] = np.zeros((schema.d, schema.d)), 0
        sums[hospital] += clipped.T @ clipped
        counts[hospital] += len(clipped)

    owner = read_pieces(source, schema, add, by=by, encoding=encoding, progress=progress)
    hospitals = tuple(sorted(sums))
    for hospital in hospitals:
        sums[hospital] /= counts[hospital]
    providers = (Provider(counts[hospital], DenseMoment(sums[hospital])) for hospital in hospitals)
    return Reduced(Cohort.together(providers, schema.bound), hospitals, owner)


def read_pieces(
    source: files.Source,
    schema: Schema,
    handle_rows: Callable[[str, Array], None],
    *,
    by: str | None = None,
    encoding: str = "utf-8",
    progress: Callable[[int, int | None], None] | None = None,
) -> OwnerCounts:
    """Read a file in pieces, and hand over its clipped rows, (m, d), of one hospital at a time.

    handle_rows(hospital, rows) is called with them, and with the hospital's name, "" where `by` is None. The
    other arguments and errors are those of `reduce_file`. It returns counts for the table's owner.
    """
    owner = OwnerCounts.none(schema)
    for piece in pieces(source, schema, () if by is None else (by,), encoding, progress):
        owner += piece.encoded.owner
        for hospital, rows in _rows_by_hospital(piece, by):
            handle_rows(hospital, clip_rows(rows, schema.bound))
    if not owner.kept:
        raise ValueError("No row is left: each has a missing cell, or there are none.")
    return owner


class Piece(NamedTuple):
    """Hold some consecutive rows of a file, as cells and encoded, and if 1,5 is one and a half in them."""

    batch: pa.RecordBatch
    encoded: Encoded
    decimal_comma: bool


def pieces(
    source: files.Source,
    schema: Schema,
    others: tuple[str, ...],
    encoding: str = "utf-8",
    progress: Callable[[int, int | None], None] | None = None,
) -> Iterator[Piece]:
    """Yield a file's rows in order, a batch at a time, encoded by the schema.

    others: names of further columns to read, such as the hospitals'. encoding, progress: as for
    `reduce_file`. Raises ValueError for a schema of too many features.
    """
    if schema.d > limits.MOST_COLUMNS_IN_PIECES:
        raise ValueError(
            f"A table read in pieces can have at most {limits.MOST_COLUMNS_IN_PIECES:,} features, "
            f"got {schema.d:,}: choose fewer from the literature or a code book, or bring a smaller file, "
            "such as Parquet."
        )
    names = dict.fromkeys((*(column.name for column in schema.columns), *others))
    # About `_BATCH_CELLS` cells at a time, but 256 rows at least: fewer take longer for each cell.
    batch_rows = max(256, _BATCH_CELLS // max(schema.d, len(names)))
    done = 0
    with files.opened(source, encoding, tuple(names), batch_rows) as layout:
        for batch, blank in layout.batches(batch_rows):
            encoded = encode(schema, batch, layout.decimal_comma, done, blank)
            yield Piece(batch, encoded, layout.decimal_comma)
            done += len(blank)
            if progress is not None:
                progress(done, layout.rows)


def _rows_by_hospital(piece: Piece, by: str | None) -> Iterator[tuple[str, Array]]:
    """Yield the name and the encoded rows, (m, d), of each hospital that has some among these."""
    batch, encoded, decimal_comma = piece
    if not len(encoded.rows):
        return
    if by is None:
        yield "", encoded.rows
        return
    for hospital, indices in hospital_assignment.by_column(
        batch.column(by), by, encoded.kept, decimal_comma
    ).items():
        yield hospital, encoded.rows[indices]


def check_room(hospitals: int, d: int, by: str | None) -> None:
    """Raise ValueError where so many hospitals are too many, or their d x d matrices would not fit in memory.

    by: the column that names the hospitals, for the error.
    """
    if hospitals > limits.MOST_HOSPITALS:
        raise ValueError(hospital_assignment.too_many_hospitals_message(str(by)))
    if hospitals > 1 and 8 * d * d * hospitals > MOST_MATRIX_BYTES:  # 8 bytes a number
        raise ValueError(
            f"Column '{by}' has too many values for a matrix each, with {d:,} features: choose fewer columns."
        )
