"""Render the controls that spend privacy budget: a price, a button, and a question that is answered once.

An order says what would be made of a table and paid for. It becomes a pending job at the first click, which
asks the question, and a running one at the second, which starts it and pays. `form` and `question` are words;
no control here reads a row.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from dppca_core.accounts.book import Payer
from dppca_core.release.discrete_gaussian import Progress
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.patients import is_by_hospital
from pages.hospitals.your_data import account_text, session, text
from pages.hospitals.your_data.account_text import Form
from pages.hospitals.your_data.analyst_text import price
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import Order, TableSession
from pages.shared.background import refresh, sessions

FIRST_WAIT_SECONDS = 1.0  # for a job that ends at once, before the page is drawn

# Makes a release of an order and a table, with what `release_keywords` returns as keywords.
Make = Callable[..., Any]
# Builds the job of an order when a button is pressed, or None where its table has gone.
Build = Callable[["TableSession", Order[Any]], ReleaseJob | None]


def show(
    order: Order[Any],
    label: str,
    what: str,
    question: str,
    build: Build,
    *,
    end: str = "",
    form: Form = price,
    first: str = "",
) -> None:
    """Render the price and the button, then the question, then the state of the job.

    order: what would be paid for. One job of its kind can be pending or running. what: begins the sentence
    with the price, which `form` forms. build: builds the job. It must not hold rows: a button's arguments
    outlive the table. end: what the question
    ends with. first: what has to be answered before the button can be pressed.
    """
    state = session.current()
    price_sentence, exceeds_limit = account_text.price(what, order.request, order.account, form)
    if state.pending is not None and state.pending.what.kind == order.kind and state.pending.what != order:
        state.pending = None  # the settings have changed since it was requested
    last = state.last(order.kind)
    if last is not None and last.running:
        show_progress(last, "Drawing noise")
    elif state.pending is None or state.pending.what.kind != order.kind:
        st.markdown(price_sentence)
        if first:
            st.caption(first)
        st.button(
            label,
            type="primary",
            key=f"own ask {order.kind}",
            disabled=exceeds_limit or bool(first),
            on_click=_make_pending,
            args=(state, order, build),
        )
    else:
        asked = f"{question} {price_sentence} {account_text.ONCE} {end}".rstrip()
        _show_question(state, state.pending, asked)
    if last is not None and last.failed and last.what.table == order.table:
        st.warning(text.ended(last))


def _make_pending(state: TableSession, order: Order[Any], build: Build) -> None:
    """Make a job of an order, which waits for the answer to its question; none if the table has gone."""
    job = build(state, order)
    if job is not None:
        state.pending = job


def of_table(make: Make) -> Build:
    """Return what builds a job that makes a release of the session's table."""

    def build(state: TableSession, order: Order[Any]) -> ReleaseJob | None:
        table = state.ready
        if table is None:
            return None
        payer = session.payer(table)  # knows the table's key and no rows
        return job_of(
            order, lambda progress: make(order, table, **release_keywords(order, table, payer, progress))
        )

    return build


def job_of(order: Order[Any], make: Callable[[Progress], Any]) -> ReleaseJob:
    # A job is paid for when it begins, so a connection that breaks for a moment must not stop it.
    return ReleaseJob(order, make, sessions.return_check(sessions.visitor()))


def release_keywords(
    order: Order[Any], table: PreparedTable, payer: Payer, progress: Progress
) -> dict[str, Any]:
    """Return the keywords of `dppca_core.release.private_release.make`: rows, who pays, what is public."""
    return {
        "rows": table.parts,
        "payer": payer,
        "features": table.schema.features,
        "public": table.public,
        "by_column": is_by_hospital(table.assignment),
        "expected": order.account,
        "progress": progress,
    }


def resume(order: Order[Any], build: Build) -> None:
    """Resume a release that was paid for and interrupted; no question is asked, since nothing is spent."""
    state = session.current()
    last = state.last(order.kind)
    if (last is None or not last.running) and (job := build(state, order)) is not None:
        _confirm(state, job)


def _show_question(state: TableSession, job: ReleaseJob, question: str) -> None:
    """Render a pending job's question, with a button that starts the job and one that drops it."""
    with st.container(border=True):
        st.markdown(question)
        left, right, _ = st.columns([2, 2, 3])
        # The job's number is in the key: a click on this button cannot confirm a later job.
        left.button(
            "Spend and release",
            type="primary",
            key=f"own confirm {job.number}",
            on_click=_confirm,
            args=(state, job),
            width="stretch",
        )
        right.button(
            "Do not release",
            key=f"own decline {job.number}",
            on_click=setattr,  # of state.pending to None
            args=(state, "pending", None),
            width="stretch",
        )


def _confirm(state: TableSession, job: ReleaseJob) -> None:
    """Start a job and list it in the session; nothing if it was started before."""
    if job.confirm():  # only for the first click
        state.confirmed.append(job)
        state.pending = None
        job.wait(FIRST_WAIT_SECONDS)


def show_progress(job: ReleaseJob, doing: str) -> None:
    """Render how far a job is, and a button that stops it, until it has ended."""

    def show_bar() -> None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(min(job.share, 1.0), doing)
        right.button("Stop", key=f"own stop {job.number}", on_click=job.stop, width="stretch")

    refresh.while_more(show_bar, lambda: job.running)
