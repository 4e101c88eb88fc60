"""Tell which visitor looks at a page, and whether they are still connected."""

import time
from collections.abc import Callable

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

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
