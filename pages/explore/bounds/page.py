"""Show every bound beside the measured error, with its assumptions and constants."""

import streamlit as st

from dppca_core.bounds import BOUNDS
from pages.explore.bounds import document, model
from pages.explore.bounds.settings import SIN_BOUNDS
from pages.shared.document import streamlit
from pages.shared.settings import widgets

settings = widgets.settings()


def controls() -> None:
    drawn, always = model.drawn(settings), model.always_drawn(settings)
    left, right = widgets.beside("bounds", [1, 3])
    with left:
        widgets.show_control("of")
    with right.expander(f"Bounds drawn: {len(drawn)} of {len(SIN_BOUNDS)}", key="bound list"):
        columns = st.columns(2)
        for i, name in enumerate(SIN_BOUNDS):
            with columns[i % 2]:
                if name == always:
                    title, why = BOUNDS[name].title, "Drawn while its method is measured."
                    st.checkbox(title, True, key=f"always {name}", disabled=True, help=why)
                else:
                    widgets.show_control(f"show.{name}")


streamlit.show(document.at(settings), controls)
