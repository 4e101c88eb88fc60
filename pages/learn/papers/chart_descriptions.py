"""Describe charts of the papers page for those who do not see them. No Streamlit here."""

from __future__ import annotations

import re

import pandas as pd

from pages.shared import text

_MARKUP = re.compile(r"<[^>]+>")


def paper(verdict: str, curves: pd.DataFrame, measure: str) -> str:
    """Return the verdict, and every curve at both of its ends; measure: the vertical axis's title."""
    parts = []
    for label, curve in curves.groupby("label", sort=False):
        rows = curve.sort_values("x").iloc[[0, -1]].itertuples()
        ends = [f"{text.short(row.mean)} at {text.number(row.x)}" for row in rows]
        name = text.symbols(str(label)) or "this run"
        parts.append(f"{name} {ends[0]}" if len(curve) == 1 else f"{name} from {ends[0]} to {ends[1]}")
    drawn = f"{_MARKUP.sub('', measure)}: {'; '.join(parts)}" if parts else "Nothing is stored"
    return f"{verdict}. {drawn}."
