"""Cohorts on the page: a table like one of the owner's is asked about, and nothing is released until then."""

import pytest
from streamlit import config

from dppca_core import Release
from dppca_core.release.cohort_lists import CohortsOnDisk
from dppca_core.release.ledger import SessionLedger
from dppca_core.release.ledger_records import Limit
from dppca_core.tables import content_key
from pages.hospitals.your_data import cohort_text, owner
from tests.pages.hospitals.your_data.table_page import (
    OTHER_TABLE,
    ROWS,
    csv,
    limited,
    parquet,
    patients,
    prepared,
    released,
)

YES = "Yes: pay into the account"
HALF = (Release(7.2),)
UNLIKE = csv(patients(seed=3, n=300).assign(weight=lambda t: t["weight"] * 1.2345 + t["age"] / 1e4))
FEWER = csv(patients().iloc[1:])


def bring(page, data):
    page.press("Forget it")
    page.upload(data, "next.csv")
    page.answer()


def has_asked(page):
    """Return whether the page asks, and offers nothing that costs until it is answered."""
    asked = page.has_button(YES)
    assert asked == page.has_button(cohort_text.OTHERS) == ("looks like" in page.warnings)
    assert not (asked and (page.has_button("Set this limit", "Release", "Spend") or page.app.get("progress")))
    return asked


def choose_patients(page, column):
    box = next(box for box in page.app.selectbox if box.label == "Column that names the patient")
    box.set_value(box.options.index(column))
    page.run()


def of_folder(page, data):
    return prepared(data)


def of_session(page, data):
    bring(page, data)
    return page


@pytest.mark.parametrize("again", [of_folder, of_session])
def test_a_row_fewer_is_asked_about_and_pays_into_the_account(again, request, visitor):
    if again is of_folder:
        request.getfixturevalue("folder")
        visitor(None)
    page = again(released(), FEWER)
    assert has_asked(page)
    page.press(YES)
    assert not has_asked(page) and "0.5 of the limit" in page.spent
    assert "2 tables pay into it: 120 rows and 5 columns; 119 rows and 5 columns" in page.markdown
    page.release()
    page = again(page, csv(patients()))  # it is remembered, and what it cost counts for the first
    assert not has_asked(page)
    assert page.app.dataframe[-1].value["what"].tolist() == ["Analyze Gauss"] * 2


@pytest.mark.parametrize(
    "data",
    [
        csv(patients().drop(columns="clinic")),
        parquet(patients(seed=1, n=125)),
    ],
    ids=["a column less", "others of the same form"],
)
def test_other_patients_get_an_account_of_their_own_once_that_is_said(folder, visitor, data):
    visitor(None)
    limited()
    page = prepared(data)
    assert has_asked(page)
    page.press(cohort_text.OTHERS)
    assert not has_asked(page)
    page.press("Set this limit")
    assert not has_asked(page) and page.has_button("Release")
    assert not has_asked(prepared(data))
    assert len(CohortsOnDisk(folder).cohorts(None)) == 2


def test_another_owner_is_not_asked_and_sees_no_name(folder, visitor):
    visitor("ann")
    page = prepared()
    page.app.text_input(key="own cohort name").set_value("Heart study")
    page.press("Set this limit")
    assert "Account of **Heart study**" in page.markdown
    assert "**Heart study**" in prepared(FEWER).warnings
    visitor("ben")
    for data in (FEWER, csv(patients())):
        page = prepared(data)
        assert not has_asked(page) and "Heart study" not in page.everything
        assert "Or pay into another account" not in [box.label for box in page.app.selectbox]
    assert page.spent  # who has the very table finds its ledger


def test_an_account_is_chosen_by_its_name(folder, visitor):
    visitor("ann")
    page = limited()
    page.app.text_input(key=f"own name {content_key(patients())[:16]}").set_value("Heart *study*")
    page.press("Name it")
    assert "Account of **Heart \\*study\\***" in page.markdown
    page = prepared(UNLIKE)
    assert not has_asked(page)
    box = next(box for box in page.app.selectbox if box.label.startswith("Or pay into"))
    box.select("Heart *study*")
    page.run()
    page.press(YES)
    assert "2 tables pay into it" in page.markdown and not page.has_button("Set this limit")


def test_once_patients_are_named_it_is_asked_again(folder, visitor):
    """Whoever said of another form and size that these are others, and then names 60 shared patients."""
    visitor(None)
    names = [f"p{i * 7919}" for i in range(ROWS)]
    page = prepared(csv(patients().assign(name=names)), rows=2)
    choose_patients(page, "name")
    page.press("Set this limit")
    page = prepared(csv(patients(seed=5).assign(name=[*names[:60], *(f"q{i}" for i in range(60))])), rows=2)
    page.press(cohort_text.OTHERS)
    assert not has_asked(page)
    choose_patients(page, "name")
    assert has_asked(page) and "patients' names" in page.warnings


def test_the_most_rows_that_any_extract_states_count_for_a_patient(folder, visitor):
    visitor(None)
    page = prepared(rows=4)
    page.press("Set this limit")
    page.release()
    assert "For a patient with 4 rows, all releases so far" in page.markdown
    page = prepared(FEWER)  # of which each patient has one row
    page.press(YES)
    assert "For a patient with 4 rows, all releases so far" in page.markdown
    assert page.app.dataframe[-1].value["rows per patient"].tolist() == ["4"]


def test_accounts_with_other_deltas_do_not_become_one(folder, visitor):
    visitor(None)
    limited()
    page = prepared(UNLIKE)
    page.app.selectbox(key="own limit delta 1e-06").select_index(0)
    page.press("Set this limit")
    before = (folder / "cohorts.index").read_bytes()
    box = next(box for box in page.app.selectbox if box.label.startswith("Or pay into"))
    box.select_index(0)
    page.run()
    page.press(YES)
    assert cohort_text.NOT_JOINED in page.errors and "delta" in page.errors.lower()
    assert (folder / "cohorts.index").read_bytes() == before


def test_a_damaged_list_is_one_sentence_and_no_release(folder, visitor):
    visitor(None)
    limited()
    (folder / "cohorts.index").unlink()
    for data in (FEWER, OTHER_TABLE):
        page = prepared(data)
        assert page.errors.startswith("The list of cohorts") and page.errors.count("\n") == 0
        assert page.errors.endswith("Until then nothing can be released.")
        assert not page.has_button("Release", "Set this", YES)


def test_a_ledger_of_another_extract_is_imported_where_the_owner_says_so(folder):
    away = SessionLedger(300)
    away.set_limit(Limit(1.0, 1e-6))
    away.spend("elsewhere", HALF, {"rows": 300})
    page = limited()
    box = next(box for box in page.app.file_uploader if box.label == "A ledger of this table")
    box.set_value(("ledger.jsonl", away.export().encode(), ""))
    page.run()
    page.press("Add its releases")
    assert "is of a table with another number of rows" in page.errors
    next(box for box in page.app.checkbox if box.label.startswith("It is of another extract")).check()
    page.press("Add its releases")
    assert not page.errors and page.app.dataframe[-1].value["what"].tolist() == ["elsewhere"]


LOCAL = {"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:8501"}


@pytest.mark.parametrize(
    ("address", "headers", "is_local"),
    [
        ("127.0.0.1", LOCAL, True),
        ("::1", {"host": "[::1]:8501", "origin": "http://[::1]:8501"}, True),
        ("0.0.0.0", LOCAL, False),
        (None, LOCAL, False),
        ("127.0.0.1", {}, False),
        ("127.0.0.1", LOCAL | {"X-Forwarded-For": "10.0.0.1"}, False),
        ("127.0.0.1", LOCAL | {"Host": "data.example.org"}, False),
        ("127.0.0.1", LOCAL | {"Origin": "https://data.example.org"}, False),
        ("127.0.0.1", LOCAL | {"Origin": "http://[::1"}, False),
    ],
)
def test_all_of_a_folder_is_a_visitors_on_this_machine_only(monkeypatch, address, headers, is_local):
    monkeypatch.setattr(config, "get_option", {"server.address": address}.get)
    monkeypatch.setattr(owner.st, "context", type("Context", (), {"headers": headers}))
    monkeypatch.setattr(owner.sign_in, "required", lambda: False)
    assert (owner.owner("a") is None) == is_local
    assert owner.owner("a") == owner.owner("b") if is_local else owner.owner("a") != owner.owner("b")


def test_who_signs_in_is_the_owner(monkeypatch):
    monkeypatch.setattr(owner.sign_in, "required", lambda: True)
    owners = []
    for user in ({"sub": "1", "iss": "a"}, {"sub": "1", "iss": "b"}, {"email": "1"}, {}):
        monkeypatch.setattr(owner.st, "user", user)
        owners.append(owner.owner("session"))
    assert len(set(owners)) == 4 and None not in owners
