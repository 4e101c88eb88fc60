"""Render the panels that compare protocols: what each finds, and what it transmits."""

from functools import partial

import streamlit as st

from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from pages.hospitals.providers import chart_descriptions, gain_charts, gain_text, view
from pages.shared.background import failed_runs, refresh
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings
from pages.shared.text import labels


def compared(results: CollaborationResults, settings: Settings) -> None:
    """Render the errors or the bytes of every protocol, refreshed while runs are measured."""
    recipe, plain = results.recipe, settings["view"] == "board"

    def title(key: str) -> str:
        return gain_text.title(PROTOCOLS[key], recipe, plain)

    def panel() -> None:
        view.measure_first(results)
        failed_runs.show(results.failed, lambda cell: title(cell[0]))
        (_gain if settings["join.panel"] == "gain" else _travel)(results, settings)

    refresh.while_cells_come(panel, results, partial(results.next_missing, settings["slow"]))
    slow = results.slow
    widgets.slow_methods_button(
        [title(key) for key in slow], sum(recipe.seconds(PROTOCOLS[key]) for key in slow)
    )


def _gain(results: CollaborationResults, settings: Settings) -> None:
    grouped = view.rows(results, settings)
    headline = gain_text.headline(results, settings)
    st.markdown(f"**{headline}**")
    figure = gain_charts.gains(results, grouped, settings)
    description = chart_descriptions.gains(grouped, results.recipe, view.GainScale(results, settings))
    if description == labels.MEASURING:
        description = headline  # which also says so when no run will come because all have failed
    component.figure(figure, key="joining figure", save="dppca-joining", says=description)
    st.caption(gain_text.notes(results, settings))
    downloads.downloads(results.table, lambda: figure, "dppca-joining")


def _travel(results: CollaborationResults, settings: Settings) -> None:
    grouped = view.rows(results, settings)
    headline = gain_text.bytes_line(grouped, results.recipe, settings["view"] == "board")
    st.markdown(f"**{headline}**")
    figure = gain_charts.sent(results, grouped, settings)
    if figure["data"][1]["x"]:
        component.figure(figure, key="bytes figure", save="dppca-bytes", says=headline)
    table = gain_text.table(results, settings)
    pinned = {"way": st.column_config.TextColumn(pinned=True)}
    st.dataframe(table, hide_index=True, height="content", column_config=pinned)
    st.caption(gain_text.BYTES_NOTE)
    downloads.downloads(results.table, lambda: figure, "dppca-bytes")
