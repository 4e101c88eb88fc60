"""Describe charts of the page on hospitals that differ for those who do not see them. No Streamlit here."""

from __future__ import annotations

from dppca_core.experiments.collaboration.joining import SiteResults
from pages.hospitals.differences import text as site_words
from pages.hospitals.differences import view
from pages.hospitals.differences.settings import KIND_TITLES
from pages.shared import text
from pages.shared.settings.catalogue import Settings


def standardising(found: SiteResults, settings: Settings) -> str:
    """The error of every way of standardising at this strength, the least first."""
    of, measure = found.recipe, view.SiteMeasure(found.recipe, settings)
    at = view.strength(of, settings)
    seen = {kind: measure.common(found, at, kind) for kind in of.kinds}
    middles = {kind: float(one[0][1]) for kind, one in seen.items() if one is not None}
    if not middles:
        return site_words.waiting(found, settings)
    ranked = sorted(middles, key=lambda kind: middles[kind])
    parts = [f"{KIND_TITLES[kind]} {text.error(middles[kind])}" for kind in ranked]
    drawn = "; ".join(parts)
    return f"Error of the joint answer by standardising: {drawn}. Guessing has {text.short(measure.guess)}."
