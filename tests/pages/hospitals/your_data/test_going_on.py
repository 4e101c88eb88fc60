"""A paid release stays in the book, and one that was interrupted goes on at no cost, in any session."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from dppca_core.release import discrete_gaussian
from dppca_core.tables import Schema
from pages.hospitals.your_data import account_text, book_releases, text
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    WIDE,
    TablePage,
    limited,
    patients,
    prepared,
    released,
)
from tests.pages.hospitals.your_data.test_patients import page_of

METHODS = {"own.method": "two_stage", "own.shat": "3"}


def test_a_finished_release_is_in_the_book_until_it_is_deleted(folder, visitor):
    """As after the server was started again: with its table and without, and its payment stays."""
    visitor("ann")
    former = released(**METHODS)
    result = former.state.releases[0].result
    assert text.IN_BOOK in former.markdown and not former.has_button("Go on with it")
    for page in (prepared(), TablePage()):
        (job,) = page.state.releases
        again = job.result
        for values, kept in zip(
            (again.basis, again.loading_std), (result.basis, result.loading_std), strict=True
        ):
            np.testing.assert_array_equal(values, kept)
        assert again.document == result.document and again.payment == result.payment
        assert book_releases.account_after(job) == book_releases.account_after(former.state.releases[0])
        labels = [button.proto.label for button in page.app.get("download_button")]
        assert "Download everything (ZIP)" in labels and not page.has_button("Go on with it")
    packed = [each.state.cache_by_name["downloads"][1][0] for each in (former, page)]
    assert packed[0] == packed[1]
    page.press("Delete it for good")
    assert not page.state.releases and not TablePage().state.releases
    lost = prepared()
    assert not lost.state.releases and "1 paid release cannot be shown" in lost.warnings
    assert lost.spent == former.spent and not lost.has_button("Go on with it")


def test_nobody_else_sees_a_finished_release(folder, visitor):
    visitor("ann")
    released()
    visitor("ben")
    assert not TablePage().state.releases


def test_a_release_of_the_session_is_gone_with_it():
    page = released()
    assert text.IN_SESSION in page.markdown and account_text.IN_SESSION in page.warnings
    assert not TablePage().state.releases and prepared().has_button("Set this limit")


@pytest.mark.parametrize("method", ["two_stage_sealed", "analyze_gauss"])
def test_what_was_stopped_goes_on(monkeypatch, method):
    """In a session whose book is nowhere else: after two rounds, or before anything was drawn."""
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
    page.answer()
    (payment,) = page.payments
    assert account_text.interrupted_of_another(payment) in page.warnings and not page.has_button(
        "Go on with it"
    )


@pytest.fixture
def stopped(folder, monkeypatch):
    """Return a payment whose release was interrupted by the end of the server."""
    with monkeypatch.context() as ended:

        def stop(*args, **options):
            raise discrete_gaussian.StoppedError

        page = limited(**METHODS)
        ended.setattr(discrete_gaussian, "add_noise", stop)
        page.release()
    (payment,) = page.payments
    return payment


def test_another_session_goes_on_with_it_for_nothing(stopped):
    page = prepared()
    before = page.spent
    assert account_text.interrupted(stopped) in page.warnings and not page.state.releases
    page.press("Go on with it")
    page.state.releases[0].wait(60)
    page.run()
    assert page.state.releases[0].result is not None and page.spent == before
    assert not page.has_button("Go on with it") and len(page.payments) == 1


def test_eigenvalues_go_on_too_and_are_there_in_another_session(folder, monkeypatch):
    link = {"dictionary": WIDE, "own.slice": "0.5", "own.delta": "1e-6"}
    page = limited(**link)

    def stop(*args, **options):
        raise discrete_gaussian.StoppedError

    with monkeypatch.context() as ended:
        ended.setattr(discrete_gaussian, "add_noise", stop)
        page.release("Pay for the spectrum")
    (payment,) = page.payments
    other = prepared(**link | {"dictionary": Schema(WIDE.columns, bound=0.5)})
    assert account_text.interrupted_of_another(payment) in other.warnings
    page = prepared(**link)
    before = page.spent
    assert account_text.interrupted(payment) in page.warnings and "that you paid for" not in page.markdown
    page.press("Go on with it")
    page.state.last("spectrum").wait(60)
    page.run()
    assert page.spent == before and page.payments == (payment,) and not page.has_button("Go on with it")
    result, later = page.state.last("spectrum").result, prepared(**link)
    np.testing.assert_array_equal(later.state.last("spectrum").result.eigenvalues, result.eigenvalues)
    assert "that you paid for" in page.markdown and "that you paid for" in later.markdown


def test_it_is_of_its_own_dictionary(stopped):
    page = prepared(dictionary=Schema(DICTIONARY.columns, bound=0.5))
    assert account_text.interrupted_of_another(stopped) in page.warnings
    assert not page.has_button("Go on with it")


def test_steps_that_were_changed_stop_nothing_else(folder, stopped):
    with closing(sqlite3.connect(folder / "accounts.sqlite3")) as book, book:
        book.execute("UPDATE releases SET asked = replace(asked, 'two_stage', 'analyze_gauss')")
    page = prepared()
    assert not page.app.exception and page.has_button("Release")
    assert "nothing of it is drawn again" in page.errors and not page.has_button("Go on")
