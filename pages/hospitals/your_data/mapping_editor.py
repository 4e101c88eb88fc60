"""Render the table in which a person says which column stands for which name."""

import streamlit as st

from pages.hospitals.your_data.column_mapping import COLUMN, HOW, NAME, ColumnMapping


def edit(mapping: ColumnMapping, key: str, names: str, columns: str) -> None:
    """Let the answers be edited; names, columns: what the two columns are headed.

    The editor's download has these headings, so they must be no formula.
    """
    key = f"{key} {mapping.version}"
    if key not in st.session_state:  # else the editor keeps what is typed as changes to the draft
        mapping.draft = dict(mapping.answers)
    heading = st.column_config
    typed = st.data_editor(
        mapping.to_frame(),
        key=key,
        hide_index=True,
        disabled=[NAME, HOW],
        column_config={
            NAME: heading.TextColumn(names, pinned=True),
            COLUMN: heading.SelectboxColumn(columns, options=list(mapping.of_label), width="medium"),
            HOW: heading.TextColumn(""),
        },
    )
    mapping.take(typed)
