"""Name where the story's numbers come from, for its fold and its report."""

from collections.abc import Sequence

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.methods import METHODS
from pages.learn.story.glossary import WAY_TITLES
from pages.learn.story.view import IN_HOUSE, OPEN, PROTECTED, WORKING


def _named(title: str, protocols: Sequence[str]) -> str:
    used = [METHODS[PROTOCOLS[protocol].method] for protocol in protocols]
    return f"{title}: {'; or '.join(f'{method.title}, {method.reference}' for method in used)}."


SOURCES = (
    *(_named(WAY_TITLES[way], methods) for way, methods in WORKING.items()),
    _named("Without noise", OPEN),
    _named("The largest hospital alone, in-house", IN_HOUSE),
    _named("The largest hospital alone, published", PROTECTED),
    "Of these and the recommended method of a trust, the one that errs least in the median is shown, at each "
    "point of a curve too. There runs are fewer. With noise, rows have length 1, so noise may seem to help.",
    "Joining is better or worse where spans of 8 of 10 runs lie apart. Alone, numbers are those of "
    "*Providers*; where there are many hospitals, those of other patients.",
    "Share recovered: 1 − ‖sin Θ‖²/k, Θ the angles between the space that is released and the true one. "
    "Angle: the largest of them. Medians over runs; bars and bands hold 8 of 10. Of little use: an error "
    "above a third of a guess's. Almost free: noise costs less than 1 % of the pattern.",
    "Held here: exact accounting, a random start, and rows of length 1, or over a public bound where one "
    "trusted place keeps the sparse step.",
    "Two totals: their difference is the outer product of one patient's row, whose leading eigenvector is "
    "that row, up to the sign of all its values at once.",
    "Odds: Kairouz, Oh & Viswanath (IEEE Trans. Inf. Theory 2017); Dong, Roth & Su (JRSS-B 2022). Noise: "
    "Balle & Wang (ICML 2018).",
    "Bytes: numbers of 64 bits, without what a network or the keys of a sealed sum add.",
)
FORMULAS = r"Share: $\|\hat V^{\top}V\|_F^2/k$; of a random guess $k/d$ in the mean."
