"""Compare methods by error, time, bytes and patients needed, and by which is best at each privacy loss."""

from collections.abc import Collection

import streamlit as st

from dppca_core.methods import METHODS
from pages.explore.methods import document
from pages.explore.methods.model.comparison import used
from pages.explore.methods.model.measure import order
from pages.shared.document import streamlit
from pages.shared.settings import widget_keys, widgets


def choose() -> None:
    left, middle, right = widgets.beside("methods", [8, 2, 2])
    settings = widgets.settings()
    with left:
        widgets.show_panel_pills("compare.panel")
    with middle:
        if settings["compare.panel"] == "needed":
            widgets.show_control("compare.target")
        elif settings["compare.panel"] != "frontier":
            widgets.show_control("compare.over")
    now = used(settings)
    with right.popover(f"{len(now)} of {len(METHODS)} methods", width="stretch"):
        # One box for all methods, of which each has a setting `use.<method>` of its own.
        st.multiselect(
            label="Methods",
            options=order(list(METHODS)),
            default=now,
            format_func=lambda name: METHODS[name].title,
            placeholder="choose one or more",
            **widget_keys.widget_arguments("methods compared", now, keep),
        )


def keep(picked: Collection[str]) -> None:
    for name in METHODS:
        widgets.set_to(f"use.{name}", name in picked)


streamlit.show(document.at(widgets.settings()), choose)
