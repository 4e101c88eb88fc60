"""Render the table in which a person says which column stands for which name."""

from collections.abc import Mapping

import streamlit as st

from pages.hospitals.your_data.column_mapping import COLUMN, HOW, NAME, ColumnMapping


def edit(mapping: ColumnMapping, key: str, names: str, columns: str, units: Mapping[str, str]) -> None:
    """Let the answers of a mapping be edited.

    names, columns: headings of the two columns. They are in the editor's download, where a spreadsheet must
    not read them as formulas.
    """
    key = f"{key} {mapping.version}"
    if key not in st.session_state:  # a new editor; an old one keeps what is typed as changes to its draft
        mapping.draft = dict(mapping.answers)
    heading = st.column_config
    typed = st.data_editor(
        mapping.to_frame(units),
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
