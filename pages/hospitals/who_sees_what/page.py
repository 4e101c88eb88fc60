"""Show a run message by message: what the server asks, what hospitals send, and what that tells."""

from contextlib import suppress

import streamlit as st

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from pages.hospitals.who_sees_what import document, sentences
from pages.hospitals.who_sees_what.model import Messages, NoRunError, Recorded, open_stored, read, stored
from pages.shared.document import streamlit
from pages.shared.server import uploads
from pages.shared.settings import widgets

_STORED, _UPLOADED = "stored run", "record uploaded"  # keys of the session's state


def recorded(source: str) -> Recorded | str | None:
    """Return the run that took place, or why there is none; None where one is simulated here."""
    try:
        if source == "stored":
            name = st.session_state.get(_STORED, next(iter(stored()), ""))
            return Recorded(open_stored(name), name) if name else sentences.NONE_STORED
        if source == "own":
            file = st.session_state.get(_UPLOADED)
            return "" if file is None else Recorded(read(file.getvalue()))
    except ValueError as reason:
        return str(reason)
    return None


def choose_run(source: str) -> None:
    """Show what chooses a run."""
    left, right = st.columns(2)
    with left:
        widgets.show_control("join.source")
    with right:
        if source == "simulated":
            widgets.show_control("join.way")
        elif source == "own":
            uploads.ask("A run's record, JSON lines", ["jsonl"], _UPLOADED)
        elif len(stored()) > 1:
            st.selectbox("Stored", stored(), key=_STORED)


def above() -> None:
    """Show the controls, and that a run is being simulated."""
    widgets.show_panel_pills("sees.panel")
    if settings["sees.panel"] != "pair":
        choose_run(settings["join.source"])
    for key in m.simulated:
        with st.spinner(sentences.passing(m.recipe, PROTOCOLS[key])), suppress(NoRunError):
            m.simulate(key)


settings = widgets.settings()
run = None if settings["sees.panel"] == "pair" else recorded(settings["join.source"])
m = Messages(settings, run)
streamlit.show(document.at(settings, run), above)
