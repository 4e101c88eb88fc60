"""Who looks at the page, and whether they are still there."""

import time
from collections.abc import Callable

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


def visitor() -> str:
    """Who looks at the page now: their session's name; empty outside of one."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


KEPT_SECONDS = 120.0  # as long as Streamlit lets a browser come back to its session


def present(who: str) -> bool:
    """Whether this visitor's browser is connected."""
    return not Runtime.exists() or Runtime.instance().is_active_session(who)


def returning(who: str, seconds: float = KEPT_SECONDS) -> Callable[[], bool]:
    """Whether this visitor is connected, or was not for so many seconds only: they may come back."""
    left: float | None = None

    def may_come_back() -> bool:
        nonlocal left
        if present(who):
            left = None
            return True
        left = time.monotonic() if left is None else left
        return time.monotonic() - left < seconds

    return may_come_back
