"""Show beside the slider of epsilon what published releases used."""

import streamlit as st

from dppca_core.accounting.deployments import deployments
from pages.shared.text import deployments as text


def show_published_releases(plain: bool) -> None:
    title = text.title(deployments())
    line = st.popover(title, type="tertiary", key="epsilon elsewhere", on_change="rerun")
    if line.open:
        line.markdown(text.table(deployments(), plain))
        line.caption(text.NOTE)
