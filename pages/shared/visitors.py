"""Who looks at the page, and whether they are still there."""

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


def visitor() -> str:
    """Who looks at the page now: their session's name; empty outside of one."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


def present(who: str) -> bool:
    """Whether this visitor's browser is connected."""
    return not Runtime.exists() or Runtime.instance().is_active_session(who)
