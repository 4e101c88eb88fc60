"""Suggest what to try next on this page. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def try_this(settings: Mapping[str, Any]) -> str:
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
