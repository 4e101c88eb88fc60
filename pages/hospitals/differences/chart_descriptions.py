"""Describe the charts of hospitals that differ for those who do not see them. No Streamlit here."""

from __future__ import annotations

from pages.hospitals.differences import text as page_text
from pages.hospitals.differences.settings import KIND_TITLES
from pages.hospitals.differences.view import SiteView
from pages.shared import text


def standardising(view: SiteView) -> str:
    """Return the error of every way of standardising at this strength, the least first."""
    middles = {kind: float(errors[0][1]) for kind, errors in view.common_by_kind().items()}
    if not middles:
        return page_text.waiting(view)
    ranked = sorted(middles, key=lambda kind: middles[kind])
    drawn = "; ".join(f"{KIND_TITLES[kind]} {text.error(middles[kind])}" for kind in ranked)
    return f"Error of the joint answer by standardising: {drawn}. Guessing has {text.short(view.guess)}."
