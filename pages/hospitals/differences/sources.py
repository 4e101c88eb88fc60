"""Where the numbers on hospitals that differ come from: one expander at the foot of the page."""

import streamlit as st

from dppca_core.experiments.collaboration.site_recipe import SiteRecipe
from dppca_core.methods import METHODS
from pages.hospitals.differences import text as page_text
from pages.shared import text
from pages.shared.reports import sources
from pages.shared.settings.catalogue import Settings


def page(recipe: SiteRecipe, settings: Settings) -> None:
    """Sources, seeds and limits."""
    drawer = sources.drawer()
    if drawer is None:
        return
    method = METHODS[recipe.method]
    with drawer:
        st.markdown(page_text.about(recipe))
        trust = text.TRUST_TITLES[method.trust].lower()
        st.markdown(
            f"{method.title}: {method.reference}; {trust}; guarantee {method.guarantee_at(recipe.k)}."
        )
        if settings["view"] == "researcher":
            st.markdown(page_text.FORMULAS)
        st.caption(
            f"Accounting is exact. Seed {recipe.seed}; {sources.versions()}. A study tool, not a "
            "hardened release."
        )
