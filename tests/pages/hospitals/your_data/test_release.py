"""A release is asked for, priced, confirmed and made once."""

import json
import threading

import numpy as np
import pytest

from dppca_core import Budget
from dppca_core.accounting import numerical
from dppca_core.accounts.account import Balance, Limit
from dppca_core.release import discrete_gaussian, private_release
from dppca_core.release.request import Request
from dppca_core.tables import Schema
from pages.hospitals.your_data import (
    account_text,
    analyst_text,
    confirmation,
    owner_only_document,
    release_request,
)
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.shared import text
from pages.shared.background import sessions
from pages.shared.settings import catalogue
from tests.core.full_disk import full_disk
from tests.pages.hospitals.your_data.table_page import DICTIONARY, limited, of_size
from tests.waiting import PATIENCE_SECONDS


def test_a_release_is_asked_for_priced_confirmed_and_made_once(makes):
    page = limited()
    page.ask()
    assert not makes
    assert "used 0 of your limit 1, afterwards it is 0.5, and 0.5 is left" in page.markdown
    assert account_text.ONCE in page.markdown
    page.press("Spend")
    for _ in range(3):
        page.run()
    page.move("own.epsilon", 0.1)
    page.move("own.k", 1)
    assert len(makes) == 1
    (first,) = page.state.releases
    first.wait(PATIENCE_SECONDS)
    page.run()
    assert "discrete Gaussian of OpenDP" in first.result.document["noise"]
    assert first.result.document["features"] == ["age", "weight", "pulse"]
    assert "seed" not in json.dumps(first.result.document["parameters"])
    page.release()
    assert len(makes) == 2 and len(page.state.releases) == 2


def test_a_click_on_an_old_confirmation_confirms_nothing(makes):
    """Moved settings let a pending job go; its button, still on a slow screen, is not the next job's."""
    page = limited()
    page.ask()
    old = page.state.pending
    page.move("own.epsilon", 0.2)
    assert page.state.pending is None and not page.has_button("Spend")
    page.ask()
    assert page.state.pending.number != old.number
    page.press("Do not release")
    assert page.state.pending is None and not page.has_button("Spend") and not makes


def test_many_clicks_at_once_make_one_release():
    """Forty threads confirm one job, and one of them is the first."""
    calls, gate = [], threading.Barrier(40)
    job = ReleaseJob(("here",), lambda progress: calls.append(progress(1.0)), lambda: True)
    first = []

    def click():
        gate.wait()
        first.append(job.confirm())

    threads = [threading.Thread(target=click) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    job.wait(PATIENCE_SECONDS)
    assert calls == [True] and sum(first) == 1 and job.state == "done"


def test_a_stopped_release_is_paid_for_and_not_shown(monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def draw(summed, budget, progress):
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        if not progress(0.5):
            raise discrete_gaussian.StoppedError
        raise AssertionError("it was not stopped")

    monkeypatch.setattr(discrete_gaussian, "release", draw)
    monkeypatch.setattr(confirmation, "FIRST_WAIT_SECONDS", 0.01)
    page = limited()
    page.ask()
    page.press("Spend")
    assert begun.wait(PATIENCE_SECONDS)
    page.press("Stop")
    go_on.set()
    page.state.last("release").wait(PATIENCE_SECONDS)
    page.run()
    assert "paid for, and nothing of it was shown" in page.warnings
    assert "0.5 of the limit" in page.spent
    assert page.state.releases[0].result is None


def test_a_paid_release_goes_on_while_its_visitor_may_come_back(monkeypatch):
    page, make, went_on = limited(), private_release.make, []

    def watched(*args, **more):
        went_on.append(more["progress"](0.5))
        return make(*args, **more)

    monkeypatch.setattr(private_release, "make", watched)
    page.ask()
    monkeypatch.setattr(sessions, "is_connected", lambda who: False)
    page.press("Spend")
    page.state.last("release").wait(PATIENCE_SECONDS)
    assert went_on == [True] and page.state.releases[0].result is not None


@pytest.mark.parametrize(
    ("method", "possible"),
    [
        ("analyze_gauss", {"own.k": 2}),
        ("analyze_gauss_sparse", {"own.k": 2, "own.s_hat": 3}),
        ("dpdis_pca", {"own.k": 2, "own.rank": 3}),
    ],
)
def test_what_three_columns_do_not_allow_is_adjusted_and_said(method, possible):
    wanted = {"own.k": 20, "own.s_hat": 10, "own.rank": 5}
    settings = catalogue.defaults() | wanted | {"own.method": method}
    request = release_request.requested(settings, of_size(3, 100), None, 1)
    adjustments = release_request.adjustments(request, settings)
    assert {key: getattr(request, key.removeprefix("own.")) for key in possible} == possible
    assert len(adjustments) == len(possible)
    for key, sentence in zip(possible, adjustments, strict=True):
        assert sentence.endswith(f" lowered to {possible[key]} here.")
        assert sentence.startswith(catalogue.CHOICES[key].label)


def test_beyond_the_limit_there_is_no_button():
    page = limited(**{"own.eps": "2"})
    (button,) = [button for button in page.app.button if button.label.startswith("Release")]
    assert button.disabled
    assert "beyond the limit 1: ask for less" in page.markdown


@pytest.mark.parametrize(("short", "rest"), [(7e-13, "nothing"), (0.25, "0.25")])
def test_what_rounding_leaves_of_a_limit_is_nothing(monkeypatch, short, rest):
    account = Balance(Limit(1.0, 1e-5, "replace-one"), ())
    total = numerical.Total(1.0 - short, 1.0)
    monkeypatch.setattr(Balance, "spent", lambda account, more=(): total)
    assert analyst_text.left(account_text.spending(account)).endswith(f" is spent, {rest} is left")
    request = Request("analyze_gauss", 3, 2, Budget(1.0, 1e-5))
    price, exceeds_limit = account_text.price("It", request, account, analyst_text.price)
    assert price.endswith(f", and {rest} is left.") and not exceeds_limit


def test_a_full_disk_releases_nothing(folder):
    page = limited()
    page.ask()
    with full_disk(folder / "not there"):  # so that no file may get longer than nothing
        page.spend()
    assert "Nothing was released: the account could not be written (disk I/O error" in page.warnings
    assert str(folder) not in page.warnings
    assert page.state.releases[0].result is None


def test_a_method_for_several_hospitals_says_what_it_is_in_one_place():
    page = limited(**{"own.method": "dpdis_pca"})
    assert "made for several hospitals" in page.captions
    page.move("own.providers", 3)
    assert "made for several hospitals" not in page.captions
    assert "these hospitals do not exist" in page.captions


@pytest.mark.parametrize(
    ("method", "usual", "paid"),
    [("two_stage", False, True), ("two_stage", True, False), ("recommended", True, True)],
)
def test_a_mean_is_paid_for_unless_every_column_has_a_usual_value(method, usual, paid):
    """A fitted bound always has one."""
    settings = catalogue.defaults() | {"own.method": method}
    request = release_request.requested(settings, of_size(5, 1000, usual), None, 1)
    assert (request.mean_share > 0) == paid and request.fitted == (method == "recommended")


@pytest.mark.parametrize(("hospitals", "method"), [(1, "analyze_gauss"), (3, "sealed_sparse")])
def test_one_noisy_moment_of_all_features_is_recommended_and_nothing_else(hospitals, method):
    settings = catalogue.defaults() | {"own.method": "recommended"}
    for d, n in ((6, 300), (30, 569), (400, 10**6)):
        table = of_size(d, n)
        table.sizes = (n // hospitals,) * hospitals
        for counts in ("ranges", "equal"):
            request = release_request.requested(settings | {"own.counts": counts}, table, None, 1)
            assert request.method == method and request.kept == d
            assert request.fitted and request.standardised == (counts == "equal")


@pytest.mark.parametrize("counts", ["ranges", "equal"])
def test_what_counts_is_asked_first_and_decides_what_is_released(counts):
    """The release states its fitted bound and its shares; the owner's check is of the same rows."""
    page = limited(**{"own.eps": "1"})
    page.move("own.counts", counts)
    page.release()
    document = page.state.releases[0].result.document
    parameters, length = document["parameters"], document["length after scaling"]
    assert parameters.get("standardised", False) == (counts == "equal") == (document["scales"] is not None)
    assert len(page.state.releases[0].result.payment.events) == 4
    assert f"no row counts for more than a length of b = {text.short(length)}" in page.markdown
    for name in ("squares share", "tails share", "mean share"):
        assert text.percent(parameters[name]) in page.markdown
    assert ("components are of correlations" in page.markdown) == (counts == "equal")
    page.app.checkbox(key="own.shown").check()
    page.run()
    assert ("divided by the scales that were released" in page.captions) == (counts == "equal")
    lengths = np.array(document["scales"] or np.ones(3)) * length
    rows = page.state.ready.held.encoded / lengths
    answer = owner_only_document.truth(page.state.ready, lengths)
    np.testing.assert_allclose(answer.covariance, np.cov(rows.T, bias=True), atol=1e-12)
    np.testing.assert_allclose(answer.mean, rows.mean(axis=0), atol=1e-12)


def test_usual_values_of_a_dictionary_are_where_rows_are_centred():
    """Typed in the dictionary's file: nothing is paid for a mean, and the release and its report say so."""
    columns = tuple(column.changed(usual=column.low + 20) for column in DICTIONARY.columns)
    page = limited(dictionary=Schema(columns), **{"own.method": "stacked_rounds"})
    assert page.state.ready.schema.has_usual_values
    assert "the usual values that the dictionary gives" in page.captions
    page.release()
    document = page.state.releases[0].result.document
    assert (
        document["mean"] is None
        and document["public"]["dictionary"]["fields"][0]["usual"] == columns[0].usual
    )
    assert "centred at the usual values that the dictionary gives" in page.markdown
