"""The views of the providers page that compare ways of joining: what each finds, and what travels."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from pages.hospitals.providers import chart_descriptions, controls, gain_charts, gain_text, view
from pages.shared.background import failed_runs, refresh
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings.catalogue import Settings
from pages.shared.text import labels


def compared(found: CollaborationResults, settings: Settings) -> None:
    """What each finds, or what travels; kept up to date while runs are measured."""
    slow, plain = settings["slow"], settings["view"] == "board"

    def panel() -> None:
        view.first_look(found)
        drawn = _gain if settings["join.panel"] == "gain" else _travel
        failed_runs.show(found.failed, lambda cell: gain_text.title(PROTOCOLS[cell[0]], found.recipe, plain))
        drawn(found, settings)

    refresh.while_cells_come(panel, found, partial(found.next_missing, slow))
    controls.slow(found, settings)


def _gain(found: CollaborationResults, settings: Settings) -> None:
    grouped = view.rows(found, settings)
    st.markdown(f"**{gain_text.headline(found, settings)}**")
    figure = gain_charts.gains(found, grouped, settings)
    says = chart_descriptions.gains(grouped, found.recipe, view.GainScale(found, settings))
    if says == labels.MEASURING:  # or, where every run has failed, that none will come
        says = gain_text.headline(found, settings)
    component.figure(figure, key="joining figure", save="dppca-joining", says=says)
    st.caption(gain_text.notes(found, settings))
    downloads.downloads(found.table, lambda: figure, "dppca-joining")


def _travel(found: CollaborationResults, settings: Settings) -> None:
    grouped = view.rows(found, settings)
    board = settings["view"] == "board"
    said = gain_text.bytes_line(grouped, found.recipe, board)
    st.markdown(f"**{said}**")
    figure = gain_charts.sent(found, grouped, settings)
    if figure["data"][1]["x"]:
        component.figure(figure, key="bytes figure", save="dppca-bytes", says=said)
    table = gain_text.table(found, settings)
    pinned = {"way": st.column_config.TextColumn(pinned=True)}
    st.dataframe(table, hide_index=True, height="content", column_config=pinned)
    st.caption(
        "Bytes of 64-bit numbers: a network, encryption and the keys of secure sums come on top. Symmetric "
        "matrices travel as their upper triangle; all who join get the result."
    )
    downloads.downloads(found.table, lambda: figure, "dppca-bytes")
