"""Read a Parquet file page by page, in bounded memory however large its row groups are.

A column of text can be read as codes: Arrow's dictionary type, in which each different text is stored once
and every cell holds a number for it. Unpacking replaces each code by its text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from dppca_core.tables import cells, limits
from dppca_core.tables.layout import Layout, check_names, select_columns

# A row group is read through a buffer per column, and not at once: many files have one row group only.
_BUFFER = 2**18
_FEWEST_ROWS = 256  # of a batch: fewer would take longer for each cell
_MOST_UNPACKED = 2**24  # bytes of texts that are unpacked at a time, so that whoever counts them can stop
_INDEX = "__index_level_"  # what pandas calls the row numbers that it stores along


def open_layout(file: BinaryIO, columns: Sequence[str] | None, batch_rows: int) -> Layout:
    """Return the layout of a Parquet file: its columns, and a function that yields its rows in batches.

    columns: the names of those to read; None reads all. batch_rows: the most rows of a batch; there are fewer
    where the table is wide. Raises ValueError for nested columns and for a file that is cut short.
    """
    parquet = _opened(file)
    schema = parquet.schema_arrow
    all_stored = schema.names  # listed anew at each access
    names = ["" if name.startswith(_INDEX) else name.strip() for name in all_stored]
    check_names(names)
    wanted, unnamed = select_columns(names, columns)
    # The columns' names in the file, with their trimmed names, which are shown.
    stored = {all_stored[position]: name for name, position in wanted.items()}
    types = {as_stored: schema.field(as_stored).type for as_stored in stored}
    for as_stored, name in stored.items():
        # Raises for a type that cannot be read.
        cells.as_numbers_or_text(pa.array([], types[as_stored]), name)
    unpacked = _check_packed(parquet.metadata, stored)
    batch_rows = max(_FEWEST_ROWS, min(batch_rows, limits.MOST_BATCH_CELLS // len(stored)))
    # Texts as codes, so that a text which is there a million times is not unpacked before it is counted.
    texts = [field.name for field in schema if field.type in (pa.string(), pa.large_string())]
    parquet = _opened(file, texts=texts)
    others = [name for name, shown in zip(all_stored, names, strict=True) if shown and name not in stored]
    blank_rows = _blank_rows(parquet, others)

    def all_rows() -> Iterator[tuple[pa.RecordBatch, cells.Mask]]:
        """Yield the wanted columns, a batch at a time, smaller ones where the texts are long."""
        done = 0
        for batch in _batches(parquet, batch_size=batch_rows, columns=list(stored)):
            size = _check_texts(batch, stored)
            # As many rows at a time as hold about `_MOST_UNPACKED` bytes of unpacked text.
            step = max(1, batch.num_rows // max(1, size // _MOST_UNPACKED))
            for begin in range(0, batch.num_rows, step):
                part = batch.slice(begin, step)
                plain = [
                    cells.as_numbers_or_text(part.column(as_stored), name)
                    for as_stored, name in stored.items()
                ]
                blank = blank_rows(plain, done)
                done += part.num_rows
                yield pa.record_batch(plain, names=list(wanted)), blank

    return Layout("Parquet", tuple(wanted), parquet.metadata.num_rows, all_rows, unnamed, unpacked=unpacked)


def _batches(parquet: Any, **options: Any) -> Iterator[Any]:
    """Yield batches of the opened file's rows; options: of `iter_batches`.

    Raises ValueError for a file that ends too early.
    """
    for batch in cells.until_refused(lambda: parquet.iter_batches(use_threads=False, **options)):
        if batch is None:
            raise ValueError("The Parquet file cannot be read to its end: is it complete?")
        yield batch


def _blank_rows(parquet: Any, others: list[str]) -> Callable[[Sequence[Any], int], cells.Mask]:
    """Return a function that tells which of some rows are blank, from their wanted columns.

    It is given these columns, and how many rows of the file precede. Only where a row has no cell in them are
    the others read, which are named as in the file: of that row group, and once, as rows come in order.
    """
    ends = np.cumsum([parquet.metadata.row_group(i).num_rows for i in range(parquet.num_row_groups)])
    batch_rows = max(_FEWEST_ROWS, limits.MOST_BATCH_CELLS // max(len(others), 1))

    @lru_cache(maxsize=1)
    def without_others(group: int) -> cells.Mask:
        """Return which rows of a row group have no cell in the columns that are not wanted."""
        batches = _batches(parquet, batch_size=batch_rows, columns=others, row_groups=[group])
        return np.concatenate([cells.blank_rows(batch.columns) for batch in batches])

    def blank_rows(columns: Sequence[Any], before: int) -> cells.Mask:
        """Return which rows have a cell neither in these columns nor in the others, (n,)."""
        blank = cells.blank_rows(columns)
        if others and blank.any():
            rows = np.flatnonzero(blank)
            groups = np.searchsorted(ends, before + rows, side="right")
            for group in np.unique(groups):
                here, begin = rows[groups == group], int(ends[group - 1]) if group else 0
                blank[here] = without_others(int(group))[before + here - begin]
        return blank

    return blank_rows


def _opened(file: BinaryIO, texts: Sequence[str] = ()) -> Any:
    """Return the opened file, which reads the columns `texts` as codes.

    Raises ValueError for what is no Parquet file.
    """
    parquet = cells.none_if_refused(
        lambda: pyarrow.parquet.ParquetFile(
            file, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=list(texts)
        )
    )
    if parquet is None:
        raise ValueError(
            "The file starts like a Parquet file but cannot be read as one: is it complete, and its names in "
            "UTF-8?"
        )
    return parquet


def _check_packed(metadata: Any, names: Mapping[str, str]) -> int:
    """Return the most bytes of the file that reading these columns holds at a time.

    metadata: the file's own account of its sizes. A page may be as large as its row group, so a row group
    counts whole. names: of the columns on screen, by their names in the file. Raises ValueError for a column
    of text that unpacks to too much; numbers have at most eight bytes a row. A file that lies about its sizes
    is found out only as its pages are read.
    """
    most, positions = 0, [i for i in range(metadata.num_columns) if metadata.schema.column(i).path in names]
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        held = 0
        for chunk in map(group.column, positions):
            size = chunk.total_uncompressed_size
            if chunk.physical_type == "BYTE_ARRAY":
                cells.check_text(size, names[chunk.path_in_schema], limits.MOST_COLUMN_TEXT_BYTES)
            # Unpacked, and beside it a buffer of what is still compressed.
            held += size + min(_BUFFER, chunk.total_compressed_size)
        most = max(most, held)
    return most


def _check_texts(batch: pa.RecordBatch, names: Mapping[str, str]) -> int:
    """Return the bytes that a batch's texts will have once unpacked, of all columns, as all are held at once.

    Raises ValueError, before anything is unpacked, where these are too many. names: as for `_check_packed`.
    """
    total = 0
    for position, stored in enumerate(batch.schema.names):
        if pa.types.is_dictionary(batch.schema.field(position).type):
            total += cells.unpacked_bytes(batch.column(position))
            cells.check_text(total, names[stored])
    return total
