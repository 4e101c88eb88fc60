"""State where the page's numbers come from: papers, formulas and versions of libraries."""

from collections.abc import Iterator

from dppca_core.methods import METHODS
from dppca_core.release.request import OFFERED
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.patients import ASSIGNMENT_SEED
from pages.shared.document import streamlit
from pages.shared.reports import sources
from pages.shared.settings.catalogue import Settings

_FORMULAS = r"""
A number $x$ becomes $(x-\tfrac{l+h}2)/\tfrac{h-l}2$, clipped to $[-1,1]$; one of $c$ categories becomes $c$
indicators less $1/\max(c,2)$. Rows are clipped to norm $B$ and divided by it. With $|x|\le1$, replacing a
row moves $S=\sum_ix_ix_i^{\top}$ by $\Delta=|xx^{\top}-yy^{\top}|_F\le\sqrt2$, adding or removing one by
$1$; the noise has $\sigma=\Delta z$, for $T$ steps $\sqrt T\,\Delta z$, with
$\delta=\Phi(\tfrac1{2z}-\varepsilon z)-e^{\varepsilon}\Phi(-\tfrac1{2z}-\varepsilon z)$ (Balle & Wang 2018).
"""
RELEASE = "its noise comes from the operating system's entropy, once, and there is no seed."
TWIN = "(seed 0, population of Ge et al. 2018, section 5)."
PAPERS = (
    "Totals: privacy loss distributions (Koskela et al. 2020; Doroshenko et al. 2022) by dp-accounting, or a "
    "closed form where it gives less.",
    "Discrete Gaussian: Canonne, Kamath & Steinke 2020, by OpenDP.",
    "Why floating point is not enough: Mironov 2012; Casacuberta et al. 2022.",
)


def show(prepared: PreparedTable | None, settings: Settings) -> None:
    """Render the sources, and what is seeded and what is not."""

    def paragraphs() -> Iterator[str]:
        """Yield the paragraphs of the foot: seeds, sizes, papers, methods and versions."""
        yield (
            f"**A release is real:** {RELEASE} The twin is a **simulation** {TWIN} Assigning patients to "
            f"hospitals at random uses the public seed {ASSIGNMENT_SEED}, which hides nothing."
        )
        if prepared is not None:
            yield f"B = {prepared.schema.bound:.6g}; features d = {prepared.d:,}; n = {prepared.n:,}."
        yield " ".join(PAPERS)
        methods = [f"| {METHODS[name].title} | {METHODS[name].reference} |" for name in OFFERED]
        yield "\n".join(["| method | source |", "|---|---|", *methods])
        yield f"{sources.versions(('opendp', 'dp-accounting', 'pyarrow'))}."
        yield _FORMULAS

    # The foot states the seed of what is simulated, as on other pages: here that of the twin.
    streamlit.show_block(sources.fold(settings | {"seed": 0}, paragraphs))
