"""The views of the providers page that compare ways of joining: what each finds, and what travels."""

from __future__ import annotations

import streamlit as st

from dppca_core.experiments.outcomes import Outcomes
from dppca_core.experiments.ways import WAYS
from pages.shared import (
    exports,
    failed_runs,
    join_charts,
    join_controls,
    join_words,
    joins,
    live,
    spoken,
    worker,
)
from pages.shared.choices import Settings

REFRESH_SECONDS = 0.6  # while runs are still being measured


def compared(found: Outcomes, settings: Settings) -> None:
    """What each finds, or what travels; kept up to date while runs are measured."""
    slow, plain = settings["slow"], settings["view"] == "board"
    refreshing = found.next_missing(slow) is not None

    def panel() -> None:
        joins.first_look(found)
        drawn = _gain if settings["join.panel"] == "gain" else _travel
        failed_runs.show(found.failed, lambda cell: join_words.title(WAYS[cell[0]], found.recipe, plain))
        drawn(found, settings)
        missing = found.next_missing(slow) is not None
        if missing:
            worker.look(found, lambda: found.next_missing(slow))
        elif refreshing:
            st.rerun()

    st.fragment(panel, run_every=REFRESH_SECONDS if refreshing else None)()
    join_controls.slow(found, settings)


def _gain(found: Outcomes, settings: Settings) -> None:
    grouped = joins.rows(found, settings)
    st.markdown(f"**{join_words.headline(found, settings)}**")
    figure = join_charts.gains(found, grouped, settings)
    says = spoken.gains(grouped, found.recipe, joins.Scale(found, settings))
    if says == spoken.MEASURING:  # or, where every run has failed, that none will come
        says = join_words.headline(found, settings)
    live.figure(figure, key="joining figure", save="dppca-joining", says=says)
    st.caption(join_words.notes(found, settings))
    exports.downloads(found.table, lambda: figure, "dppca-joining")


def _travel(found: Outcomes, settings: Settings) -> None:
    grouped = joins.rows(found, settings)
    board = settings["view"] == "board"
    said = join_words.bytes_line(grouped, found.recipe, board)
    st.markdown(f"**{said}**")
    figure = join_charts.sent(found, grouped, settings)
    if figure["data"][1]["x"]:
        live.figure(figure, key="bytes figure", save="dppca-bytes", says=said)
    table = join_words.table(found, settings)
    pinned = {"way": st.column_config.TextColumn(pinned=True)}
    st.dataframe(table, hide_index=True, height="content", column_config=pinned)
    st.caption(
        "Bytes of 64-bit numbers: a network, encryption and the keys of secure sums come on top. Symmetric "
        "matrices travel as their upper triangle; all who join get the result."
    )
    exports.downloads(found.table, lambda: figure, "dppca-bytes")
