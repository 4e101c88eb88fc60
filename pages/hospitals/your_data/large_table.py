"""A table too large to hold: its columns are known at once, its rows only as sums. No Streamlit here.

It is read twice in pieces: its hospitals' exact sums, then its key.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dppca_core import tables
from dppca_core.arrays import Array
from dppca_core.release import discrete_gaussian
from dppca_core.release.discrete_gaussian import StoppedError
from dppca_core.release.private_release import Progress
from dppca_core.tables import Schema, files, limits
from pages.hospitals.your_data import memory_check
from pages.hospitals.your_data.prepared_table import IN_ONE_PLACE, LargeTable, PreparedTable, by_column
from pages.shared.background import memory

_SUMMING = 0.75  # share of the time


def open_large(data: bytes, name: str, encoding: str) -> LargeTable | None:
    """Return the table if it is larger than `tables.read` holds. Raise ValueError for a file that is none."""
    with files.opened(data, encoding) as layout:
        if not memory_check.in_pieces(len(data), layout.rows or 0, len(layout.names)):
            return None
        return LargeTable(name, layout.form, layout.names, layout.rows, encoding, data, layout.unnamed)


def reduce(
    large: LargeTable, schema: Schema, hospital_column: str | None, progress: Progress
) -> PreparedTable:
    """Return every hospital's exact sum; without a column that names hospitals, all patients are in one.

    Raises ValueError with one sentence where the table does not fit the dictionary, and StoppedError.
    """
    bits = discrete_gaussian.bits_for(large.n or limits.MOST_ROWS_IN_PIECES)
    sums: dict[str, discrete_gaussian.Adder] = {}
    row_sum = np.zeros(schema.d)

    def add(hospital: str, rows: Array) -> None:
        np.add(row_sum, rows.sum(axis=0), out=row_sum)
        if hospital not in sums:
            memory_check.check_matrices(schema.d, memory.available())
            sums[hospital] = discrete_gaussian.Adder(schema.d, bits)
        sums[hospital].add(rows)

    def reporter(begin: float, share: float) -> Callable[[int, int | None], None]:
        def report(done: int, total: int | None) -> None:
            memory_check.check_rows(done)
            if not progress(begin + share * done / max(total or limits.MOST_ROWS_IN_PIECES, done, 1)):
                raise StoppedError

        return report

    reduced = tables.reduce_file(
        large.data,
        schema,
        by=hospital_column,
        encoding=large.encoding,
        progress=reporter(0.0, _SUMMING),
        each=add,
    )
    left_out = reduced.owner.dropped
    if left_out and hospital_column is not None:
        raise ValueError(
            "Patients with a missing cell cannot be left out of hospitals that are read in pieces: fill "
            "their cells in, or read the table without dealing it."
        )
    keys = tables.content_keys_of_file(large.data, large.encoding, reporter(_SUMMING, 1 - _SUMMING))
    parts = [sums[hospital].sum for hospital in reduced.hospitals]
    # A patient who is left out counts as a row of zeros, as in a table that is held.
    held = tuple(part._replace(n=part.n + left_out) for part in parts)
    assignment = IN_ONE_PLACE if hospital_column is None else by_column(hospital_column)
    raw, sizes = replace(large, key=keys.key, former_key=keys.former), tuple(part.n for part in held)
    return PreparedTable(raw, schema, reduced.owner, sizes, assignment, held, row_sum)
