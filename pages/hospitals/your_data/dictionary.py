"""The data dictionary as a person types it, column by column, until it is complete. No Streamlit here."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

import pandas as pd

from dppca_core.tables import Column, Schema, safe_cell

KINDS = ("number", "category")
NONE_OF_THEM = "none"  # a fill: none of the categories
ALL = "all"  # columns
_PLACES = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?")
_DTYPES = {"kind": "str", "low": "float64", "high": "float64", "categories": "str"}
_DTYPES |= {"missing": "str", "usual": "str"}


@dataclass(frozen=True)
class DictionaryLine:
    """Hold one column as typed. A blank `missing` leaves the row out, else it is what is filled in.

    A blank `usual`: where most patients lie is not known.
    """

    kind: str = "number"
    low: float | None = None
    high: float | None = None
    categories: str = ""
    missing: str = ""
    usual: str = ""

    @property
    def incomplete(self) -> bool:
        """Return whether something has still to be typed."""
        if self.kind == "category":
            return not split_categories(self.categories)
        return self.low is None or self.high is None


def split_categories(typed: str) -> tuple[str, ...]:
    """Split categories at semicolons where there are some, else at commas."""
    parts = typed.split(";" if ";" in typed else ",")
    return tuple(part.strip() for part in parts if part.strip())


def blank_line(kind: str) -> DictionaryLine:
    """Return a line with nothing filled in. Texts and dates count as categories."""
    return DictionaryLine("number" if kind == "number" else "category")


def line_from_column(column: Column) -> DictionaryLine:
    """Return the editable line that states the same as a column of a data dictionary."""
    fill, usual = column.fill, column.usual
    if column.kind == "number":
        missing, usually = ("" if value is None else f"{value:.15g}" for value in (fill, usual))
        return DictionaryLine("number", float(column.low), float(column.high), "", missing, usually)
    missing = "" if fill is None else str(fill) or NONE_OF_THEM
    words = "; ".join(column.categories)
    return DictionaryLine("category", None, None, words, missing, "" if usual is None else str(usual))


def to_column(name: str, line: DictionaryLine) -> Column:
    """Return the column of the dictionary. Raises ValueError, with the name, for what cannot be."""
    missing, usual = line.missing.strip(), line.usual.strip()
    if line.kind == "category":
        known = split_categories(line.categories)
        none = missing.casefold() == NONE_OF_THEM and NONE_OF_THEM not in map(str.casefold, known)
        return Column(
            name, "category", categories=known, fill="" if none else missing or None, usual=usual or None
        )
    if line.low is None or line.high is None:
        raise ValueError(f"'{name}' needs its lowest and its highest value")
    fill = _number(
        missing, f"what is filled into '{name}' must be a number, or blank to leave the patient out"
    )
    usually = _number(usual, f"the usual value of '{name}' must be a number, or blank")
    return Column(name, "number", line.low, line.high, fill=fill, usual=usually)


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
            *("" if pd.isna(cell) else str(cell) for cell in (row.categories, row.missing, row.usual)),
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
