"""The data dictionary as a person types it, column by column, until it is whole. No Streamlit here."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from dppca_core.tables import Column, Schema, safe_cell

KINDS = ("number", "category")
NONE_OF_THEM = "none"  # a fill: none of the categories


@dataclass(frozen=True)
class DictionaryLine:
    """One column as typed: `missing` is blank for leaving the patient out, else what is filled in."""

    kind: str = "number"
    low: float | None = None
    high: float | None = None
    categories: str = ""
    missing: str = ""

    @property
    def lacking(self) -> bool:
        """Whether something has still to be typed."""
        if self.kind == "category":
            return not split_categories(self.categories)
        return self.low is None or self.high is None


def split_categories(typed: str) -> tuple[str, ...]:
    """Categories between commas, or semicolons where there are some."""
    parts = typed.split(";" if ";" in typed else ",")
    return tuple(part.strip() for part in parts if part.strip())


def blank_line(kind: str) -> DictionaryLine:
    """A line with nothing filled in; of text, or of dates, as a category."""
    return DictionaryLine("number" if kind == "number" else "category")


def line_from_column(column: Column) -> DictionaryLine:
    """The line that says what a column of a dictionary says."""
    if column.kind == "number":
        return DictionaryLine("number", float(column.low), float(column.high), "", _filled(column.fill))
    return DictionaryLine("category", None, None, "; ".join(column.categories), _filled(column.fill))


def _filled(fill: float | str | None) -> str:
    if fill is None:
        return ""
    return (fill or NONE_OF_THEM) if isinstance(fill, str) else f"{fill:.15g}"


def to_column(name: str, line: DictionaryLine) -> Column:
    """A column of the dictionary. Raises ValueError, with the column's name, for what cannot be."""
    missing = line.missing.strip()
    if line.kind == "category":
        known = split_categories(line.categories)
        none = missing.casefold() == NONE_OF_THEM and NONE_OF_THEM not in map(str.casefold, known)
        return Column(name, "category", categories=known, fill="" if none else missing or None)
    if line.low is None or line.high is None:
        raise ValueError(f"'{name}' needs its lowest and its highest value")
    fill = None
    if missing:
        try:
            fill = float(missing)
        except ValueError:
            raise ValueError(
                f"what is filled into '{name}' must be a number, or blank to leave the patient out"
            ) from None
    return Column(name, "number", line.low, line.high, fill=fill)


def to_schema(lines: Mapping[str, DictionaryLine], bound: float | None) -> Schema:
    """The dictionary. Raises ValueError with one sentence while something is lacking or cannot be."""
    return Schema(tuple(to_column(name, line) for name, line in lines.items()), bound)


def missing_entries(lines: Mapping[str, DictionaryLine]) -> str:
    """What has still to be typed, in one sentence; nothing where all is there."""
    absent = [name for name, line in lines.items() if line.lacking]
    if not absent:
        return ""
    listed = ", ".join(absent[:3]) + (f" and {len(absent) - 3:,} more" if len(absent) > 3 else "")
    return f"Still to be typed, from a code book, not from these patients: range or categories of {listed}."


def to_frame(lines: Mapping[str, DictionaryLine]) -> pd.DataFrame:
    """The lines as an editable table. It has a download of its own, so no name is a formula there."""
    rows = list(lines.values())
    return pd.DataFrame(
        {
            "column": pd.Series([safe_cell(name) for name in lines], dtype="str"),
            "kind": pd.Series([line.kind for line in rows], dtype="str"),
            "low": pd.Series([_or_nan(line.low) for line in rows], dtype="float64"),
            "high": pd.Series([_or_nan(line.high) for line in rows], dtype="float64"),
            "categories": pd.Series([line.categories for line in rows], dtype="str"),
            "missing": pd.Series([line.missing for line in rows], dtype="str"),
        }
    )


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def lines_from_frame(typed: pd.DataFrame, names: Collection[str]) -> dict[str, DictionaryLine]:
    """The lines that an edited table says, of the columns that it shows, in order."""
    return {
        name: DictionaryLine(
            row.kind if row.kind in KINDS else KINDS[0],
            *(float(end) if pd.notna(end) and math.isfinite(end) else None for end in (row.low, row.high)),
            *("" if pd.isna(cell) else str(cell) for cell in (row.categories, row.missing)),
        )
        for name, row in zip(names, typed.itertuples(), strict=True)
    }


def load(text: bytes, columns: Collection[str]) -> tuple[dict[str, DictionaryLine], float | None, str]:
    """A dictionary from its file: lines of the columns that the table has, its bound, and what is absent.

    Raises ValueError with one sentence for a file that is no dictionary, or one of other columns.
    """
    schema = Schema.from_json(text)
    lines = {column.name: line_from_column(column) for column in schema.columns if column.name in columns}
    absent = [column.name for column in schema.columns if column.name not in lines]
    if not lines:
        raise ValueError("The dictionary speaks of none of this table's columns.")
    note = ""
    if absent:
        more = f" and {len(absent) - 3:,} more" if len(absent) > 3 else ""
        note = f"Not in this table, so left out: {', '.join(absent[:3])}{more}."
    return lines, None if absent else schema.bound, note
