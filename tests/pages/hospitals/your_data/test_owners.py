"""Two owners of the very same extract: the budget is one, and neither learns what the other released."""

import io
import json
import zipfile

import pandas as pd
import pytest

from dppca_core.release import bundle, how_chosen
from dppca_core.release.ledger_records import ANOTHERS
from dppca_core.tables import Column, Schema
from pages.hospitals.your_data import kept_copies
from pages.shared.server import sign_in
from tests.pages.hospitals.your_data.table_page import TABLE, csv, patients, prepared
from tests.pages.hospitals.your_data.test_isolation import downloads, shown

EXTRACT = csv(pd.concat([patients(), patients(seed=4, n=137)]))  # joins the account; 257 rows
FIRST = Schema(
    (
        Column("age", "number", 0, 119),
        Column("weight", "number", 31, 199),
        Column("pulse", "number", 30, 220),
    ),
    bound=0.77310977,
)
# Of what the first owner typed, brought and released.
MARKS = (
    b"Zanzibar",
    b"257 rows",
    b'"rows": 257',
    b"0.77310977",
    b"ann.csv",
    b"ann2.csv",
    b"clinic of the first",
)
METHOD = (b"Two-stage", b"two_stage")  # which the page offers to everybody


def first_releases(visitor):
    visitor("ann")
    page = prepared(TABLE, FIRST, "ann.csv", **{"own.method": "two_stage", "own.shat": "3", "own.eps": "0.3"})
    page.app.text_input(key="own cohort name").set_value("Zanzibar study")
    page.press("Set this limit")
    page.state.how_chosen = (how_chosen.ANSWERS[-1], "clinic of the first")
    page.release()
    return page


@pytest.mark.parametrize(("signed_in", "downloaded"), [(True, False), (False, True)])
def test_another_owner_of_the_same_extract_learns_nothing(
    folder,
    visitor,
    monkeypatch,
    offered,
    built,
    signed_in,
    downloaded,
):
    monkeypatch.setattr(sign_in, "required", lambda: signed_in)
    monkeypatch.setattr(sign_in, "ask", lambda title: None)
    first = first_releases(visitor)
    if downloaded:
        first.state.releases[0].mark_downloaded()
    again = prepared(EXTRACT, FIRST, "ann.csv")
    again.press("Yes: pay into")
    offered.clear()
    visitor("ben")
    page = prepared(TABLE, name="ben.csv", **{"own.eps": "0.2"})
    assert page.spent == first.spent and ANOTHERS in str(page.app.dataframe[-1].value)
    page.release()
    job = page.state.releases[0]
    packed = bundle.pack(bundle.files(job.result.document, kept_copies.account(job), job.result.entry))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        files = b"".join(map(archive.read, archive.namelist()))
    assert b"ledger.jsonl" in files and not [mark for mark in METHOD if mark in files]
    assert page.app.dataframe[-1].value["what"].tolist() == [ANOTHERS, "Stacked rounds"]
    everything = shown(page) + files + downloads(offered) + json.dumps(built()).encode()
    page.app.switch_page("hospitals/planner/page.py")
    page.run()
    everything += shown(page)
    assert not [mark for mark in MARKS if mark in everything]
    visitor("ann")
    assert ANOTHERS in str(prepared(TABLE, FIRST).app.dataframe[-1].value)


def test_both_see_one_total(folder, visitor):
    first = first_releases(visitor)
    visitor("ben")
    second = prepared(TABLE, **{"own.eps": "0.2"})
    second.release()
    spent = second.spent
    assert "1 release was paid for by another owner" in second.captions
    visitor("ann")
    first.run()
    assert first.spent == spent and "1 release was paid for by another owner" in first.captions
