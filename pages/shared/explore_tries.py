"""What to try next on the pages of the menu's first section, from their settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def explorer(settings: Mapping[str, Any]) -> str:
    """What to do next on the front page."""
    hospitals = "Hospitals" if settings["view"] == "board" else "Hospitals N"
    if settings["data"] != "synthetic":
        return (
            "move the privacy slider to the right until DPS-PCA leaves the random guess, and compare with "
            "Analyze Gauss, which needs a curator whom all hospitals trust. Few patients buy little privacy."
        )
    return (
        f"move *{hospitals}* up and watch the error grow with its square root, then set *Noise across "
        "hospitals* (*More settings*) to secure aggregation: the price of not trusting the server is gone."
    )


def bounds(settings: Mapping[str, Any]) -> str:
    """What to do next on the bounds page."""
    if settings["n"] < 10**8:
        return (
            "start from the preset *Where Theorem 4.3 holds*, then move *Patients in total* to the left: the "
            "guarantee is lost at once, while the measured error hardly moves."
        )
    return (
        "set *Start* (*More settings*) from near the truth to random: the theorem falls silent, and the "
        "error does not change."
    )


def methods(settings: Mapping[str, Any]) -> str:
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
    if settings["noise"] == "independent":
        return (
            "move *Hospitals* up: methods with a trusted curator or secure sums stay where they are, those "
            "that trust no server pay for each hospital's own noise."
        )
    return (
        "set *Noise across hospitals* (*More settings*) to independent, then move *Hospitals* up: what "
        "DPS-PCA pays for a server that nobody need trust."
    )
