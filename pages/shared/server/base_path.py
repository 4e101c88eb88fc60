"""Name the path below which everything on this server is, where it shares a name with other programs."""

import streamlit as st


def base_path() -> str:
    """Return `server.baseUrlPath` as the begin of a path, such as /dp/tools; "" without one."""
    return f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")
