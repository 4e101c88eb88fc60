"""Say that a table was lost with the connection: after a while the server begins a new session for the page.

The page in the browser was not reloaded then, and remembers whether there was a table.
"""

import itertools
from pathlib import Path

import streamlit as st

from pages.hospitals.your_data import session
from pages.hospitals.your_data.session import TableSession

_HERE = Path(__file__).parent
_KEY = "own lost"
_runs = itertools.count()
_mount = st.components.v2.component("dppca.lost", js=(_HERE / "lost_table.js").read_text(encoding="utf-8"))


def watch(state: TableSession) -> None:
    """Tell the browser whether there is a table, and hear from it of one that is gone."""
    _mount(
        key=_KEY,
        # run: makes each run of the page tell the browser, which has to say it again to one that was ended.
        data={
            "session": state.name,
            "table": state.raw is not None,
            "lost": state.table_lost,
            "run": next(_runs),
        },
        on_lost_change=_note_lost,
    )


def _note_lost() -> None:
    """Note that the page in the browser had a table, of which this session knows nothing."""
    state = session.current()
    state.table_lost = state.raw is None
