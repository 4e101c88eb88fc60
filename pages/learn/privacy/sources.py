"""Show where the privacy page's numbers come from: one expander at its foot."""

import streamlit as st

from dppca_core.methods import METHODS
from pages.learn.privacy import attack_text
from pages.shared.reports import sources
from pages.shared.settings.catalogue import Settings


def page(settings: Settings) -> None:
    """Show sources, seeds and limits."""
    drawer = sources.drawer()
    if drawer is None:
        return
    method = METHODS[settings["attack.method"]]
    with drawer:
        st.markdown(
            "Trade-off curves: Wasserman & Zhou (JASA 2010); Dong, Roth & Su (JRSS-B 2022). "
            "Odds: Kairouz, Oh & Viswanath (IEEE Trans. Inf. Theory 2017). Calibration: Balle & "
            "Wang (ICML 2018). Composition: Dwork & Roth (2014), Theorems 3.16 and 3.20; Bun & Steinke "
            "(2016); Canonne, Kamath & Steinke (NeurIPS 2020); Dong, Roth & Su, Corollary 3.3; Ge et al. "
            "(AISTATS 2018), Lemma A.1. Audit: Jagielski, Ullman & Oprea (NeurIPS 2020); Nasr et al. "
            "(USENIX Security 2023). Intervals: Clopper & Pearson (1934)."
        )
        st.markdown(
            f"Attacked: {method.title}, {method.reference}; the picture's releases are those of "
            f"{METHODS['analyze_gauss'].title}, {METHODS['analyze_gauss'].reference}. The picture's "
            "patients are drawn at random, the others are a worst case: nobody's data."
        )
        if settings["view"] == "researcher":
            st.markdown(attack_text.FORMULAS)
        st.caption(
            f"Seed {settings['seed']}; {sources.versions()}. Noise here is "
            "seeded and drawn in floating point: a study tool, not a hardened release."
        )
