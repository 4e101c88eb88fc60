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
class Line:
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
            return not words(self.categories)
        return self.low is None or self.high is None


def words(typed: str) -> tuple[str, ...]:
    """Categories between commas, or semicolons where there are some."""
    parts = typed.split(";" if ";" in typed else ",")
    return tuple(part.strip() for part in parts if part.strip())


def first(kind: str) -> Line:
    """A line with nothing filled in; of text, or of dates, as a category."""
    return Line("number" if kind == "number" else "category")


def of_column(column: Column) -> Line:
    """The line that says what a column of a dictionary says."""
    if column.kind == "number":
        return Line("number", float(column.low), float(column.high), "", _filled(column.fill))
    return Line("category", None, None, "; ".join(column.categories), _filled(column.fill))


def _filled(fill: float | str | None) -> str:
    if fill is None:
        return ""
    return (fill or NONE_OF_THEM) if isinstance(fill, str) else f"{fill:.15g}"


def column(name: str, line: Line) -> Column:
    """A column of the dictionary. Raises ValueError, with the column's name, for what cannot be."""
    missing = line.missing.strip()
    if line.kind == "category":
        known = words(line.categories)
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


def schema(lines: Mapping[str, Line], bound: float | None) -> Schema:
    """The dictionary. Raises ValueError with one sentence while something is lacking or cannot be."""
    return Schema(tuple(column(name, line) for name, line in lines.items()), bound)


def lacking(lines: Mapping[str, Line]) -> str:
    """What has still to be typed, in one sentence; nothing where all is there."""
    absent = [name for name, line in lines.items() if line.lacking]
    if not absent:
        return ""
    listed = ", ".join(absent[:3]) + (f" and {len(absent) - 3:,} more" if len(absent) > 3 else "")
    return f"Still to be typed, from a code book, not from these patients: range or categories of {listed}."


def frame(lines: Mapping[str, Line]) -> pd.DataFrame:
    """The lines as an editable table. It has a download of its own, so no name is a formula there."""
    found = list(lines.values())
    return pd.DataFrame(
        {
            "column": pd.Series([safe_cell(name) for name in lines], dtype="str"),
            "kind": pd.Series([line.kind for line in found], dtype="str"),
            "low": pd.Series([_or_nan(line.low) for line in found], dtype="float64"),
            "high": pd.Series([_or_nan(line.high) for line in found], dtype="float64"),
            "categories": pd.Series([line.categories for line in found], dtype="str"),
            "missing": pd.Series([line.missing for line in found], dtype="str"),
        }
    )


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def of_frame(typed: pd.DataFrame, names: Collection[str]) -> dict[str, Line]:
    """The lines that an edited table says, of the columns that it shows, in order."""
    return {
        name: Line(
            row.kind if row.kind in KINDS else KINDS[0],
            *(float(end) if pd.notna(end) and math.isfinite(end) else None for end in (row.low, row.high)),
            *("" if pd.isna(said) else str(said) for said in (row.categories, row.missing)),
        )
        for name, row in zip(names, typed.itertuples(), strict=True)
    }


def taken(text: bytes, columns: Collection[str]) -> tuple[dict[str, Line], float | None, str]:
    """A dictionary from its file: lines of the columns that the table has, its bound, and what is absent.

    Raises ValueError with one sentence for a file that is no dictionary, or one of other columns.
    """
    read = Schema.from_json(text)
    here = {one.name: of_column(one) for one in read.columns if one.name in columns}
    absent = [one.name for one in read.columns if one.name not in here]
    if not here:
        raise ValueError("The dictionary speaks of none of this table's columns.")
    said = ""
    if absent:
        more = f" and {len(absent) - 3:,} more" if len(absent) > 3 else ""
        said = f"Not in this table, so left out: {', '.join(absent[:3])}{more}."
    return here, None if absent else read.bound, said
