"""A release that was paid for and not downloaded goes on at no cost, in this session or a later one."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dppca_core.release import discrete_gaussian
from dppca_core.release.ledger_records import ANOTHERS
from dppca_core.tables import Schema
from pages.hospitals.your_data import ledger_text
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    limited,
    patients,
    prepared,
    released,
)
from tests.pages.hospitals.your_data.test_patients import page_of

METHODS = {"own.method": "two_stage", "own.shat": "3"}


def entries(page):
    return page.app.session_state["own table"].ready, page.spent


@pytest.mark.parametrize("back", ["same owner", "another session"])
def test_another_session_goes_on_with_it_until_it_was_downloaded(folder, visitor, back):
    """As after the server was killed: the same numbers, the same ledger, no price and no question.

    Where nobody signs in the session that paid cannot be told from another; what it paid for is kept.
    """
    visitor("same owner")
    former = released(**METHODS)
    result = former.state.releases[0].result
    visitor(back)
    page = prepared()
    entry = result.entry if back == "same owner" else replace(result.entry, title=ANOTHERS)
    assert ledger_text.kept(entry) in page.warnings and not page.state.releases
    page.press("Go on with it")
    page.state.releases[0].wait(60)
    page.run()
    again = page.state.releases[0].result
    np.testing.assert_array_equal(again.basis, result.basis)
    assert again.document | {"versions": 0} == result.document | {"versions": 0}
    assert page.spent == former.spent and not page.has_button("Go on with it")
    page.state.releases[0].mark_downloaded()
    assert not list(folder.glob("*.drawn.jsonl"))
    assert ("cannot be shown again" in prepared().warnings) == (back == "same owner")


@pytest.mark.parametrize("method", ["two_stage_sealed", "analyze_gauss"])
def test_what_was_stopped_goes_on(monkeypatch, method):
    """In a session whose ledger is nowhere else: after two rounds, or before anything was drawn."""
    drawn, draw = [], discrete_gaussian.add_noise

    def stopping(*args, **options):
        drawn.append(args)
        if len(drawn) == 4:
            raise discrete_gaussian.StoppedError
        return draw(*args, **options)

    page = limited(**METHODS | {"own.method": method})
    monkeypatch.setattr(discrete_gaussian, "add_noise", stopping)
    if method == "analyze_gauss":
        drawn += [(), ()]  # the mean and the diagonal
    page.release()
    assert "You can go on with it for nothing" in page.warnings
    before = page.spent
    page.press("Go on with it")
    page.state.releases[-1].wait(60)
    page.run()
    assert page.state.releases[-1].result is not None and page.spent == before
    assert "paid for" not in page.warnings
    if method != "analyze_gauss":
        assert len(drawn) == 1 + 1 + 4 + 2  # the mean, and one that was not kept


def test_by_another_answer_on_the_rows_of_a_patient_it_does_not_go_on(monkeypatch):
    """Each patient has one row, so that n and all that is public stay; averaged rows are other rows."""

    def stopped(*args, **options):
        raise discrete_gaussian.StoppedError

    page = page_of(patients().assign(record=[f"R-{i}" for i in range(120)]), "record", **METHODS)
    page.press("Set this limit")
    monkeypatch.setattr(discrete_gaussian, "add_noise", stopped)
    page.release()
    assert page.has_button("Go on with it")
    answer = page.app.radio[0]
    answer.set_value(answer.options[0])
    page.run()
    (entry,) = next(iter(page.state.ledgers.values())).account().entries
    assert ledger_text.kept_of_another(entry) in page.warnings and not page.has_button("Go on with it")


def test_it_is_of_its_own_dictionary(folder, visitor):
    visitor(None)
    result = released(**METHODS).state.releases[0].result
    page = prepared(dictionary=Schema(DICTIONARY.columns, bound=0.5))
    assert ledger_text.kept_of_another(result.entry) in page.warnings
    assert not page.has_button("Go on with it")


def test_a_file_of_steps_that_is_damaged_stops_nothing(folder):
    released(**METHODS)
    (file,) = folder.glob("*.drawn.jsonl")
    for damage in ("", "x", json.dumps({"request": {"method": 1}}) + "\n"):
        file.write_text(damage)
        page = prepared()
        assert not page.app.exception and page.has_button("Release")
        assert "nothing of it is drawn again" in page.errors and not page.has_button("Go on")
