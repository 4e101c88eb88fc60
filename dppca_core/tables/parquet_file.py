"""A Parquet file page by page: bounded memory, however large its row groups are."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

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
    """Return its columns and batches.

    Raises ValueError for nested columns and for a file that is cut short.
    """
    parquet = _opened(file)
    schema = parquet.schema_arrow
    names = ["" if name.startswith(_INDEX) else name.strip() for name in schema.names]
    check_names(names)
    stored = {name: as_stored for name, as_stored in zip(names, schema.names, strict=True) if name}
    names_read = select_columns(columns, stored)
    for name in names_read:
        cells.plain(pa.array([], schema.field(stored[name]).type), name)  # refuses its type, if any
    _check_packed(parquet.metadata, stored, names_read)
    batch_rows = max(_FEWEST_ROWS, min(batch_rows, limits.MOST_BATCH_CELLS // len(names_read)))
    texts = [stored[name] for name in names_read if _is_text(schema.field(stored[name]).type)]
    # Texts as codes, so that a text which is there a million times is not unpacked before it is counted.
    parquet = _opened(file, texts)

    def batches() -> Iterator[pa.RecordBatch]:
        groups = parquet.iter_batches(
            batch_size=batch_rows, columns=[stored[name] for name in names_read], use_threads=False
        )
        for batch in cells.until_refused(groups):
            if batch is None:
                raise ValueError("The Parquet file cannot be read to its end: is it complete?")
            size = _check_texts(batch, {stored[name]: name for name in names_read})
            step = max(1, batch.num_rows // max(1, size // _MOST_UNPACKED))
            for begin in range(0, batch.num_rows, step):
                part = batch.slice(begin, step)
                yield pa.record_batch(
                    [cells.plain(part.column(stored[name]), name) for name in names_read],
                    names=list(names_read),
                )

    unnamed = tuple(position for position, name in enumerate(names, 1) if not name)
    unpacked = _unpacked(parquet.metadata, {stored[name] for name in names_read})
    return Layout("Parquet", names_read, parquet.metadata.num_rows, batches, unnamed, unpacked=unpacked)


def _opened(file: BinaryIO, texts: Sequence[str] = ()) -> Any:
    """Return the file, with these columns as codes. Raises ValueError for what is no Parquet file."""
    parquet = cells.none_if_refused(
        lambda: pyarrow.parquet.ParquetFile(
            file, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=list(texts)
        )
    )
    if parquet is None:
        raise ValueError("The file starts like a Parquet file but cannot be read as one: is it complete?")
    return parquet


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _check_packed(metadata: Any, stored: Mapping[str, str], columns: Sequence[str]) -> None:
    """Refuse a text column that compression made small; numbers have at most eight bytes a row."""
    names = {stored[name]: name for name in columns}
    for chunk in itertools.chain.from_iterable(_row_groups(metadata, names)):
        if chunk.physical_type == "BYTE_ARRAY":
            cells.check_text(chunk.total_uncompressed_size, names[chunk.path_in_schema], limits.MOST_PACKED)


def _unpacked(metadata: Any, names: Collection[str]) -> int:
    """Return the bytes that reading these columns holds at most: a page may be as large as its row group.

    By the file's own account. A file that lies about it is found out only as its pages are read.
    """
    return max(
        (
            sum(chunk.total_uncompressed_size + min(_BUFFER, chunk.total_compressed_size) for chunk in chunks)
            for chunks in _row_groups(metadata, names)
        ),
        default=0,
    )


def _row_groups(metadata: Any, names: Collection[str]) -> Iterator[list[Any]]:
    """Yield the chunks of these columns of each row group."""
    positions = [i for i in range(metadata.num_columns) if metadata.schema.column(i).path in names]
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        yield [group.column(i) for i in positions]


def _check_texts(batch: pa.RecordBatch, names: Mapping[str, str]) -> int:
    """Refuse a batch before its codes are unpacked to texts: all its columns are held at once.

    Returns the bytes that its texts will have.
    """
    total = 0
    for position, stored in enumerate(batch.schema.names):
        if pa.types.is_dictionary(batch.schema.field(position).type):
            total += cells.unpacked_bytes(batch.column(position))
            cells.check_text(total, names[stored])
    return total
