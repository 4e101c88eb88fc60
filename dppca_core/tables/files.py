"""Open a file as a table; its first bytes tell the form, not its name. Nothing is written to disk.

A mark is the byte order mark with which a text file may begin; it tells the encoding.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from dppca_core import checks
from dppca_core.tables import limits, parquet_file, text_file
from dppca_core.tables.layout import Layout

Source = bytes | str | Path | BinaryIO
ENCODINGS = ("utf-8", "windows-1252")  # UTF-16 is known by its mark
_SIGNS: dict[str, bytes | tuple[bytes, ...]] = {
    "a zip archive or an Excel workbook: save its sheet as CSV": b"PK\x03\x04",
    "an Excel workbook: save its sheet as CSV": b"\xd0\xcf\x11\xe0",
    "compressed: unpack it first": (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf"),
    "a PDF: save the table as CSV": b"%PDF",
}


@contextmanager
def opened(
    source: Source, encoding: str = "utf-8", columns: Sequence[str] | None = None, batch_rows: int = 65_536
) -> Iterator[Layout]:
    """Open a CSV, TSV or Parquet file and yield its layout, from which its rows can be read in batches.

    encoding: of a text file that does not start with a mark. columns: the names of those to read; None reads
    all. batch_rows: the most rows of a batch of a Parquet file. Raises ValueError with one sentence, here or
    while batches are read, for a file that is no table; OSError for a path that cannot be read.
    """
    checks.one_of(ENCODINGS, encoding=encoding)
    with _binary(source) as file:
        file.seek(0)
        head = file.read(limits.HEADER_BYTES)
        file.seek(0)
        if not head.strip():
            raise ValueError("The file is empty.")
        for what, sign in _SIGNS.items():
            if head.startswith(sign):
                raise ValueError(f"The file is {what}.")
        if head.startswith(b"PAR1"):
            yield parquet_file.open_layout(file, columns, batch_rows)
        else:
            yield text_file.open_layout(file, head, encoding, columns)


def _binary(source: Source) -> AbstractContextManager[BinaryIO]:
    """Return a context with the source as a binary file; one that was handed in is left open at its end."""
    if isinstance(source, (str, Path)):
        return pa.OSFile(str(source))  # type: ignore[no-any-return]  # Arrow reads it without calling Python
    return nullcontext(io.BytesIO(source) if isinstance(source, bytes) else source)


def size_of(source: Source) -> int:
    """Return the bytes of a source; a file that was handed in is left at its end."""
    with _binary(source) as file:
        return file.seek(0, io.SEEK_END)
