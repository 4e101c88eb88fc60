"""Ask how many rows one patient can have, which column names the patients, and how their rows count."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dppca_core.tables import JoinedTable, dictionary_file, name_matching
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data import upload_text
from pages.hospitals.your_data.layout import choose_or_none
from pages.hospitals.your_data.session import TableSession
from pages.shared import text

_MOST_LISTED = 200  # columns: of a wider table they are typed
_FIRST_MOST_KEPT = 5  # of a patient's rows, until the owner types another number


def ask_rows(state: TableSession) -> int | None:
    """Ask how many rows one patient can have at most. Return that number, or None until it is answered.

    It is 1 where a column names the patients, since all rows of one patient count as one then.
    """
    joined = isinstance(state.raw, JoinedTable)
    ways, key = list(upload_text.ROWS), f"{state.tables_loaded} {state.generation}"
    state.rows_answer = st.radio(
        upload_text.ask_rows(joined),
        ways,
        index=None if state.rows_answer is None else ways.index(state.rows_answer),
        key=f"own several {key}{' joined' * joined}",  # joined tables are asked about anew
        format_func=upload_text.ROWS.__getitem__,
        help="Several visits, samples or admissions of one patient are several rows.",
    )
    if state.rows_answer == upload_text.NAMED and state.raw is not None:
        _ask_patients(state, state.raw.columns, key)
    if state.rows_answer == upload_text.UNNAMED:
        label, empty = "Most rows that one patient can have", "type a number"
        help_text = "From how the table was made, not counted in it."
        state.most_rows = _ask_most(
            label, 2, state.most_rows, help_text, key=f"own most rows {key}", placeholder=empty
        )
    if state.example and state.rows_answer == upload_text.ONE:
        st.caption(page_text.OF_EXAMPLE)
    if state.rows_per_patient is None:
        named = state.rows_answer == upload_text.NAMED
        st.info(upload_text.NO_PATIENT_COLUMN if named else page_text.UNANSWERED)
    elif state.patient_column is not None:
        st.caption(upload_text.counted(state.counting))
    elif state.rows_per_patient > 1:
        st.warning(
            f"The guarantee is for one row. It is weaker for a patient with {state.rows_per_patient:,} rows, "
            "and each price below says by how much. Nothing checks that no patient has more."
        )
    return state.rows_per_patient


def _ask_patients(state: TableSession, columns: Sequence[str], key: str) -> None:
    """Let the owner say which column names the patients, at first by its name, and how their rows count."""
    opened = state.dictionary
    if state.named_patients not in columns:
        state.named_patients = name_matching.patient_column(columns, "" if opened is None else opened.record)
    left, right = st.columns(2)
    with left:
        state.named_patients = choose_column(
            "Column that names the patient",
            columns,
            state.named_patients,
            key=f"own patients {key}",
            help="Such as a number of the record. It is never released, and is in no file, account or link.",
        )
    if state.named_patients is None:
        return
    if opened is not None and opened.patients is not None and opened.patients[0] == state.named_patients:
        st.caption(upload_text.patients_stated(state.named_patients))
    known, ways = state.counting, list(upload_text.COUNTED)
    how = right.radio(
        "Rows of one patient",
        ways,
        index=ways.index(upload_text.AT_MOST if isinstance(known, int) else known),
        key=f"own counted {key}",
        format_func=upload_text.COUNTED.__getitem__,
    )
    if how != upload_text.AT_MOST:
        state.counting = how
        return
    label, help_text = "Most rows of one patient that count", "Beyond so many, later rows are left out."
    first = known if isinstance(known, int) else _FIRST_MOST_KEPT
    kept = _ask_most(label, 1, first, help_text, key=f"own kept {key}")
    state.counting = first if kept is None else kept


def _ask_most(label: str, least: int, now: int | None, help_text: str, **more: Any) -> int | None:
    """Return how many rows of one patient the owner types, or None; now: what is there at first."""
    public = f"{help_text} This number becomes public."
    most: int | None = st.number_input(
        label, least, dictionary_file.MOST_ROWS, now, step=1, width=300, help=public, **more
    )
    return most


def choose_column(
    label: str, free: Sequence[str], current: str | None, key: str, help: str | None = None
) -> str | None:
    """Return the column that was chosen, or typed where there are too many to list; or None."""
    if len(free) > _MOST_LISTED:
        known = current if current is not None and current in free else ""
        typed = st.text_input(label, known, key=key, placeholder="type its name", width=300, help=help)
        if typed.strip() and typed.strip() not in free:
            st.error(text.refusal(f"the table has no such column left: '{typed.strip()[:40]}'"))
            return None
        return typed.strip() or None
    begin = 1 + free.index(current) if current is not None and current in free else 0  # option 0 is "none"
    return choose_or_none(label, "none", free, begin, key=key, width=300, help=help)
