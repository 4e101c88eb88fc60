"""Tell which visitor looks at a page, and whether they are still connected."""

import threading
import time
from collections.abc import Callable

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx

_SENDING_SECONDS = 5.0  # the longest wait for Streamlit to send what a run has shown
KEPT_SECONDS = float(st.get_option("server.disconnectedSessionTTL"))  # while a browser may come back


def visitor() -> str:
    """Return the name of the visitor's session; empty outside of a session."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


def is_connected(who: str) -> bool:
    """Return whether this visitor's browser is connected; always true outside of a server."""
    return not Runtime.exists() or Runtime.instance().is_active_session(who)


def return_check(who: str, seconds: float = KEPT_SECONDS) -> Callable[[], bool]:
    """Return a check that fails once the visitor has been disconnected for this many seconds."""
    left: float | None = None  # when the visitor was first seen to be disconnected

    def may_come_back() -> bool:
        nonlocal left
        if is_connected(who):
            left = None
            return True
        left = time.monotonic() if left is None else left
        return time.monotonic() - left < seconds

    return may_come_back


def end_if_moved_on() -> None:
    """Let Streamlit end this run here if its visitor has moved on, as wherever a run shows anything."""
    st.session_state.get("epsilon")


def wait_until_sent() -> None:
    """Wait until what this run has shown is on its way to the browser.

    A run that refreshes a part drops what the run before has shown of it and Streamlit has not sent. Where a
    browser asks again sooner than Streamlit sends, no run would ever be seen.
    """
    session = Runtime.instance().get_app_session(visitor()) if Runtime.exists() else None
    if not isinstance(session, AppSession):  # the visitor has gone, or a test stands in for them
        return
    handed_over, until = threading.Event(), time.monotonic() + _SENDING_SECONDS
    session._call_soon_on_event_loop(handed_over.set)  # after all that this run has shown
    while not (handed_over.is_set() and session._browser_queue.is_empty()) and time.monotonic() < until:
        end_if_moved_on()
        time.sleep(0.01)
