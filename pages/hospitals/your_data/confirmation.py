"""The controls that spend privacy budget: a price, one button, one question, one answer that counts once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dppca_core.release.ledger import Ledger
from dppca_core.release.private_release import Progress
from pages.hospitals.your_data import session, text
from pages.hospitals.your_data.prepared_table import PreparedTable
from pages.hospitals.your_data.price_text import Price
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import refresh, sessions

FIRST_WAIT_SECONDS = 1.0  # for a job that ends at once, before the page is drawn

Make = Callable[[PreparedTable, Ledger, Progress], Any]
Keep = Callable[[TableSession, ReleaseJob[Any]], None]


def show(
    kind: str,
    label: str,
    what: tuple[object, ...],
    price: Price,
    question: Callable[[str], str],
    make: Make,
    keep: Keep,
) -> None:
    """Render the button, then the question, then the state of the job.

    Neither `make` nor `keep` may hold rows: a button's arguments outlive the table.

    Args:
        kind: The kind of job: one of each can be pending or running.
        label: Of the button.
        what: What would be paid for, without any row; the last item identifies the table.
        price: The cost, in words and whether it is beyond the limit.
        question: Returns what is asked after the button was pressed, from the cost in words.
        make: Makes the release of the table that the session has then, paid for on its ledger.
        keep: Stores a job once it is confirmed.
    """
    state = session.current()
    request = (kind, *what)
    if state.pending is not None and state.pending.what[0] == kind and state.pending.what != request:
        state.pending = None  # the settings have changed since it was requested
    last = state.jobs.get(kind)
    if last is not None and last.running:
        show_progress(last, "Drawing noise")
    elif state.pending is None or state.pending.what[0] != kind:
        st.markdown(price.sentence)
        st.button(
            label,
            type="primary",
            key=f"own ask {kind}",
            disabled=price.exceeds_limit,
            on_click=_make_pending,
            args=(state, request, make),
        )
    else:
        _show_question(state, state.pending, question(price.sentence), keep)
    if last is not None and last.failed and last.what[-1] == what[-1]:
        st.warning(text.ended(last))


def _make_pending(state: TableSession, request: tuple[Any, ...], make: Make) -> None:
    if state.ready is not None:
        run = partial(make, state.ready, session.ledger(state.ready.raw))
        # A job is paid for when it begins, so a connection that breaks for a moment must not stop it.
        state.pending = ReleaseJob(request, run, sessions.returning(sessions.visitor()))


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
            on_click=setattr,
            args=(state, "pending", None),
            width="stretch",
        )


def _confirm(state: TableSession, job: ReleaseJob[Any], keep: Keep) -> None:
    if job.confirm():  # only for the first click
        state.jobs[str(job.what[0])] = job
        state.pending = None
        keep(state, job)
        job.wait(FIRST_WAIT_SECONDS)


def show_progress(job: ReleaseJob[Any], doing: str) -> None:
    """Render how far a job is, with a button that stops it, until it has ended."""

    def bar() -> None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(min(job.share, 1.0), doing)
        right.button("Stop", key=f"own stop {job.number}", on_click=job.stop, width="stretch")

    refresh.while_more(bar, lambda: job.running)
