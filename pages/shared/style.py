"""Colours, markers and dashes: one per method on every page, told apart without colour as well."""

from typing import NamedTuple


class Look(NamedTuple):
    """Okabe-Ito colours (safe for colour-blind readers), a marker and a dash."""

    colour: str
    symbol: str
    dash: str


LOOKS: dict[str, Look] = {
    "dps_pca": Look("#1F7FC0", "circle", "solid"),
    "analyze_gauss": Look("#D55E00", "square", "dash"),
    "analyze_gauss_sparse": Look("#009E73", "diamond", "dashdot"),
    "mod_sulq": Look("#CC79A7", "triangle-up", "longdash"),
    "pca": Look("#7A8793", "x", "dot"),
    "sparse_pca": Look("#56B4E9", "cross", "longdashdot"),
}
_SPARE = Look("#E69F00", "star", "longdash")

GUESS = "#7A8793"
THEOREM = ("#E69F00", "#F0C34E", "#F8E2A0")  # sampling, privacy, optimisation


def look(method: str) -> Look:
    """The method's look; a method without one of its own still shows."""
    return LOOKS.get(method, _SPARE)


def faded(colour: str, alpha: float) -> str:
    """A hex colour as rgba, for bands."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
