"""Plan a study: the patients, privacy or hospitals that an error needs, and a paragraph for a protocol."""

from functools import partial

import streamlit as st

from pages.hospitals.planner import document
from pages.hospitals.planner.model import own_table
from pages.hospitals.planner.model.planner import Planner
from pages.hospitals.planner.sentences import numbers
from pages.hospitals.planner.sentences import own_table as own_table_sentences
from pages.shared.document import streamlit
from pages.shared.settings import public_table, widgets
from pages.shared.settings.catalogue import CHOICES, RECOMMENDED, Settings


def chosen() -> Settings:
    """Return the page's settings or, where the visitor's own table is planned for, with what it fixes."""
    settings, table = widgets.settings(), public_table.current()
    return own_table.with_table(settings, table) if table and settings["plan.table"] else settings


def show_controls(settings: Settings) -> None:
    """Show the controls of what is asked; those that a visitor's table decides are left out."""
    show_own_table(settings)
    widgets.show_panel_pills("plan.asked")
    planner, plain = Planner(settings), settings["view"] == "plain"
    keys = ["plan.share" if planner.energetic else "plan.target"]
    if not plain:
        keys += ["plan.of", "plan.trust", "plan.way", "plan.tuned"]
    if planner.asked == "hospitals":
        keys.append("plan.size")
    if planner.table is not None:
        keys = [key for key in keys if key not in own_table.DECIDED]
    # A single control takes half of the row, not all of it.
    widths = [1.4, *(1.15 if key == "plan.way" else 1.0 for key in (*keys, "")[1:])][: max(len(keys), 2)]
    for column, key in zip(widgets.beside("plan", widths), keys, strict=False):
        with column:
            if key == "plan.way":
                widgets.show_select_box(key, [RECOMMENDED, *planner.comparable])
            elif key == "plan.target":
                show_target(planner)
            else:
                widgets.show_control(key)


def show_own_table(settings: Settings) -> None:
    """Show the switch that plans for the visitor's own table, where one is loaded, and what it has."""
    table = public_table.current()
    if table is not None:
        widgets.show_control("plan.table")
        if settings["plan.table"]:
            st.caption(own_table_sentences.facts(table))
    elif settings["plan.table"]:
        st.info(own_table_sentences.NO_TABLE)


def show_target(planner: Planner) -> None:
    """Show the slider of the largest error allowed, in the unit on screen.

    Its options are errors, ascending. Shown as shares recovered they would descend, so they are reversed.
    """
    settings, options = planner.settings, CHOICES["plan.target"].options
    ordered = options[::-1] if numbers.stricter_upwards(planner) else options
    label, words = numbers.target_label(planner), partial(numbers.target_in_words, settings)
    widgets.show("plan.target", label, plain=settings["view"] == "plain", options=ordered, format_func=words)


settings = chosen()
streamlit.show(document.at(settings), above=partial(show_controls, settings))
