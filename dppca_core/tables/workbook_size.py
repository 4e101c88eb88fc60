"""Judge how large a workbook becomes, before it is read: .xlsx, .xlsb and .ods.

A workbook is a zip archive. A small one can unpack to any size, name a cell in the last row of the last
column, repeat one cell a million times, or show one long text in every cell; calamine makes room for all of
it at once. So the archive is unpacked to be counted, a piece at a time, before calamine sees it. It is read
as calamine reads it: an archive may hold several kinds of workbook, and each is judged.

calamine fills the rectangle from the first cell with a value to the last. Cells without one take no room.
"""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.parsers import expat

from dppca_core.tables import limits

UNREADABLE = "The workbook cannot be read: is it complete, and not protected by a password?"
_TOO_LARGE = (
    "The workbook has more than {:,.0f} MB unpacked, more than can be opened here: save only the columns "
    "that you need, as CSV."
)
_CELL_BYTES = 20  # of a cell beside its text
_OPEN_CELLS = ("table:table-cell", "table:covered-table-cell")
# Records of .xlsb: a row, the cells with a value (calamine reads numbers 2 to 11), a text, a sheet.
_ROW, _CELLS, _SHARED_CELL, _SHARED_TEXT, _SHEET = 0, range(2, 12), 7, 19, 156


class Unpacked(NamedTuple):
    """Hold the bytes, rows and cells of a workbook or sheet; a text counts as often as a cell shows it."""

    bytes: int
    rows: int
    cells: int


def check_unpacked(data: bytes) -> Unpacked:
    """Return how large a workbook is unpacked."""
    if not data.startswith(b"PK"):  # .xls packs nothing
        return Unpacked(len(data), len(data) // _CELL_BYTES, len(data) // _CELL_BYTES)
    parts = _unpacked(data)
    try:
        sheets = [*_excel(parts), *_binary_excel(parts), *_open_document(parts)]
    except (expat.ExpatError, ValueError, IndexError, UnicodeError) as error:
        raise ValueError(UNREADABLE) from error
    if not sheets:
        raise ValueError("The file is a zip archive and no workbook: unpack it, or save it as CSV.")
    if max(sheet.cells for sheet in sheets) > limits.MOST_CELLS:
        raise ValueError(
            f"The workbook has more than {limits.MOST_CELLS:,} cells between its first and its last, more "
            "than can be opened here: delete what stands far outside of the table."
        )
    size = sum(map(len, parts.values())) + sum(sheet.bytes for sheet in sheets)
    if size > limits.MOST_BYTES:
        raise ValueError(_TOO_LARGE.format(limits.MOST_BYTES / 2**20))
    return Unpacked(size, sum(sheet.rows for sheet in sheets), sum(sheet.cells for sheet in sheets))


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files of a zip archive by name in small letters, whatever sizes it states."""
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
                parts[info.filename.lower()] = packed
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OverflowError):
        parts = {}
    if left < 0:
        raise ValueError(_TOO_LARGE.format(limits.MOST_BYTES / 2**20))
    if not parts:
        raise ValueError(UNREADABLE)
    return parts


def _refuse(*_: object) -> None:
    """Refuse a document type: it could declare texts that stand for others."""
    raise ValueError(UNREADABLE)


def _walk(
    part: bytes,
    start: Callable[[str, Mapping[str, str]], None],
    end: Callable[[str], None],
    letters: Callable[[str], None],
) -> None:
    """Read XML: `start` gets an element's name and attributes, `end` its name, `letters` each text."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = letters, _refuse
    parser.Parse(part, True)


def _local(name: str) -> str:
    return name.rpartition(":")[2] if ":" in name else name


def _excel(parts: Mapping[str, bytes]) -> Iterator[Unpacked]:
    """Yield the sheets of .xlsx: any part with the element that holds rows, under whatever name."""
    shared = _shared_lengths(parts["xl/sharedstrings.xml"]) if "xl/sharedstrings.xml" in parts else []
    for part in parts.values():
        if b"sheetData" in part:
            yield _excel_sheet(part, shared)


def _shared_lengths(part: bytes) -> list[int]:
    """Return how many letters each shared text of .xlsx has, in all of its runs."""
    lengths = list[int]()

    def start(name: str, _: Mapping[str, str]) -> None:
        if _local(name) == "si":
            lengths.append(0)

    def add(text: str) -> None:
        if lengths:
            lengths[-1] += len(text)

    _walk(part, start, lambda name: None, add)
    return lengths


def _excel_sheet(part: bytes, shared: Sequence[int]) -> Unpacked:
    row = column = cell_row = rows = columns = size = 0
    shared_at: str | None = None  # in a cell that shows a shared text: its number, as far as it was read
    columns_by_name = dict[str, int]()

    def start(name: str, attributes: Mapping[str, str]) -> None:
        """Note where a row or a cell is; without a place it is the next one."""
        nonlocal row, column, cell_row, shared_at
        name = _local(name)
        if name == "c":
            cell_row, column = row, column + 1
            shared_at = "" if attributes.get("t") == "s" else None
            if place := attributes.get("r"):
                letters = place.rstrip("0123456789")
                column = columns_by_name[letters] = columns_by_name.get(letters) or _column(letters)
                cell_row = int(place[len(letters) :])
        elif name == "row":
            row, column = int(attributes.get("r", row + 1)), 0

    def end(name: str) -> None:
        nonlocal rows, columns, size, shared_at
        name = _local(name)
        if name == "v" or name == "is":
            rows, columns = max(rows, cell_row), max(columns, column)
            if shared_at and (index := int(shared_at)) < len(shared):
                size += shared[index]
            shared_at = None

    def add(text: str) -> None:
        nonlocal shared_at
        if shared_at is not None:
            shared_at += text

    _walk(part, start, end, add)
    return Unpacked(size, rows, rows * columns)


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - 64
    return number


def _binary_excel(parts: Mapping[str, bytes]) -> Iterator[Unpacked]:
    """Yield the sheets of .xlsb: the parts that its workbook names, by way of their relations."""
    if "xl/workbook.bin" not in parts:
        return
    targets = dict[str, str]()

    def relate(_: str, attributes: Mapping[str, str]) -> None:
        if "Id" in attributes:
            targets[attributes["Id"]] = attributes.get("Target", "").lower().lstrip("/")

    _walk(parts.get("xl/_rels/workbook.bin.rels", b"<none/>"), relate, lambda name: None, lambda text: None)
    texts = _records(parts.get("xl/sharedstrings.bin", b""))
    shared = [end - begin for kind, begin, end in texts if kind == _SHARED_TEXT]
    workbook = parts["xl/workbook.bin"]
    for kind, begin, _ in _records(workbook):
        if kind == _SHEET:  # after two numbers, the relation's name with its length before it
            length = 2 * int.from_bytes(workbook[begin + 8 : begin + 12], "little")
            target = targets.get(workbook[begin + 12 : begin + 12 + length].decode("utf-16-le"), "")
            for part in (part for name, part in parts.items() if target and name.endswith(target)):
                yield _binary_sheet(part, shared)


def _records(part: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the kind of each record of .xlsb, and where its content begins and ends."""
    at = 0
    while at < len(part):
        numbers = [0, 0]  # the kind and the length, of at most two and four bytes, seven bits in each
        for i, most in enumerate((2, 4)):
            for place in range(most):
                byte = part[at]
                at += 1
                numbers[i] |= (byte & 0x7F) << (7 * place)
                if byte < 0x80:
                    break
        kind, length = numbers
        if at + length > len(part):
            raise ValueError(UNREADABLE)
        yield kind, at, at + length
        at += length


def _binary_sheet(part: bytes, shared: Sequence[int]) -> Unpacked:
    row = rows = columns = size = 0
    for kind, begin, _ in _records(part):
        if kind == _ROW:
            row = 1 + int.from_bytes(part[begin : begin + 4], "little")
        elif kind in _CELLS:
            column = 1 + int.from_bytes(part[begin : begin + 4], "little")
            rows, columns = max(rows, row), max(columns, column)
            if kind == _SHARED_CELL:
                index = int.from_bytes(part[begin + 8 : begin + 12], "little")
                size += shared[index] if index < len(shared) else 0
    return Unpacked(size, rows, rows * columns)


def _open_document(parts: Mapping[str, bytes]) -> Iterator[Unpacked]:
    """Yield the sheets of .ods, where a cell or a row may state how often it is repeated.

    A repeated cell counts each time, with its text. Empty ones at the end do not count.
    """
    sheets = list[_OpenSheet]()

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "table:table":
            sheets.append(_OpenSheet())
        elif name == "table:table-row":
            sheets[-1].begin_row(int(attributes.get("table:number-rows-repeated", 1)))
        elif name in _OPEN_CELLS:
            sheets[-1].begin_cell(attributes)

    def end(name: str) -> None:
        if name == "table:table-row":
            sheets[-1].end_row()
        elif name in _OPEN_CELLS:
            sheets[-1].end_cell()

    def add(text: str) -> None:
        if sheets:
            sheets[-1].length += len(text)

    if "content.xml" in parts:
        _walk(parts["content.xml"], start, end, add)
    for sheet in sheets:
        yield Unpacked(sheet.size, sheet.rows, sheet.rows * sheet.columns)


class _OpenSheet:
    """Count the rows, columns and bytes of a sheet of .ods, by its rows and cells in their order."""

    def __init__(self) -> None:
        self.rows = self.columns = self.size = 0
        self._empty_rows = self._repeated = 0  # since the last row with a value; how often this row is there
        self._column = self._row_size = self._last = 0  # of this row; the last column with a value
        self._times, self._has_value, self.length = 1, False, 0  # of this cell, and of its text

    def begin_row(self, repeated: int) -> None:
        self._repeated, self._column, self._row_size, self._last = repeated, 0, 0, 0

    def begin_cell(self, attributes: Mapping[str, str]) -> None:
        """Begin a cell, which has a value where it states a type or a formula."""
        self._times = int(attributes.get("table:number-columns-repeated", 1))
        self._has_value = any(name.startswith("office:") or name == "table:formula" for name in attributes)
        self.length = len(attributes.get("office:string-value", ""))

    def end_cell(self) -> None:
        self._column += self._times
        if self._has_value or self.length:
            self._last = self._column
            self._row_size += self._times * (_CELL_BYTES + self.length)

    def end_row(self) -> None:
        """Count the row as often as it is there, after the rows without a value before it."""
        self._empty_rows += self._repeated
        if self._last:
            self.rows, self._empty_rows = self.rows + self._empty_rows, 0
            self.columns = max(self.columns, self._last)
            self.size += self._repeated * self._row_size
