"""Hold the data dictionary as a person types it, a line for each column, until it is complete.

The dictionary (`Schema`) is the public description of the columns: ranges of numbers, categories, and what is
filled into missing cells. A line is one column of it that may still be incomplete. No Streamlit here.
"""

import json
import math
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import pandas as pd

from dppca_core.tables import Schema, name_matching, safe_cell
from dppca_core.tables.cells import Marks
from dppca_core.tables.dictionary import lacks_values
from dppca_core.tables.dictionary_file import PATIENTS, stated_patients
from dppca_core.tables.dictionary_lines import (
    KINDS,
    MARKS,
    DictionaryLine,
    join_synonyms,
    join_words,
    line_from_column,
    lines_from_csv,
    number_text,
    record_field,
    split_synonyms,
    split_words,
    to_column,
)
from dppca_core.tables.patients import Counting
from dppca_core.tables.quality import AS_MISSING, Expected

ALL = "all"  # typed as a choice: all columns
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_POSITIONS = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?")
_FIELDS = [field.name for field in fields(DictionaryLine)]


@dataclass(frozen=True)
class OpenedDictionary:
    """Hold what a dictionary's file says; some of its lines may be incomplete.

    bound: of rows; None for the default. patients: the column that names them, and how the rows of one count;
    None where that is not stated. record: the field that REDCap's dictionary begins with, or "".
    """

    name: str
    lines: dict[str, DictionaryLine]
    bound: float | None = None
    patients: tuple[str, Counting] | None = None
    record: str = ""

    @property
    def complete(self) -> dict[str, DictionaryLine]:
        return {name: line for name, line in self.lines.items() if not line.incomplete}

    @property
    def bound_of_complete(self) -> float | None:
        """Return the bound where all lines are complete: it is for rows of all columns."""
        return self.bound if len(self.complete) == len(self.lines) else None


def expected(line: DictionaryLine) -> Expected:
    """Return what a line states of its column so far, by which cells can be checked before it is complete.

    An end of the range that was not typed is infinite, and synonyms of categories that are not typed are left
    out.
    """
    categories = split_words(line.categories)
    low, high = (-math.inf if line.low is None else line.low), (math.inf if line.high is None else line.high)
    pairs: list[tuple[str, float | str]] = []
    for word, meant in split_synonyms(line.synonyms):
        if line.kind == "category" and meant in categories:
            pairs.append((word, meant))
        elif line.kind == "number" and (number := _number(meant)) is not None:
            pairs.append((word, number))
    decimal, group = MARKS.get(line.marks, (None, ""))
    marks = None if decimal is None else Marks(decimal, group)
    return Expected(line.kind, low, high, categories, split_words(line.codes), tuple(pairs), marks)


def _number(typed: str) -> float | None:
    try:
        return float(typed)
    except ValueError:
        return None


def add_words(line: DictionaryLine, taken: Mapping[str, str]) -> DictionaryLine:
    """Return the line with further codes and synonyms; taken: by word, AS_MISSING or what it stands for."""
    codes = [word for word, take_as in taken.items() if take_as == AS_MISSING]
    synonyms = [(word, take_as) for word, take_as in taken.items() if take_as != AS_MISSING]
    return replace(
        line,
        codes=join_words([*split_words(line.codes), *codes]),
        synonyms=join_synonyms([*split_synonyms(line.synonyms), *synonyms]),
    )


def proposed_line(name: str, kind: str) -> DictionaryLine:
    """Return a line with the kind and the unit that a column's name and type propose, and nothing else.

    kind: of a table's column. Texts, dates and what names call a code count as categories.
    """
    if kind == "number" and not name_matching.is_code(name):
        return DictionaryLine("number", unit=name_matching.unit(name))
    return DictionaryLine("category")


def to_schema(lines: Mapping[str, DictionaryLine], bound: float | None) -> Schema:
    """Return the dictionary that the lines state. Raises ValueError while one is incomplete or impossible."""
    return Schema(tuple(to_column(name, line) for name, line in lines.items()), bound)


def parse_choice(typed: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a text chooses, in the order in which it names them, each once.

    The text has names, positions such as 7 or 3-500, counted from 1, or "all", on lines of their own or
    separated by commas. A line that is a column's name is read as that, commas and all. Raises ValueError for
    anything else.
    """
    known, chosen = set(columns), dict[str, None]()
    for line in map(str.strip, typed.splitlines()):
        for part in [line] if line in known else filter(None, map(str.strip, line.split(","))):
            if part in known:
                chosen[part] = None
            elif part == ALL:
                chosen |= dict.fromkeys(columns)
            elif (positions := _POSITIONS.fullmatch(part)) is None:
                raise ValueError(f"the table has no column '{part[:40]}'")
            else:
                # A single position has no second number.
                first, last = int(positions[1]), int(positions[2] or positions[1])
                if not 1 <= first <= last <= len(columns):
                    raise ValueError(f"places of columns go from 1 to {len(columns):,}, got '{part[:40]}'")
                chosen |= dict.fromkeys(columns[first - 1 : last])
    return tuple(chosen)


def describe_choice(chosen: Sequence[str], columns: Sequence[str]) -> str:
    """Return a text that `parse_choice` reads as the chosen of these columns."""
    return ALL if tuple(chosen) == tuple(columns) else "\n".join(chosen)


def to_frame(lines: Mapping[str, DictionaryLine]) -> pd.DataFrame:
    """Return the lines, by name of column, as the editor's table.

    The editor's table can be downloaded, so names are changed that a spreadsheet would read as formulas.
    """
    rows = [
        {"column": safe_cell(name)}
        | asdict(line)
        | {"low": number_text(line.low), "high": number_text(line.high)}
        for name, line in lines.items()
    ]
    return pd.DataFrame(rows, columns=["column", *_FIELDS]).astype("str")


def lines_from_frame(typed: pd.DataFrame, names: Collection[str]) -> dict[str, DictionaryLine]:
    """Return the lines that the editor's table states, by name of column.

    names: of the columns, in the order of the table's rows. The table's own names may have been changed by
    `to_frame`, so they are not read. Cells that were emptied count as not typed.
    """
    return {name: _line(row) for name, row in zip(names, typed.to_dict("records"), strict=True)}


def _line(row: Mapping[Hashable, Any]) -> DictionaryLine:
    cells = {name: "" if pd.isna(row[name]) else str(row[name]) for name in _FIELDS}
    kind, low, high = (cells.pop(name) for name in ("kind", "low", "high"))
    return DictionaryLine(kind if kind in KINDS else KINDS[0], _end(low), _end(high), **cells)


def _end(typed: str) -> float | None:
    """Return an end of a range as it was typed, with a decimal point or comma; None where it is no number.

    2.000 and 2,000 may be two thousand or two: they are none. A number field of a browser would take one.
    """
    text = typed.strip()
    if not _NUMBER.fullmatch(text) or _THOUSANDS.fullmatch(text):
        return None
    return float(text.replace(",", "."))


def read(data: bytes, name: str = "") -> OpenedDictionary:
    """Return what a dictionary's file says: JSON, or CSV of the template or REDCap.

    Raises ValueError with one sentence for a file that is no dictionary.
    """
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return OpenedDictionary(name, lines_from_csv(data), record=record_field(data))
    plain: Any = None
    bare: list[Any] = []
    with suppress(ValueError, RecursionError):  # `Schema.from_json` says what is wrong
        plain = json.loads(data)
    if isinstance(plain, dict) and isinstance(plain.get("fields"), list):
        # Another program's file may have columns without values, and some of no kind that is read here.
        bare = [field for field in plain["fields"] if lacks_values(field)]
        plain["fields"] = [field for field in plain["fields"] if not lacks_values(field)]
    schema = Schema.from_json(json.dumps(plain) if bare else data)
    lines = {column.name: line_from_column(column) for column in schema.columns}
    lines |= {field["name"]: proposed_line(field["name"], field["type"]) for field in bare}
    return OpenedDictionary(name, lines, schema.bound, stated_patients(plain.get(PATIENTS)))


def write(schema: Schema, column: str | None, counting: Counting) -> str:
    """Return the dictionary as JSON to save, which `read` reads.

    column, counting: names the patients, and how their rows count; None: not stated. It is in this file only,
    which its owner keeps, and never in a release, which publishes the schema.
    """
    if column is None:
        return schema.to_json()
    record = schema.model_dump() | {PATIENTS: {"column": column, "rows": counting}}
    return json.dumps(record, indent=1, ensure_ascii=False)
