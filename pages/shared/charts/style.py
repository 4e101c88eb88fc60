"""Give each method one colour, marker and dash on every page, told apart without colour as well."""

from typing import NamedTuple

from dppca_core.experiments.explorer.results import ON_UNIT_ROWS
from dppca_core.experiments.no_privacy import NO_PRIVACY


class Look(NamedTuple):
    """Hold a colour after Okabe & Ito (safe for colour-blind readers), a marker and a dash.

    Every colour has a contrast of at least 3:1 with the page, light and dark (WCAG 2.1, 1.4.11). Okabe &
    Ito's orange and sky blue have 2.3:1 on white, so they are darker here.
    """

    colour: str
    symbol: str
    dash: str


LOOKS: dict[str, Look] = {
    "dps_pca": Look("#1F7FC0", "circle", "solid"),
    "noisy_power": Look("#1F7FC0", "circle-open", "dot"),
    "dp_oja": Look("#1F7FC0", "pentagon", "dash"),
    "analyze_gauss": Look("#D55E00", "square", "dash"),
    "analyze_gauss_gap": Look("#D55E00", "square-open", "longdash"),
    "analyze_gauss_sparse": Look("#009E73", "diamond", "dashdot"),
    "spiked_projector": Look("#009E73", "hourglass", "dash"),
    "federated_projector": Look("#C58300", "hourglass-open", "dashdot"),
    "wishart": Look("#D55E00", "hexagon", "dot"),
    "mod_sulq": Look("#CC79A7", "triangle-up", "longdash"),
    "sulq": Look("#CC79A7", "triangle-up-open", "dot"),
    "ppca": Look("#CC79A7", "star", "dash"),
    "amin": Look("#CC79A7", "star-open", "dashdot"),
    "dps_pca secure": Look("#1F7FC0", "circle-open-dot", "longdash"),
    "dps_pca shared": Look("#1F7FC0", "circle-x-open", "dashdot"),
    "cape": Look("#C58300", "triangle-right", "dash"),
    "dpdis_pca": Look("#C58300", "triangle-left", "longdash"),
    "full": Look("#C58300", "triangle-left-open", "solid"),
    "ldp_pca": Look("#8468B8", "bowtie", "dash"),
    "ldp_sparse_pca": Look("#8468B8", "diamond-tall", "dashdot"),
    "pca": Look("#7A8793", "x", "longdash"),  # a guess is dotted
    "local_pca": Look("#7A8793", "circle-x-open", "dash"),
    "sparse_pca": Look("#2F9AD0", "cross", "longdashdot"),
    "fantope_pca": Look("#2F9AD0", "cross-open", "dash"),
    "sparse_pca_shrunk": Look("#2F9AD0", "x-open", "dot"),
    "oracle_pca": Look("#7A8793", "asterisk-open", "solid"),
    "two_stage": Look("#C2407E", "star-diamond", "solid"),
    "two_stage_sealed": Look("#C2407E", "star-diamond-open", "dash"),
    "two_stage_own_noise": Look("#C2407E", "diamond-wide", "longdash"),
    "stacked_rounds": Look("#8C6D1F", "hexagram", "solid"),
    "stacked_rounds_sealed": Look("#8C6D1F", "hexagram-open", "dash"),
    "stacked_rounds_own_noise": Look("#8C6D1F", "hexagon2-open", "longdash"),
    "sealed_sparse": Look("#009E73", "triangle-right-open", "dot"),
    "own_noise_sparse": Look("#009E73", "triangle-down-open", "longdash"),
    NO_PRIVACY: Look("#8468B8", "square-cross-open", "longdashdot"),
}
_SPARE = Look("#8C6D1F", "star-triangle-up", "longdash")

GUESS = "#7A8793"
# Fills of sampling, privacy and optimisation; their edges differ by dash.
THEOREM = ("#C58300", "#F0C34E", "#F8E2A0")
THEOREM_DASHES = ("solid", "dash", "dot")  # of the edges, all in the first colour

WITH, WITHOUT = "#1F7FC0", "#D55E00"  # two data sets, with a patient and without
# Colours of heat maps by sign, with a contrast of 3:1 to the signs written on them in either theme.
NEGATIVE, POSITIVE = "#3A7CBF", "#C9434F"
DIVERGING = [[0, NEGATIVE], [0.5, "rgba(128,140,150,0.08)"], [1, POSITIVE]]


def look(method: str) -> Look:
    """Return a method's colour, marker (open with a dot on rows of length 1) and dash, or spare ones."""
    usual = LOOKS.get(ON_UNIT_ROWS.get(method, method), _SPARE)
    dotted = f"{usual.symbol.removesuffix('-open')}-open-dot"
    return usual._replace(symbol=dotted) if method in ON_UNIT_ROWS else usual


def faded(colour: str, alpha: float) -> str:
    """Return a hex colour as rgba, for bands; alpha: its opacity, from 0 to 1."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
