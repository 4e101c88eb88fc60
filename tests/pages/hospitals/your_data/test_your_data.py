"""A table of one's own on the screen: typed, rehearsed, released once, counted, kept to one session."""

import errno
import gc
import io
import json
import re
import threading
import weakref
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from streamlit.delta_generator import DeltaGenerator

from dppca_core import METHODS, Budget, sin_theta, tables
from dppca_core.accounting import gaussian, numerical
from dppca_core.experiments.explorer import results as live
from dppca_core.release import discrete_gaussian, journal, private_release
from dppca_core.release.ledger import DiskLedger
from dppca_core.release.ledger_records import Account, Limit
from dppca_core.tables import Column, Schema, content, content_key, limits
from pages.hospitals.your_data import (
    owner_only_diagnostics,
    owner_only_text,
    price_text,
    session,
    synthetic_twin_panel,
    twin_text,
    unit_text,
    unsaved_warning,
)
from pages.hospitals.your_data import (
    release_panel as release,
)
from pages.hospitals.your_data import report as own_report
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.shared import text
from pages.shared.background import memory, sessions
from pages.shared.reports import html_report
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import CHOICES
from tests.waiting import PATIENCE_SECONDS

PAGE = "hospitals/your_data/page.py"
CANARY = "Zanzibar-7731"
FILE, COLUMN = f"{CANARY}-file.csv", f"{CANARY}-column"
NUMBER = 61.62636465
ROWS = 120


def patients(seed=0, n=ROWS):
    rng = np.random.default_rng(seed)
    age, weight = rng.uniform(20, 90, n).round(1), rng.uniform(45, 120, n).round(1)
    frame = pd.DataFrame({"age": age, "weight": weight, "pulse": (220 - age + rng.normal(0, 5, n)).round(1)})
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["clinic"] = rng.choice(["north", "south"], n)
    return frame


DICTIONARY = Schema(
    (
        Column("age", "number", 0, 120, fill=60.0),
        Column("weight", "number", 30, 200, fill=80.0),
        Column("pulse", "number", 30, 220),
    )
)


def csv(frame):
    return frame.to_csv(index=False).encode()


def upload(page, data, name="ours.csv"):
    page.app.file_uploader(key="own file").set_value((name, data, "text/csv"))
    page.run()


def answer(page, rows=1):
    """How many rows a patient can have: the page waits for it."""
    box = page.app.radio[0]
    box.set_value(box.options[rows > 1])
    page.run()
    if rows > 1:
        next(one for one in page.app.number_input if one.label.startswith("Most rows")).set_value(rows)
        page.run()


def press(page, start):
    button = next(one for one in page.app.button if one.label.startswith(start))
    button.click()
    page.run()


def labels(page):
    return [button.label for button in page.app.button]


def errors(page):
    return "\n".join(box.value for box in page.app.error)


def warnings(page):
    return "\n".join(box.value for box in page.app.warning)


def own(page):
    return page.app.session_state["own table"]


def brought(screen, frame=None, dictionary=DICTIONARY, name="ours.csv", rows=1, **link):
    page = screen(PAGE, **link)
    upload(page, csv(patients() if frame is None else frame), name)
    answer(page, rows)
    page.app.file_uploader(key="own dictionary").set_value(
        ("dictionary.json", dictionary.to_json().encode(), "application/json")
    )
    page.run()
    return page


def limited(screen, **link):
    page = brought(screen, **link)
    press(page, "Set this limit")
    return page


def begun_release(screen, **link):
    """The page as soon as the release is confirmed: it may still be drawn."""
    page = limited(screen, **link)
    press(page, "Release")
    press(page, "Spend")
    return page


def released(screen, **link):
    page = limited(screen, **link)
    press(page, "Release")
    spend(page)
    return page


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(session.LEDGER_DIR, str(tmp_path))
    return tmp_path


@pytest.fixture
def makes(monkeypatch):
    """How often a release was made."""
    made, true = [], private_release.make

    def make(*args, **own):
        made.append(args)
        return true(*args, **own)

    monkeypatch.setattr(private_release, "make", make)
    return made


# --- a release happens once -----------------------------------------------------------------------------


def test_a_release_is_asked_for_priced_confirmed_and_made_once(screen, makes):
    page = limited(screen)
    press(page, "Release")
    assert not makes
    assert "from 0 to 0.5 of your limit 1, and leaves 0.5" in page.markdown
    assert "It cannot be taken back" in page.markdown
    press(page, "Spend")
    for _ in range(3):
        page.run()
    page.move("own.epsilon", 0.1)
    page.move("own.k", 1)
    assert len(makes) == 1
    (made,) = own(page).releases
    made.job.wait(PATIENCE_SECONDS)
    assert made.job.result.hardened
    assert made.job.result.document["features"] == ["age", "weight", "pulse"]
    assert "seed" not in json.dumps(made.job.result.document["parameters"])
    press(page, "Release")
    spend(page)
    for made in own(page).releases:
        made.job.wait(PATIENCE_SECONDS)
    assert len(makes) == 2 and len(own(page).releases) == 2


def test_a_click_on_an_old_confirmation_confirms_nothing(screen, makes):
    """Moved settings let an order go; its button, still on a slow screen, is not the next order's."""
    page = limited(screen)
    press(page, "Release")
    old = own(page).pending
    page.move("own.epsilon", 0.2)
    assert own(page).pending is None
    assert not [label for label in labels(page) if label.startswith("Spend")]
    press(page, "Release")
    assert own(page).pending is not old
    assert not makes


def test_many_clicks_at_once_make_one_release():
    """Forty threads confirm one order, and one of them is the first."""
    calls, gate = [], threading.Barrier(40)
    order = ReleaseJob(("here",), lambda progress: calls.append(progress(1.0)), lambda: True)
    first = []

    def click():
        gate.wait()
        first.append(order.confirm())

    threads = [threading.Thread(target=click) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    order.wait(PATIENCE_SECONDS)
    assert calls == [True] and sum(first) == 1 and order.state == "done"


def test_a_stopped_release_is_paid_for_and_not_shown(screen, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def release(summed, budget, progress):
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        if not progress(0.5):
            raise discrete_gaussian.StoppedError
        raise AssertionError("it was not stopped")

    monkeypatch.setattr(discrete_gaussian, "release", release)
    monkeypatch.setattr("pages.hospitals.your_data.confirmation.FIRST_WAIT_SECONDS", 0.01)
    page = begun_release(screen)
    assert begun.wait(PATIENCE_SECONDS)
    press(page, "Stop")
    go_on.set()
    own(page).releases[0].job.wait(PATIENCE_SECONDS)
    page.run()
    assert "paid for, and nothing of it was shown" in warnings(page)
    assert "0.5 of the limit" in page.app.get("progress")[0].proto.text
    assert own(page).releases[0].job.result is None


def test_every_method_can_be_released(screen):
    page = limited(screen, **{"own.eps": "0.1", "own.k": "20", "own.N": "2"})
    for method in private_release.OFFERED:
        page.move("own.method", method)
        press(page, "Release")
        spend(page)
        found = own(page).releases[-1].released
        assert found.basis.shape == (3, 2) and found.document["method"] == method
        assert "Components k lowered to 2" in page.captions
        hard = method in private_release.HARDENED
        assert ("not hardened" in page.markdown + page.captions) != hard
    assert [one.released.document["method"] for one in own(page).releases] == list(private_release.OFFERED)


def test_beyond_the_limit_there_is_no_button(screen):
    page = limited(screen, **{"own.eps": "2"})
    (button,) = [one for one in page.app.button if one.label.startswith("Release")]
    assert button.disabled
    assert "beyond the limit 1: ask for less" in page.markdown


# --- the unit of privacy --------------------------------------------------------------------------------


def spend(page):
    """Confirm what was asked for; the page as it is once that is drawn."""
    press(page, "Spend")
    for order in own(page).jobs.values():
        order.wait(PATIENCE_SECONDS)
    page.run()


def everything(page):
    said = (page.markdown, page.captions, page.notices, warnings(page))
    return "\n".join((*said, *(box.value for box in page.app.success)))


def test_nothing_is_shown_of_a_table_before_its_rows_per_patient_are_stated(screen):
    page = screen(PAGE)
    upload(page, csv(patients()))
    assert page.app.radio[0].value is None and "Answer this first" in page.notices
    assert not page.app.multiselect and not page.app.get("bidi_component")[1:] and not page.app.success
    answer(page, 8)
    assert page.app.multiselect
    (box,) = [one for one in page.app.number_input if one.label.startswith("Most rows")]
    box.set_value(None)
    page.run()
    assert not page.app.multiselect
    answer(page, 1)
    upload(page, csv(patients(seed=1)), "next.csv")
    assert page.app.radio[0].value is None and not page.app.multiselect  # asked of each table


def test_an_example_is_known_to_have_one_row_a_patient(screen):
    page = screen(PAGE)
    press(page, "Take the breast cancer")
    assert "Known of this example" in page.captions and "569 patients" in everything(page)
    answer(page, 3)
    assert "Known of this example" not in page.captions and "569 rows" in everything(page)


@pytest.mark.parametrize("view", ["board", "analyst"])
def test_a_patient_with_eight_rows_is_told_ten_and_not_one(screen, folder, built, view):
    """On the price, the question, the promise, the ledger, the document and the report; 1 by row."""
    page = brought(screen, rows=8, view=view, **{"own.eps": "1", "own.delta": "1e-6"})
    assert "120 rows in " in everything(page) and "120 patients" not in everything(page)
    assert "The limit counts per row." in page.captions
    press(page, "Set this limit")
    assert "10.30" in page.markdown
    press(page, "Release")
    assert "of 120 rows?" in page.markdown
    spend(page)
    document = own(page).releases[0].released.document
    assert (document["unit"], document["rows per patient"]) == ("row", 8)
    assert document["epsilon for a patient"] == pytest.approx(10.2962, abs=1e-4)
    assert document["parameters"]["budget"]["epsilon"] == 1
    assert "any one row" in document["guarantee"] and "e^10.3" in document["guarantee"]
    assert "For a patient with 8 rows, all releases so far have" in page.markdown
    ledger = page.app.dataframe[-1].value
    assert ledger["rows per patient"].tolist() == ["8"] and ledger.iloc[0, -1] == "10.30"
    (entry,) = DiskLedger(folder, content_key(patients())).account().entries
    assert (entry.about["rows"], entry.rows_per_patient) == (ROWS, 8)
    made = built()
    assert "120 rows" in made.sentence and "10.30" in made.guarantee
    settings = dict(made.settings)
    assert settings["Rows"] == "120" and settings["Rows of one patient"] == "up to 8"
    assert [value for label, value in made.settings if label.endswith("for a patient")] == ["10.3"]


def test_each_release_keeps_the_answer_it_was_made_with(screen, folder):
    """Answered anew after a release: the old one says what it is now, the next one has the new number."""
    page = brought(screen, **{"own.eps": "0.5", "own.delta": "1e-6"})
    press(page, "Set this limit")
    press(page, "Release")
    spend(page)
    assert "rows per patient" not in page.app.dataframe[-1].value
    press(page, "Release")
    asked = own(page).pending
    answer(page, 4)
    assert own(page).pending is None and asked is not None  # the question was for another number
    z = own(page).releases[0].released.entry.events[0].noise_multiplier
    cost = gaussian.epsilon_of(z / 4, 1e-6)
    assert f"up to 4, it has ε = {cost:.2f} for a patient" in warnings(page)
    page.move("own.epsilon", 0.2)
    press(page, "Release")
    spend(page)
    ledger = page.app.dataframe[-1].value
    assert ledger["rows per patient"].tolist() == ["1", "4"]
    assert ledger.iloc[0, -1] == "0.5" and float(ledger.iloc[1, -1]) > 4 * 0.2
    both = own(page).releases[1].released.entry.events[0].noise_multiplier
    total = gaussian.epsilon_of((z**-2 + both**-2) ** -0.5 / 4, 1e-6)
    assert f"all releases so far have ε = {total:.2f} together" in page.markdown


def test_a_spectrum_says_what_it_costs_a_patient(screen, folder):
    page = brought(screen, dictionary=_wide(), rows=8, **{"own.slice": "0.5", "own.delta": "1e-6"})
    press(page, "Set this limit")
    cost = gaussian.epsilon_of(gaussian.noise_multiplier(Budget(0.5, 1e-6)) / 8, 1e-6)
    press(page, "Pay for the spectrum")
    question = next(box.value for box in page.app.markdown if box.value.startswith("**Release the strength"))
    assert f"ε = {cost:.2f}" in question
    spend(page)
    (entry,) = DiskLedger(folder, content_key(patients())).account().entries
    assert entry.rows_per_patient == 8


def test_what_evades_the_ledger_stands_at_the_limit_and_at_the_ledger(screen):
    page = brought(screen)
    assert page.captions.count(unit_text.EVADES) == 2
    press(page, "Set this limit")
    assert page.captions.count(unit_text.EVADES) == 1


# --- a paid release is not lost -------------------------------------------------------------------------


def guarded(page):
    """What the browser was told last: whether it asks before the page is left."""
    (sent,) = [
        json.loads(one.proto.json) for one in page.app.get("bidi_component") if "armed" in one.proto.json
    ]
    return sent


def test_leaving_is_asked_about_until_a_file_was_asked_for(screen):
    page = limited(screen)
    assert not guarded(page)["armed"]
    press(page, "Release")
    spend(page)
    assert guarded(page)["armed"] and "Not downloaded yet" in page.markdown
    release.mark_downloaded(own(page), own(page).releases[0])
    page.run()
    assert not guarded(page)["armed"] and "Not downloaded yet" not in page.markdown
    press(page, "Release")
    spend(page)
    assert guarded(page)["armed"]  # another one


def test_downloads_are_the_same_ready_bytes_in_every_run(screen, monkeypatch):
    """What is built when it is pressed is lost if the page runs between the press and the file."""
    given = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, *a, **k: given.update({label: data}))
    monkeypatch.setattr(
        DeltaGenerator, "download_button", lambda self, label, data, *a, **k: given.update({label: data})
    )
    page = limited(screen)
    press(page, "Release")
    spend(page)
    first = dict(given)
    for label in ("Download the loadings (CSV)", "Download all of it (JSON)", "Export it (JSON lines)"):
        assert isinstance(first[label], str), label
    assert isinstance(first["Save the dictionary"], str) and isinstance(first["Download a report"], bytes)
    assert json.loads(first["Download all of it (JSON)"]) == own(page).releases[0].released.document
    html = html_report.html
    monkeypatch.setattr(html_report, "html", lambda made: pytest.fail("written again") and html(made))
    page.run()
    assert given == first


def test_a_paid_release_of_another_session_is_named_and_not_shown(screen, folder):
    former = limited(screen)
    press(former, "Release")
    spend(former)
    page = brought(screen)
    assert "holds 1 paid release that this session does not have: Analyze Gauss on 20" in warnings(page)
    assert "ε = 0.5." in warnings(page) and "costs anew" in warnings(page)
    assert not own(page).releases
    press(page, "Release")
    spend(page)
    assert "holds 1 paid release that" in warnings(page)  # the one it has is not among them


def test_the_session_that_paid_misses_nothing(screen, folder):
    page = limited(screen)
    press(page, "Release")
    spend(page)
    assert "does not have" not in warnings(page)


@pytest.fixture
def absent(monkeypatch):
    """Name the visitors whose page has gone: every AppTest is the same visitor, who is there."""
    names = set()
    monkeypatch.setattr(sessions, "present", lambda who: who not in names)
    return names


def known(page, visitor):
    """Let the server know this page's session as this visitor's: AppTest has no session of a server's."""
    own(page).visitor = visitor
    session.sessions()[own(page).token] = own(page)
    return own(page).token


def headings(page):
    return [box.value for box in page.app.header]


def test_a_reloaded_tab_gets_its_releases_back_and_nobody_else_does(screen, absent):
    """By the secret that only its storage has: releases and ledgers, no table, to one page at a time."""
    former = limited(screen)
    press(former, "Release")
    spend(former)
    before, secret = own(former), known(former, "former")
    stranger, tab = screen(PAGE), screen(PAGE)
    for wrong in ("", "x" * len(secret), own(stranger).token):
        unsaved_warning.take_over(own(stranger), wrong, armed=False)
    absent.add("former")
    unsaved_warning.take_over(own(tab), secret, armed=True)
    unsaved_warning.take_over(own(stranger), secret, armed=True)
    stranger.run()
    tab.run()
    assert headings(tab) == ["1 · Your table", "3 · Release"] and headings(stranger) == ["1 · Your table"]
    assert not own(stranger).releases and "reloaded" not in stranger.notices
    assert own(tab).raw is None and own(tab).prepared is None
    assert (
        own(tab).releases[0].released is before.releases[0].released
        and "The page was reloaded" in tab.notices
    )
    assert guarded(tab)["armed"]
    upload(tab, csv(patients()))
    answer(tab)
    tab.app.file_uploader(key="own dictionary").set_value(("d.json", DICTIONARY.to_json().encode(), ""))
    tab.run()
    assert "0.5 of the limit" in tab.app.get("progress")[0].proto.text  # the session's ledger came along


def test_a_copied_tab_gets_nothing_while_the_other_is_open(screen, absent, monkeypatch):
    """Until the other has been gone for longer than a reload takes; one that is reloaded has it back."""
    first = limited(screen)
    press(first, "Release")
    spend(first)
    secret, copy = known(first, "first"), screen(PAGE)
    unsaved_warning.take_over(own(copy), secret, armed=True)
    copy.run()
    assert "copy of another tab" in copy.notices and headings(copy) == ["1 · Your table"]
    assert not own(copy).releases and not own(copy).ledgers and not guarded(copy)["armed"]
    assert guarded(copy)["copied"] and session.sessions()[secret] is own(first)
    absent.add("first")
    again = screen(PAGE)
    unsaved_warning.take_over(own(again), secret, armed=True)
    again.run()
    own(again).visitor = "again"
    assert len(own(again).releases) == 1 and "The page was reloaded" in again.notices
    copy.run()
    assert "copy of another tab" in copy.notices and not own(copy).releases
    monkeypatch.setattr(unsaved_warning, "_RELOAD_SECONDS", 0)
    absent.add("again")
    copy.run()
    assert "The other tab has gone" in copy.notices and guarded(copy)["armed"]
    assert own(copy).releases == own(again).releases and session.sessions()[secret] is own(copy)


def test_an_order_goes_on_while_any_of_its_pages_is_there():
    """A page that was thought gone can come back, and its heir can be closed."""
    order = ReleaseJob(("release",), lambda progress: progress(0.5), lambda: False)
    order.follow(lambda: True)
    order.confirm()
    order.wait(PATIENCE_SECONDS)
    assert order.result is True


def test_what_the_server_no_longer_has_is_said(screen, absent, folder):
    """Only where something paid was not downloaded, and until the ledger of the table says it."""
    page = screen(PAGE)
    unsaved_warning.take_over(own(page), "unknown", armed=False)
    page.run()
    assert "no longer has it" not in warnings(page)
    unsaved_warning.take_over(own(page), "unknown", armed=True)
    page.run()
    assert "no longer has it" in warnings(page) and "see what its ledger says" in warnings(page)
    upload(page, csv(patients()))
    answer(page)
    data = ("d.json", DICTIONARY.to_json().encode(), "")
    page.app.file_uploader(key="own dictionary").set_value(data)
    page.run()
    assert "no longer has it" not in warnings(page)


def test_a_ledger_of_the_session_is_gone_with_the_server(screen, absent, monkeypatch):
    monkeypatch.delenv(session.LEDGER_DIR, raising=False)
    page = screen(PAGE)
    unsaved_warning.take_over(own(page), "unknown", armed=True)
    page.run()
    assert "Its ledger was in the session only" in warnings(page)


def test_a_release_that_is_being_drawn_goes_on_for_the_reloaded_tab(screen, monkeypatch, absent):
    begun, go_on, present = threading.Event(), threading.Event(), {"former": True}
    true = discrete_gaussian.release

    def drawn(summed, budget, progress):
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        if not progress(0.5):
            raise discrete_gaussian.StoppedError
        return true(summed, budget, None)

    monkeypatch.setattr(discrete_gaussian, "release", drawn)
    monkeypatch.setattr("pages.hospitals.your_data.confirmation.FIRST_WAIT_SECONDS", 0.01)
    returning = sessions.returning
    monkeypatch.setattr(sessions, "returning", lambda who: lambda: present["former"])
    former = begun_release(screen)
    assert begun.wait(PATIENCE_SECONDS) and guarded(former)["armed"]
    monkeypatch.setattr(sessions, "returning", returning)
    secret = known(former, "former")
    absent.add("former")
    tab = screen(PAGE)
    unsaved_warning.take_over(own(tab), secret, armed=True)
    tab.run()
    assert "still being drawn" in tab.notices and guarded(tab)["armed"]
    present["former"] = False  # the tab as it was before the reload
    go_on.set()
    own(tab).releases[0].job.wait(PATIENCE_SECONDS)
    tab.run()
    assert own(tab).releases[0].released is not None and "Download all of it (JSON)" in downloads(tab)


def downloads(page):
    return [one.proto.label for one in page.app.get("download_button")]


# --- the ledger -----------------------------------------------------------------------------------------


def test_the_same_table_under_another_name_finds_its_ledger(screen, folder):
    released(screen)
    shuffled = patients().sample(frac=1, random_state=1).rename(columns={"age": "years"})
    other = screen(PAGE)
    upload(other, csv(shuffled), "theirs.csv")
    answer(other)
    other.app.file_uploader(key="own dictionary").set_value(("d.json", DICTIONARY.to_json().encode(), ""))
    other.run()
    assert "0.5 of the limit" in other.app.get("progress")[0].proto.text
    assert other.app.dataframe[-1].value["what"].tolist() == ["Analyze Gauss"]
    assert not [label for label in labels(other) if label.startswith("Set this limit")]


def test_another_table_has_another_ledger(screen, folder):
    released(screen)
    page = brought(screen, patients(seed=1))
    assert [label for label in labels(page) if label.startswith("Set this limit")]


def test_without_a_folder_the_ledger_is_the_sessions_and_says_so(screen):
    page = released(screen)
    assert "lost when the page is closed" in warnings(page)
    press(page, "Forget it")
    upload(page, csv(patients()), "again.csv")
    answer(page)
    assert "0.5 of the limit" in page.app.get("progress")[0].proto.text


def test_a_damaged_ledger_is_one_sentence_and_no_release(screen, folder):
    (folder / f"{content_key(patients())}.jsonl").write_text('{"kind": "release"}\n')
    page = brought(screen)
    assert errors(page).count("\n") == 0
    assert "cannot be read: mend or restore it first" in errors(page)
    assert not [label for label in labels(page) if label.startswith(("Release", "Set this"))]


def test_a_paid_release_goes_on_while_its_visitor_may_come_back(screen, monkeypatch):
    page = limited(screen)
    press(page, "Release")
    true, went_on = private_release.make, []

    def make(*args, **own):
        went_on.append(own["progress"](0.5))
        return true(*args, **own)

    monkeypatch.setattr(private_release, "make", make)
    monkeypatch.setattr(sessions, "present", lambda who: False)
    spend(page)
    assert went_on == [True] and own(page).releases[0].released is not None


def test_a_full_disk_releases_nothing(screen, folder, monkeypatch):
    page = limited(screen)

    def full(path, plain):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(journal, "append", full)
    press(page, "Release")
    press(page, "Spend")
    assert "Nothing was released: the ledger could not be written (No space left" in warnings(page)
    assert str(folder) not in warnings(page)
    assert own(page).releases[0].job.result is None


def test_a_table_without_room_is_refused_before_it_is_read(screen, monkeypatch):
    page = brought(screen)
    kept = own(page).raw
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    monkeypatch.setattr(tables, "read", None)
    upload(page, csv(patients(seed=1)), "large.csv")
    assert "the server has 0 MB left for tables: try again once other visitors have finished" in errors(page)
    assert "The table that was here before still is." in errors(page) and own(page).raw is kept
    assert "Up to 200 MB; a file of more than 100 MB is read in pieces" in page.captions
    assert "forgotten when you say so, or 2 minutes after the page is closed" in page.captions


def test_a_ledger_line_of_another_table_is_one_sentence_and_no_release(screen, folder):
    released(screen)
    (file,) = folder.glob("*.jsonl")
    text = re.sub(',"digest":"[^"]+"', "", file.read_text())  # as an earlier version wrote it
    file.write_text(text.replace(f'"rows":{ROWS}', '"patients":569'))
    page = brought(screen)
    said = "Line 2 of the ledger is of a table with 569 rows, and this one has 120: take it out first."
    assert said in errors(page) and errors(page).endswith("Until then nothing can be released.")
    assert not [label for label in labels(page) if label.startswith(("Release", "Set this"))]


def test_what_another_tab_spent_counts_here(screen, folder):
    page = limited(screen)
    press(page, "Release")
    ledger = DiskLedger(folder, content_key(patients()))
    ledger.spend(
        "in another tab",
        private_release.Request("analyze_gauss", 3, 2, private_release.Budget(0.9, 1e-6)).events,
    )
    press(page, "Spend")
    assert "Nothing was released: Another release was made on this table meanwhile" in warnings(page)
    assert len(ledger.account().entries) == 1


def test_a_ledger_is_taken_in_once(screen, folder):
    released(screen)
    (file,) = folder.glob("*.jsonl")
    exported = file.read_bytes()
    file.unlink()
    page = brought(screen)
    place = next(box for box in page.app.file_uploader if box.label == "A ledger of this table")
    for data, says in ((b"\xff\xfe", "no ledger"), (b"{}\n", "line 1 is not of a ledger"), (exported, "")):
        place = next(box for box in page.app.file_uploader if box.label == "A ledger of this table")
        place.set_value(("ledger.jsonl", data, ""))
        page.run()
        press(page, "Add its releases")
        assert says in errors(page)
    press(page, "Add its releases")
    assert len(DiskLedger(folder, content_key(patients())).account().entries) == 1


def test_a_ledger_under_the_former_key_of_the_table_counts_and_goes_on(screen, folder):
    former = DiskLedger(folder, content.content_keys(patients()).former)
    former.set_limit(Limit(1.0, 1e-6))
    former.spend(
        "before", private_release.Request("analyze_gauss", 3, 2, private_release.Budget(0.5, 1e-6)).events
    )
    page = brought(screen)
    assert not [label for label in labels(page) if label.startswith("Set this")]
    assert "before" in page.app.dataframe[-1].value.to_string()
    press(page, "Release")
    press(page, "Spend")
    assert len(former.account().entries) == 2
    assert list(folder.glob("*.jsonl")) == [former.path]


# --- the table and its dictionary -----------------------------------------------------------------------

BAD = {
    "empty": (b"", "The file is empty."),
    "header only": (b"age,weight\n", "The file has names but no rows."),
    "one row": (b"age,weight\n1,2\n", "one row only"),
    "one column": (b"age\n1\n2\n", "one named column only"),
    "ragged": (b"age,weight\n1,2\n3\n", "as many cells as the first"),
    "zip": (b"PK\x03\x04" + bytes(40), "a zip archive or an Excel workbook"),
    "encoding": ("age,größe\n1,2\n3,4\n".encode("cp1252"), "not in UTF-8"),
    "duplicates": (b"age,age\n1,2\n3,4\n", "Columns 1 and 2 have the same name"),
    "markup": (b'"![x](y)",age\na,1\nb,2,3\n', "cells as the first"),
}


def test_a_bad_table_is_one_sentence_and_loses_nothing(screen):
    page = brought(screen)
    key = page.app.data_editor[0].key
    page.app.session_state[key] = {"edited_rows": {0: {"high": 99.0}}, "added_rows": [], "deleted_rows": []}
    page.run()
    typed = dict(own(page).lines)
    assert typed["age"].high == 99.0
    for data, says in BAD.values():
        upload(page, data)
        assert says in errors(page) and "\n" not in errors(page)
        assert "The table that was here before still is." in errors(page)
        assert own(page).lines == typed
        assert [box.value for box in page.app.success] == [
            "**Ready:** n = 120 patients in one place, d = 3 features."
        ]
    upload(page, csv(patients(seed=2)), "next.csv")
    assert not errors(page) and own(page).lines == typed
    assert own(page).chosen == ("age", "weight", "pulse")


def test_what_cannot_be_typed_is_one_sentence(screen):
    page = brought(screen)
    for changes, says in (
        ({"low": 130.0}, "Low of 'age' must be below its high"),
        ({"missing": "many"}, "What is filled into 'age' must be a number"),
        ({"missing": "500"}, "Fill of 'age' must lie between 0 and 120"),
        ({"kind": "category", "categories": "a, b, a"}, "must differ from each other"),
    ):
        key = page.app.data_editor[0].key
        page.app.session_state[key] = {"edited_rows": {0: changes}, "added_rows": [], "deleted_rows": []}
        page.run()
        assert says in errors(page) and "\n" not in errors(page)


def test_nothing_is_filled_in_from_the_rows(screen):
    page = screen(PAGE)
    upload(page, csv(patients()))
    answer(page)
    chooser = page.app.multiselect[0]
    chooser.set_value(["age", "sex"])
    page.run()
    lines = own(page).lines
    assert (lines["age"].low, lines["age"].high, lines["age"].missing) == (None, None, "")
    assert lines["sex"].kind == "category" and lines["sex"].categories == ""
    assert "range or categories of age, sex" in page.notices


def test_a_dictionary_of_other_columns_is_refused(screen):
    page = screen(PAGE)
    upload(page, csv(patients()))
    answer(page)
    other = Schema((Column("x", "number", 0, 1), Column("y", "number", 0, 1)))
    for data, says in (
        (b"[1]", "must be JSON"),
        (other.to_json().encode(), "none of this table's"),
    ):
        page.app.file_uploader(key="own dictionary").set_value(("d.json", data, ""))
        page.run()
        assert says in errors(page)


def test_hospitals_come_by_a_column(screen):
    page = brought(screen)
    box = next(box for box in page.app.selectbox if box.label.startswith("Column that names"))
    assert "clinic" in box.options
    box.set_value(box.options.index("clinic"))
    page.run()
    sizes = [len(group) for group in own(page).prepared[1].held.groups]
    assert sorted(sizes) == sorted(patients()["clinic"].value_counts())


def test_a_twin_has_the_tables_size_and_none_of_its_rows(screen):
    one, other = (brought(screen, patients(seed), dictionary=_wide()) for seed in (0, 1))
    figure = one.figure
    assert "With 120 patients in 1 hospital " in figure["words"][figure["active"]]["sentence"]
    assert figure["scene"] == other.figure["scene"]
    link = one.app.get("link_button")[0].proto.url
    assert link.startswith("./?") and "age" not in link and "own" not in link


@pytest.mark.parametrize("view", ["board", "researcher"])
def test_fewer_columns_than_were_guessed_to_matter_are_said(screen, built, view):
    """The twin can have no more than the table: the page and the report say how many it has."""
    page = brought(screen, patients(), dictionary=_wide(), **{"own.s": "10", "view": view})
    d = own(page).prepared[1].d
    name = CHOICES["own.s"].name(view == "board")
    assert d < 10 and f"{name} lowered to {d} here." in page.captions
    assert dict(built().settings)[name] == str(d)
    few = brought(screen, patients(), dictionary=_wide(), **{"own.s": "4", "view": view})
    assert name not in few.captions and dict(built().settings)[name] == "4"


def test_a_single_direction_holds_and_two_hold():
    found = owner_only_diagnostics.ReleaseVerdict(0.1, 0.9, 0.95)
    assert "what the best 1 direction holds." in owner_only_text.verdict_uncentred(found, 1, True)
    assert "what the best 2 directions hold." in owner_only_text.verdict_uncentred(found, 2, True)


@pytest.mark.parametrize(("short", "rest"), [(7e-13, "nothing"), (0.25, "0.25")])
def test_what_rounding_leaves_of_a_limit_is_nothing(monkeypatch, short, rest):
    account = Account(Limit(1.0, 1e-5, "replace-one"), ())
    spent = numerical.Total(1.0 - short, 1.0)
    monkeypatch.setattr(price_text, "total", lambda account, more=(): spent)
    assert price_text.left(account, True).endswith(f" is spent, {rest} is left")
    assert price_text.price("It", (), account, Budget(1.0, 1e-5), 1, True).endswith(f", and leaves {rest}.")


# Each with a value that no other default has, so that what is not passed on shows.
REHEARSED = {
    "analyze_gauss": {"own.k": "3", "own.eps": "1"},
    "analyze_gauss_sparse": {"own.shat": "4", "own.delta": "1e-7"},
    "dpdis_pca": {"own.rank": "3", "own.N": "2"},
    "dps_pca": {"own.T": "3", "own.burn": "1", "own.shat": "4", "own.N": "3"},
}


@pytest.mark.parametrize("method", REHEARSED)
def test_what_is_rehearsed_is_what_is_released(screen, makes, built, method):
    """The Request of a press, the twin's settings, and its errors by running the method on its patients."""
    page = limited(screen, dictionary=_wide(), **{"own.method": method} | REHEARSED[method])
    prepared = own(page).prepared[1]
    settings = dict(page.app.session_state["settings of the last run"])
    rehearsal = synthetic_twin_panel.twin_of(
        synthetic_twin_panel.requested(prepared, None, settings), prepared.sizes, 1.0, settings
    )
    experiment, results = rehearsal.experiment, live.Results(rehearsal.experiment)
    # A busy machine shows the first runs alone, and their median.
    rehearsal.results.try_cells((method, rehearsal.epsilon, repeat) for repeat in range(experiment.repeats))
    page.run()
    figure = page.figure
    sentence = figure["words"][figure["active"]]["sentence"]
    title = METHODS[method].title
    assert title in sentence and f"{title}, median" in [entry[0] for entry in figure["legend"]]
    rehearsed = built()
    press(page, "Release")
    spend(page)
    ((request, parts, _),) = makes
    assert (experiment.method, experiment.k, experiment.providers, experiment.n) == (
        method,
        request.k,
        len(parts),
        ROWS,
    )
    assert experiment.sizes == prepared.sizes == tuple(map(len, parts))
    assert experiment.budget(rehearsal.epsilon) == request.budget
    given = {name: experiment.options(method)[name] for name in request.own}
    assert given == request.own
    errors = []
    for repeat in range(experiment.repeats):
        rng = experiment.generator(method, repeat)
        estimate = METHODS[method].fit(
            experiment.cohort(repeat), k=request.k, budget=request.budget, rng=rng, **request.own
        )
        errors.append(sin_theta(estimate.basis, results.truth.basis))
        found = results.cell(method, rehearsal.epsilon, repeat).sin[-1]
        assert found == pytest.approx(errors[-1], rel=1e-6, abs=1e-9)
    assert f"error {text.error(float(np.median(errors)))}" in sentence
    document = own(page).releases[0].released.document
    assert document["hospitals"] == list(experiment.sizes)
    dealt = "at random" if "own.N" in REHEARSED[method] else "all in one place"
    assert document["public"]["dealt"].startswith(dealt)
    reported = built()
    for made in (rehearsed, reported):
        said = dict(made.settings)
        assert said["Method"] == title and said["Privacy loss ε for a row"] == text.number(
            request.budget.epsilon
        )
        # What comes after is measured meanwhile.
        assert made.figures[-1].says.startswith(sentence.split(";")[0])


@pytest.mark.parametrize("rows", [1, 8])
def test_a_report_says_that_hospitals_dealt_at_random_do_not_exist(screen, built, rows):
    """Before the release and after it, in its first sentence, its settings and its limits."""
    page = brought(screen, rows=rows, **{"own.method": "dps_pca", "own.N": "3"})
    noun = unit_text.noun(rows)
    rehearsed = built()
    press(page, "Set this limit")
    press(page, "Release")
    press(page, "Spend")
    for made in (rehearsed, built()):
        assert f"{ROWS} {noun} dealt at random to 3 hospitals that do not exist" in made.sentence
        assert "in 3 hospitals" not in made.sentence
        assert dict(made.settings)["Hospitals"] == "dealt at random to 3 hospitals that do not exist"
        (limit,) = (line for line in made.limits if "do not exist" in line)
        assert (
            limit.startswith(f"{noun.capitalize()} are dealt to hospitals at random")
            and limit in page.captions
        )


def test_a_report_says_nothing_of_invented_hospitals_where_a_column_names_them(screen, built):
    page = brought(screen, **{"own.method": "dps_pca", "own.N": "3"})
    assert "that do not exist" in built().sentence
    box = next(box for box in page.app.selectbox if box.label.startswith("Column that names"))
    box.set_value(2)  # after no column and sex: clinic
    page.run()
    made = built()
    assert f"{ROWS} patients in 2 hospitals" in made.sentence and dict(made.settings)["Hospitals"] == "2"
    assert "not exist" not in json.dumps(made.limits)


def test_a_report_rehearses_what_was_released_though_controls_moved(screen, built):
    page = limited(screen, dictionary=_wide(), **{"own.eps": "1"})
    press(page, "Release")
    press(page, "Spend")
    page.move("own.method", "dps_pca")
    page.move("own.epsilon", 0.1)
    (drawn,) = (one for one in built().figures if "synthetic twin" in one.title)
    assert "Analyze Gauss" in drawn.says and "ε = 1" in drawn.says


def test_the_rehearsal_counts_rows_where_a_patient_has_several(screen, built):
    """Its odds are those of the page's headline, at every epsilon."""
    page = brought(screen, dictionary=_wide(), rows=8, **{"own.eps": "1", "own.delta": "1e-6"})
    figure = page.figure
    odds = [entry["odds"] for entry in figure["words"]]
    budget = Budget(1.0, 1e-6, page.app.session_state["settings of the last run"]["neighbours"])
    assert odds[figure["active"]] == unit_text.odds(budget, 8, 10.2962)
    assert all("all 8 rows of one patient" in said for said in odds)
    assert f"With {ROWS} rows in 1 hospital at" in figure["words"][figure["active"]]["sentence"]
    assert "rows in one place" in page.markdown and "patients in one place" not in page.markdown
    assert "calls each row a patient" not in page.captions
    assert f"{ROWS} patients" not in json.dumps(figure) and "invented patients" not in page.captions.lower()
    made = built()
    assert (
        f"With {ROWS} rows in" in made.figures[-1].says and "These rows are invented" in made.figures[-1].says
    )
    assert f"{ROWS} patients" not in json.dumps(made) and "nvented patients" not in json.dumps(made)


def test_the_rehearsal_counts_patients_where_each_has_one_row(screen, built):
    page = brought(screen, dictionary=_wide())
    figure = page.figure
    assert f"With {ROWS} patients in 1 hospital" in figure["words"][figure["active"]]["sentence"]
    assert "patients in one place" in page.markdown
    assert f"With {ROWS} patients in" in built().figures[-1].says


@pytest.mark.parametrize(("ratio", "hopeless"), [("2", True), ("100", False)])
def test_a_rehearsal_no_better_than_a_guess_says_so(screen, ratio, hopeless):
    link = {"own.eps": "0.05" if hopeless else "10", "own.ratio": ratio}
    page = brought(screen, dictionary=_wide(), **link)
    figure = page.figure
    assert (twin_text.NO_BETTER in figure["words"][figure["active"]]["sentence"]) == hopeless
    assert (twin_text.NO_BETTER in warnings(page)) == hopeless


def test_a_method_for_several_hospitals_says_what_it_is_in_one_place(screen):
    page = limited(screen, **{"own.method": "dpdis_pca"})
    assert "made for several hospitals" in page.notices
    page.move("own.providers", 3)
    assert "made for several hospitals" not in page.notices
    assert "these hospitals do not exist" in page.captions


def test_a_release_that_would_be_refused_is_not_rehearsed(screen, monkeypatch):
    monkeypatch.setattr(discrete_gaussian, "MOST_FEATURES", 3)
    page = brought(screen, dictionary=_wide())
    assert "Nothing is rehearsed" in page.captions and not page.app.exception


def _wide():
    sexes = Column("sex", "category", categories=("f", "m"), fill="")
    return Schema((*DICTIONARY.columns, sexes))


@pytest.mark.parametrize(
    ("formula", "harmless"), [('=HYPERLINK("x")', '\'=HYPERLINK("x")'), ("a;=1+1", "a;'=1+1")]
)
def test_a_name_that_is_a_formula_is_none_in_what_a_list_downloads(screen, formula, harmless):
    renamed = Schema((Column(formula, "number", 0, 120, fill=60.0), *DICTIONARY.columns[1:]))
    page = brought(screen, patients().rename(columns={"age": formula}), renamed)
    assert own(page).chosen[0] == formula and own(page).lines[formula].high == 120
    press(page, "Set this limit")
    press(page, "Release")
    press(page, "Spend")
    shown = [frame.value for frame in (*page.app.dataframe, *page.app.get("arrow_data_frame"))]
    cells = [str(cell) for frame in shown for cell in frame.to_numpy().ravel()]
    assert harmless in cells and formula not in cells
    assert page.app.data_editor[0].value["column"][0] == harmless


# --- what only the owner may see ------------------------------------------------------------------------


def test_one_switch_hides_all_that_is_not_private(screen):
    page = released(screen)
    assert "not private" not in page.markdown.replace("(not private)", "")
    assert "sin" not in page.markdown and "longer than the bound" not in page.markdown
    page.app.checkbox(key="own.shown").check()
    page.run()
    assert page.markdown.count("Only you may see this") == 2
    for part in ("centred at their own mean: ‖sin Θ‖", "the middle of their public ranges: ‖sin Θ‖"):
        assert part in page.markdown
    assert "longer than the bound" in page.markdown
    press(page, "Measure it")
    scores = page.app.dataframe[-1].value
    assert scores["from"].tolist()[0] == "released components"
    assert page.link["own.shown"] == "true"
    assert set(page.link) <= set(catalogue.CHOICES)
    assert not {"age", "weight", "ours", "clinic", str(ROWS)} & set(page.link.values())


def test_the_verdict_and_the_use_are_right(screen):
    """By hand on the clipped rows; the sex of these patients is a coin, so nothing tells it."""
    page = released(screen, **{"own.shown": "true"})
    prepared, basis = own(page).prepared[1], own(page).releases[0].released.basis
    rows = prepared.held.rows
    found = owner_only_diagnostics.truths(prepared)
    for truth, matrix in (
        (found.covariance, np.cov(rows.T, bias=True)),
        (found.moment, rows.T @ rows / ROWS),
    ):
        values, vectors = np.linalg.eigh(matrix)
        verdict = owner_only_diagnostics.verdict(truth, basis)
        assert verdict.error == pytest.approx(sin_theta(basis, vectors[:, -2:]), abs=1e-9)
        assert f"{verdict.error:.2f}" in page.markdown or f"{verdict.error:.2g}" in page.markdown
        assert verdict.energy == pytest.approx(np.trace(basis.T @ matrix @ basis) / values[-2:].sum())
    scores = owner_only_diagnostics.downstream(prepared.raw, prepared.held, "sex", basis).set_index("from")[
        "right"
    ]
    assert abs(scores["all columns"] - scores["always the commonest label"]) < 0.2


def test_where_the_first_component_is_the_mean_both_errors_are_told_and_named(screen, built):
    """Ten columns far from the middle of their ranges, with a planted pattern that is not the mean."""
    rng = np.random.default_rng(3)
    mean, pattern = np.full(10, 0.6), np.resize([1.0, -1.0], 10) / np.sqrt(10)
    rows = mean + 0.3 * rng.standard_normal((2000, 1)) * pattern + 0.02 * rng.standard_normal((2000, 10))
    frame = pd.DataFrame(rows, columns=[f"c{i}" for i in range(10)])
    schema = Schema(tuple(Column(name, "number", -1, 1) for name in frame))
    page = brought(screen, frame, schema, **{"own.shown": "true", "own.k": "1"})
    press(page, "Set this limit")
    press(page, "Release")
    spend(page)
    prepared, basis = own(page).prepared[1], own(page).releases[0].released.basis
    found = owner_only_diagnostics.truths(prepared)
    assert owner_only_diagnostics.verdict(found.moment, basis).error < 0.1
    assert owner_only_diagnostics.verdict(found.covariance, basis).error > 0.9
    assert abs(basis[:, 0] @ mean) / np.linalg.norm(mean) > 0.99
    owners = page.markdown[page.markdown.rindex("Only you may see this") :]
    near, covariance, moment = (
        owners.index(part)
        for part in ("nearly the mean of your patients", "their own mean: ‖sin", "public ranges: ‖sin")
    )
    assert near < covariance < moment
    made = built()
    assert made.sentence.startswith(
        "Rows are centred at the middle of their public ranges, not at their mean."
    )
    in_report = json.dumps(made)
    assert "cosine" not in in_report and "nearly the mean of" not in in_report
    page.app.checkbox(key="own.shown").uncheck()
    page.run()
    assert "cosine" not in page.markdown and "may be the mean" in page.markdown


def test_the_owner_reads_that_the_first_component_is_partly_the_mean_and_a_report_does_not(screen, built):
    """A pattern at 60 degrees to the mean, twice as strong: their first component lies between the two."""
    rng = np.random.default_rng(5)
    mean, other = np.full(10, 0.06), np.resize([1.0, -1.0], 10) / np.sqrt(10)
    pattern = 0.5 * mean / np.linalg.norm(mean) + np.sqrt(0.75) * other
    rows = mean + 0.5 * rng.uniform(-1, 1, (20_000, 1)) * pattern + 0.02 * rng.standard_normal((20_000, 10))
    frame = pd.DataFrame(rows, columns=[f"c{i}" for i in range(10)])
    schema = Schema(tuple(Column(name, "number", -1, 1) for name in frame))
    page = brought(screen, frame, schema, rows=8, **{"own.shown": "true", "own.k": "1"})
    press(page, "Set this limit")
    press(page, "Release")
    spend(page)
    basis = own(page).releases[0].released.basis
    assert (
        0.5
        < owner_only_diagnostics.mean_cosine(owner_only_diagnostics.truths(own(page).prepared[1]), basis)
        < 0.85
    )
    assert "is partly the mean of your rows** (cosine 0." in page.markdown
    assert "partly" not in json.dumps(built()) and "cosine" not in json.dumps(built())


@pytest.mark.parametrize(
    ("cosine", "much"), [(0.95, "nearly"), (0.89, "partly"), (0.5, "partly"), (0.49, "not")]
)
def test_how_much_of_the_mean_the_first_component_is(cosine, much):
    for rows, noun in ((1, "patients"), (8, "rows")):
        sentence = owner_only_text.near_the_mean(cosine, rows, False)
        assert f"is {much} the mean of your {noun}" in sentence and f"cosine {cosine:.3f}" in sentence


_IN_VAIN = "paying more does not help, because the mean takes the place of a pattern."


@pytest.mark.parametrize(
    ("cosine", "uncentred", "advice"),
    [
        (0.95, 0.9, _IN_VAIN),
        (0.89, 0.9, _IN_VAIN),
        (0.2, 0.1, _IN_VAIN),  # the noise is small already, and the pattern still absent
        (0.2, 0.9, "ask for fewer directions or measurements, or pay more."),
    ],
)
def test_nobody_is_told_to_pay_more_where_the_mean_is_what_errs(cosine, uncentred, advice):
    estimated = owner_only_diagnostics.ReleaseVerdict(uncentred, 0.95, 0.9)
    sentence = owner_only_text.verdict(
        owner_only_diagnostics.ReleaseVerdict(0.94, 0.95, 0.1), estimated, 1, cosine, False
    )
    assert sentence.endswith(f" **It is hardly better than a guess:** {advice}")
    useful = owner_only_text.verdict(
        owner_only_diagnostics.ReleaseVerdict(0.1, 0.95, 0.9), estimated, 1, cosine, False
    )
    assert "pay" not in useful


# --- isolation ------------------------------------------------------------------------------------------


def marked():
    frame = patients()
    frame.loc[3, "clinic"], frame.loc[5, "weight"] = CANARY, NUMBER
    return frame.assign(**{COLUMN: 1.0})


def _drawn(page):
    """All figures of a page, as they are sent to the browser."""
    return "".join(figure.proto.json for figure in page.app.get("bidi_component"))


@pytest.fixture
def built(monkeypatch):
    """The file of the report that the last run of the page offers, and the report."""
    built = []
    true = own_report.build
    monkeypatch.setattr(own_report, "build", lambda *given: built.append(true(*given)) or built[-1])
    return lambda: built[-1]


@pytest.mark.parametrize("view", ["board", "researcher"])
def test_a_report_is_of_the_release_and_the_same_for_any_rows(screen, built, view):
    """Two tables of one size and dictionary: before a release their reports say the same, to the letter.

    The twin's figure, of invented patients, is measured meanwhile and may have come further in the second.
    """
    rehearsals = []
    for seed in (0, 1):
        page = brought(screen, patients(seed), dictionary=_wide(), view=view, **{"own.shown": "true"})
        rehearsals.append(built())
    alike = [json.dumps(made._replace(figures=[], made="")) for made in rehearsals]
    assert alike[0] == alike[1] and "Nothing was released" in alike[0]
    assert [len(made.figures) for made in rehearsals] == [1, 1]
    press(page, "Set this limit")
    press(page, "Release")
    spend(page)
    made, found = built(), own(page).releases[0].released
    assert made.guarantee.split(" All releases")[0] in page.markdown.replace("**", "").replace("\\", "")
    assert "0.5 of the limit" in made.guarantee
    assert ("2 directions of" if view == "board" else "2 components of") in made.sentence
    (weights,) = (table for table in made.tables if table.title.startswith("All released "))
    assert [cell for row in weights.rows for cell in row[1:]] == [f"{v:.4f}" for v in found.basis.ravel()]
    now, said = catalogue.open_link(dict(parse_qsl(urlsplit(made.link).query)))
    assert not said and now == dict(page.app.session_state["settings of the last run"]) | {"own.shown": False}


def test_another_session_and_the_logs_hold_no_cell(screen, folder, capfd, caplog, monkeypatch, built):
    caplog.set_level("DEBUG")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    page = brought(screen, marked(), name=FILE, **{"own.shown": "true"})
    press(page, "Set this limit")
    press(page, "Release")
    press(page, "Spend")
    page.app.selectbox(key="own label").set_value(2)
    page.run()
    # The owner's page does show them, so that their absence elsewhere says something.
    assert CANARY in _drawn(page) and FILE in page.markdown
    assert any(option.startswith(COLUMN) for option in page.app.multiselect[0].options)
    made = built()
    in_report = json.dumps(made) + html_report.html(made)
    assert "age" in in_report and "weight" in in_report
    bad = csv(marked()) + b"1,2\n"
    upload(page, bad, FILE)
    other = screen(PAGE)
    logs = "".join(capfd.readouterr()) + caplog.text
    disk = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    released_ = json.dumps(own(page).releases[0].released.document)
    seen = [
        other.markdown,
        other.captions,
        _drawn(other),
        json.dumps(other.link),
        json.dumps(page.link),
        errors(page),
    ]
    for place in (*seen, logs, disk.decode(), released_, in_report):
        assert CANARY not in place and str(NUMBER) not in place and "clinic" not in place
    assert own(other).raw is None


def test_a_board_reads_no_symbols_and_an_example_says_what_its_ranges_rest_on(screen):
    page = screen(PAGE, view="board", **{"own.shown": "true"})
    press(page, "Take the breast cancer")
    assert "rounded from the table's own published summary" in page.captions
    assert all(line.low >= 0 for line in own(page).lines.values())
    press(page, "Set this limit")
    press(page, "Release")
    press(page, "Spend")
    said = _drawn(page) + "".join(box.label for box in page.app.number_input)
    for plain in ("along released direction 1", "strength (1: the most", "Most that one patient counts for"):
        assert plain in said
    for symbol in ("share of B", "eigenvalue", "row bound B", '"loading"', '"component"'):
        assert symbol not in said
    upload(page, csv(patients()))
    assert "published summary" not in page.captions


def test_nothing_holds_the_rows_once_they_are_let_go(screen):
    """No cache, thread or order keeps what the session has forgotten."""
    page = released(screen, **{"own.shown": "true"})
    prepared = own(page).prepared[1]
    held = [weakref.ref(one) for one in (prepared, prepared.held, prepared.held.rows, prepared.raw)]
    del prepared
    press(page, "Forget it")
    page.run()
    gc.collect()
    assert [one() is None for one in held] == [True] * 4
    assert len(own(page).releases) == 1


async def _parsed(size):
    async def stream():
        yield (
            b'--b\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'
            + bytes(size)
            + b"\r\n--b--\r\n"
        )

    headers = Headers({"content-type": "multipart/form-data; boundary=b"})
    form = await MultiPartParser(headers, stream()).parse()
    return form["f"]


def test_an_upload_never_touches_the_disk():
    """Starlette writes parts beyond 1 MB to a temporary file, unless told otherwise as app.py does."""
    import asyncio

    import app

    assert app.app is not None
    file = asyncio.run(_parsed(3 * 2**20)).file
    assert isinstance(file._file, io.BytesIO)
    file.close()


def test_a_paid_spectrum_is_on_the_ledger_and_shapes_the_twin(screen, folder):
    """The guess is moved once, to what was paid for, and is the person's own afterwards."""
    link = {"own.slice": "0.5", "own.ratio": "100", "own.k": "1", "own.N": "1"}
    page = limited(screen, dictionary=_wide(), **link)
    press(page, "Pay for the spectrum")
    assert "from 0 to 0.5 of your limit 1" in page.markdown
    press(page, "Spend")
    entries = DiskLedger(folder, content_key(patients())).account().entries
    assert [entry.title for entry in entries] == ["Eigenvalues"]
    values = own(page).spectrum[1].result.eigenvalues
    ratio = values[0] / (2 * values[1:].mean())
    assert page.setting("own.ratio") == catalogue.CHOICES["own.ratio"].nearest(ratio)
    assert "that you paid for" in page.markdown
    page.move("own.ratio", 50.0)
    page.run()
    assert page.setting("own.ratio") == 50.0


def test_paid_eigenvalues_are_of_the_dictionary_they_were_paid_for(screen):
    """Wider: fewer eigenvalues than k asks for. Another bound: other ones. Back again: shown again."""
    page = limited(screen, dictionary=_wide(), **{"own.slice": "0.5", "own.k": "6", "own.N": "1"})
    press(page, "Pay for the spectrum")
    press(page, "Spend")
    assert "that you paid for" in page.markdown
    sexes = Column("sex", "category", categories=("f", "m", "x", "y", "z"), fill="")
    for number, (schema, shown) in enumerate(
        (
            (Schema((*DICTIONARY.columns, sexes)), False),
            (Schema(_wide().columns, bound=0.3), False),
            (_wide(), True),
        )
    ):
        data = (f"d{number}.json", schema.to_json().encode(), "application/json")
        page.app.file_uploader(key="own dictionary").set_value(data)
        page.run()
        assert not page.app.exception and ("that you paid for" in page.markdown) == shown


# --- too large to hold ----------------------------------------------------------------------------------


def test_a_table_too_large_to_hold_is_read_in_pieces_and_released(screen, monkeypatch):
    """As Parquet, by a column of hospitals; the sums are those of the same table in memory."""
    held = brought(screen)
    box = next(box for box in held.app.selectbox if box.label.startswith("Column that names"))
    box.set_value(box.options.index("clinic"))
    held.run()
    monkeypatch.setattr(limits, "MOST_ROWS", ROWS - 1)
    file = io.BytesIO()
    patients().to_parquet(file, index=False)
    page = screen(PAGE, **{"own.shown": "true"})
    upload(page, file.getvalue(), "ours.parquet")
    answer(page)
    page.app.file_uploader(key="own dictionary").set_value(("d.json", DICTIONARY.to_json().encode(), ""))
    page.run()
    assert "too large to hold" in page.notices
    box = next(box for box in page.app.selectbox if box.label.startswith("Column that names"))
    box.set_value(box.options.index("clinic"))
    page.run()
    press(page, "Read it now")
    mine, theirs = own(page).prepared[1], own(held).prepared[1]
    np.testing.assert_allclose(mine.moment, theirs.moment, atol=1e-5)
    np.testing.assert_allclose(mine.covariance, np.cov(theirs.held.rows.T, bias=True), atol=1e-5)
    assert (mine.sizes, mine.raw.key) == (theirs.sizes, theirs.raw.key)
    press(page, "Set this limit")
    press(page, "Release")
    spend(page)
    assert own(page).releases[0].released.document["hospitals"] == list(theirs.sizes)
    assert "‖sin Θ‖" in page.markdown and "no rows here to draw" in page.captions


def test_a_large_table_that_does_not_fit_is_one_sentence(screen, monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 100)
    frame = patients()
    frame["age"] = "old"
    page = brought(screen, frame)
    press(page, "Read it now")
    assert "'age'" in errors(page) and "\n" not in errors(page)
    assert [label for label in labels(page) if label == "Read it again"]
