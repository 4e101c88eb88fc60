"""Ask visitors to sign in where the server wants it, by Streamlit's `st.login` (docs/server.md)."""

from importlib.util import find_spec
from pathlib import Path

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

_UNREADABLE = (
    "What this server knows about signing in cannot be read, so nobody is let in. Whoever keeps it finds the "
    "reason in its log."
)
_NOT_INSTALLED = (
    "This server is for those who sign in, and what signing in takes is not installed on it "
    "(requirements-sign-in.txt): nobody is let in."
)


def required() -> bool:
    """Return whether only those who sign in are let in: the server's secrets have a section [auth].

    Raises StreamlitSecretNotFoundError where there are secrets that cannot be read.
    """
    files = st.get_option("secrets.files")
    return any(Path(file).exists() for file in files) and "auth" in st.secrets


def ask(title: str) -> None:
    """Return where nobody need sign in, or the visitor has; else show what to do, and end the page's run."""
    fault = ""
    try:
        if not required() or st.user.is_logged_in:
            return
        if find_spec("authlib") is None:  # Streamlit signs in by this package
            fault = _NOT_INSTALLED
    except StreamlitSecretNotFoundError:
        fault = _UNREADABLE
    st.set_page_config(title)
    st.title("What does privacy cost?")
    if fault:
        st.error(fault)
    else:
        st.write("This server is for those who sign in.")
        st.button("Sign in", on_click=st.login)
    st.stop()
