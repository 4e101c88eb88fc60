"""Tell one owner of tables from another, so that nobody sees what somebody else keeps on this server.

An owner is a person who signed in or, on a server that only its own machine can reach, whoever sits there.
Anybody else has a book of accounts in the session only.
"""

from urllib.parse import urlsplit

import streamlit as st
from streamlit import config

from pages.shared.server import sign_in

_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
# A proxy that names its visitor serves people of other machines, whatever address this server listens on.
_OF_PROXIES = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def owner() -> str | None:
    """Return the name of the person who signed in, or None where nobody did."""
    if sign_in.required():
        for name in ("sub", "email"):  # the provider's own name of an account, else its address
            if st.user.get(name):
                return f"user {st.user.get('iss', '')} {name} {st.user[name]}"
    return None


def has_book() -> bool:
    """Return whether the visitor's accounts are in the book on the disk, as those of `owner`."""
    # Without a name all of the book would be theirs.
    return owner() is not None if sign_in.required() else is_local()


def is_local() -> bool:
    """Return whether the server listens on this machine only, and the visitor came to it under that name."""
    headers = {name.lower(): value for name, value in st.context.headers.items()}
    if config.get_option("server.address") not in _THIS_MACHINE or any(map(headers.get, _OF_PROXIES)):
        return False
    # A browser states by which name it calls, and from which page: both must be of this machine.
    asked = (f"//{headers.get('host', '')}", headers.get("origin", ""))
    return all(_host(address) in _THIS_MACHINE for address in asked)


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
