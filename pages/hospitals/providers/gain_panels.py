"""Render the panels that compare protocols: what each finds, and what it transmits."""

from functools import partial

import streamlit as st

from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from pages.hospitals.providers import gain_charts, gain_text, view
from pages.shared.background import failed_runs, refresh
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings


def compared(results: CollaborationResults, settings: Settings) -> None:
    """Render the errors or the bytes of every protocol, refreshed while runs are measured."""
    recipe, plain = results.recipe, settings["view"] == "plain"

    def title(key: str) -> str:
        return gain_text.title(PROTOCOLS[key], recipe, plain)

    def panel() -> None:
        view.measure_first(results)
        failed_runs.show(results.failed, lambda cell: title(cell[0]))
        grouped = view.rows(results, settings)
        if settings["join.panel"] == "gain":
            headline, notes = gain_text.headline(results, settings), gain_text.notes(results, settings)
            figure, name = gain_charts.gains(results, grouped, settings), "joining"
            says = gain_text.least_errors(grouped, recipe, plain) or headline
        else:
            says = headline = gain_text.bytes_line(grouped, recipe, plain)
            notes = gain_text.BYTES_NOTE
            figure, name = gain_charts.sent(results, grouped, settings), "bytes"
        st.markdown(f"**{headline}**")
        if figure["data"][-1]["x"]:
            component.figure(figure, key=f"{name} figure", save=f"dppca-{name}", says=says)
        if name == "bytes":
            pinned = {"way": st.column_config.TextColumn(pinned=True)}
            table = gain_text.table(results, settings)
            st.dataframe(table, hide_index=True, height="content", column_config=pinned)
        st.caption(notes)
        downloads.downloads(results.table, lambda: figure, f"dppca-{name}")

    refresh.while_cells_come(panel, results, partial(results.next_missing, settings["slow"]))
    seconds = sum(recipe.seconds(PROTOCOLS[key]) for key in results.slow)
    widgets.slow_methods_button([title(key) for key in results.slow], seconds)
