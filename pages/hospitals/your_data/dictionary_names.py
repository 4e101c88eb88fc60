"""Ask which of the table's columns are meant by an opened dictionary's names that the table does not have.

A column that is chosen gets the dictionary's name.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from dppca_core.tables import dictionary_lines
from pages.hospitals.your_data import dictionary, mapping_editor, several_text
from pages.hospitals.your_data.column_mapping import MOST_LISTED, ColumnMapping
from pages.hospitals.your_data.session import TableSession
from pages.hospitals.your_data.text import refusal

_LEFT_OUT = "left out"


def ask(state: TableSession, data: bytes) -> None:
    """Let `show` ask which columns stand for names that only the dictionary has, if any column is free.

    Where the dictionary states the other names of all of these, they are taken without a question. data: the
    dictionary's file. Nothing is asked where more than 200 names would have to be typed. Raises ValueError
    for a file that is no dictionary.
    """
    state.opened = None  # first, so that no question on the file before is left if this one is refused
    lines, _ = dictionary.read_lines(data)
    columns = () if state.raw is None or state.hospitals.first is None else state.raw.columns
    absent = [name for name in lines if name not in columns]
    free = [name for name in columns if name not in lines]
    if not absent or not free or len(absent) > MOST_LISTED:
        return
    others = dictionary_lines.other_names(lines)
    mapping = ColumnMapping(absent, free, _LEFT_OUT, others)
    state.opened = data, mapping
    if all(mapping.answers.get(name) in others[name] for name in absent):
        _take_columns(state)


def show(state: TableSession) -> None:
    """Render the question that `ask` has left, until it is answered; nothing without one."""
    if state.opened is None:
        return
    _, mapping = state.opened
    st.info(several_text.MAP_DICTIONARY)
    # The file's id is in the key: another dictionary gets another editor.
    key = f"own names {state.tables_loaded} {state.files.get('dictionary', ('',))[0]}"
    mapping_editor.edit(mapping, key, "dictionary", "this table")
    if mapping.twice:
        st.error(refusal(several_text.twice("This table", mapping.twice)))
    unfit = bool(mapping.twice) or not any(mapping.answers.values())
    take = partial(_take_columns, state)
    st.button("Take these columns", key=f"{key} take", type="primary", on_click=take, disabled=unfit)


def _take_columns(state: TableSession) -> None:
    """Give the chosen columns the dictionary's names, and take over the dictionary's lines."""
    if state.opened is None or state.hospitals.first is None:
        return
    (data, mapping), state.opened = state.opened, None
    new_names = {column: name for name, column in mapping.answers.items() if column is not None}
    state.hospitals.rename(new_names)  # several tables are joined again before the page reads them
    for attribute in ("named_patients", "hospital_column"):
        column_name = getattr(state, attribute)
        setattr(state, attribute, new_names.get(column_name, column_name))
    lines, bound, _ = dictionary.load(data, state.hospitals.first.columns)
    for column, name in new_names.items():  # saved with the dictionary, so that it is asked once
        others = dictionary_lines.split_words(lines[name].other_names)
        if column not in others:
            lines[name] = replace(lines[name], other_names=dictionary_lines.join_words([*others, column]))
    state.set_lines(lines, bound)
