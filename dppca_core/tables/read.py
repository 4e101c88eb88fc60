"""Read a visitor's table from a file, whole, into memory and nowhere else.

    raw = read(data, "ours.csv")                           # or QuestionError: what only a person can tell
    raw = read(data, "ours.csv", {"encoding": "windows-1252", "units": "leave out"})

The first bytes tell the form, not the name. Of a text file every cell stays the text that it is: no type is
taken from other patients' cells, and how a number is written is stated in the dictionary, or asked. Parquet
files, workbooks and data frames keep their types. What is read of a file by its lines (where the names are,
whether a line has units or totals) is shown in `notes`, or asked where patients could be lost by it.

No refusal quotes a cell, nor the first line, which is a patient's where the names were forgotten.

A blank row has no cell in any named column of the file: each is missing by the rule of `cells`, before any
dictionary. Spreadsheets write such lines below a table. A blank row is no patient and is left out before
anything is counted. Any other row stays, even if the dictionary can use none of its cells: it becomes zeros.

Why this costs no privacy. The guarantee is about tables of patients, and a neighbour has one patient
replaced, or one more or less. Here a patient is a row that is not blank. Whether a row is blank depends on
that row alone. So leaving blank rows out turns any file into the table of its patients, on which every
sensitivity is proved, and files that differ in one patient into tables that differ in one patient. No sum
changes, since a blank row would have been zeros. The public n says how many rows hold any cell at all. It
does not say which cells, since a patient with one cell counts as a patient with all of them does. What n
would tell of a row that may be blank or not is not protected, but no patient is behind a blank row: it names
nobody and says nothing. The rule must not depend on the dictionary or on the chosen columns. Else n, which is
public, would tell of a patient's cells in these.
"""

import codecs
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from dppca_core.tables import cells, content, limits, workbook, workbook_size

Source = bytes | str | Path | BinaryIO
Answers = Mapping[str, str]
ENCODINGS = {
    "windows-1252": "Western Europe (Windows-1252)",
    "windows-1250": "Central Europe (Windows-1250)",
    "mac-roman": "Mac (Mac Roman)",
}
WESTERN = "windows-1252"
# What Windows-1252 has in words of Western Europe and next to numbers. Texts of Central Europe and of a Mac,
# read in it, have other letters, or signs where a letter should be: "Gro§" for "Groß".
_IN_WESTERN = bytes(range(128)) + (
    "äöüßàâæçéèêëîïôùûÿœáíñóúãõìòåøÄÖÜÀÂÆÇÉÈÊËÎÏÔÙÛŒÁÍÑÓÚÃÕÌÒÅØ°µ±²³·½¼¾×€–—‘’“”„…§«»\xa0".encode(WESTERN)
)
# Each byte by its kind: a letter of ASCII (a), a sign that touches no word (s), that begins none (p) or that
# joins none (d), the first byte of a letter in UTF-8 (c), and what else can be its second (x).
_KINDS = {"a": b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "s": "€§".encode(WESTERN)}
_KINDS |= {"p": "…²³¼½¾".encode(WESTERN), "d": "–—".encode(WESTERN), "c": b"\xc2\xc3"}
_KIND_OF_BYTE = bytes(
    ord(
        next((kind for kind, members in _KINDS.items() if byte in members), "x" if 128 <= byte < 192 else " ")
    )
    for byte in range(256)
)
_NOT_WESTERN = (b"sa", b"as", b"pa", b"ada", b"cs", b"cp", b"cd", b"cx")
LEAVE_OUT, KEEP, NO_NAMES = "leave out", "keep", "none"
NO_ROWS = "The file has names but no rows."
_SIGNS: dict[str, tuple[bytes, ...]] = {
    "compressed: unpack it first": (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf"),
    "a PDF: save the table as CSV": (b"%PDF",),
    "of SPSS: save it as CSV or Excel": (b"$FL2", b"$FL3"),
    "of Stata: save it as CSV": (b"<stata_dta>",),
    "of SAS: save it as CSV": (b"\0" * 12 + b"\xc2\xea\x81\x60",),
}
_PAGE_SIGNS = (b"<!doctype", b"<html", b"<table", b"<body", b"<meta", b"<style")
_MARKUP = {
    "a web page, whatever its name says: open it in a spreadsheet, and save it as .xlsx or CSV": _PAGE_SIGNS,
    "XML: open it in a spreadsheet, and save it as .xlsx or CSV": (b"<?xml",),
}
_JSON = re.compile(rb"""[\[{]\s*[\[{"\]}]""")
_FORMS = {",": "CSV", ";": "CSV with semicolons", "\t": "TSV", "|": "CSV with bars"}
_BLANKS = re.compile(rb"[ \t]+")  # that separate the columns of a table for the eye
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[ \t]*(?:\r\n|\n|\r)', re.IGNORECASE)
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BLOCK = 2**23  # bytes that Arrow splits at a time; one row fits into it
_SAMPLE_ROWS = 50  # by which the separator and the place of the names are found
_TAIL_BYTES, _TAIL_ROWS = 2**14, 20  # among which lines of totals or notes are looked for
_RAGGED = re.compile(r"CSV parse error:(?: Row #(\d+):)? Expected \d+ columns, got (\d+)")
_TOTALS = re.compile(
    r"(grand )?(total|totals|sum|summe|gesamt|mean|average|mittelwert|durchschnitt|median|somme|moyenne|"
    r"totale|media|sd|std)[.: ]*",
    re.IGNORECASE,
)
_INDEX = "__index_level_"  # what pandas calls the row numbers that it stores along


class QuestionError(ValueError):
    """Ask what only a person can tell of a file: its text is the question.

    key: under which `read` takes the answer. options: what can be answered, with its words for the screen.
    """

    def __init__(self, key: str, question: str, options: Mapping[str, str]) -> None:
        super().__init__(question)
        self.key, self.options = key, dict(options)


@dataclass(frozen=True, eq=False)
class Raw:
    """Hold a table as it was uploaded: private, all of it but its column names.

    name: that of the file, for the screen. form: the kind of file, such as "CSV". table: columns of float64
    or text, null where missing. unnamed: positions (from 1) of columns left out because they have no name.
    marks: how numbers in columns of text are written where the dictionary does not say; None: only what is
    clear is read. blank: which of the file's rows are blank and left out, as they are no patients. notes:
    sentences on what was skipped. guessed: whether its alphabet was taken without a question. Printing it
    shows no cells.
    """

    name: str
    form: str
    table: pa.Table = field(repr=False)
    unnamed: tuple[int, ...] = ()
    marks: cells.Marks | None = cells.POINT
    blank: cells.Mask = field(repr=False, default_factory=lambda: np.zeros(0, dtype=bool))
    notes: tuple[str, ...] = ()
    guessed: bool = field(default=False, kw_only=True)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def n(self) -> int:
        """Return the number of rows, of which the dictionary may drop some; blank ones are not counted."""
        return int(self.table.num_rows)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Return what each column seems to hold, "number", "text" or "date", to suggest it on screen.

        It is computed from private cells, so it is for the table's owner only.
        """
        return {name: cells.kind_of(self.table[name]) for name in self.columns}

    @cached_property
    def constant(self) -> tuple[str, ...]:
        """Return the columns whose cells all agree or are all missing, so that they say nothing of a patient.

        It is computed from private cells, so it is for the table's owner only.
        """
        return tuple(name for name in self.columns if _constant(self.table[name]))

    @cached_property
    def key(self) -> str:
        return content.content_key(self.table)


def _constant(column: Any) -> bool:
    """Return whether all cells that are not missing agree, or there are none.

    The least and the greatest cell decide it, without a set of all cells in memory.
    """
    ends = pc.min_max(column)  # it leaves out missing cells; both ends are null where there are no others
    return bool(ends["min"] == ends["max"])


def read(source: Source, name: str, answers: Answers | None = None, *, to_score: bool = False) -> Raw:
    """Return a text file, workbook or Parquet file as a table, whole; `name` is only kept.

    answers: to questions that were asked of this file before, by their keys. to_score: the rows are scored by
    a release and are no patients of one: then a single row will do, and blank rows stay in their places.
    Raises QuestionError where a person has to tell something, ValueError with one sentence, which quotes no
    cell, for a file that is too large or no table with two columns and two rows, and OSError for a path that
    cannot be read.
    """
    data = _bytes(source)
    form = _form(data)
    parts = {"Parquet": _parquet, "workbook": _workbook, "text": _text}[form](data, answers or {})
    return _raw(name, parts, to_score)


def from_frame(frame: pd.DataFrame, name: str) -> Raw:
    """Return a data frame as an uploaded table of this name. Raises ValueError as `read` does."""
    table = cells.from_frame(frame)
    return _raw(name, _Parts("data frame", table.column_names, table.columns, cells.POINT), to_score=False)


class UnpackedSizes(NamedTuple):
    """Hold how large a file will be in memory, by what it states: bytes unpacked, and at most so many cells.

    rows: at most so many.
    """

    bytes: int
    cells: int
    rows: int


def sizes(source: Source) -> UnpackedSizes:
    """Return how large a file is unpacked, before it is read."""
    data = _bytes(source)
    form = _form(data)
    if form == "Parquet":
        metadata = _opened(data).metadata
        size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        return UnpackedSizes(size, metadata.num_rows * metadata.num_columns, metadata.num_rows)
    if form == "workbook":
        unpacked = workbook_size.check_unpacked(data)
        return UnpackedSizes(unpacked.bytes, unpacked.cells, unpacked.rows)
    lines = 1 + data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    return UnpackedSizes(len(data), lines + max(data.count(mark.encode()) for mark in (*_FORMS, " ")), lines)


class _Parts(NamedTuple):
    """Hold what a reader found: the file's form, its names ("" for none), columns, marks and notes."""

    form: str
    names: Sequence[str]
    columns: Sequence[Any]
    marks: cells.Marks | None
    notes: tuple[str, ...] = ()
    guessed: bool = False


def _raw(name: str, parts: _Parts, to_score: bool) -> Raw:
    names = [each.strip() for each in parts.names]
    check_names(names)
    named = [i for i, each in enumerate(names) if each]
    table = pa.table(
        [cells.without_missing(parts.columns[i]) for i in named], names=[names[i] for i in named]
    )
    blank = np.zeros(table.num_rows, dtype=bool)
    if not to_score and table.num_rows:
        blank = cells.blank_rows(table.columns)
        table = table.filter(pa.array(~blank)) if blank.any() else table
    if not table.num_rows:
        raise ValueError(NO_ROWS)
    if table.num_rows < limits.FEWEST_ROWS and not to_score:
        raise ValueError(f"The file has one row only: at least {limits.FEWEST_ROWS} patients are needed.")
    _check_fits(table.num_rows, len(names))
    unnamed = tuple(position for position, each in enumerate(names, 1) if not each)
    return Raw(name, parts.form, table, unnamed, parts.marks, blank, parts.notes, guessed=parts.guessed)


def check_names(names: Sequence[str]) -> None:
    """Raise ValueError unless there are enough columns, not too many, and their names are usable and differ.

    The messages name a column by its position and quote no name: where the line of names was forgotten, the
    first line is a patient's.
    """
    if len(names) > limits.MOST_COLUMNS:
        raise ValueError(
            f"The file has {len(names):,} columns, and at most {limits.MOST_COLUMNS:,} can be read: keep "
            "those that the literature or a code book names, and choose none by looking at these rows."
        )
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if len(name) > limits.MOST_NAME or "\n" in name or "\r" in name:
            raise ValueError(
                f"The name of column {position} is longer than {limits.MOST_NAME} letters or holds a line "
                "break: is a quotation mark not closed?"
            )
        if not name.isprintable():
            raise ValueError(
                f"The name of column {position} holds a character that cannot be printed: type it anew."
            )
        if name and name in first:
            raise ValueError(f"Columns {first[name]} and {position} have the same name: rename one.")
        first[name] = position
    if len(first) - ("" in first) < 2:  # columns without a name do not count
        raise ValueError(
            "The file has one named column only: components need at least two, separated by commas, "
            "semicolons, tabs or bars."
        )


def _bytes(source: Source) -> bytes:
    """Return the file's content; one that was handed in stays open."""
    if isinstance(source, bytes):
        size = len(source)
    elif isinstance(source, str | Path):
        size = Path(source).stat().st_size
    else:
        size = source.seek(0, io.SEEK_END)
        source.seek(0)
    check_size(size)
    if isinstance(source, bytes):
        return source
    return Path(source).read_bytes() if isinstance(source, str | Path) else source.read()


def check_size(size: int) -> None:
    if size > limits.MOST_BYTES:
        raise ValueError(
            f"The file has {size / 2**20:,.0f} MB unpacked, and at most {limits.MOST_BYTES / 2**20:,.0f} MB "
            "can be opened here: save only the columns that you need, as Parquet or CSV."
        )


def _check_fits(rows: int, columns: int) -> None:
    for count, most, what in ((rows, limits.MOST_ROWS, "rows"), (rows * columns, limits.MOST_CELLS, "cells")):
        if count > most:
            raise ValueError(
                f"The file has more than {most:,} {what}, more than can be opened here: save only the "
                "columns that you need, or the patients of fewer years."
            )


def _form(data: bytes) -> str:
    """Return "Parquet", "workbook" or "text". Raises ValueError with what to do for any other form."""
    start = data[:1024].removeprefix(codecs.BOM_UTF8).lstrip()
    if not start and not data.strip():
        raise ValueError("The file is empty.")
    for what, signs in (*_SIGNS.items(), *_MARKUP.items()):
        if start.lower().startswith(signs) or data.startswith(signs):
            raise ValueError(f"The file is {what}.")
    if _JSON.match(start):
        raise ValueError("The file is JSON: save it as CSV, with one row per patient.")
    if data.startswith(b"PAR1"):
        return "Parquet"
    return "workbook" if data.startswith(workbook.SIGNS) else "text"


# Where the names, the patients and lines that are neither stand, by lines.


class _Layout(NamedTuple):
    """Hold what the first lines of a table show.

    names: of the columns. begin: the position of the first line that is no patient's name or unit. notes:
    sentences on what was skipped.
    """

    names: list[str]
    begin: int
    notes: tuple[str, ...]


def _filled(line: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in line)


def _numbers(line: Sequence[str]) -> cells.NumberColumn:
    return cells.numbers(pa.array(line, pa.large_string()), cells.EITHER)


def _number_positions(line: Sequence[str]) -> list[int]:
    """Return the positions (from 1) of numbers in a line, none where it counts the columns from 0 or 1.

    Names are hardly numbers: else the line of names was probably forgotten, and this one is a patient's.
    """
    counted = [str(i) for i in range(len(line) + 1)]
    if [cell.strip() for cell in line] in (counted[:-1], counted[1:]):
        return []
    return [i for i, value in enumerate(_numbers(line).values, 1) if value == value]


def _lay_out(lines: Sequence[Sequence[str]], width: int, answers: Answers) -> _Layout:
    """Return where names and patients begin. Raises QuestionError where only a person can tell."""
    at, names = _find_names(lines, width, answers)
    rows = [line for line in lines[at + 1 :] if _filled(line)]
    if len(names) == width - 1:
        # R writes row numbers without a name; other programs end each row with one more separator.
        ends = any(len(line) == width and line[-1].strip() for line in rows)
        names = ["", *names] if ends else [*names, ""]
    names = [name.strip() for name in names]
    check_names(names)
    above = sum(bool(_filled(line)) for line in lines[: max(at, 0)])
    notes = [] if not above else [f"{above:,} line{'s' * (above > 1)} above the names {_left(above)}."]
    begin = at + 1
    if rows and _is_of_units(rows[0], rows[1:]):
        question = "Row 1 has words in every column of numbers: is it a line of units, or a patient?"
        options = {LEAVE_OUT: "a line of units: leave it out", KEEP: "a patient: keep it"}
        if _answer("units", question, options, answers) == LEAVE_OUT:
            begin += 1 + next(i for i, line in enumerate(lines[at + 1 :]) if _filled(line))
            notes.append("The line of units below the names is left out.")
    return _Layout(names, begin, tuple(notes))


def _left(count: int) -> str:
    return "is left out" if count == 1 else "are left out"


def _answer(key: str, question: str, options: Mapping[str, str], answers: Answers) -> str:
    if answers.get(key) not in options:
        raise QuestionError(key, question, options)
    return answers[key]


def _find_names(lines: Sequence[Sequence[str]], width: int, answers: Answers) -> tuple[int, list[str]]:
    """Return the position of the line of names, -1 where there is none, and the names.

    Lines above them with a single cell are titles. Raises QuestionError where the first other line has
    numbers, or another length than most.
    """
    at = next((i for i, line in enumerate(lines) if _filled(line) > 1), 0)
    first = list(lines[at]) if lines else []
    numbers = _number_positions(first)
    below = next((line for line in lines[at + 1 :] if _filled(line)), [])
    # A line that is one cell shorter is R's only above a patient, and may be a title above names.
    fits = len(first) == width or (len(first) == width - 1 and bool(_number_positions(below)))
    if fits and not numbers and "names" not in answers:
        return at, first
    listed = ", ".join(map(str, numbers[:5])) + (" and more" if len(numbers) > 5 else "")
    why = (
        f"it holds numbers (column {listed}) as a patient's does"
        if numbers
        else "it has not as many cells as the others"
    )
    question = f"The first line must name the columns, but {why}: which line has the names?"
    likely = [
        i
        for i, line in enumerate(lines[:_SAMPLE_ROWS])
        if len(line) in (width, width - 1) and _filled(line) > 1 and not _number_positions(line)
    ]
    options = {str(i + 1): f"line {i + 1}" for i in sorted({at, *likely[:9]})}
    options[NO_NAMES] = "the file has no names"
    chosen = _answer("names", question, options, answers)
    if chosen == NO_NAMES:
        return -1, [f"column {i + 1}" for i in range(width)]
    return int(chosen) - 1, list(lines[int(chosen) - 1])


def _is_of_units(line: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a line has no number, and words where the rows below have numbers."""
    here = _numbers(line)
    if not rows or np.isfinite(here.values).any() or not here.unread.any():
        return False
    below = [_numbers([row[i] if i < len(row) else "" for row in rows]) for i in range(len(line))]
    of_numbers = [np.isfinite(each.values).sum() > each.unread.sum() for each in below]
    return bool((here.unread & of_numbers).any())


def _count_tail(lines: Sequence[Sequence[str]], width: int, answers: Answers) -> int:
    """Return how many of the last lines to leave out: totals and notes. Raises QuestionError to ask."""

    def is_tail(line: Sequence[str]) -> bool:
        first = next((cell.strip() for cell in line if cell.strip()), "")
        return (width > 2 and _filled(line) == 1) or _TOTALS.fullmatch(first) is not None

    count = sum(1 for _ in itertools.takewhile(is_tail, reversed(lines)))
    if not count or count == len(lines):
        return 0
    lines_look = "line looks" if count == 1 else f"{count:,} lines look"
    question = f"The last {lines_look} like totals or notes, not like patients: are they to be left out?"
    options = {LEAVE_OUT: "totals or notes: leave out", KEEP: "patients: keep"}
    return count if _answer("tail", question, options, answers) == LEAVE_OUT else 0


def _tail_note(count: int) -> str:
    return f"{count:,} line{'s' * (count > 1)} of totals or notes {_left(count)}."


# Text files.


def _text(data: bytes, answers: Answers) -> _Parts:
    """Read a text file: every cell is the text that it is."""
    body, encoding = _decoded(data, answers)
    notes: tuple[str, ...] = (f"The text was read as {encoding.title()}.",) if encoding else ()
    whole = len(body) <= limits.HEADER_BYTES
    head = _head(body)
    separator = _SEPARATOR_LINE.match(head)
    skipped = len(separator[0].encode()) if separator else 0
    delimiter, lines, width = _find_separator(_head(body[skipped:]), separator[1] if separator else "", whole)
    form = _FORMS.get(delimiter, "text")
    if delimiter == " ":  # any number of blanks is one separator
        body = b"\n".join(_BLANKS.sub(b"\t", line.strip()) for line in _LINE_END.split(body))
        delimiter, lines, width = _find_separator(_head(body), "\t", whole)
        form = "text with blanks"
    layout = _lay_out([line for _, line in lines], width, answers)
    names = layout.names
    begin = skipped + (lines[layout.begin - 1][0] if layout.begin else 0)
    end, tail = _find_end(body, begin, delimiter, width, answers)
    columns = _columns(body, (begin, end), delimiter, len(names))
    notes += (*layout.notes, *tail, *_line_breaks(columns, names, delimiter, answers))
    # A comma between cells leaves the point for decimals. Elsewhere only what is clear is read.
    guessed = bool(encoding) and "encoding" not in answers
    return _Parts(form, names, columns, cells.POINT if delimiter == "," else None, notes, guessed)


def decoded(data: bytes) -> str:
    """Return a text without its byte order mark. Raises QuestionError, or ValueError for no text."""
    return _decoded(data, {})[0].decode(errors="replace")


def _decoded(data: bytes, answers: Answers) -> tuple[bytes, str]:
    """Return a text as UTF-8 without its byte order mark, and its encoding, "" for Unicode.

    It is Windows-1252 or what the answers say. Which of the others it may be is never decided by the file:
    one patient's letters would change how all others are read. Raises QuestionError where Windows-1252 would
    put signs in place of letters.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _recoded(data, "utf-16"), ""
    if b"\0" in data:
        raise ValueError("The file holds zero bytes: it is no text, or UTF-16 without its mark.")
    line = _first_undecoded(data)
    if not line:
        return data.removeprefix(codecs.BOM_UTF8), ""
    question = f"The file is not in UTF-8 (line {line:,}): in which alphabet was it saved?"
    known = {"encoding": WESTERN} if _is_western(data) else {}
    encoding = _answer("encoding", question, ENCODINGS, known | dict(answers))
    return _recoded(data, encoding), encoding


def _is_western(data: bytes) -> bool:
    """Return whether a text makes sense in Windows-1252: words of Western Europe, and signs between words."""
    for begin in range(0, len(data), limits.HEADER_BYTES):
        piece = data[begin : begin + limits.HEADER_BYTES + 2]  # with what the next begins with
        kinds = piece.translate(_KIND_OF_BYTE)
        if piece.translate(None, _IN_WESTERN) or any(pair in kinds for pair in _NOT_WESTERN):
            return False
    return True


def _first_undecoded(data: bytes) -> int:
    """Return the first line (from 1) that is not in UTF-8; 0 where all are."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for begin in range(0, len(data), limits.HEADER_BYTES):  # a piece at a time: texts take more as str
        end = begin + limits.HEADER_BYTES
        try:
            decoder.decode(data[begin:end], final=end >= len(data))
        except UnicodeDecodeError as reason:
            return 1 + len(_LINE_END.findall(data[: begin + reason.start]))
    return 0


def _recoded(data: bytes, encoding: str) -> bytes:
    """Return a text of this encoding as UTF-8; letters that it does not have become question marks."""
    whole = encoding == "utf-16"
    pieces = codecs.iterdecode(
        (data[i : i + limits.HEADER_BYTES] for i in range(0, len(data), limits.HEADER_BYTES)),
        encoding,
        errors="strict" if whole else "replace",
    )
    try:
        recoded = b"".join(text.encode(errors="replace") for text in pieces)
    except UnicodeDecodeError:
        recoded = b"\0"
    if b"\0" in recoded:
        raise ValueError("The file is not in UTF-16 as it says, or holds zero bytes.")
    return recoded


def _head(body: bytes) -> str:
    return body[: limits.HEADER_BYTES].decode(errors="ignore")  # the last letter may be cut


Records = list[tuple[int, list[str]]]


def _records(head: str, delimiter: str, whole: bool) -> Records:
    """Return the first lines of a text: where each ends, in bytes of UTF-8, and its cells.

    A blank line has none. whole: whether the text is all of the file, or its last line may be cut short.
    """
    end = 0

    def lines() -> Iterator[str]:
        nonlocal end
        for line in io.StringIO(head, newline=""):
            end += len(line.encode())
            yield line

    records: Records = []
    try:
        for record in csv.reader(lines(), delimiter=delimiter):
            records.append((end, record))
            if len(records) > 2 * _SAMPLE_ROWS:
                return records
    except csv.Error:  # a cell that does not end
        return records
    return records if whole or len(records) < 2 else records[:-1]


def _find_separator(head: str, given: str, whole: bool) -> tuple[str, Records, int]:
    """Return the separator of a text table, its first lines, and how many cells most of these have.

    It is the one that cuts most of the first lines into equally many cells, and of several such the one that
    gives the most. given: the separator where the file states it. whole: as for `_records`.
    """
    best: tuple[float, int] = 0.0, 1
    separator, lines = ",", _records(head, ",", whole)
    for delimiter in [given] if given else reversed(_FORMS):  # a tie goes to the comma
        records = _records(head, delimiter, whole)
        widths = Counter(len(cells) for _, cells in records if _filled(cells))
        if not widths:
            continue
        width, count = max(widths.items(), key=lambda each: (each[1], each[0]))
        score = (count / widths.total() if width > 1 else 0.0), width
        if given or score >= best:
            best, separator, lines = score, delimiter, records
    rows = [line.split() for line in head.splitlines() if line.strip()]
    if (
        best[1] == 1
        and not given
        and len(rows) > 1
        and len({*map(len, rows[:_SAMPLE_ROWS])}) == 1 < len(rows[0])
    ):
        return " ", lines, len(rows[0])
    # Of more columns than can be opened, the check of names says so.
    if not whole and len(lines) < 2 and best[1] <= limits.MOST_COLUMNS:
        raise ValueError(
            "The first line does not end within a megabyte: is it a table with one row a patient?"
        )
    return separator, lines, best[1]


def _find_end(
    body: bytes, begin: int, delimiter: str, width: int, answers: Answers
) -> tuple[int, tuple[str, ...]]:
    """Return where the last patient's line ends, in bytes, and a note on the lines left out below."""
    last = max(begin, len(body.rstrip(f'{delimiter} \t\r\n"'.encode())))
    ended = _LINE_END.search(body, last)
    last = ended.end() if ended else len(body)
    start = max(begin, last - _TAIL_BYTES)
    if start > begin:  # within a line: begin with the next
        ended = _LINE_END.search(body, start)
        start = ended.end() if ended else last
    ends: list[tuple[int, list[str]]] = []  # where each line begins that is not blank, and its cells
    for line in io.StringIO(body[start:last].decode(errors="replace"), newline=""):
        row = next(csv.reader([line], delimiter=delimiter), [])
        if _filled(row):
            ends.append((start, row))
        start += len(line.encode())
    ends = ends[-_TAIL_ROWS:]
    count = _count_tail([row for _, row in ends], width, answers)
    return (ends[-count][0], (_tail_note(count),)) if count else (len(body), ())


def _columns(body: bytes, place: tuple[int, int], delimiter: str, count: int) -> list[Any]:
    """Return the columns of text of the lines at this place of the file, each with so many cells."""
    begin, end = place
    # Memory of Arrow's own: its threads may release it when Python is ending.
    stream = pa.BufferOutputStream()
    stream.write(memoryview(body)[begin:end])
    buffer = stream.getvalue()
    names = [f"f{i}" for i in range(count)]
    if not body[begin:end].strip():
        return [pa.array([], pa.large_string())] * count
    options = (
        pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=names),
        pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False
        ),
    )
    ragged: list[tuple[str, str]] = []

    def parsed() -> Any:
        try:
            return pyarrow.csv.read_csv(pa.BufferReader(buffer), *options)
        except pa.ArrowInvalid as reason:
            ragged.extend(_RAGGED.findall(str(reason)))
            raise

    table = cells.none_if_refused(parsed)
    if table is not None and table.num_columns == count:
        return list(table.columns)
    if not ragged:
        raise ValueError("The file cannot be read as a table: is a quotation mark left open?")
    row, columns = ragged[0]
    # Lines above are not among Arrow's rows.
    above = len(_LINE_END.findall(body[:begin]))
    raise ValueError(
        f"Row {above + int(row):,} of the file has not as many cells as the names ({int(columns):,}, not "
        f"{count:,}): every row needs one for each name, and no quotation mark left open."
    )


def _line_breaks(
    columns: Sequence[Any], names: Sequence[str], delimiter: str, answers: Answers
) -> tuple[str, ...]:
    """Return a note for each column with line breaks within its cells.

    Raises QuestionError where such a cell has room for a whole patient: a quotation mark may be left open.
    """
    notes = []
    for position, column in enumerate(columns, 1):
        broken = column.filter(pc.match_substring_regex(column, "[\r\n]"))
        if not len(broken):
            continue
        if pc.max(pc.count_substring(broken, delimiter)).as_py() >= len(names) - 1:
            question = (
                f"Column {position} has a line break within a cell, and as many separators as a patient: is "
                "it a text of several lines, or is a quotation mark left open?"
            )
            options = {KEEP: "a text of several lines"}
            _answer("line breaks", question, options, answers)
        notes.append(f"Column {position} has line breaks within {len(broken):,} of its cells.")
    return tuple(notes)


# Workbooks and Parquet files.


def _workbook(data: bytes, answers: Answers) -> _Parts:
    workbook_size.check_unpacked(data)
    sheets = workbook.sheets(data)
    if not sheets:
        raise ValueError("The workbook has no sheet with cells.")
    chosen = sheets[0]
    if len(sheets) > 1:
        options = {str(i): sheet.name for i, sheet in enumerate(sheets)}
        question = f"The workbook has {len(sheets):,} sheets with cells: which one is the table?"
        chosen = sheets[int(_answer("sheet", question, options, answers))]
    rows = workbook.rows(chosen)
    _check_fits(len(rows), len(rows[0]))
    shown = [[workbook.text(cell) for cell in row] for row in rows[: 2 * _SAMPLE_ROWS]]
    width = 1 + max((i for row in shown for i, cell in enumerate(row) if cell.strip()), default=0)
    layout = _lay_out([row[:width] if _filled(row) else [] for row in shown], width, answers)
    last = [(i, [workbook.text(cell) for cell in rows[i]]) for i in range(layout.begin, len(rows))[-1000:]]
    last = [(i, row) for i, row in last if _filled(row)][-_TAIL_ROWS:]
    count = _count_tail([row for _, row in last], width, answers)
    end = last[-count][0] if count else len(rows)
    columns = [
        workbook.column([row[i] for row in itertools.islice(rows, layout.begin, end)])
        for i in range(len(layout.names))
    ]
    notes = (*layout.notes, _tail_note(count)) if count else layout.notes
    return _Parts("workbook", layout.names, columns, None, notes)


def _parquet(data: bytes, _: Answers) -> _Parts:
    parquet = _opened(data)
    schema, metadata = parquet.schema_arrow, parquet.metadata
    stored = schema.names  # listed anew at each access
    names = ["" if name.startswith(_INDEX) else name.strip() for name in stored]
    check_names(names)
    for name, kind in zip(names, schema.types, strict=True):
        cells.as_numbers_or_text(pa.array([], kind), name)  # raises for a type that cannot be read
    check_size(sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)))
    _check_fits(metadata.num_rows, len(names))
    # Texts as codes, so that a text which is there a million times is not unpacked before it is counted.
    texts = [each.name for each in schema if each.type in (pa.string(), pa.large_string())]
    parquet = _opened(data, texts)
    batch_rows = max(256, limits.MOST_BATCH_CELLS // len(names))
    held: list[list[Any]] = [[] for _ in names]
    rows = text_bytes = 0
    for batch in cells.until_refused(lambda: parquet.iter_batches(batch_rows, use_threads=False)):
        if batch is None:
            raise ValueError("The Parquet file cannot be read to its end: is it complete?")
        rows += batch.num_rows  # a file may hold more than it says
        _check_fits(rows, len(names))
        for name, column, chunks in zip(names, batch.columns, held, strict=True):
            if pa.types.is_dictionary(column.type):
                text_bytes += cells.unpacked_bytes(column)
                cells.check_text(text_bytes, name)
            chunks.append(cells.as_numbers_or_text(column, name))
    if not rows:
        raise ValueError(NO_ROWS)
    return _Parts("Parquet", names, [pa.chunked_array(chunks) for chunks in held], cells.POINT)


def _opened(data: bytes, texts: Sequence[str] = ()) -> Any:
    """Return the opened file, which reads the columns `texts` as codes."""
    parquet = cells.none_if_refused(
        lambda: pyarrow.parquet.ParquetFile(
            pa.BufferReader(data), pre_buffer=False, read_dictionary=list(texts)
        )
    )
    if parquet is None:
        raise ValueError(
            "The file starts like a Parquet file but cannot be read as one: is it complete, and its names in "
            "UTF-8?"
        )
    return parquet
