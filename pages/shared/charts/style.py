"""Give each meaning one colour on every page, and each method a marker and a dash as well."""

from typing import NamedTuple

from dppca_core.experiments.explorer.results import ON_UNIT_ROWS
from dppca_core.experiments.no_privacy import NO_PRIVACY


class Look(NamedTuple):
    """Hold a colour with 3:1 to the page, light and dark (WCAG 2.1, 1.4.11), a marker and a dash."""

    colour: str
    symbol: str
    dash: str


# One colour for each meaning, on every page: no method and no list below has one of these but `PRIVATE`.
PRIVATE = "#C2407E"  # the answer with privacy, and so the methods most often recommended
NOT_PRIVATE = "#813BEB"  # the same answer without privacy
TRUE = "#2E9CB8"  # the true pattern, which only simulated patients have
GUESS = "#7A8793"  # a random guess, dotted; and what has no meaning of its own, such as error bars
THE_PATIENT, ANOTHER_PATIENT = "#4F63E0", "#6F8F00"  # of the two data sets that an attacker tells apart
NOBODY, SEALED_SUMS, ONE_PLACE = "#B87209", "#5E7032", "#4E61AD"  # whom the hospitals trust
INK, PAPER, SERVER = "#111111", "#FFFFFF", "#5B6670"  # "text-colour" marks have INK outside a browser

# Colours of methods, and of lists whose entries have no colours of their own.
BLUE, VERMILION, GREEN, PINK = "#1F7FC0", "#D55E00", "#009E73", "#CC79A7"
OCHRE, LILAC, BRICK, BROWN = "#C58300", "#8468B8", "#995645", "#8C6D1F"
SERIES = (BLUE, VERMILION, GREEN, PINK, OCHRE, LILAC, BRICK, BROWN)

LOOKS: dict[str, Look] = {
    "dps_pca": Look(BLUE, "circle", "solid"),
    "noisy_power": Look(BLUE, "circle-open", "dot"),
    "dp_oja": Look(BLUE, "pentagon", "dash"),
    "analyze_gauss": Look(VERMILION, "square", "dash"),
    "analyze_gauss_gap": Look(VERMILION, "square-open", "longdash"),
    "analyze_gauss_sparse": Look(GREEN, "diamond", "dashdot"),
    "spiked_projector": Look(GREEN, "hourglass", "dash"),
    "federated_projector": Look(OCHRE, "hourglass-open", "dashdot"),
    "wishart": Look(VERMILION, "hexagon", "dot"),
    "mod_sulq": Look(PINK, "triangle-up", "longdash"),
    "sulq": Look(PINK, "triangle-up-open", "dot"),
    "ppca": Look(PINK, "star", "dash"),
    "amin": Look(PINK, "star-open", "dashdot"),
    "dps_pca secure": Look(BLUE, "circle-open-dot", "longdash"),
    "dps_pca shared": Look(BLUE, "circle-x-open", "dashdot"),
    "cape": Look(OCHRE, "triangle-right", "dash"),
    "dpdis_pca": Look(OCHRE, "triangle-left", "longdash"),
    "full": Look(OCHRE, "triangle-left-open", "solid"),
    "ldp_pca": Look(BRICK, "bowtie", "dash"),
    "ldp_sparse_pca": Look(BRICK, "diamond-tall", "dashdot"),
    "pca": Look(LILAC, "x", "longdash"),
    "local_pca": Look(LILAC, "circle-x-open", "dash"),
    "sparse_pca": Look(LILAC, "cross", "longdashdot"),
    "fantope_pca": Look(LILAC, "cross-open", "dash"),
    "sparse_pca_shrunk": Look(LILAC, "x-open", "dot"),
    "oracle_pca": Look(LILAC, "asterisk-open", "solid"),
    "two_stage": Look(PRIVATE, "star-diamond", "solid"),
    "two_stage_sealed": Look(PRIVATE, "star-diamond-open", "dash"),
    "two_stage_own_noise": Look(PRIVATE, "diamond-wide", "longdash"),
    "stacked_rounds": Look(BROWN, "hexagram", "solid"),
    "stacked_rounds_sealed": Look(BROWN, "hexagram-open", "dash"),
    "stacked_rounds_own_noise": Look(BROWN, "hexagon2-open", "longdash"),
    "sealed_sparse": Look(GREEN, "triangle-right-open", "dot"),
    "own_noise_sparse": Look(GREEN, "triangle-down-open", "longdash"),
    NO_PRIVACY: Look(NOT_PRIVATE, "square-cross-open", "longdashdot"),
}
_SPARE = Look(BROWN, "star-triangle-up", "longdash")

# Fills of sampling, privacy and optimisation; their edges differ by dash.
THEOREM = (OCHRE, "#F0C34E", "#F8E2A0")
THEOREM_DASHES = ("solid", "dash", "dot")  # of the edges, all in the first colour
# Colours of heat maps by sign, with a contrast of 3:1 to the signs written on them in either theme.
NEGATIVE, POSITIVE = "#3A7CBF", "#C9434F"
DIVERGING = [[0, NEGATIVE], [0.5, "rgba(128,140,150,0.08)"], [1, POSITIVE]]
ORDERED = ("#5B5BB8", "#3B82C4", "#1B9C9C", "#3F9A58", "#8A8D1F", "#C47712")  # a family, from first to last
REGIONS, ON_REGIONS = ("#1B9E77", "#F0C34E", "#C44E52", "#9AA5B1"), (INK, INK, PAPER, INK)  # of a map


def look(method: str) -> Look:
    """Return a method's colour, marker (open with a dot on rows of length 1) and dash, or spare ones."""
    usual = LOOKS.get(ON_UNIT_ROWS.get(method, method), _SPARE)
    dotted = f"{usual.symbol.removesuffix('-open')}-open-dot"
    return usual._replace(symbol=dotted) if method in ON_UNIT_ROWS else usual


def faded(colour: str, alpha: float) -> str:
    """Return a hex colour as rgba; alpha: its opacity, from 0 to 1."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
