"""The sentences of the front page. No Streamlit here."""

from collections.abc import Mapping
from typing import Any

TITLE = "What does privacy cost?"
INTRODUCTION = (
    "How far the directions found by private, distributed, sparse PCA are from the true ones, "
    "measured again at every move of a slider."
)


def try_this(settings: Mapping[str, Any]) -> str:
    """Return what to try next."""
    hospitals = "Hospitals" if settings["view"] == "plain" else "Hospitals N"
    if settings["data"] != "synthetic":
        return (
            "move the privacy slider to the right until DPS-PCA leaves the random guess, and compare with "
            "Analyze Gauss, which needs a curator whom all hospitals trust. Few patients buy little privacy."
        )
    return (
        f"move *{hospitals}* up and watch the error grow with its square root, then set *Noise across "
        "hospitals* (*More settings*) to secure aggregation: the price of not trusting the server is gone."
    )
