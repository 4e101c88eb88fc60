"""The screen's part on a table too large to hold: read when asked, with progress, until stopped."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dppca_core.tables import Schema
from pages.hospitals.your_data import confirmation, large_table_sums, text
from pages.hospitals.your_data.large_table import Large
from pages.hospitals.your_data.prepared_table import Prepared
from pages.hospitals.your_data.release_job import Order
from pages.hospitals.your_data.session import Own
from pages.shared.background import sessions

_PLACE = "reading"
_FIRST_LOOK_SECONDS = 1.0


def show(own: Own, raw: Large, schema: Schema) -> Prepared | str | None:
    """Its sums by this dictionary; a sentence where it does not fit, None until it was read."""
    of = (_PLACE, own.generation, schema, own.by)
    order = own.orders.get(_PLACE)
    if order is None or order.what != of:
        st.info(
            "This table is too large to hold, so it is read in pieces, of which only sums are kept. That "
            "takes a while, and again after each change of the dictionary."
        )
        st.button("Read it now", key="own read", type="primary", on_click=_begin, args=(own, of))
        return None
    if order.running:
        confirmation.show_progress(order, "Reading the table in pieces")
        return None
    if order.made is None:
        st.button("Read it again", key="own read", on_click=_begin, args=(own, of))
        return text.unread(order)
    if own.prepared is None or own.prepared[1] is not order.made:
        own.measured.clear()
        own.prepared = of, order.made
    found: Prepared = order.made
    return found


def _begin(own: Own, of: tuple[object, ...]) -> None:
    """A button's arguments outlive the table, so the file is not among them."""
    _, generation, schema, by = of
    if not isinstance(own.raw, Large) or own.generation != generation:
        return
    former = own.orders.get(_PLACE)
    if former is not None:
        former.stop()
    reduce = partial(large_table_sums.reduce, own.raw, schema, by)
    order: Order[Prepared] = Order(of, reduce, partial(sessions.present, sessions.visitor()))
    own.orders[_PLACE] = order
    order.confirm()
    order.wait(_FIRST_LOOK_SECONDS)
