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


def recorded(source: str) -> Recorded | None:
    """Return the run that took place; None where one is simulated here. Raises NoRunError."""
    try:
        if source == "stored":
            name = st.session_state.get(_STORED, next(iter(stored()), ""))
            if not name:
                raise NoRunError(sentences.NONE_STORED)
            return Recorded(open_stored(name), name)
        if source == "own":
            file = st.session_state.get(_UPLOADED)
            if file is None:
                raise NoRunError
            return Recorded(read(file.getvalue()))
    except ValueError as reason:
        raise NoRunError(str(reason)) from reason
    return None


def choose_run(source: str) -> None:
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
    widgets.show_panel_pills("sees.panel")
    if settings["sees.panel"] != "pair":
        choose_run(settings["join.source"])
    if m.ask.open:
        m.ask.show("messages")
    for key in () if m.ask.open else m.simulated:
        with st.spinner(sentences.passing(m.recipe, PROTOCOLS[key])), suppress(NoRunError):
            m.simulate(key)


settings = widgets.settings()
run: Recorded | None = None
why_none: str | None = None
if settings["sees.panel"] != "pair":
    try:
        run = recorded(settings["join.source"])
    except NoRunError as no_run:
        why_none = str(no_run)
m = Messages(settings, run, why_none, on_page=True)
streamlit.show(document.showing(m), above)
