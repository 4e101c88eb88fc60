"""Test that the bound for any method of a guarantee stands next to what a release's own noise allows."""

import math
import re

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dppca_core import Budget
from dppca_core.privacy import Release
from dppca_core.release.request import OFFERED, Request
from pages.hospitals.your_data import plain_text
from pages.hospitals.your_data import text as page_text
from tests.pages.hospitals.your_data.table_page import WIDE, released

CASES = [(0.5, 1e-6, 1), (2.5, 1e-3, 1), (1.0, 1e-6, 8)]


def mu_of(epsilon, delta):
    """Return the mu of noise for (epsilon, delta) (Balle & Wang 2018)."""

    def delta_of(mu):
        return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)

    return brentq(lambda mu: delta_of(mu) - delta, 1e-3, 20)


def of_noise(epsilon, delta, rows):
    """Return how often of 100 the best test on noise for (epsilon, delta) is right."""
    return 100 * norm.cdf(rows * mu_of(epsilon, delta) / 2)


def of_any(epsilon, delta):
    return 100 * (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))


def stated(sentence):
    return [float(number) for number in re.findall(r"at most ([\d.]+) times", sentence)]


@pytest.mark.parametrize(("epsilon", "delta", "rows"), CASES)
@pytest.mark.parametrize("shares", [{}, {"mean_share": 0.1, "scale_share": 0.2}])
@pytest.mark.parametrize("method", OFFERED)
def test_both_numbers_are_right_for_every_method(method, shares, epsilon, delta, rows):
    """Whatever is released, its noise is Gaussian and spends the whole budget; both numbers are named."""
    request = Request(method, 6, 2, Budget(epsilon, delta), rows_per_patient=rows, **shares)
    assert all(isinstance(event, Release) for event in request.events)
    sentence, plain = page_text.odds(request), plain_text.promise(request, 10**6)
    *bounds, by_noise = stated(sentence)
    assert by_noise == pytest.approx(of_noise(epsilon, delta, rows), abs=0.06)
    assert bounds[0] == pytest.approx(of_any(epsilon, delta), abs=0.51) and by_noise < of_any(
        request.patient_epsilon, delta
    )
    assert stated(plain)[-1] == by_noise
    for words in (sentence, plain):
        assert "the bound for any method with this promise" in words
        assert "this release's own noise" in words


@pytest.mark.parametrize(("epsilon", "delta", "rows"), CASES)
def test_mu_is_said_for_a_row_and_for_a_patient(epsilon, delta, rows):
    request = Request(OFFERED[0], 6, 2, Budget(epsilon, delta), rows_per_patient=rows)
    sentence, mu = page_text.as_gaussian(request), mu_of(epsilon, delta)
    of_patient = "" if rows == 1 else f" for a row and {rows * mu:.4g} for a patient"
    expected = f"As Gaussian differential privacy it is μ = {mu:.4g}{of_patient}."
    assert sentence == f"{expected} ε follows from it at any δ."


def test_the_promise_of_the_issue_is_in_the_report_and_on_the_page(built):
    """At epsilon .5 and delta 1e-6 any method may let an attacker be right 62 times, this release 53."""
    for view in ("full", "plain"):
        page = released(dictionary=WIDE, view=view, **{"own.eps": "0.5", "own.delta": "1e-6"})
        assert stated(built().frame().promise) == [62, round(of_noise(0.5, 1e-6, 1), 1)]
        assert stated(page.everything)[:2] == [62, round(of_noise(0.5, 1e-6, 1), 1)]
