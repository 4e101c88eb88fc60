"""Ask before a page with undownloaded paid releases is left, and bring them back after a reload.

A reload makes a new session, and the server keeps the former one for two minutes. The token of a session, 256
random bits, lies in the browser tab's own storage, which no other visitor or site reads. Whoever brings the
token gets the releases and ledgers of that session, and no table: rows are not handed on. Later, or from a
server started anew, it gets what was kept encrypted under that token (`kept_copies`), and no ledger. The page
then goes on under this token. While a page holds that session, nobody else gets anything of it: a duplicated
tab has a copy of the storage, token and all.

After a lost connection a page can have another session too, without having been reloaded. Then the browser
remembers whether there was a table, and the page says that it is gone.
"""

import itertools
import secrets
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from dppca_core.release.ledger import SessionLedger
from pages.hospitals.your_data import kept_copies, ledger_text, session
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import refresh, sessions

_HERE = Path(__file__).parent
_KEY = "own unsaved"
_CHECK_SECONDS = 2.0  # between checks whether the tab of which this is a copy is open
_RELOAD_SECONDS = 20.0  # that a tab may be away for before a copy of it takes over
# A run of the page has a number, by which the browser tells it from a drawing of its own. A server that was
# started anew counts from 1 again, so it has a name too.
_SERVER_NAME = secrets.token_hex(4)
_run_numbers = itertools.count(1)
_mount = st.components.v2.component("dppca.unsaved", js=(_HERE / "unsaved.js").read_text(encoding="utf-8"))


def guard(state: TableSession) -> None:
    """Tell the browser whether to ask before the page is left, and hear of a former session's token.

    `unsaved.js` gets the data and keeps the token in the tab's storage. If it finds another one there, it
    claims that session's releases for this one (`_claim`).
    """
    for job in state.to_download:
        kept_copies.keep(job)  # those that have come from another tab, under this one's token
    _mount(
        key=_KEY,
        data={
            # armed: ask before the page is left. copied: this tab is a copy of one that is open. keep: put
            # this token into the tab's storage. table: whether there is one to lose. heard: the token that
            # was claimed last. turn: tells this run of the page from all others.
            "armed": state.drawing or any(job.result and not job.downloaded for job in state.to_download),
            "token": state.token,
            "heard": state.heard,
            "copied": bool(state.elsewhere),
            "keep": state.raw is not None or bool(state.to_download),
            "table": state.raw is not None,
            "turn": f"{_SERVER_NAME} {next(_run_numbers)}",
        },
        on_claim_change=_claim,
    )


def _claim() -> None:
    """Take over what was paid for in the session whose token the browser has sent."""
    claim = st.session_state[_KEY]["claim"]
    if isinstance(claim, Mapping):  # a browser can send anything
        armed, had_table = (claim.get(key) is True for key in ("armed", "table"))
        take_over(session.current(), str(claim.get("token")), armed, had_table)


def take_over(state: TableSession, token: str, armed: bool, had_table: bool = False) -> None:
    """Take over what the session with this token has paid for, if its page has gone.

    If its page is open, this tab is a copy of that one, which is noted. If the server does not know the token
    any more, what is kept on disk comes back. If nothing is kept, and something paid was not downloaded, it
    is noted as missing. state: the session of this tab. armed: whether something was not downloaded, as far
    as the browser tab knows. had_table: whether the page, which was not reloaded since, had a table.
    """
    former, state.heard = session.sessions().get(token), token
    state.table_lost = had_table and former is not state and state.raw is None
    if former is None:
        state.missing = not _restore(state, token) and armed
    elif former is not state and sessions.is_connected(former.visitor):
        state.elsewhere = token  # a copy of an open tab: what moved here would be missing there
    elif former is not state:
        _inherit(state, former)


def _restore(state: TableSession, token: str) -> bool:
    """Bring back what the server's disk keeps for this token. Return whether that is anything."""
    restored = kept_copies.restored(token)
    if restored:
        state.confirmed = [*restored, *state.confirmed]
        state.restored = True
        _adopt_token(state, token)
    return bool(restored)


def _adopt_token(state: TableSession, token: str) -> None:
    """Let a tab keep the token that it brought: copies stay where they are, also if it is reloaded now."""
    session.sessions()[token] = state
    state.token = token
    for job in state.confirmed:
        job.token = token


def _inherit(state: TableSession, former: TableSession) -> None:
    """Take over what another session of the same browser tab paid for, and its ledgers, but no table."""
    state.confirmed = [*former.confirmed, *state.confirmed]
    state.cohorts.take_over(former.cohorts)
    accounts = [*former.ledgers.items(), *state.ledgers.items()]
    state.ledgers = {}
    # Put accounts of one cohort together: only the joined list of cohorts may show that they belong together.
    for key, account in accounts:
        members = state.cohorts.members((key,)).keys
        kept_key = next((member for member in members if member in state.ledgers), key)
        state.ledgers[kept_key] = SessionLedger.together(state.ledgers.get(kept_key, account), account)
    state.pending = None  # a question that is open would pay into an account that was replaced
    state.other_patients |= former.other_patients
    state.owner = former.owner
    state.returned, state.elsewhere = True, ""
    for job in state.confirmed:
        job.follow(sessions.return_check(sessions.visitor()))
    for token in session.tokens_of(former):  # those of tabs before it too
        session.sessions()[token] = state
    _adopt_token(state, former.token)


def show(state: TableSession, ready: bool) -> None:
    """Say which paid releases are gone, in another tab, or back after a reload.

    ready: whether a table is prepared for a release. Then its ledger lists all that was paid for, and the
    page shows the step of the release itself.
    """
    state.missing = state.missing and not ready
    if state.missing:
        st.warning(ledger_text.missing(session.folder() is not None))
    if state.elsewhere:
        _show_elsewhere(state)
    if state.paid and not ready:
        st.header("3 · Release")  # an earlier release stays on the page without its table
    running = [job for job in state.to_download if job.running]
    if state.returned and any(job.result for job in state.to_download):
        st.info(ledger_text.RETURNED)
    if state.restored and any(job.copied for job in state.to_download):
        st.info(ledger_text.RESTORED)
    if running and not ready:
        st.info(ledger_text.STILL_DRAWN)
        # Nothing is drawn here; once this one has ended, the page runs anew and looks which are left.
        refresh.while_more(lambda: None, lambda: running[-1].running)


def _show_elsewhere(state: TableSession) -> None:
    """Say that paid releases are in the tab of which this is a copy, and take them over if it has gone.

    Not at once: that tab may be on its way back, from a reload of its own.
    """
    # The session of the other tab, none so far, and whether that may be on its way back.
    watched, may_come_back = "", sessions.return_check("")

    def check() -> None:
        """Look every two seconds whether the other tab has gone, was reloaded, or still has releases."""
        nonlocal watched, may_come_back
        former = session.sessions().get(state.elsewhere)
        if former is None or former is state:
            if former is None:
                _restore(state, state.elsewhere)
            state.elsewhere = ""
            st.rerun()
        if former.visitor != watched:  # that tab was reloaded
            watched = former.visitor
            may_come_back = sessions.return_check(watched, _RELOAD_SECONDS)
        if not may_come_back():
            _inherit(state, former)
            st.rerun()
        if former.paid:
            st.info(ledger_text.ELSEWHERE)

    st.fragment(check, run_every=_CHECK_SECONDS)()
