"""Read a table too large to hold: when the owner asks, with progress, until they stop it."""

from functools import partial

import streamlit as st

from dppca_core.tables import Schema
from pages.hospitals.your_data import confirmation, large_table, upload_text
from pages.hospitals.your_data.prepared_table import LargeTable, PreparedTable
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import sessions


def show(state: TableSession, schema: Schema) -> PreparedTable | str | None:
    """Return the table's sums by this dictionary; why it does not fit; or None until it was read."""
    request, job = (state.generation, schema, state.hospital_column), state.reading
    if job is None or job.what != request:
        st.info(upload_text.TOO_LARGE)
        st.button("Read it now", key="own read", type="primary", on_click=_read, args=(state, *request))
        return None
    if job.running:
        confirmation.show_progress(job, "Reading the table in pieces")
        return None
    if job.result is None:
        st.button("Read it again", key="own read", on_click=_read, args=(state, *request))
        return upload_text.unread(job)
    prepared: PreparedTable = job.result
    if state.ready is not prepared:
        state.diagnostics.clear()
        state.prepared = request, prepared
    return prepared


def _read(state: TableSession, generation: int, schema: Schema, hospital_column: str | None) -> None:
    # A button's arguments outlive the table, so the file is not among them.
    if not isinstance(state.raw, LargeTable) or state.generation != generation:
        return
    if state.reading is not None:
        state.reading.stop()
    state.reading = ReleaseJob(
        (generation, schema, hospital_column),
        partial(large_table.reduce, state.raw, schema, hospital_column),
        partial(sessions.present, sessions.visitor()),
    )
    state.reading.confirm()
    state.reading.wait(confirmation.FIRST_WAIT_SECONDS)
