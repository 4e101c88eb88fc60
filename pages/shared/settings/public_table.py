"""Keep what is public of a visitor's own table in their session, where other pages find it."""

import streamlit as st

from dppca_core.experiments.planning.table_plan import PublicTable

_KEY = "public table"  # of the session's state


def put(table: PublicTable | None) -> None:
    """Keep what is public of the table that is loaded now; None where none is ready."""
    st.session_state[_KEY] = table


def current() -> PublicTable | None:
    """Return what is public of this visitor's table, or None without one."""
    table: PublicTable | None = st.session_state.get(_KEY)
    return table
