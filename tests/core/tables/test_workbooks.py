"""Workbooks of Excel and LibreOffice: read with their types, and judged before they are unpacked."""

import io
import re
import zipfile
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dppca_core import tables
from dppca_core.tables import cells, limits, workbook, workbook_size
from tests import hostile
from tests.core.tables.test_read_kinds import answered, numbers
from tests.workbooks import ods, xlsb, xlsx


def sheet(*lines: list[object]) -> bytes:
    return xlsx({"Data": list(lines)})


@pytest.mark.parametrize(
    ("write", "days"),
    [(xlsx, (44000, 44001, 44002)), (ods, ("2020-06-18", "2020-06-19", "2020-06-20"))],
    ids=["Excel", "LibreOffice"],
)
def test_a_workbook_keeps_its_types(write, days):
    first, second, third = ((day,) for day in days)
    rows = [
        ["Export of ward 3"],
        [],
        ["age", "ferritin", "when", "crp", "note", "alive"],
        [50, 1.012, first, "<0.5", "x", True],
        [61.5, 933, second, 1.234, "", False],
        [None, 819, third, "1,5", 7, True],
        [],
    ]
    raw = tables.read(write({"Data": rows}), "t")
    assert raw.table.to_pydict() == {
        "age": [50.0, 61.5, None],
        "ferritin": [1.012, 933.0, 819.0],
        "when": ["2020-06-18", "2020-06-19", "2020-06-20"],
        "crp": ["<0.5", "1.234e0", "1,5"],
        "note": ["x", None, "7"],
        "alive": [1.0, 0.0, 1.0],
    }
    assert raw.kinds["when"] == "date" and raw.notes == ("1 line above the names is left out.",)
    assert cells.numbers(raw.table["crp"], raw.marks).values[1:].tolist() == [1.234, 1.5]


def test_a_binary_workbook_is_read():
    raw = tables.read(xlsb([["age", "note"], [50, "a"], [61.5, ""], [7, "é"]]), "t")
    assert raw.table.to_pydict() == {"age": [50.0, 61.5, 7.0], "note": ["a", None, "é"]}


@pytest.mark.parametrize("write", [xlsx, ods])
def test_a_sheet_is_asked_for_where_several_have_cells(write):
    rows = [["a", "b"], [1, 2], [3, 4]]
    data = write({"Notes": [["x", "y"], ["p", "q"], ["r", "s"]], "Data": rows, "Empty": []})
    assert numbers(answered(data, "1")) == {"a": [1, 3], "b": [2, 4]}
    assert tables.read(write({"Data": rows, "Empty": []}), "t").n == 2


def test_units_and_totals_of_a_sheet_are_asked_about():
    lines = [["age", "hb"], ["years", "g/dL"], [50, 14.5], [82, 11.9], ["Total", 26.4]]
    raw = answered(sheet(*lines), "leave out", "leave out")
    assert numbers(raw) == {"age": [50, 82], "hb": [14.5, 11.9]}


ONE_TEXT = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
REPEATED = "".join(
    f'<row r="{i}"><c r="A{i}" t="s"><v>2</v></c><c r="B{i}"><v>1</v></c></row>' for i in range(2, 20_000)
)
TEXT = "x" * 20_000


def repeated(cell: str, columns: int, rows: int) -> bytes:
    cell = f'<table:table-cell table:number-columns-repeated="{columns}" {cell}</table:table-cell>'
    return ods({"S": f'<table:table-row table:number-rows-repeated="{rows}">{cell}</table:table-row>'})


def rewritten(data: bytes, change) -> bytes:
    """Return an archive with each part under the name and with the content that `change` makes of them."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(file, "w", 8) as other:
        for name in archive.namelist():
            other.writestr(*change(name, archive.read(name)))
    return file.getvalue()


def other_xml(name: str, part: bytes) -> tuple[str, bytes]:
    """Return the same sheet with a namespace before each name, and other quotation marks."""
    if name.startswith("xl/worksheets/"):
        part = re.sub(rb"<(/?)(\w)", rb"<\1x:\2", part).replace(b"xmlns=", b"xmlns:x=").replace(b'"', b"'")
    return name, part


def other_name(name: str, part: bytes) -> tuple[str, bytes]:
    return name.replace("worksheets/", "here/"), part.replace(b"worksheets/", b"here/")


FAR_CELL = xlsx({"S": ONE_TEXT + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'}, ["a", "b"])
MANY = "<row><c><v>1</v></c></row>" * 20_000


@cache
def zeros() -> bytes:
    return xlsx({"S": ONE_TEXT + " " * (limits.MOST_BYTES + 1)}, ["a", "b"])


# Each is made where it is tested: some take a second.
BOMBS = {
    "far cell in other XML": (lambda: rewritten(FAR_CELL, other_xml), "far outside of the table"),
    "far cell under another name": (lambda: rewritten(FAR_CELL, other_name), "far outside of the table"),
    "cells without a place": (lambda: xlsx({"S": f"<row>{'<c><v>1</v></c>' * 20_000}</row>{MANY}"}),
                              "far outside of the table"),
    "one long text in other XML": (
        lambda: rewritten(xlsx({"S": ONE_TEXT + REPEATED}, ["a", "b", TEXT]), other_xml),
                                   "unpacked"),
    "binary, far cell": (
        lambda: xlsb([["a", "b"], [1, 2]], 2**20 - 2, 2**14 - 2), "far outside of the table"),
    "binary, one long text": (lambda: xlsb([[TEXT, TEXT]] * 20_000), "unpacked"),
    "open, repeated cell": (lambda: repeated('office:value-type="float" office:value="1">', 16_000, 2**20),
                            "far outside of the table"),
    "open, far cell": (
        lambda: ods({"S": '<table:table-row table:number-rows-repeated="1048575"/><table:table-row>'
                                 '<table:table-cell table:number-columns-repeated="16000"/><table:table-cell>'
                                 "<text:p>x</text:p></table:table-cell></table:table-row>"}),
                       "far outside of the table"),
    "open, repeated text": (
        lambda: repeated(f'office:value-type="string"><text:p>{TEXT}</text:p>', 100, 1_000),
                            "unpacked"),
    "open, hidden in an attribute": (
        lambda: repeated(f'office:value-type="string" office:string-value="{TEXT}">',
                                              100, 1_000), "unpacked"),
    "far cell": (lambda: FAR_CELL, "far outside of the table"),
    "far column": (
        lambda: xlsx({"S": ONE_TEXT + REPEATED + '<row r="20001"><c r="XFD20001"><v>1</v></c></row>'},
                        ["a", "b", "x"]), "far outside of the table"),
    "one long text in every cell": (lambda: xlsx({"S": ONE_TEXT + REPEATED}, ["a", "b", TEXT]), "unpacked"),
    "zeros": (zeros, "unpacked"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "says"), BOMBS.values(), ids=BOMBS.keys())
def test_a_small_workbook_does_not_become_a_large_table(make, says, monkeypatch):
    data = make()
    monkeypatch.setattr(workbook.python_calamine, "load_workbook", None)  # it is refused before
    assert len(data) < 2**20
    with pytest.raises(ValueError, match=says):
        tables.read(data, "t")


def test_a_size_that_an_archive_states_is_not_believed():
    """The directory says one byte, and the packed bytes say otherwise."""
    data = zeros()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    lied = data.replace(size.to_bytes(4, "little"), (1).to_bytes(4, "little"))
    assert lied != data
    with pytest.raises(ValueError, match="unpacked"):
        tables.read(lied, "t")


@settings(max_examples=60)
@given(data=st.data())
def test_a_broken_workbook_is_a_table_or_a_sentence(data):
    rows = [["a", "b"], [1, "x"], [2, "y"], [3, "z"]]
    good = data.draw(st.sampled_from([sheet(*rows), ods({"S": rows}), xlsb(rows)]))
    place = data.draw(st.integers(0, len(good) - 1))
    broken = good[:place] + data.draw(st.binary(max_size=8)) + good[place + data.draw(st.integers(0, 40)) :]
    raw = hostile.answered(tables.read, broken, "t")
    assert raw is None or raw.n >= 2


@settings(max_examples=60)
@given(
    grid=st.lists(st.lists(st.sampled_from([None, 1.5, "a", "b"]), min_size=1, max_size=6), max_size=6),
    write=st.sampled_from([xlsx, ods, lambda sheets: xlsb(*sheets.values())]),
)
def test_a_workbook_is_judged_by_what_becomes_of_it(grid, write):
    """Its rows and cells are those of which a list is made."""
    data = write({"S": grid})
    judged = workbook_size.check_unpacked(data)
    read = [workbook.rows(each) for each in workbook.sheets(data)]
    assert judged.rows == sum(map(len, read))
    assert judged.cells == sum(len(row) for rows in read for row in rows)


def test_a_document_type_is_refused():
    """Its entities could stand for long texts."""
    kind = b'<!DOCTYPE x [<!ENTITY a "aaaa">]>'
    data = rewritten(
        ods({"S": [["a", "b"], [1, 2], [3, 4]]}),
        lambda name, part: (name, part.replace(b"?>", b"?>" + kind) if name == "content.xml" else part),
    )
    with pytest.raises(ValueError, match="cannot be read"):
        tables.read(data, "t")
