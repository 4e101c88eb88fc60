"""Read a text table, CSV or TSV: find its encoding and separator, and yield its rows in batches.

A mark is the byte order mark with which a text file may begin; it tells the encoding.

UTF-8 with or without a mark, UTF-16 with one, or the Windows-1252 that a person says it is; never a guess,
which would turn letters into others in silence. Every row must have as many cells as the first line has
names. No refusal quotes a cell, nor the first line, which is a patient where the names were forgotten.
"""

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from dppca_core.tables import cells, limits
from dppca_core.tables.layout import NO_ROWS, Layout, check_names, select_columns

_FORMS = {",": "CSV", ";": "CSV with semicolons", "\t": "TSV", "|": "CSV with bars"}
_BLOCK = 2**23  # bytes that Arrow splits at a time; one row fits into it
_COPIED_BYTES = 2**20  # that are handed to Arrow at a time
_SAMPLE_ROWS = 50  # by which the separator is found
_RAGGED = re.compile(r"^CSV parse error: Row #(\d+): Expected \d+ columns, got (\d+)")


class _Utf8(io.RawIOBase):
    """Give a text file's content as bytes of UTF-8, whatever its encoding, and check it meanwhile.

    On a fault it ends as if the file were over, and `refusal` holds the sentence that says why, for whoever
    looks once Arrow has read it. quoted: whether a quotation mark was seen so far.
    """

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        # A megabyte at a time, until the file gives no more bytes.
        self._texts = codecs.iterdecode(iter(lambda: file.read(2**20), b""), encoding)
        # _line: the line that decoding has reached. _left: bytes of UTF-8 that are decoded but not yet read.
        self._encoding, self._line, self._left = encoding, 1, b""
        self.refusal, self.quoted = "", False

    def readable(self) -> bool:
        """Return True, as `io.RawIOBase` asks of what can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, fewer at the end or before a fault; for -1 what is decoded in one go."""
        # Arrow ends a block at a short answer, and makes an array of each column of a block, however few its
        # rows. So answers are filled up.
        while not self.refusal and (len(self._left) < size or not self._left):
            try:
                text = next(self._texts, "")
            except UnicodeError:
                text, self.refusal = "", self._not_decoded()
            if "\0" in text:
                self.refusal = "The file holds zero bytes: it is no text, or UTF-16 without its mark."
            if self.refusal or not text:
                break
            self._left += text.encode()
            self._line += text.count("\n")
            self.quoted |= '"' in text
        end = len(self._left) if size < 0 else size
        result, self._left = self._left[:end], self._left[end:]
        return result

    def _not_decoded(self) -> str:
        """Return the sentence that says that the bytes are not in the encoding."""
        if self._encoding.startswith("utf-8"):
            return (
                f"The file is not in UTF-8 (somewhere after line {self._line:,}): save it as 'CSV UTF-8', or "
                "say that it is in Windows-1252."
            )
        return f"The file is not in {self._encoding} as it says (somewhere after line {self._line:,})."


def open_layout(file: BinaryIO, head: bytes, encoding: str, columns: Sequence[str] | None) -> Layout:
    """Return the layout of a text file: its columns, and a function that yields its rows in batches.

    head: the first bytes of the file, which decide the encoding and the separator. encoding: what to take it
    for where it has no mark. columns: the names of those to read; None reads all. Raises ValueError for what
    is no table.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif encoding == "utf-8" or head.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    sample = _sample(head, encoding)
    delimiter, first = _find_separator(sample, whole=len(head) < limits.HEADER_BYTES)
    names = [name.strip() for name in first]
    check_names(names)
    _refuse_patient_line(names)
    if len(head) < limits.HEADER_BYTES and len(sample.strip().splitlines()) < 2:
        raise ValueError(NO_ROWS)  # Arrow fails on a single line without an end
    wanted, unnamed = select_columns(names, columns)
    named = [position for position, name in enumerate(names) if name]
    form, decimal_comma = _FORMS[delimiter], _has_decimal_commas(sample, delimiter)

    def all_rows() -> Iterator[tuple[pa.RecordBatch, cells.Mask]]:
        """Yield the wanted columns as text, a batch at a time, from the first row after the names."""
        file.seek(0)
        text = _Utf8(file, encoding)
        begun = False
        for batch in _all_lines(text, delimiter, len(names)):
            rows = batch if begun else batch.slice(1)  # the first batch begins with the line of names
            begun = True
            blank = cells.blank_rows([rows.column(i) for i in named], decimal_comma)
            yield pa.record_batch([rows.column(i) for i in wanted.values()], names=list(wanted)), blank

    return Layout(form, tuple(wanted), None, all_rows, unnamed, decimal_comma)  # None: rows are not counted


def _sample(head: bytes, encoding: str) -> str:
    """Return the first bytes as text. Raises ValueError where they are not in this encoding, or no text."""
    text = _Utf8(io.BytesIO(head), encoding)
    sample = text.read()
    if text.refusal and not (sample and len(head) == limits.HEADER_BYTES):  # the last letter may be cut
        raise ValueError(text.refusal)
    return sample.decode()


def _find_separator(sample: str, whole: bool) -> tuple[str, list[str]]:
    """Return the separator of a text table and the cells of its first line, its names.

    It is the one that cuts all of the first lines into equally many cells, and of several such the one that
    gives the most. whole: whether the sample is the whole file, or its last line may be cut short.
    """
    # Whether all lines have as many cells, how many, the separator, the cells of the first line.
    best: tuple[bool, int, str, list[str]] = (False, 0, ",", [])
    for delimiter in reversed(_FORMS):  # a tie goes to the comma
        reader = csv.reader(io.StringIO(sample, newline=None), delimiter=delimiter)
        try:
            lines = list(itertools.islice(filter(None, reader), _SAMPLE_ROWS + 1))
        except csv.Error:
            continue
        if not whole and 1 < len(lines) <= _SAMPLE_ROWS:
            lines.pop()  # the sample may end within this line
        if not lines:
            raise ValueError("The file is empty.")
        count = len(lines[0])
        equal = count > 1 and all(len(line) == count for line in lines)
        if (equal, count) >= best[:2]:
            best = equal, count, delimiter, lines[0]
    _, most_cells, best_delimiter, first_line = best
    # Of more columns than can be opened, the check of names says so.
    if not whole and len(sample.splitlines()) < 2 and most_cells <= limits.MOST_COLUMNS:
        raise ValueError(
            "The first line does not end within a megabyte: is it a table with one row a patient?"
        )
    return best_delimiter, first_line


def _has_decimal_commas(sample: str, delimiter: str) -> bool:
    """Return whether commas are the decimal marks of a text table, by the separator and the first cells.

    They are where they do not separate cells, unless a cell has a decimal point and none has a decimal comma.
    A mark that may be one of thousands, as in 1.012 or 1,012, tells nothing.
    """
    if delimiter == ",":
        return False
    complete = sample.rpartition("\n")[0]  # the last cell may be cut short

    def is_seen(mark: str) -> bool:
        """Return whether a cell is a number with this decimal mark."""
        digits = rf"(0*{mark}\d+|\d+{mark}(\d{{1,2}}|\d{{4,}}))([eE][+-]?\d+)?"
        end = rf"[\r\n\"{re.escape(delimiter)}]"
        return re.search(rf"{end} *[+-]?{digits} *(?={end}|$)", complete) is not None

    return is_seen(",") or not is_seen(r"\.")


def _refuse_patient_line(names: Sequence[str]) -> None:
    """Raise ValueError for a first line with numbers in it, unless it counts the columns from 0 or 1.

    Names are hardly numbers: the line of names was probably forgotten, and this one is a patient's.
    """
    numbers = cells.numbers(pa.array(names, pa.large_string()), decimal_comma=True, points_too=True).values
    counted = [str(i) for i in range(len(names) + 1)]
    # A name that is no number reads as NaN, which differs from itself.
    if (numbers == numbers).any() and list(names) not in (counted[:-1], counted[1:]):
        positions = [str(i) for i, value in enumerate(numbers, 1) if value == value]
        listed = ", ".join(positions[:5]) + (" and more" if len(positions) > 5 else "")
        raise ValueError(
            f"The first line must name the columns, but it holds numbers (column {listed}): is it a patient?"
        )


def _batches(text: _Utf8, options: Sequence[Any], ragged: list[tuple[int, int]]) -> Iterator[pa.RecordBatch]:
    """Yield the batches that Arrow reads from a text.

    options: Arrow's three records of options for reading CSV. ragged: where Arrow stops at a row with too few
    or too many cells, a pair is added to it, how many cells that row has and its number in the file.

    A thread of Arrow may be the last to release what it reads and what it reads from. To release an object of
    Python it needs the interpreter, and if the interpreter is just ending, it aborts the process. So Arrow
    gets copies of the bytes, no Python function for such rows, and a source that is closed here.
    """
    with pa.BufferedInputStream(pa.PythonFile(text, mode="r"), _COPIED_BYTES) as source:
        try:
            yield from pyarrow.csv.open_csv(source, *options)
        except pa.ArrowInvalid as error:
            ragged += [(int(count), int(row)) for row, count in _RAGGED.findall(str(error))]
            raise


def _all_lines(text: _Utf8, delimiter: str, count: int) -> Iterator[pa.RecordBatch]:
    """Yield all lines of a text as batches of text columns; the first row is the line of names.

    Names are among the rows so that Arrow counts their cells as well. delimiter: the separator of cells.
    count: how many cells each line must have. Raises ValueError, which quotes no cell, where the text
    cannot be read to its end, has a line with another number of cells, or has a line break within a cell.
    """
    ragged: list[tuple[int, int]] = []  # filled by `_batches`
    options = (
        pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK, autogenerate_column_names=True),
        pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        pyarrow.csv.ConvertOptions(
            # Arrow itself names the columns f0, f1, ...
            column_types={f"f{i}": pa.large_string() for i in range(count)},
            strings_can_be_null=False,
        ),
    )
    done = 0
    for batch in cells.until_refused(lambda: _batches(text, options, ragged)):
        if batch is None or batch.num_columns != count:  # None: Arrow refuses the text
            break
        # Without quotation marks in the file no cell can hold a line break.
        for position, column in enumerate(batch.columns if text.quoted else (), 1):
            if pc.any(pc.match_substring_regex(column, "[\r\n]")).as_py():
                raise ValueError(
                    f"Column {position} has a line break within a cell (after row {done:,}): take it out, or "
                    "close a quotation mark that was left open."
                )
        done += batch.num_rows
        yield batch
    else:
        if not text.refusal:  # Arrow has read all; else `text` only pretended to end
            return
    # From here on the file is refused, and the reason is told.
    if text.refusal:
        raise ValueError(text.refusal)
    if ragged:
        columns, row = ragged[0]
        raise ValueError(
            f"Row {row:,} of the file has not as many cells as the first ({columns:,}, not "
            f"{count:,}): every row needs one for each name, and no quotation mark left open."
        )
    raise ValueError(
        f"The file cannot be read as a table (after row {done:,}): is a quotation mark left open?"
    )
