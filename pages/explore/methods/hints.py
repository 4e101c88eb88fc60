"""Suggest what to try next on this page. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def try_this(settings: Mapping[str, Any]) -> str:
    """What to do next on the methods page."""
    if settings["compare.panel"] == "needed":
        return (
            "halve the error wanted: where sampling is what errs, four times the patients are needed; where "
            "privacy noise is, only twice."
        )
    if settings["compare.panel"] == "frontier":
        return (
            "click two points of one method, one with much privacy and one with little, and see which "
            "loadings the noise hides first."
        )
    if settings["provider_noise"] == "independent":
        return (
            "move *Hospitals* up: methods with a trusted curator or secure sums stay where they are, those "
            "that trust no server pay for each hospital's own noise."
        )
    return (
        "set *Noise across hospitals* (*More settings*) to independent, then move *Hospitals* up: what "
        "DPS-PCA pays for a server that nobody need trust."
    )
