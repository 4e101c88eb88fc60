"""Show where the privacy page's numbers come from: one expander at its foot."""

from dppca_core.methods import METHODS
from pages.learn.privacy import attack_text
from pages.shared.reports import sources
from pages.shared.settings.catalogue import Settings

_PAPERS = (
    "Trade-off curves: Wasserman & Zhou (JASA 2010); Dong, Roth & Su (JRSS-B 2022). "
    "Odds: Kairouz, Oh & Viswanath (IEEE Trans. Inf. Theory 2017). Calibration: Balle & "
    "Wang (ICML 2018). Composition: Dwork & Roth (2014), Theorems 3.16 and 3.20; Bun & Steinke "
    "(2016); Canonne, Kamath & Steinke (NeurIPS 2020); Dong, Roth & Su, Corollary 3.3; Ge et al. "
    "(AISTATS 2018), Lemma A.1. Audit: Jagielski, Ullman & Oprea (NeurIPS 2020); Nasr et al. "
    "(USENIX Security 2023). Intervals: Clopper & Pearson (1934)."
)


def page(settings: Settings) -> None:
    """Show sources, seeds and limits."""
    method, drawn = METHODS[settings["attack.method"]], METHODS["analyze_gauss"]
    attacked = (
        f"Attacked: {method.title}, {method.reference}; the picture's releases are those of {drawn.title}, "
        f"{drawn.reference}. The picture's patients are drawn at random, the others are a worst case: "
        "nobody's data."
    )
    sources.foot(settings, lambda: (_PAPERS, attacked), attack_text.FORMULAS, sources.LIMITS)
