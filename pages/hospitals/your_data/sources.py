"""State where the page's numbers come from: papers, formulas and versions of libraries."""

from collections.abc import Iterator, Sequence
from functools import partial

from dppca_core.methods import METHODS
from dppca_core.release.request import OFFERED
from dppca_core.tables.patients import ASSIGNMENT_SEED
from pages.shared.document.blocks import Fold
from pages.shared.reports import sources

_FORMULAS = r"""
A number $x$ becomes $(x-\tfrac{l+h}2)/\tfrac{h-l}2$, clipped to $[-1,1]$; one of $c$ categories becomes $c$
indicators less $1/\max(c,2)$. Rows are clipped to norm $B$ and divided by it. With $|x|\le1$, replacing a
row moves $S=\sum_ix_ix_i^{\top}$ by $\Delta=|xx^{\top}-yy^{\top}|_F\le\sqrt2$, adding or removing one by
$1$; the noise has $\sigma=\Delta z$, for $T$ steps $\sqrt T\,\Delta z$, with
$\delta=\Phi(\tfrac1{2z}-\varepsilon z)-e^{\varepsilon}\Phi(-\tfrac1{2z}-\varepsilon z)$ (Balle & Wang 2018).
"""
PAPERS = (
    "Totals: privacy loss distributions (Koskela et al. 2020; Doroshenko et al. 2022) by dp-accounting, or a "
    "closed form where it gives less.",
    "Discrete Gaussian: Canonne, Kamath & Steinke 2020, by OpenDP.",
    "Why floating point is not enough: Mironov 2012; Casacuberta et al. 2022.",
)


def fold(names: Sequence[str] = OFFERED) -> Fold:
    """Return the page's foot: what is seeded and what is not, papers, these methods and formulas."""
    # Seed 0 is that of what is simulated.
    return sources.fold({"seed": 0}, partial(_paragraphs, names))


def _paragraphs(names: Sequence[str]) -> Iterator[str]:
    yield (
        "**A release is real:** its noise comes from the operating system's entropy, once, and there is no "
        "seed. A rehearsal is a **simulation** (population of Ge et al. 2018, section 5). Assigning patients "
        f"to hospitals at random uses the public seed {ASSIGNMENT_SEED}, which hides nothing."
    )
    yield " ".join(PAPERS)
    methods = [f"| {METHODS[name].title} | {METHODS[name].reference} |" for name in names]
    yield "\n".join(["| method | source |", "|---|---|", *methods])
    yield f"{sources.versions(('opendp', 'dp-accounting', 'pyarrow'))}."
    yield _FORMULAS
