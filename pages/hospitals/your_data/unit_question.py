"""The question that comes first about a table: how many rows one patient can have. It has no default."""

from __future__ import annotations

import streamlit as st

from pages.hospitals.your_data import unit_text
from pages.hospitals.your_data.session import TableSession

MOST_ROWS = 10_000  # of one patient


def ask(state: TableSession) -> int | None:
    """Return how many rows one patient can have at most; None until that is answered."""
    options = (unit_text.ONE, unit_text.SEVERAL)
    chosen = st.radio(
        unit_text.QUESTION,
        options,
        index=None if state.several is None else int(state.several),
        key=f"own several {state.tables}",
        help="Several visits, samples or admissions of one patient are several rows.",
    )
    state.several = None if chosen is None else chosen == unit_text.SEVERAL
    if state.several:
        state.most_rows = st.number_input(
            "Most rows that one patient can have",
            min_value=2,
            max_value=MOST_ROWS,
            value=state.most_rows,
            step=1,
            key=f"own most rows {state.tables}",
            placeholder="type a number",
            width=300,
            help="From how the table was made, not counted in it. This number becomes public.",
        )
    if state.example and state.several is False:
        st.caption(unit_text.OF_EXAMPLE)
    if state.rows_per_patient is None:
        st.info(
            "Answer this first. Noise hides one row of the table. If a patient has several, the guarantee "
            "for the patient is weaker, and this page says by how much."
        )
    elif state.several:
        st.warning(
            f"The guarantee is for one row. It is weaker for a patient with {state.most_rows:,} rows, and each "
            "price below says by how much. Nothing checks that no patient has more."
        )
    return state.rows_per_patient
