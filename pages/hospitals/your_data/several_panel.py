"""Ask for other hospitals' tables, and which of their columns stand for the first's; join them to it.

Tables are named by `number`: 0 is the first, others count from 1 as they were added.
"""

from functools import partial

import streamlit as st

from dppca_core.tables import Raw, dictionary_lines, limits, safe_cell
from pages.hospitals.your_data import file_reading, mapping_editor, session, several_text
from pages.hospitals.your_data.hospital_tables import HospitalTable, HospitalTables
from pages.hospitals.your_data.session import TableSession
from pages.shared.server import uploads
from pages.shared.text import refusal


def show(state: TableSession, hospitals: HospitalTables) -> bool:
    """Render the tables of other hospitals, and join them to the first once all questions are answered.

    Returns whether the page can go on: not while an answer is missing, and not with tables that cannot be
    joined.
    """
    with st.expander("Another hospital's table", expanded=bool(hospitals.others)):
        if hospitals.others:
            _show_tables(state, hospitals)
        _choose_another(state, hospitals)
    if problem := hospitals.problem():
        st.info(refusal(problem))
        return False
    try:
        with session.refusing(several_text.UNJOINED):
            table = hospitals.table()
    except ValueError as reason:
        st.error(refusal(str(reason)))
        return False
    if table is not state.raw:
        state.join(table)
    return True


def _show_tables(state: TableSession, hospitals: HospitalTables) -> None:
    """Render each hospital's name and size, and the question on its columns until it is confirmed."""
    hospitals.first_name = _ask_name(state, 0, hospitals.first_name, hospitals.first)
    for other in hospitals.others:
        other.name = _ask_name(state, other.number, other.name, other.raw)
        if not other.mapping.names:
            continue
        if other.confirmed:
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.caption(several_text.mapped(other.mapping.answers, state.units))
            key, arguments = f"own change {state.tables_loaded} {other.number}", (state, other.number, False)
            right.button("Change", key=key, on_click=_confirm, args=arguments, width="stretch")
        else:
            _ask_columns(state, other)
    st.caption(several_text.PATIENTS)


def _ask_name(state: TableSession, number: int, name: str, raw: Raw) -> str:
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    key = f"own hospital {state.tables_loaded} {number}"
    typed = left.text_input("Hospital", name, max_chars=limits.MOST_NAME, key=key)
    middle.caption(several_text.about(raw))
    if number:
        key, arguments = f"own remove {state.tables_loaded} {number}", (state, number)
        right.button("Take it out", key=key, on_click=_remove, args=arguments, width="stretch")
    return typed


def _remove(state: TableSession, number: int) -> None:
    # A button's arguments outlive the table, so it gets a number and no table, here and below.
    if state.hospitals is not None:
        state.hospitals.remove(number)


def _confirm(state: TableSession, number: int, confirmed: bool) -> None:
    for other in [] if state.hospitals is None else state.hospitals.others:
        if other.number == number:
            other.confirmed = confirmed


def _ask_columns(state: TableSession, other: HospitalTable) -> None:
    st.caption(several_text.MAP)
    key = f"own mapping {state.tables_loaded} {other.number}"
    mapping_editor.edit(other.mapping, key, "first table", safe_cell(other.name), state.units)
    left, middle, _ = st.columns([2, 2, 1])
    left.button(
        "Confirm these columns",
        key=f"{key} confirm",
        type="primary",
        on_click=_confirm,
        args=(state, other.number, True),
        disabled=bool(other.mapping.unanswered or other.mapping.twice),
        width="stretch",
    )
    if other.mapping.unanswered:
        label = "The rest was not measured there"
        middle.button(label, key=f"{key} rest", on_click=other.mapping.leave_out_rest, width="stretch")


def _choose_another(state: TableSession, hospitals: HospitalTables) -> None:
    if len(hospitals.others) + 1 >= limits.MOST_HOSPITALS:
        st.caption(several_text.MOST)
        return
    # A new key for each table, so that the next file is not taken for the one before.
    key = f"own another {state.tables_loaded} {hospitals.added}"
    upload = uploads.ask("A table of another hospital", file_reading.ENDINGS, key)
    st.caption(several_text.ASKED)
    former_count = hospitals.added
    add = partial(hospitals.add, other_names=dictionary_lines.other_names(state.lines))
    refused = file_reading.take(state, "another", upload, add)
    if refused:
        st.error(refusal(refused))
    if hospitals.added != former_count:
        st.rerun()
