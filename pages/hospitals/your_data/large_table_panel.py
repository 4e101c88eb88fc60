"""The screen's part on a table too large to hold: read when asked, with progress, until stopped."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dppca_core.tables import Schema
from pages.hospitals.your_data import confirmation, large_table_sums, text
from pages.hospitals.your_data.large_table import LargeTable
from pages.hospitals.your_data.prepared_table import PreparedTable
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import sessions

_PLACE = "reading"
_FIRST_WAIT_SECONDS = 1.0


def show(state: TableSession, raw: LargeTable, schema: Schema) -> PreparedTable | str | None:
    """Its sums by this dictionary; a sentence where it does not fit, None until it was read."""
    request = (_PLACE, state.generation, schema, state.hospital_column)
    job = state.jobs.get(_PLACE)
    if job is None or job.what != request:
        st.info(
            "This table is too large to hold, so it is read in pieces, of which only sums are kept. That "
            "takes a while, and again after each change of the dictionary."
        )
        st.button(
            "Read it now", key="own read", type="primary", on_click=_start_reading, args=(state, request)
        )
        return None
    if job.running:
        confirmation.show_progress(job, "Reading the table in pieces")
        return None
    if job.result is None:
        st.button("Read it again", key="own read", on_click=_start_reading, args=(state, request))
        return text.unread(job)
    if state.prepared is None or state.prepared[1] is not job.result:
        state.diagnostics.clear()
        state.prepared = request, job.result
    prepared: PreparedTable = job.result
    return prepared


def _start_reading(state: TableSession, request: tuple[object, ...]) -> None:
    """A button's arguments outlive the table, so the file is not among them."""
    _, generation, schema, by = request
    if not isinstance(state.raw, LargeTable) or state.generation != generation:
        return
    former = state.jobs.get(_PLACE)
    if former is not None:
        former.stop()
    reduce = partial(large_table_sums.reduce, state.raw, schema, by)
    job: ReleaseJob[PreparedTable] = ReleaseJob(
        request, reduce, partial(sessions.present, sessions.visitor())
    )
    state.jobs[_PLACE] = job
    job.confirm()
    job.wait(_FIRST_WAIT_SECONDS)
