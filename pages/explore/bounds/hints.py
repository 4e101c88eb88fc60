"""Suggest what to try next on this page. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def try_this(settings: Mapping[str, Any]) -> str:
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
