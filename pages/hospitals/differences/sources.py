"""State where the numbers on hospitals that differ come from: one expander at the foot of the page."""

import streamlit as st

from pages.hospitals.differences import text
from pages.hospitals.differences.view import SiteView
from pages.shared.reports import sources


def page(view: SiteView) -> None:
    """Render sources, seeds and limits."""
    drawer = sources.drawer()
    if drawer is None:
        return
    with drawer:
        st.markdown(text.about(view.recipe))
        st.markdown(text.about_method(view.recipe))
        if view.settings["view"] == "researcher":
            st.markdown(text.FORMULAS)
        st.caption(text.about_draws(view.recipe.seed, sources.versions()))
