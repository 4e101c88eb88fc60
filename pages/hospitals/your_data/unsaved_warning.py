"""What is paid and not yet downloaded: asked about before the page is left, brought back after a reload.

A reload makes a new session, and the server keeps the former one for two minutes. Its secret, 256 random
bits, lies in the browser tab's own storage, which no other visitor or site reads. Whoever brings the secret
gets the releases and ledgers of that session, and no table: rows are not handed on. While a page holds that
session, nobody else gets anything of it: a duplicated tab has a copy of the storage, secret and all.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from dppca_core.release.ledger_records import Account
from pages.hospitals.your_data import session, text
from pages.hospitals.your_data.session import Own
from pages.shared.background import refresh, sessions

_HERE = Path(__file__).parent
_KEY = "own unsaved"
_LOOK_SECONDS = 2.0  # between looks whether the tab of which this is a copy is open
_RELOAD_SECONDS = 20.0  # that a tab may be away for before a copy of it takes over
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
            "copied": bool(own.elsewhere),
            "keep": own.raw is not None or bool(own.made),
            "turn": f"{_SERVER} {next(_turns)}",
        },
        on_claim_change=_claim,
    )


def _claim() -> None:
    claim = st.session_state[_KEY]["claim"]
    if isinstance(claim, Mapping):  # a browser can send anything
        take_over(session.own(), str(claim.get("token")), claim.get("armed") is True)


def take_over(own: Own, token: str, armed: bool) -> None:
    """Inherit from the session with this secret if its page has gone; note where it is open, or unknown.

    armed: whether something paid was not downloaded, as far as the browser tab knows.
    """
    former = session.sessions().get(token)
    if former is None:
        own.missing = armed
    elif former is not own and sessions.present(former.visitor):
        own.elsewhere = token  # a copy of a tab: what is shared here would be missing there
    elif former is not own:
        _inherit(own, former, text.RETURNED)


def _inherit(own: Own, former: Own, returned: str) -> None:
    own.inherit(former)
    own.returned, own.elsewhere = returned, ""
    for order in own.orders.values():
        order.follow(sessions.returning(sessions.visitor()))
    # From now on the former secret leads here: a page reloaded before it has the next one loses nothing.
    for token in session.tokens_of(former):
        session.sessions()[token] = own


def show_elsewhere(own: Own) -> None:
    """Say that paid releases are in the tab of which this is a copy, and take them over if it has gone.

    Not at once: that tab may be on its way back, from a reload of its own.
    """
    if not own.elsewhere:
        return
    watched, may_come_back = "", sessions.returning("")

    def look() -> None:
        nonlocal watched, may_come_back
        former = session.sessions().get(own.elsewhere)
        if former is None or former is own:
            own.elsewhere = ""
            st.rerun()
        if former.visitor != watched:  # that tab was reloaded
            watched = former.visitor
            may_come_back = sessions.returning(watched, _RELOAD_SECONDS)
        if not may_come_back():
            _inherit(own, former, text.CAME_OVER)
            st.rerun()
        if former.paid:
            st.info(text.ELSEWHERE)

    st.fragment(look, run_every=_LOOK_SECONDS)()


def show_missing(own: Own, ready: bool) -> None:
    """Say that the server no longer has what this tab paid for, until the ledger of its table says it."""
    if ready:
        own.missing = False
    if own.missing:
        st.warning(text.missing(session.folder() is not None))


def show_returned(own: Own, ready: bool) -> None:
    """Say after a reload that releases are back, and wait for one that is still being drawn."""
    running = [one.order for one in own.made if one.order is not None and one.order.running]
    if own.returned and any(one.released is not None for one in own.made):
        st.info(own.returned)
    if running and not ready:
        st.info(text.STILL_DRAWN)
        refresh.while_more(lambda: None, lambda: running[-1].running)


def show_lost(own: Own, account: Account, plain: bool) -> None:
    """Say which paid releases of this table the session does not have."""
    if own.drawing:
        return  # it is on the ledger before it is here
    known = own.known_entries
    absent = [entry for entry in account.entries if entry.id not in known]
    if absent:
        st.warning(text.lost(absent, account, plain))
