"""The data dictionary as a person types it, column by column, until it is complete. No Streamlit here."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import pandas as pd

from dppca_core.tables import Column, Schema, safe_cell
from dppca_core.tables.quality import AS_MISSING, Expected

KINDS = ("number", "category")
NONE_OF_THEM = "none"  # a fill: none of the categories
ALL = "all"  # columns
_PLACES = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?")
_DTYPES = {"kind": "str", "low": "float64", "high": "float64", "categories": "str"}
_DTYPES |= {"missing": "str", "usual": "str", "codes": "str", "synonyms": "str"}


@dataclass(frozen=True)
class DictionaryLine:
    """Hold one column as typed. A blank `missing` leaves the row out, else it is what is filled in.

    A blank `usual`: where most patients lie is not known. codes: words that count as missing. synonyms: other
    words for categories, as "m = male; w = female".
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
        """Return the line without mapped words, which may be cells."""
        return replace(self, codes="", synonyms="")

    @property
    def incomplete(self) -> bool:
        """Return whether something has still to be typed."""
        if self.kind == "category":
            return not split_words(self.categories)
        return self.low is None or self.high is None


def split_words(typed: str) -> tuple[str, ...]:
    """Split a text at semicolons where there are some, else at commas."""
    parts = typed.split(";" if ";" in typed else ",")
    return tuple(part.strip() for part in parts if part.strip())


def join_words(words: Sequence[str]) -> str:
    """Return a text that `split_words` splits into these."""
    return "; ".join(words) + (";" if len(words) == 1 and "," in words[0] else "")


def _split_synonyms(typed: str) -> tuple[tuple[str, str], ...]:
    """Return each word with its category, which is blank where none is stated."""
    pairs = (part.partition(" = " if " = " in part else "=") for part in split_words(typed))
    return tuple((word.strip(), category.strip()) for word, _, category in pairs)


def _join_synonyms(synonyms: Sequence[tuple[str, str]]) -> str:
    return join_words([f"{word} = {category}" for word, category in synonyms])


def add_words(line: DictionaryLine, taken: Mapping[str, str]) -> DictionaryLine:
    """Return the line in which these words are taken as categories, or as AS_MISSING."""
    codes = [word for word, take_as in taken.items() if take_as == AS_MISSING]
    synonyms = [(word, take_as) for word, take_as in taken.items() if take_as != AS_MISSING]
    return replace(
        line,
        codes=join_words([*split_words(line.codes), *codes]),
        synonyms=_join_synonyms([*_split_synonyms(line.synonyms), *synonyms]),
    )


def expected(line: DictionaryLine) -> Expected:
    """Return what an unfinished line states of its column."""
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
    """Return a line with nothing filled in. Texts and dates count as categories."""
    return DictionaryLine("number" if kind == "number" else "category")


def line_from_column(column: Column) -> DictionaryLine:
    """Return the editable line that states the same as a column of a data dictionary."""
    fill, usual = column.fill, column.usual
    mapped = join_words(column.missing_codes), _join_synonyms(column.synonyms)
    if column.kind == "number":
        missing, usually = ("" if value is None else f"{value:.15g}" for value in (fill, usual))
        return DictionaryLine("number", float(column.low), float(column.high), "", missing, usually, *mapped)
    missing = "" if fill is None else str(fill) or NONE_OF_THEM
    words = join_words(column.categories)
    usually = "" if usual is None else str(usual)
    return DictionaryLine("category", None, None, words, missing, usually, *mapped)


def to_column(name: str, line: DictionaryLine) -> Column:
    """Return the column of the dictionary. Raises ValueError, with the name, for what cannot be."""
    missing, usual = line.missing.strip(), line.usual.strip()
    mapped = {"missing_codes": split_words(line.codes), "synonyms": _split_synonyms(line.synonyms)}
    if line.kind == "category":
        known = split_words(line.categories)
        none = missing.casefold() == NONE_OF_THEM and NONE_OF_THEM not in map(str.casefold, known)
        fill = "" if none else missing or None
        return Column(name, "category", categories=known, fill=fill, usual=usual or None, **mapped)
    if line.low is None or line.high is None:
        raise ValueError(f"'{name}' needs its lowest and its highest value")
    filled = _number(
        missing, f"what is filled into '{name}' must be a number, or blank to leave the patient out"
    )
    usually = _number(usual, f"the usual value of '{name}' must be a number, or blank")
    return Column(name, "number", line.low, line.high, fill=filled, usual=usually, **mapped)


def _number(typed: str, otherwise: str) -> float | None:
    try:
        return float(typed) if typed else None
    except ValueError:
        raise ValueError(otherwise) from None


def to_schema(lines: Mapping[str, DictionaryLine], bound: float | None) -> Schema:
    """Return the dictionary. Raises ValueError with one sentence while it is incomplete or impossible."""
    return Schema(tuple(to_column(name, line) for name, line in lines.items()), bound)


def parse_choice(typed: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a text chooses: names, places such as 3-500 (from 1), or "all", by lines.

    Names and places can share a line, separated by commas. Raises ValueError for what is none of them.
    """
    known, chosen = set(columns), dict[str, None]()
    for line in map(str.strip, typed.splitlines()):
        for part in [line] if line in known else filter(None, map(str.strip, line.split(","))):
            if part in known:
                chosen[part] = None
            elif part == ALL:
                chosen |= dict.fromkeys(columns)
            elif (places := _PLACES.fullmatch(part)) is None:
                raise ValueError(f"the table has no column '{part[:40]}'")
            else:
                first, last = int(places[1]), int(places[2] or places[1])
                if not 1 <= first <= last <= len(columns):
                    raise ValueError(f"places of columns go from 1 to {len(columns):,}, got '{part[:40]}'")
                chosen |= dict.fromkeys(columns[first - 1 : last])
    return tuple(chosen)


def describe_choice(chosen: Sequence[str], columns: Sequence[str]) -> str:
    """Return a text that `parse_choice` reads as these columns: "all", or a name a line."""
    return ALL if tuple(chosen) == tuple(columns) else "\n".join(chosen)


def to_frame(lines: Mapping[str, DictionaryLine]) -> pd.DataFrame:
    """Return the lines as an editable table.

    The editor has a download of its own, so no name may be a formula there.
    """
    rows = [{"column": safe_cell(name)} | asdict(line) for name, line in lines.items()]
    return pd.DataFrame(rows, columns=["column", *_DTYPES]).astype({"column": "str"} | _DTYPES)


def lines_from_frame(typed: pd.DataFrame, names: Collection[str]) -> dict[str, DictionaryLine]:
    """Return the lines that an edited table states, for the columns that it shows, in order."""
    return {
        name: DictionaryLine(
            row.kind if row.kind in KINDS else KINDS[0],
            *(float(end) if pd.notna(end) and math.isfinite(end) else None for end in (row.low, row.high)),
            *("" if pd.isna(cell) else str(cell) for cell in row[5:]),
        )
        for name, row in zip(names, typed.itertuples(), strict=True)
    }


def load(text: bytes, columns: Collection[str]) -> tuple[dict[str, DictionaryLine], float | None, list[str]]:
    """Return the lines of the columns that the table has, the bound, and the columns that it lacks.

    Raises ValueError with one sentence for a file that is no dictionary, or one of other columns.
    """
    schema, known = Schema.from_json(text), set(columns)
    lines = {column.name: line_from_column(column) for column in schema.columns if column.name in known}
    if not lines:
        raise ValueError("The dictionary speaks of none of this table's columns.")
    absent = [column.name for column in schema.columns if column.name not in lines]
    return lines, None if absent else schema.bound, absent
