"""Read the cells of an Excel workbook by python-calamine, after a look at how large it becomes.

A workbook is a zip archive of XML. A small one can unpack to any size, name a cell in the last row of the
last column, or repeat one long text in every cell; calamine makes room for all of it at once. So the archive
is unpacked to be counted, a piece at a time, before calamine sees it.
"""

import datetime
import io
import math
import re
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import python_calamine

from dppca_core.tables import cells, limits

SIGNS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # of .xlsx, and of .xls
LEAST_CELL_BYTES = 20  # of a cell, as XML
_UNREADABLE = "The workbook cannot be read: is it complete, and not protected by a password?"
_TOO_LARGE = (
    "The workbook has more than {:,.0f} MB unpacked, more than can be opened here: save only the columns "
    "that you need, as CSV."
)
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_PLACE = re.compile(rb'<c\b[^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
_ROW = re.compile(rb'<row\b[^>]*?\br="([0-9]+)"')
_TEXT = re.compile(rb't="s"[^>]*>\s*<v>([0-9]+)</v>')


def check_unpacked(data: bytes) -> int:
    """Return how many bytes a workbook has, unpacked.

    Raises ValueError, with one sentence, where they are too many, and for what is no workbook.
    """
    if not data.startswith(b"PK"):
        return len(data)  # .xls packs nothing
    parts = _unpacked(data)
    if not any(_SHEET.fullmatch(name) for name in parts):
        raise ValueError("The file is a zip archive and no .xlsx workbook: unpack it, or save it as CSV.")
    shared = next((part for name, part in parts.items() if name.endswith("sharedStrings.xml")), b"")
    lengths = np.array([0, *map(len, shared.split(b"</si>"))][1:], dtype=np.int64)
    text_bytes = 0
    for name, part in parts.items():
        if not _SHEET.fullmatch(name):
            continue
        # calamine fills the rectangle from the first cell to the last.
        rows = max((int(row) for row in _ROW.findall(part)), default=part.count(b"<row"))
        columns = 1
        for letters, row in _PLACE.findall(part):
            columns, rows = max(columns, _column_number(letters)), max(rows, int(row))
        if rows * columns > limits.MOST_CELLS:
            raise ValueError(
                f"The workbook has more than {limits.MOST_CELLS:,} cells between its first and its last, "
                "more than can be opened here: delete what stands far outside of the table."
            )
        used = np.array(_TEXT.findall(part), dtype=np.int64)
        text_bytes += int(lengths[used[used < len(lengths)]].sum())
    size = text_bytes + sum(map(len, parts.values()))
    if size > limits.MOST_BYTES:
        raise ValueError(_TOO_LARGE.format(limits.MOST_BYTES / 2**20))
    return size


def _column_number(letters: bytes) -> int:
    """Return the number of a column from 1, "A", as a spreadsheet counts them."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files of a zip archive by name, whatever sizes it states.

    Raises ValueError as soon as they have more than `limits.MOST_BYTES` together.
    """
    parts: dict[str, bytes] = {}
    left = limits.MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                begin = (
                    info.header_offset
                    + 30
                    + sum(
                        int.from_bytes(data[info.header_offset + at : info.header_offset + at + 2], "little")
                        for at in (26, 28)
                    )
                )
                packed = data[begin : begin + info.compress_size]
                if info.compress_type == zipfile.ZIP_DEFLATED:
                    packed = zlib.decompressobj(-15).decompress(packed, left + 1)
                elif info.compress_type != zipfile.ZIP_STORED:
                    raise zipfile.BadZipFile
                left -= len(packed)
                if left < 0:
                    break
                parts[info.filename] = packed
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OverflowError):
        parts = {}
    if left < 0:
        raise ValueError(_TOO_LARGE.format(limits.MOST_BYTES / 2**20))
    if not parts:
        raise ValueError(_UNREADABLE)
    return parts


def sheets(data: bytes) -> list[Any]:
    """Return the sheets of a workbook that have cells and are not hidden.

    Raises ValueError for no workbook.
    """
    try:
        book = python_calamine.load_workbook(io.BytesIO(data))
        shown = [
            sheet.name
            for sheet in book.sheets_metadata
            if sheet.visible is python_calamine.SheetVisibleEnum.Visible
            and sheet.typ is python_calamine.SheetTypeEnum.WorkSheet
        ]
        loaded = [book.get_sheet_by_name(name) for name in shown]
    except BaseException as reason:  # a panic of calamine is no Exception
        if isinstance(reason, Exception) or type(reason).__name__ == "PanicException":
            loaded = None
        else:
            raise
    if loaded is None:
        raise ValueError(_UNREADABLE)
    return [sheet for sheet in loaded if sheet.height and sheet.width]


def rows(sheet: Any) -> list[list[Any]]:
    """Return the cells of a sheet from its first row and column on."""
    result: list[list[Any]] = sheet.to_python(skip_empty_area=False)
    return result


def text(cell: Any) -> str:
    """Return a cell as text, each number so that it has one reading only: 1.012 as 1.012e0."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float | int):
        return cells.written(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return cell if isinstance(cell, str) else str(cell)


def column(of_rows: Sequence[Any]) -> Any:
    """Return the cells of a column as float64 if each is a number or empty, else as text."""
    if all(isinstance(cell, float | int) or cell == "" for cell in of_rows):
        numbers = [math.nan if cell == "" else float(cell) for cell in of_rows]
        return pa.array(numbers, pa.float64(), from_pandas=True)
    return pa.array(map(text, of_rows), pa.large_string())
