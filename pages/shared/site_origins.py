"""Where the numbers on hospitals that differ come from: one expander at the foot of the page."""

import platform
from importlib.metadata import version

import streamlit as st

from dppca_core.experiments.site_recipe import SiteRecipe
from dppca_core.methods import METHODS
from pages.shared import site_words, text
from pages.shared.choices import Settings


def page(of: SiteRecipe, settings: Settings) -> None:
    """Sources, seeds and limits."""
    drawer = st.expander("Where this comes from", key="origins", on_change="rerun")
    if not drawer.open:
        return
    method = METHODS[of.method]
    with drawer:
        st.markdown(site_words.about(of))
        trust = text.TRUST_TITLES[method.trust].lower()
        st.markdown(f"{method.title}: {method.reference}; {trust}; guarantee {method.guarantee_at(of.k)}.")
        if settings["view"] == "researcher":
            st.markdown(site_words.FORMULAS)
        versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "streamlit"))
        st.caption(
            f"Accounting is exact. Seed {of.seed}; Python {platform.python_version()}, {versions}. A study "
            f"tool, "
            "not a hardened release."
        )
