"""How the page spends: its price in words, one button, one question, one answer that counts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dppca_core.release.private_release import Progress
from pages.hospitals.your_data import session, text
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import refresh, sessions

_FIRST_WAIT_SECONDS = 1.0

Make = Callable[[Progress], Any]
Begin = Callable[[TableSession], Make | None]
Keep = Callable[[TableSession, ReleaseJob[Any]], None]


def show(
    place: str,
    label: str,
    what: tuple[object, ...],
    *,
    price: str,
    question: str,
    begin: Begin,
    keep: Keep,
    blocked: bool,
) -> None:
    """The button, then the question, then how the job stands; at this place of the page.

    what: what would be paid for, told apart without rows; the last of it is of which table. begin: from the
    session to what makes the release. keep: what happens to an job once it is confirmed. Neither may hold
    rows: a button's arguments outlive the table.
    """
    state = session.current()
    request = (place, *what)
    if state.pending is not None and state.pending.what[0] == place and state.pending.what != request:
        state.pending = None  # it was asked for something else
    last = state.jobs.get(place)
    if last is not None and last.running:
        show_progress(last, "Drawing noise")
    elif state.pending is None or state.pending.what[0] != place:
        st.markdown(price)
        st.button(
            label,
            type="primary",
            key=f"own ask {place}",
            disabled=blocked,
            on_click=_make_pending,
            args=(state, request, begin),
        )
    else:
        _show_question(state, state.pending, question, keep)
    if last is not None and last.failed and last.what[-1] == what[-1]:
        st.warning(text.ended(last))


def _make_pending(state: TableSession, request: tuple[Any, ...], begin: Begin) -> None:
    make = begin(state)
    if make is not None:
        # It is paid for when it begins: a connection that breaks for a moment must not make it worthless.
        state.pending = ReleaseJob(request, make, sessions.returning(sessions.visitor()))


def _show_question(state: TableSession, job: ReleaseJob[Any], question: str, keep: Keep) -> None:
    with st.container(border=True):
        st.markdown(question)
        left, right, _ = st.columns([2, 2, 3])
        # The job's number is in the key: a click on this button cannot confirm a later job.
        left.button(
            "Spend and release",
            type="primary",
            key=f"own confirm {job.number}",
            on_click=_confirm,
            args=(state, job, keep),
            width="stretch",
        )
        right.button(
            "Do not release",
            key=f"own decline {job.number}",
            on_click=_decline,
            args=(state,),
            width="stretch",
        )


def _confirm(state: TableSession, job: ReleaseJob[Any], keep: Keep) -> None:
    """The first click makes the release; any other finds it made."""
    if job.confirm():
        state.jobs[str(job.what[0])] = job
        state.pending = None
        keep(state, job)
        job.wait(_FIRST_WAIT_SECONDS)


def _decline(state: TableSession) -> None:
    state.pending = None


def show_progress(job: ReleaseJob[Any], doing: str) -> None:
    """Show how far an job is, with a button that stops it, until it has ended."""

    def bar() -> None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(min(job.share, 1.0), doing)
        right.button("Stop", key=f"own stop {job.number}", on_click=job.stop, width="stretch")

    refresh.while_more(bar, lambda: job.running)
