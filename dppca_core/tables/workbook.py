"""Read the cells of a workbook of Excel or LibreOffice by python-calamine: .xlsx, .xls, .xlsb and .ods.

How large it becomes is judged before (`workbook_size`).
"""

import datetime
import io
import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import python_calamine

from dppca_core.tables import cells
from dppca_core.tables.workbook_size import UNREADABLE

SIGNS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # of a zip archive, and of .xls


def sheets(data: bytes) -> list[Any]:
    """Return the sheets of a workbook that have cells and are not hidden."""
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
        raise ValueError(UNREADABLE)
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
