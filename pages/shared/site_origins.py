"""Where the numbers on hospitals that differ come from: one expander at the foot of the page."""

import streamlit as st

from dppca_core.experiments.site_recipe import SiteRecipe
from dppca_core.methods import METHODS
from pages.shared import origins, site_words, text
from pages.shared.choices import Settings


def page(of: SiteRecipe, settings: Settings) -> None:
    """Sources, seeds and limits."""
    drawer = origins.drawer()
    if drawer is None:
        return
    method = METHODS[of.method]
    with drawer:
        st.markdown(site_words.about(of))
        trust = text.TRUST_TITLES[method.trust].lower()
        st.markdown(f"{method.title}: {method.reference}; {trust}; guarantee {method.guarantee_at(of.k)}.")
        if settings["view"] == "researcher":
            st.markdown(site_words.FORMULAS)
        st.caption(
            f"Accounting is exact. Seed {of.seed}; {origins.versions()}. A study tool, not a "
            "hardened release."
        )
