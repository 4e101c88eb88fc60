"""A paid release is not lost: the browser asks first, and a reloaded tab has it back."""

import json
import threading

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core import Release
from dppca_core.release import discrete_gaussian
from dppca_core.release.ledger import SessionLedger
from dppca_core.release.ledger_records import Limit
from pages.hospitals.your_data import (
    analyst_text,
    confirmation,
    ledger_text,
    session,
    text,
    unsaved_warning,
    upload_text,
)
from pages.shared.background import sessions
from pages.shared.reports import html_report
from tests.pages.hospitals.your_data.table_page import TablePage, limited, prepared, released
from tests.waiting import PATIENCE_SECONDS


def headings(page):
    return [box.value for box in page.app.header]


def downloads(page):
    return [button.proto.label for button in page.app.get("download_button")]


def test_leaving_is_asked_about_until_a_file_was_asked_for():
    page = limited()
    assert not page.guarded["armed"]
    page.release()
    assert page.guarded["armed"] and text.UNSAVED in page.markdown
    page.state.releases[0].mark_downloaded()
    page.run()
    assert not page.guarded["armed"] and text.UNSAVED not in page.markdown
    page.release()
    assert page.guarded["armed"]  # another release


def test_downloads_are_the_same_ready_bytes_in_every_run(monkeypatch):
    """A file built when its button is pressed is lost if the page runs between the press and the file."""
    given = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, *a, **k: given.update({label: data}))
    monkeypatch.setattr(
        DeltaGenerator, "download_button", lambda self, label, data, *a, **k: given.update({label: data})
    )
    page = released()
    first = dict(given)
    for label in ("Download the loadings (CSV)", "Download all of it (JSON)", "Export it (JSON lines)"):
        assert isinstance(first[label], str), label
    assert isinstance(first["Save the dictionary"], str) and isinstance(first["Download a report"], bytes)
    assert json.loads(first["Download all of it (JSON)"]) == page.state.releases[0].result.document
    html = html_report.html
    monkeypatch.setattr(html_report, "html", lambda made: pytest.fail("written again") and html(made))
    page.run()
    assert given == first


def test_a_paid_release_of_another_session_is_named_and_not_shown(folder, visitor):
    """Once its session has downloaded it; before that it is kept (`test_going_on.py`)."""
    visitor(None)
    former = released()
    assert "does not have" not in former.warnings
    former.state.releases[0].mark_downloaded()
    page = prepared()
    lost = ledger_text.lost(*_ledger(former), analyst_text.named)
    assert lost in page.warnings and "Analyze Gauss on 20" in lost and "ε = 0.5." in lost
    assert not page.state.releases
    page.release()
    assert lost in page.warnings  # the release that it has is not among them


def _ledger(page):
    account = session.ledger(page.state.raw).account()
    return account.entries, account


def test_a_reloaded_tab_gets_its_releases_back_and_nobody_else_does(absent):
    """By the token that only its storage has: releases and ledgers, no table, to one page at a time."""
    former = released()
    before, token = former.state, former.become("former")
    stranger, tab = TablePage(), TablePage()
    for wrong in ("", "x" * len(token), stranger.state.token):
        unsaved_warning.take_over(stranger.state, wrong, armed=False)
    absent.add("former")
    unsaved_warning.take_over(tab.state, token, armed=True)
    unsaved_warning.take_over(stranger.state, token, armed=True)
    stranger.run()
    tab.run()
    assert headings(tab) == ["1 · Your table", "3 · Release"] and headings(stranger) == ["1 · Your table"]
    assert not stranger.state.releases and ledger_text.RETURNED not in stranger.notices
    assert tab.state.raw is None and tab.state.prepared is None
    assert tab.state.releases[0].result is before.releases[0].result
    assert ledger_text.RETURNED in tab.notices and tab.guarded["armed"]
    tab.upload()
    tab.answer()
    tab.open_dictionary()
    assert "0.5 of the limit" in tab.spent  # the session's ledger came along


def test_a_copied_tab_gets_nothing_while_the_other_is_open(absent, monkeypatch):
    """Until the other has been gone for longer than a reload takes; one that is reloaded has it back."""
    first = released()
    token, copy = first.become("first"), TablePage()
    unsaved_warning.take_over(copy.state, token, armed=True)
    copy.run()
    assert ledger_text.ELSEWHERE in copy.notices and headings(copy) == ["1 · Your table"]
    assert not copy.state.releases and not copy.state.ledgers and not copy.guarded["armed"]
    assert copy.guarded["copied"] and session.sessions()[token] is first.state
    absent.add("first")
    again = TablePage()
    unsaved_warning.take_over(again.state, token, armed=True)
    again.run()
    again.state.visitor = "again"
    assert len(again.state.releases) == 1 and ledger_text.RETURNED in again.notices
    copy.run()
    assert ledger_text.ELSEWHERE in copy.notices and not copy.state.releases
    monkeypatch.setattr(unsaved_warning, "_RELOAD_SECONDS", 0)
    absent.add("again")
    copy.run()
    assert ledger_text.RETURNED in copy.notices and copy.guarded["armed"]
    assert copy.state.releases == again.state.releases and session.sessions()[token] is copy.state


def test_a_tab_that_has_the_same_table_too_goes_on_with_what_was_spent(absent):
    """Its own empty account takes no place of the one that paid, and its own releases count there."""
    first = released()
    token = first.become("first")
    other = TablePage()
    other.upload()
    other.answer()
    other.open_dictionary()
    other.state.pending = "a question of the account that is replaced"
    absent.add("first")
    unsaved_warning.take_over(other.state, token, armed=True)
    assert other.state.pending is None
    other.run()
    assert "0.5 of the limit" in other.spent
    (account,) = other.state.ledgers.values()
    spent = SessionLedger()
    spent.set_limit(Limit(9.0, 1e-6))
    spent.spend("elsewhere", (Release(7.2),))
    account.take_over(spent)
    limits = account.account().limit
    assert limits.epsilon == 1.0 and len(account.account().entries) == 2


@pytest.mark.parametrize("on_disk", [True, False])
def test_what_the_server_no_longer_has_is_said(absent, tmp_path, monkeypatch, on_disk):
    """Only where something paid was not downloaded, and until the ledger of the table says it."""
    monkeypatch.setenv(session.LEDGER_DIR, str(tmp_path) if on_disk else "")
    page, lost = TablePage(), ledger_text.missing(on_disk)
    unsaved_warning.take_over(page.state, "unknown", armed=False)
    page.run()
    assert lost not in page.warnings
    unsaved_warning.take_over(page.state, "unknown", armed=True)
    page.run()
    assert lost in page.warnings
    page.upload()
    page.answer()
    page.open_dictionary()
    assert lost not in page.warnings


def test_a_release_that_is_being_drawn_goes_on_for_the_reloaded_tab(monkeypatch, absent):
    begun, go_on, present = threading.Event(), threading.Event(), {"former": True}
    true = discrete_gaussian.release

    def draw(summed, budget, progress):
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        if not progress(0.5):
            raise discrete_gaussian.StoppedError
        return true(summed, budget)

    monkeypatch.setattr(discrete_gaussian, "release", draw)
    monkeypatch.setattr(confirmation, "FIRST_WAIT_SECONDS", 0.01)
    returning = sessions.return_check
    monkeypatch.setattr(sessions, "return_check", lambda who, *_: lambda: present["former"])
    former = limited()
    former.press("Release")
    former.press("Spend")
    assert begun.wait(PATIENCE_SECONDS) and former.guarded["armed"]
    monkeypatch.setattr(sessions, "return_check", returning)
    token = former.become("former")
    absent.add("former")
    tab = TablePage()
    unsaved_warning.take_over(tab.state, token, armed=True)
    tab.run()
    assert ledger_text.STILL_DRAWN in tab.notices and tab.guarded["armed"]
    present["former"] = False  # the tab as it was before the reload
    go_on.set()
    tab.state.releases[0].wait(PATIENCE_SECONDS)
    tab.run()
    assert tab.state.releases[0].result is not None and "Download all of it (JSON)" in downloads(tab)


@pytest.mark.parametrize("kept", [True, False], ids=["former session known", "forgotten"])
def test_a_table_that_a_lost_connection_cost_is_said_until_another_is_loaded(absent, kept):
    """To the page that had one and was not reloaded since; and the browser shows an empty uploader."""
    former = TablePage()
    former.upload()
    assert former.guarded["table"] and upload_text.LOST not in former.warnings
    token = former.become("former")
    absent.add("former")
    if not kept:
        del session.sessions()[token]
    page, reloaded = TablePage(), TablePage()
    assert not page.guarded["table"] and page.state.uploader != former.state.uploader
    unsaved_warning.take_over(page.state, token, armed=False, had_table=True)
    unsaved_warning.take_over(reloaded.state, token, armed=False)
    page.run()
    reloaded.run()
    assert upload_text.LOST in page.warnings and upload_text.LOST not in reloaded.warnings
    page.run()
    assert upload_text.LOST in page.warnings  # a run changes nothing
    page.upload()
    assert page.state.raw is not None and upload_text.LOST not in page.warnings
    unsaved_warning.take_over(page.state, page.state.token, armed=False, had_table=True)
    page.run()
    assert upload_text.LOST not in page.warnings  # a connection that came back in time
    page.press("Forget it")
    assert upload_text.LOST not in page.warnings


def test_a_table_that_was_forgotten_leaves_an_empty_uploader():
    page = TablePage()
    page.upload()
    former = page.state.uploader
    page.press("Forget it")
    (box,) = (box for box in page.app.file_uploader if box.key.startswith("own file"))
    assert box.key != f"own file {former}" and box.value is None
    page.upload()
    assert page.state.raw is not None
