"""Name where the story's numbers come from, for its foot and its report."""

from collections.abc import Sequence

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.methods import METHODS
from pages.learn.story.glossary import PROTOCOL_TITLES
from pages.learn.story.view import IN_HOUSE, OPEN, PROTECTED, ROUNDS, WARM_UP


def _titles(protocols: Sequence[str]) -> str:
    return " or ".join(METHODS[PROTOCOLS[protocol].method].title for protocol in protocols)


_TITLES = PROTOCOL_TITLES | {OPEN: "Without noise"}
_METHODS = {title: METHODS[PROTOCOLS[protocol].method] for protocol, title in _TITLES.items()}
SOURCES = (
    *(f"{title}: {method.title}, {method.reference}." for title, method in _METHODS.items()),
    f"One hospital alone: {_titles(IN_HOUSE)} without noise, {_titles(PROTECTED)} with it; in steps 7 "
    "and 8 whichever of these errs less. Joining is better or worse where spans of 8 of 10 runs lie apart.",
    "Error: the sine of the angles between the space found and the true one, as on the other pages; medians "
    "over runs, bars and bands hold 8 of 10 of them. Of little use: above a third of a random guess.",
    f"Held here: exact accounting, a random start, rows over a public bound, {WARM_UP} warm-up rounds at "
    f"least, and {ROUNDS} rounds at least, or as many as the gap of made-up patients needs.",
    "Two totals: their difference is the outer product of one patient's row, whose leading eigenvector is "
    "that row, up to the sign of all its values at once.",
    "Odds: Kairouz, Oh & Viswanath (IEEE Trans. Inf. Theory 2017); Dong, Roth & Su (JRSS-B 2022). Noise: "
    "Balle & Wang (ICML 2018).",
    "Bytes: numbers of 64 bits, without what a network or the keys of a sealed sum add.",
)
FORMULAS = r"Error: $\sqrt{k-\|\hat V^{\top}V\|_F^2}$; a random guess: $\sqrt{k(1-k/d)}$ in the mean square."
