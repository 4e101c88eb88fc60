"""How the page spends: its price in words, one button, one question, one answer that counts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dppca_core.release.private_release import Progress
from pages.hospitals.your_data import session, text
from pages.hospitals.your_data.release_job import Order
from pages.hospitals.your_data.session import Own
from pages.shared.background import refresh, sessions

_FIRST_LOOK_SECONDS = 1.0

Make = Callable[[Progress], Any]
Begin = Callable[[Own], Make | None]
Keep = Callable[[Own, Order[Any]], None]


def offer(
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
    """The button, then the question, then how the order stands; at this place of the page.

    what: what would be paid for, told apart without rows; the last of it is of which table. begin: from the
    session to what makes the release. keep: what happens to an order once it is confirmed. Neither may hold
    rows: a button's arguments outlive the table.
    """
    own = session.own()
    of = (place, *what)
    if own.asked is not None and own.asked.what[0] == place and own.asked.what != of:
        own.asked = None  # it was asked for something else
    last = own.orders.get(place)
    if last is not None and last.running:
        show_progress(last, "Drawing noise")
    elif own.asked is None or own.asked.what[0] != place:
        st.markdown(price)
        st.button(
            label,
            type="primary",
            key=f"own ask {place}",
            disabled=blocked,
            on_click=_ask,
            args=(own, of, begin),
        )
    else:
        _ask_again(own, own.asked, question, keep)
    if last is not None and last.failed and last.what[-1] == what[-1]:
        st.warning(text.ended(last))


def _ask(own: Own, of: tuple[Any, ...], begin: Begin) -> None:
    make = begin(own)
    if make is not None:
        # It is paid for when it begins: a connection that breaks for a moment must not make it worthless.
        own.asked = Order(of, make, sessions.returning(sessions.visitor()))


def _ask_again(own: Own, order: Order[Any], question: str, keep: Keep) -> None:
    with st.container(border=True):
        st.markdown(question)
        left, right, _ = st.columns([2, 2, 3])
        # The order's number is in the key: a click on this button cannot confirm a later order.
        left.button(
            "Spend and release",
            type="primary",
            key=f"own confirm {order.number}",
            on_click=_confirm,
            args=(own, order, keep),
            width="stretch",
        )
        right.button(
            "Do not release",
            key=f"own decline {order.number}",
            on_click=_decline,
            args=(own,),
            width="stretch",
        )


def _confirm(own: Own, order: Order[Any], keep: Keep) -> None:
    """The first click makes the release; any other finds it made."""
    if order.confirm():
        own.orders[str(order.what[0])] = order
        own.asked = None
        keep(own, order)
        order.wait(_FIRST_LOOK_SECONDS)


def _decline(own: Own) -> None:
    own.asked = None


def show_progress(order: Order[Any], doing: str) -> None:
    """Show how far an order is, with a button that stops it, until it has ended."""

    def bar() -> None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(min(order.share, 1.0), doing)
        right.button("Stop", key=f"own stop {order.number}", on_click=order.stop, width="stretch")

    refresh.while_more(bar, lambda: order.running)
