"""Two persons of one table: they share one budget, and neither learns what the other released."""

import io
import zipfile

import pytest
from streamlit import config

from dppca_core.accounts.account import ANOTHERS
from dppca_core.release import bundle, how_chosen
from dppca_core.tables import Column, Schema
from pages.hospitals.your_data import book_releases, owner
from tests.pages.hospitals.your_data.table_page import TABLE, prepared
from tests.pages.hospitals.your_data.test_isolation import downloads, shown

FIRST = Schema(
    (
        Column("age", "number", 0, 119),
        Column("weight", "number", 31, 199),
        Column("pulse", "number", 30, 220),
    ),
    bound=0.77310977,
)
# Of what the first owner typed, brought and released.
MARKS = (b"0.77310977", b"ann.csv", b"clinic of the first")
METHOD = (b"Two-stage", b"two_stage")  # which the page offers to everybody


def first_releases(visitor):
    visitor("ann")
    page = prepared(TABLE, FIRST, "ann.csv", **{"own.method": "two_stage", "own.shat": "3", "own.eps": "0.3"})
    page.press("Set this limit")
    page.say_how_chosen(how_chosen.ANSWERS[-1])
    page.app.text_input(key=f"own chosen {page.state.tables_loaded} sentence").set_value(
        "clinic of the first"
    )
    page.run()
    page.release()
    return page


def share(page):
    page.press("Make a code")
    return page.app.code[-1].value


def enter(page, code):
    next(box for box in page.app.text_input if box.label == "Code of the account").set_value(code)
    page.press("Enter this account")


def test_a_table_of_another_person_is_refused_until_it_is_shared(folder, visitor):
    first = first_releases(visitor)
    visitor("ben")
    page = prepared(TABLE, name="ben.csv")
    assert "in another person's account" in page.errors and not page.has_button("Set this", "Release")
    enter(page, "not a code")
    assert "No account was shared by this code" in page.errors
    visitor("ann")
    code = share(first)
    visitor("ben")
    enter(page, code)
    assert not page.errors and page.spent == first.spent


def test_another_owner_of_the_same_table_learns_nothing(folder, visitor, offered, built):
    first = first_releases(visitor)
    code = share(first)
    offered.clear()
    visitor("ben")
    page = prepared(TABLE, name="ben.csv", **{"own.eps": "0.2"})
    enter(page, code)
    assert page.spent == first.spent and ANOTHERS in str(page.app.dataframe[-1].value)
    assert not page.has_button("Go on with it") and not page.state.releases
    page.release()
    job = page.state.releases[0]
    packed = bundle.pack(
        bundle.files(job.result.document, book_releases.account_after(job), job.result.payment)
    )
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        files = b"".join(map(archive.read, archive.namelist()))
    assert b"account.jsonl" in files and not [mark for mark in METHOD if mark in files]
    assert page.app.dataframe[-1].value["what"].tolist() == [ANOTHERS, "Analyze Gauss"]
    spent, everything = page.spent, shown(page) + files + downloads(offered) + built().html().encode()
    page.app.switch_page("hospitals/planner/page.py")
    page.run()
    everything += shown(page)
    assert not [mark for mark in MARKS if mark in everything]
    visitor("ann")
    again = prepared(TABLE, FIRST)
    assert ANOTHERS in str(again.app.dataframe[-1].value) and again.spent == spent
    assert "1 release was paid for by another owner" in again.captions


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
def test_the_book_on_the_disk_is_whoever_sits_at_this_machine(monkeypatch, address, headers, is_local):
    monkeypatch.setattr(config, "get_option", {"server.address": address}.get)
    monkeypatch.setattr(owner.st, "context", type("Context", (), {"headers": headers}))
    monkeypatch.setattr(owner.sign_in, "required", lambda: False)
    assert owner.owner() is None and owner.has_book() == is_local


def test_who_signs_in_is_the_owner(monkeypatch):
    monkeypatch.setattr(owner.sign_in, "required", lambda: True)
    owners = []
    for user in ({"sub": "1", "iss": "a"}, {"sub": "1", "iss": "b"}, {"email": "1"}):
        monkeypatch.setattr(owner.st, "user", user)
        owners.append(owner.owner())
        assert owner.has_book()
    assert len(set(owners)) == 3 and None not in owners
    monkeypatch.setattr(owner.st, "user", {})
    assert not owner.has_book()  # without a name all accounts would be theirs
