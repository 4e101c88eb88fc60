"""A table of one's own: brought, rehearsed on a synthetic twin, released once, counted on a ledger."""

from functools import partial

import streamlit as st

from pages.hospitals.your_data import (
    ledger_panel,
    owner_only_panel,
    release_panel,
    session,
    sources,
    synthetic_twin_panel,
    text,
    unsaved_warning,
    upload_panel,
)
from pages.hospitals.your_data import report as own_report
from pages.shared.reports import html_report
from pages.shared.settings import widgets

st.title("And on ours?")
st.markdown(
    "Your own patients: what is public about them in, noise added once, directions out, and a ledger of what "
    "that cost."
)
widgets.view_switches(("view",))
widgets.notices()
settings = widgets.settings()
widgets.choose("own.shown")

st.header("1 · Your table")
prepared = upload_panel.show(settings)
ledger = book = None
if prepared is not None:
    ledger, book = ledger_panel.opened(prepared.raw)
    st.header("2 · Rehearse on a synthetic twin")
    rehearsal = synthetic_twin_panel.show(prepared, book, settings)
    st.header("3 · Release")
    if book is not None:
        release_panel.choose_settings(settings, len(prepared.sizes))  # before the limit too: it is rehearsed
        if rehearsal is not None and synthetic_twin_panel.hopeless(rehearsal, rehearsal.epsilon):
            st.warning(text.NO_BETTER)
    if book is not None and book.limit is None:
        ledger_panel.ask_limit(ledger, settings)
    elif book is not None:
        unsaved_warning.show_lost(session.current(), book, settings["view"] == "board")
        release_panel.show(prepared, book, settings)
unsaved_warning.show_missing(session.current(), prepared is not None)
unsaved_warning.show_elsewhere(session.current())
if prepared is None and session.current().paid:
    st.header("3 · Release")  # without a table, what came of an earlier one stands alone
unsaved_warning.show_returned(session.current(), prepared is not None)
shown = release_panel.show_releases(settings)
if prepared is not None:
    st.header("4 · The ledger of this table")
    if book is not None:
        ledger_panel.show(prepared.raw, ledger, book, settings)
state = session.current()
asked = synthetic_twin_panel.requested(prepared, book, settings) if prepared is not None else None
figure = (
    synthetic_twin_panel.figure_builder(prepared, asked, shown, settings) if prepared is not None else None
)
leaves = own_report.public_record(prepared, book, shown, asked, figure, state.rows_per_patient or 1)
if leaves is not None:
    saved = partial(release_panel.mark_downloaded, state, shown) if shown is not None else None
    html_report.ready_button(own_report.file(state, leaves, settings), "dppca-your-data", saved)
    st.caption("In the report: what was released, what counts as public, the twin. Nothing only you may see.")
if prepared is not None:
    st.header("5 · Only for you")
    owner_only_panel.show(prepared, shown, settings)
done = state.raw is not None, state.rows_per_patient is not None, prepared is not None, bool(state.releases)
st.markdown(f"**Try this:** {text.try_this(*done, settings)}")
sources.show(prepared, settings)
unsaved_warning.guard(state)
