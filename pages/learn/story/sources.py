"""Name where the story's numbers come from, for its foot and its report."""

from collections.abc import Sequence

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.methods import METHODS
from pages.learn.story.glossary import WAY_TITLES
from pages.learn.story.view import IN_HOUSE, NOISELESS, OPEN, PROTECTED, WORKING


def _titles(protocols: Sequence[str]) -> str:
    titles = [METHODS[PROTOCOLS[protocol].method].title for protocol in protocols if protocol != NOISELESS]
    return " or ".join([*titles, *["two stages"] * (NOISELESS in protocols)])


def _named(title: str, protocols: Sequence[str]) -> str:
    used = [METHODS[PROTOCOLS[protocol].method] for protocol in protocols if protocol != NOISELESS]
    named = "; or ".join(f"{method.title}, {method.reference}" for method in used)
    return f"{title}: {named}{'; or two stages without noise' if NOISELESS in protocols else ''}."


SOURCES = (
    *(_named(WAY_TITLES[way], methods) for way, methods in WORKING.items()),
    _named("Without noise", OPEN),
    "Of several methods the one that errs least in the median is shown, at each point of a curve too. There "
    "runs are fewer than at the setting itself.",
    f"One hospital alone: {_titles(IN_HOUSE)} without noise, {_titles(PROTECTED)} with it; in steps 7 "
    "and 8 whichever of these errs less. Joining is better or worse where spans of 8 of 10 runs lie apart.",
    "Error: the sine of the angles between the space found and the true one, as on the other pages; medians "
    "over runs, bars and bands hold 8 of 10 of them. Of little use: above a third of a random guess.",
    "Held here: exact accounting, a random start, and rows of length 1, or over a public bound where one "
    "trusted place keeps the sparse step.",
    "Two totals: their difference is the outer product of one patient's row, whose leading eigenvector is "
    "that row, up to the sign of all its values at once.",
    "Odds: Kairouz, Oh & Viswanath (IEEE Trans. Inf. Theory 2017); Dong, Roth & Su (JRSS-B 2022). Noise: "
    "Balle & Wang (ICML 2018).",
    "Bytes: numbers of 64 bits, without what a network or the keys of a sealed sum add.",
)
FORMULAS = r"Error: $\sqrt{k-\|\hat V^{\top}V\|_F^2}$; a random guess: $\sqrt{k(1-k/d)}$ in the mean square."
