"""Take over an opened dictionary, and ask which of the table's columns are meant by names that it lacks.

A column that is chosen gets the dictionary's name.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from dppca_core.tables import dictionary_lines
from pages.hospitals.your_data import mapping_editor, several_text, upload_text
from pages.hospitals.your_data.column_mapping import MOST_LISTED, ColumnMapping
from pages.hospitals.your_data.session import TableSession
from pages.shared.text import literal, refusal

_LEFT_OUT = "left out"
_OF_REDCAP = "redcap_"  # begins the columns that each export has, of which no dictionary speaks


def take_over(state: TableSession) -> None:
    """Let the table's columns of the opened dictionary count, and let `show` ask about its other names.

    Where the dictionary states the other names of all of these, they are taken without a question. Nothing is
    asked where no column is free, or more than 200 names would have to be typed. Raises ValueError where the
    dictionary has none of the table's columns and nothing can be asked.
    """
    state.names_asked = None
    opened, hospitals = state.dictionary, state.hospitals
    if opened is None or hospitals is None:
        return
    first = hospitals.first
    absent = [name for name in opened.lines if name not in first.columns]
    free = [name for name in first.columns if name not in opened.lines and not name.startswith(_OF_REDCAP)]
    if absent and free and len(absent) <= MOST_LISTED:
        others = dictionary_lines.other_names(opened.lines)
        state.names_asked = mapping = ColumnMapping(absent, free, _LEFT_OUT, others)
        if all(mapping.answers.get(name) in others[name] for name in absent):
            _take_columns(state)
            return
    if len(absent) < len(opened.lines):
        state.take_dictionary(opened, first)
    elif state.names_asked is None:
        raise ValueError("The dictionary speaks of none of this table's columns.")


def show(state: TableSession) -> None:
    """Render the question that `take_over` has left, until it is answered; nothing without one.

    It is folded where no column is called alike: then the table has probably fewer columns.
    """
    mapping, opened = state.names_asked, state.dictionary
    if mapping is None or opened is None:
        return
    likely = bool(mapping.suggested) or len(mapping.names) == len(opened.lines)
    with st.expander(literal(upload_text.left_out(mapping.names)), expanded=likely):
        st.caption(several_text.MAP_DICTIONARY)
        # The file's id is in the key: another dictionary gets another editor.
        key = f"own names {state.tables_loaded} {state.files.get('dictionary', ('',))[0]}"
        mapping_editor.edit(mapping, key, "dictionary", "this table", state.units)
        if mapping.twice:
            st.error(refusal(several_text.twice("This table", mapping.twice)))
        unfit = bool(mapping.twice) or not any(mapping.answers.values())
        take = partial(_take_columns, state)
        st.button("Take these columns", key=f"{key} take", type="primary", on_click=take, disabled=unfit)


def _take_columns(state: TableSession) -> None:
    """Give the chosen columns the dictionary's names, and take over the dictionary's lines."""
    mapping, opened, hospitals = state.names_asked, state.dictionary, state.hospitals
    if mapping is None or opened is None or hospitals is None:
        return
    state.names_asked = None
    new_names = {column: name for name, column in mapping.answers.items() if column is not None}
    hospitals.rename(new_names)  # several tables are joined again before the page reads them
    for attribute in ("named_patients", "hospital_column"):
        column_name = getattr(state, attribute)
        setattr(state, attribute, new_names.get(column_name, column_name))
    lines = dict(opened.lines)
    for column, name in new_names.items():  # saved with the dictionary, so that it is asked once
        others = dictionary_lines.split_words(lines[name].other_names)
        if column not in others:
            lines[name] = replace(lines[name], other_names=dictionary_lines.join_words([*others, column]))
    state.take_dictionary(replace(opened, lines=lines), hospitals.first)
