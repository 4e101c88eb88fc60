"""Ask first about a table how many rows one patient can have. The question has no default answer."""

from __future__ import annotations

import streamlit as st

from pages.hospitals.your_data import unit_text
from pages.hospitals.your_data.session import TableSession

MOST_ROWS = 10_000  # of one patient


def ask(state: TableSession) -> int | None:
    """Return how many rows one patient can have at most, or None until that is answered."""
    options = (unit_text.ONE, unit_text.SEVERAL)
    chosen = st.radio(
        unit_text.QUESTION,
        options,
        index=None if state.several is None else int(state.several),
        key=f"own several {state.tables}",
        help=unit_text.HELP,
    )
    state.several = None if chosen is None else chosen == unit_text.SEVERAL
    if state.several:
        state.most_rows = st.number_input(
            unit_text.MOST_ROWS,
            min_value=2,
            max_value=MOST_ROWS,
            value=state.most_rows,
            step=1,
            key=f"own most rows {state.tables}",
            placeholder="type a number",
            width=300,
            help=unit_text.MOST_ROWS_HELP,
        )
    if state.example and state.several is False:
        st.caption(unit_text.OF_EXAMPLE)
    if state.rows_per_patient is None:
        st.info(unit_text.UNANSWERED)
    elif state.several:
        st.warning(unit_text.weaker(state.rows_per_patient))
    return state.rows_per_patient
