"""The controls that spend privacy budget: a price, one button, one question, one answer that counts once."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Any

import streamlit as st

from dppca_core.release.discrete_gaussian import Progress
from dppca_core.release.ledger import Ledger
from pages.hospitals.your_data import kept_copies, ledger_text, session, text
from pages.hospitals.your_data.analyst_text import price
from pages.hospitals.your_data.ledger_text import Form
from pages.hospitals.your_data.prepared_table import PreparedTable, is_by_hospital
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import Order, TableSession
from pages.shared.background import refresh, sessions

FIRST_WAIT_SECONDS = 1.0  # for a job that ends at once, before the page is drawn

Make = Callable[..., Any]


def show(
    order: Order, label: str, what: str, question: str, make: Make, end: str = "", form: Form = price
) -> None:
    """Render the price and the button, then the question, then the state of the job.

    Args:
        order: What would be paid for. One job of its kind can be pending or running.
        label: Of the button.
        what: What is paid for, as the price begins.
        question: What is asked after the button was pressed, before the price is told again.
        make: Makes the release of the table that the session has then: gets the order, the table and what
            `given` returns. It must not hold rows: a button's arguments outlive the table.
        end: What is said after the price.
        form: Forms the price.
    """
    state = session.current()
    cost, exceeds_limit = ledger_text.price(what, order.request, order.account, form)
    if state.pending is not None and state.pending.what.kind == order.kind and state.pending.what != order:
        state.pending = None  # the settings have changed since it was requested
    last = state.last(order.kind)
    if last is not None and last.running:
        show_progress(last, "Drawing noise")
    elif state.pending is None or state.pending.what.kind != order.kind:
        st.markdown(cost)
        st.button(
            label,
            type="primary",
            key=f"own ask {order.kind}",
            disabled=exceeds_limit,
            on_click=_make_pending,
            args=(state, order, make),
        )
    else:
        asked = f"{question} {cost} {ledger_text.ONCE} {end}".rstrip()
        _show_question(state, state.pending, asked)
    if last is not None and last.failed and last.what.table == order.table:
        st.warning(text.ended(last))


def _make_pending(state: TableSession, order: Order, make: Make) -> None:
    if state.ready is not None:
        state.pending = _job(state.ready, order, make)


def _job(table: PreparedTable, order: Order, make: Make) -> ReleaseJob:
    # Opened when it is confirmed: the table may join another account until then. By its keys, without rows.
    opened = cache(partial(session.account_of, session.keys(table.raw), table.raw.n))
    # A job is paid for when it begins, so a connection that breaks for a moment must not stop it.
    present = sessions.returning(sessions.visitor())

    def made(progress: Progress) -> Any:
        return make(order, table, **given(order, table, opened(), progress))

    return ReleaseJob(order, made, present, partial(_forget, opened), kept_copies.keep, opened)


def given(order: Order, table: PreparedTable, ledger: Ledger, progress: Progress) -> dict[str, Any]:
    """Return what a release of every kind is made from: rows, who pays, and what is public of the table."""
    return {
        "rows": table.parts,
        "ledger": ledger,
        "features": table.schema.features,
        "public": table.public,
        "by_column": is_by_hospital(table.assignment),
        "expected": order.account,
        "progress": progress,
        "read": table.read,
    }


def _forget(opened: Callable[[], Ledger], job: ReleaseJob) -> None:
    """Drop what is kept of a release that its owner has by now."""
    kept_copies.drop(job)
    with suppress(OSError):  # then it stays, and is offered again
        opened().forget(job.result.entry.id)


def go_on(order: Order, make: Make) -> None:
    """Go on with what was paid for before: nothing is asked, since nothing is spent."""
    state = session.current()
    last = state.last(order.kind)
    if state.ready is not None and (last is None or not last.running):
        _confirm(state, _job(state.ready, order, make))


def _show_question(state: TableSession, job: ReleaseJob, question: str) -> None:
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
            on_click=setattr,
            args=(state, "pending", None),
            width="stretch",
        )


def _confirm(state: TableSession, job: ReleaseJob) -> None:
    job.token = state.token
    if job.confirm():  # only for the first click
        state.confirmed.append(job)
        state.pending = None
        job.wait(FIRST_WAIT_SECONDS)


def show_progress(job: ReleaseJob, doing: str) -> None:
    """Render how far a job is, with a button that stops it, until it has ended."""

    def bar() -> None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(min(job.share, 1.0), doing)
        right.button("Stop", key=f"own stop {job.number}", on_click=job.stop, width="stretch")

    refresh.while_more(bar, lambda: job.running)
