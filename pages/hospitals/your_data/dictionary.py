"""Hold the data dictionary as a person types it, a line for each column, until it is complete.

The dictionary (`Schema`) is the public description of the columns: ranges of numbers, categories, and what is
filled into missing cells. A line is one column of it that may still be incomplete. No Streamlit here.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import pandas as pd

from dppca_core.tables import Column, Schema, safe_cell
from dppca_core.tables.quality import AS_MISSING, Expected

KINDS = ("number", "category")
NONE_OF_THEM = "none"  # typed as what is filled in (`_none_of`): the cell counts as none of the categories
ALL = "all"  # typed as a choice: all columns
# By what separates words: one word up to the next, in quotation marks or as it stands.
_WORD = {mark: re.compile(rf'\s*(?:"((?:[^"]|"")*)"|([^{mark}]*?))\s*(?:{mark}|$)') for mark in ";,"}
_POSITIONS = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?")
_DTYPES = {"kind": "str", "low": "float64", "high": "float64", "categories": "str"}
_DTYPES |= {"missing": "str", "usual": "str", "codes": "str", "synonyms": "str"}


@dataclass(frozen=True)
class DictionaryLine:
    """Hold one column as typed, in a row of the editor; a blank text or None was not typed.

    low, high: the range of a number. categories: of a category, separated by semicolons or commas. missing:
    what is filled into missing cells; blank leaves their rows out. usual: where most patients lie; blank if
    that is not known. codes: words that count as missing. synonyms: other words for categories, as
    "m = male; w = female".
    """

    kind: str = "number"
    low: float | None = None
    high: float | None = None
    categories: str = ""
    missing: str = ""
    usual: str = ""
    codes: str = ""
    synonyms: str = ""

    @property
    def without_words(self) -> "DictionaryLine":
        """Return the line without codes and synonyms, which may be quoted from cells and so be private."""
        return replace(self, codes="", synonyms="")

    @property
    def incomplete(self) -> bool:
        """Return whether the range or the categories have still to be typed."""
        if self.kind == "category":
            return not split_words(self.categories)
        return self.low is None or self.high is None


def split_words(typed: str) -> tuple[str, ...]:
    """Split a text at semicolons, or at commas where it has none, and leave out blank parts.

    A part in quotation marks is one word; a quotation mark within is written twice.
    """
    parts = _WORD[";" if ";" in typed else ","].findall(typed)
    words = (quoted.replace('""', '"') or plain for quoted, plain in parts)
    return tuple(word for word in words if word.strip())


def join_words(words: Sequence[str]) -> str:
    """Return a text that `split_words` splits into these."""
    return "; ".join(map(_quoted, words)) + (";" if len(words) == 1 and "," in words[0] else "")


def _quoted(word: str) -> str:
    """Return a word as it stands in a list of words, in quotation marks where it would be read otherwise."""
    return '"' + word.replace('"', '""') + '"' if ";" in word or word.startswith('"') else word


def _none_of(categories: Sequence[str]) -> str:
    """Return what is typed to fill in none of these: "none" or, if that is one of them, "none of them"."""
    typed = NONE_OF_THEM
    while typed in map(str.casefold, categories):
        typed += " of them"
    return typed


def number_text(value: float | str | None) -> str:
    """Return the shortest text that is read as this number, "" for None."""
    return "" if value is None else repr(float(value)).removesuffix(".0")


def _split_synonyms(typed: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of a word and its category, which is "" where none is stated.

    Blanks about the sign mark it where a word has one of its own, as "<=5 = low".
    """
    pairs = (part.partition(" = " if " = " in part else "=") for part in split_words(typed))
    return tuple((word.strip(), category.strip()) for word, _, category in pairs)


def _join_synonyms(synonyms: Sequence[tuple[str, str]]) -> str:
    """Return a text that `_split_synonyms` splits into these pairs of a word and its category."""
    return join_words([f"{word} = {category}" for word, category in synonyms])


def add_words(line: DictionaryLine, taken: Mapping[str, str]) -> DictionaryLine:
    """Return the line with further codes and synonyms; taken: each word's category, or AS_MISSING."""
    codes = [word for word, take_as in taken.items() if take_as == AS_MISSING]
    synonyms = [(word, take_as) for word, take_as in taken.items() if take_as != AS_MISSING]
    return replace(
        line,
        codes=join_words([*split_words(line.codes), *codes]),
        synonyms=_join_synonyms([*_split_synonyms(line.synonyms), *synonyms]),
    )


def expected(line: DictionaryLine) -> Expected:
    """Return what a line states of its column so far, by which cells can be checked before it is complete.

    An end of the range that was not typed is infinite, and synonyms of categories that are not typed are left
    out.
    """
    categories = split_words(line.categories)
    return Expected(
        line.kind,
        -math.inf if line.low is None else line.low,
        math.inf if line.high is None else line.high,
        categories,
        split_words(line.codes),
        tuple(pair for pair in _split_synonyms(line.synonyms) if pair[1] in categories),
    )


def blank_line(kind: str) -> DictionaryLine:
    """Return a line with nothing typed; kind: of a table's column. Texts and dates count as categories."""
    return DictionaryLine("number" if kind == "number" else "category")


def line_from_column(column: Column) -> DictionaryLine:
    """Return the editable line that states the same as a column of a data dictionary."""
    fill, usual = column.fill, column.usual
    mapped = {"codes": join_words(column.missing_codes), "synonyms": _join_synonyms(column.synonyms)}
    if column.kind == "number":
        missing, usually = number_text(fill), number_text(usual)
        ends = float(column.low), float(column.high)
        return DictionaryLine("number", *ends, missing=missing, usual=usually, **mapped)
    # A blank filling is none of the categories.
    missing = "" if fill is None else str(fill) or _none_of(column.categories)
    words = join_words(column.categories)
    usually = "" if usual is None else str(usual)
    return DictionaryLine("category", None, None, words, missing, usually, **mapped)


def to_column(name: str, line: DictionaryLine) -> Column:
    """Return the column that a line states. Raises ValueError where it is incomplete or impossible."""
    missing, usual = line.missing.strip(), line.usual.strip()
    mapped = {"missing_codes": split_words(line.codes), "synonyms": _split_synonyms(line.synonyms)}
    if line.kind == "category":
        known = split_words(line.categories)
        fill = "" if missing.casefold() == _none_of(known) else missing or None
        return Column(name, "category", categories=known, fill=fill, usual=usual or None, **mapped)
    if line.low is None or line.high is None:
        raise ValueError(f"'{name}' needs its lowest and its highest value")
    filled = _parse_number(
        missing, f"what is filled into '{name}' must be a number, or blank to leave the patient out"
    )
    usually = _parse_number(usual, f"the usual value of '{name}' must be a number, or blank")
    return Column(name, "number", line.low, line.high, fill=filled, usual=usually, **mapped)


def _parse_number(typed: str, otherwise: str) -> float | None:
    """Return a typed number, None for a blank, or raise ValueError with the sentence `otherwise`."""
    try:
        return float(typed) if typed else None
    except ValueError:
        raise ValueError(otherwise) from None


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


def load(text: bytes, columns: Collection[str]) -> tuple[dict[str, DictionaryLine], float | None, list[str]]:
    """Return what a dictionary's file says of a table: lines, the bound, and columns that the table lacks.

    text: the file's content, JSON. columns: the table's. The lines are of those columns that both have. The
    bound is None, for the default, where the table lacks some, since the stated one was for rows of all.
    Raises ValueError with one sentence for a file that is no dictionary, or has none of these columns.
    """
    schema, known = Schema.from_json(text), set(columns)
    lines = {column.name: line_from_column(column) for column in schema.columns if column.name in known}
    if not lines:
        raise ValueError("The dictionary speaks of none of this table's columns.")
    absent = [column.name for column in schema.columns if column.name not in lines]
    return lines, None if absent else schema.bound, absent
