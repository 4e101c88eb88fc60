"""Describe charts of the page on hospitals that differ for those who do not see them. No Streamlit here."""

from __future__ import annotations

from dppca_core.experiments.collaboration.joining import SiteResults
from pages.hospitals.differences import text as site_words
from pages.hospitals.differences import view
from pages.hospitals.differences.settings import KIND_TITLES
from pages.shared import text
from pages.shared.settings.catalogue import Settings


def standardising(results: SiteResults, settings: Settings) -> str:
    """The error of every way of standardising at this strength, the least first."""
    recipe, measure = results.of, view.SiteMeasure(results.of, settings)
    at = view.strength(recipe, settings)
    measured = {kind: measure.common(results, at, kind) for kind in recipe.kinds}
    middles = {kind: float(errors[0][1]) for kind, errors in measured.items() if errors is not None}
    if not middles:
        return site_words.waiting(results, settings)
    ranked = sorted(middles, key=lambda kind: middles[kind])
    parts = [f"{KIND_TITLES[kind]} {text.error(middles[kind])}" for kind in ranked]
    drawn = "; ".join(parts)
    return f"Error of the joint answer by standardising: {drawn}. Guessing has {text.short(measure.guess)}."
