"""What is paid and not yet downloaded: asked about before the page is left, brought back after a reload.

A reload makes a new session, and the server keeps the former one for two minutes. Its secret, 256 random
bits, lies in the browser tab's own storage, which no other visitor or site reads. Whoever brings the secret
gets the releases and ledgers of that session once, and no table: rows are not handed on.
"""

from __future__ import annotations

import itertools
import secrets
from pathlib import Path

import streamlit as st

from dppca_core.ledger_lines import Account
from pages.shared import visitors
from pages.shared.own import session, words
from pages.shared.own.session import Own

_HERE = Path(__file__).parent
_KEY = "own unsaved"
_REFRESH_SECONDS = 0.5
_SERVER = secrets.token_hex(4)  # one that was started anew counts from one
_turns = itertools.count(1)
_mount = st.components.v2.component("dppca.unsaved", js=(_HERE / "unsaved.js").read_text(encoding="utf-8"))


def guard(own: Own) -> None:
    """Tell the browser whether to ask before the page is left, and take over a former session's releases."""
    _mount(
        key=_KEY,
        data={
            "armed": own.at_stake,
            "token": own.token,
            "keep": own.raw is not None or bool(own.made),
            "turn": f"{_SERVER} {next(_turns)}",
        },
        on_claim_change=_claim,
    )


def _claim() -> None:
    take_over(session.own(), str(st.session_state[_KEY]["claim"]))


def take_over(own: Own, token: str) -> None:
    """Inherit from the session with this secret, once; nothing where it is unknown or already forgotten."""
    former = session.sessions().get(token)
    if former is None or former is own:
        return
    del session.sessions()[token]
    own.inherit(former)
    for order in own.orders.values():
        order.follow(visitors.returning(visitors.visitor()))


def show_returned(own: Own, ready: bool) -> None:
    """Say after a reload that releases are back, and wait for one that is still being drawn."""
    running = [one.order for one in own.made if one.order is not None and one.order.running]
    if own.returned and any(one.released is not None for one in own.made):
        st.info(words.RETURNED)
    if running and not ready:
        st.info(words.STILL_DRAWN)

        def wait() -> None:
            if not running[-1].running:
                st.rerun()

        st.fragment(wait, run_every=_REFRESH_SECONDS)()


def show_lost(own: Own, account: Account, plain: bool) -> None:
    """Say which paid releases of this table the session does not have."""
    if own.drawing:
        return  # it is on the ledger before it is here
    known = own.known_entries
    absent = [entry for entry in account.entries if entry.id not in known]
    if absent:
        st.warning(words.lost(absent, account, plain))
