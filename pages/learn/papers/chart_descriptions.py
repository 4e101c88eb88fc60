"""Describe charts of the papers page for those who do not see them. No Streamlit here."""

from __future__ import annotations

import re

import pandas as pd

from pages.shared import text

_MARKUP = re.compile(r"<[^>]+>")


def paper(verdict: str, curves: pd.DataFrame, measure: str) -> str:
    """The verdict, and every curve at both of its ends; measure: an axis title, without its markup."""
    parts = []
    for label, own in curves.groupby("label", sort=False):
        own = own.sort_values("x")
        ends = [f"{text.short(row.mean)} at {text.number(row.x)}" for row in own.iloc[[0, -1]].itertuples()]
        name = text.symbols(str(label)) or "this run"
        parts.append(f"{name} {ends[0]}" if len(own) == 1 else f"{name} from {ends[0]} to {ends[1]}")
    drawn = f"{_MARKUP.sub('', measure)}: {'; '.join(parts)}" if parts else "Nothing is stored"
    return f"{verdict}. {drawn}."
