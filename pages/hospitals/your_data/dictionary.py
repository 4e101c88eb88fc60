"""Hold the data dictionary as a person types it, a line for each column, until it is complete.

The dictionary (`Schema`) is the public description of the columns: ranges of numbers, categories, and what is
filled into missing cells. A line is one column of it that may still be incomplete. No Streamlit here.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace

import pandas as pd

from dppca_core.tables import Schema, safe_cell
from dppca_core.tables.cells import Marks
from dppca_core.tables.dictionary_lines import (
    KINDS,
    MARKS,
    DictionaryLine,
    join_synonyms,
    join_words,
    line_from_column,
    lines_from_csv,
    split_synonyms,
    split_words,
    to_column,
)
from dppca_core.tables.quality import AS_MISSING, Expected

ALL = "all"  # typed as a choice: all columns
_POSITIONS = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?")
_DTYPES = {"kind": "str", "low": "float64", "high": "float64", "categories": "str"}
_DTYPES |= {"missing": "str", "usual": "str", "codes": "str", "synonyms": "str"}
_DTYPES |= {"marks": "str", "other_names": "str"}


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
    """Return a typed number, None for another text."""
    try:
        return float(typed)
    except ValueError:
        return None


def add_words(line: DictionaryLine, taken: Mapping[str, str]) -> DictionaryLine:
    """Return the line with further codes and synonyms.

    taken: by word, AS_MISSING or what it stands for, a category or a number as text.
    """
    codes = [word for word, take_as in taken.items() if take_as == AS_MISSING]
    synonyms = [(word, take_as) for word, take_as in taken.items() if take_as != AS_MISSING]
    return replace(
        line,
        codes=join_words([*split_words(line.codes), *codes]),
        synonyms=join_synonyms([*split_synonyms(line.synonyms), *synonyms]),
    )


def blank_line(kind: str) -> DictionaryLine:
    """Return a line with nothing typed; kind: of a table's column. Texts and dates count as categories."""
    return DictionaryLine("number" if kind == "number" else "category")


def to_schema(lines: Mapping[str, DictionaryLine], bound: float | None) -> Schema:
    """Return the dictionary that the lines state, with its columns in their order.

    bound: the length to which encoded rows are shortened; None for the dictionary's default. Raises
    ValueError with one sentence while a line is incomplete or impossible.
    """
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
    """Return a text that `parse_choice` reads as the chosen of these columns: "all", or a name a line."""
    return ALL if tuple(chosen) == tuple(columns) else "\n".join(chosen)


def to_frame(lines: Mapping[str, DictionaryLine]) -> pd.DataFrame:
    """Return the lines, by name of column, as the editor's table.

    The editor's table can be downloaded, so names are changed that a spreadsheet would read as formulas.
    """
    rows = [{"column": safe_cell(name)} | asdict(line) for name, line in lines.items()]
    return pd.DataFrame(rows, columns=["column", *_DTYPES]).astype({"column": "str"} | _DTYPES)


def lines_from_frame(typed: pd.DataFrame, names: Collection[str]) -> dict[str, DictionaryLine]:
    """Return the lines that the editor's table states, by name of column.

    names: of the columns, in the order of the table's rows. The table's own names may have been changed by
    `to_frame`, so they are not read. Cells that were emptied count as not typed.
    """
    return {
        name: DictionaryLine(
            row.kind if row.kind in KINDS else KINDS[0],
            *(float(end) if pd.notna(end) and math.isfinite(end) else None for end in (row.low, row.high)),
            # A row begins with index, column, kind, low and high; then come the line's other fields in order.
            *("" if pd.isna(cell) else str(cell) for cell in row[5:]),
        )
        for name, row in zip(names, typed.itertuples(), strict=True)
    }


def load(data: bytes, columns: Collection[str]) -> tuple[dict[str, DictionaryLine], float | None, list[str]]:
    """Return what a dictionary's file says of a table: lines, the bound, and columns that the table lacks.

    data: the file's content, JSON, or CSV of the template or REDCap. columns: the table's. The lines are of
    those columns that both have. The bound is None, for the default, where the table lacks some, since the
    stated one was for rows of all. Raises ValueError with one sentence for a file that is no dictionary, or
    has none of these columns.
    """
    lines, bound = read_lines(data)
    known = set(columns)
    absent = [name for name in lines if name not in known]
    if len(absent) == len(lines):
        raise ValueError("The dictionary speaks of none of this table's columns.")
    return {name: line for name, line in lines.items() if name in known}, None if absent else bound, absent


def read_lines(data: bytes) -> tuple[dict[str, DictionaryLine], float | None]:
    """Return the lines of a dictionary's file by name of column, and the bound of rows that it states.

    Raises ValueError with one sentence for a file that is no dictionary.
    """
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return lines_from_csv(data), None
    schema = Schema.from_json(data)
    return {column.name: line_from_column(column) for column in schema.columns}, schema.bound
