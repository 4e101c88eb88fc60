"""Where the numbers on hospitals that differ come from: one expander at the foot of the page."""

import streamlit as st

from dppca_core.experiments.collaboration.site_recipe import SiteRecipe
from dppca_core.methods import METHODS
from pages.hospitals.differences import text as page_text
from pages.shared import text
from pages.shared.reports import sources
from pages.shared.settings.catalogue import Settings


def page(of: SiteRecipe, settings: Settings) -> None:
    """Sources, seeds and limits."""
    drawer = sources.drawer()
    if drawer is None:
        return
    method = METHODS[of.method]
    with drawer:
        st.markdown(page_text.about(of))
        trust = text.TRUST_TITLES[method.trust].lower()
        st.markdown(f"{method.title}: {method.reference}; {trust}; guarantee {method.guarantee_at(of.k)}.")
        if settings["view"] == "researcher":
            st.markdown(page_text.FORMULAS)
        st.caption(
            f"Accounting is exact. Seed {of.seed}; {sources.versions()}. A study tool, not a "
            "hardened release."
        )
