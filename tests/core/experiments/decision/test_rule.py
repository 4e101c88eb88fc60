"""Test the interval of a median against the binomial law, and the rule at its thresholds."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dppca_core.experiments.decision import rule
from dppca_core.experiments.decision.rule import Answer, Evidence

NOBODY, SEALED, PLACE = "untrusted server", "secure aggregation", "central"
GOOD, BAD, OPEN = Evidence(2.01, 3, 4, 80.0), Evidence(0, 1, 1.99, 99), Evidence(1.99, 3, 4, 99)


@pytest.mark.parametrize("n", [8, 20, 40, 400, 1001])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_the_interval_is_that_of_the_binomial_law(n, level):
    """The ranks have the level, and the next narrower ones do not: exact, no chance of error."""
    lower, upper = rule.median_interval(np.arange(1.0, n + 1), level)
    assert lower + upper == n + 1
    assert 1 - 2 * binom.cdf(lower - 1, n, 0.5) >= level > 1 - 2 * binom.cdf(lower, n, 0.5)


def test_forty_runs_have_ranks_12_and_29():
    assert rule.median_interval(np.random.default_rng(0).permutation(40) + 1.0) == (12, 29)


def test_too_few_runs_bound_nothing():
    assert rule.median_interval(np.zeros(7)) == (-math.inf, math.inf)


def test_the_interval_holds_the_median_of_a_skewed_law_as_often_as_it_says():
    """Of 4,000 intervals 99.36 % should; beyond 4 standard errors with a chance below 1e-4."""
    draws = np.random.default_rng(1).exponential(size=(4000, 40))
    held = [lower <= math.log(2) <= upper for lower, upper in map(rule.median_interval, draws)]
    expected = 1 - 2 * binom.cdf(11, 40, 0.5)
    assert abs(np.mean(held) - expected) < 4 * math.sqrt(expected * (1 - expected) / 4000)


@pytest.mark.parametrize(
    ("nobody", "sealed", "verdict"),
    [
        (GOOD, GOOD, Answer.JOIN),
        (BAD, GOOD, Answer.JOIN_IF),
        (OPEN, GOOD, Answer.JOIN_IF),
        (GOOD._replace(tenth=79.99), GOOD, Answer.JOIN_IF),
        (BAD, BAD, Answer.STAY),
        (BAD, OPEN, Answer.TOO_CLOSE),
        (BAD, BAD._replace(upper=2.0), Answer.TOO_CLOSE),
        (BAD, GOOD._replace(tenth=79.99), Answer.TOO_CLOSE),
        (GOOD._replace(lower=2.0), BAD, Answer.TOO_CLOSE),
    ],
)
def test_the_rule_at_its_thresholds(nobody, sealed, verdict, monkeypatch):
    by_trust = {NOBODY: nobody, SEALED: sealed, PLACE: sealed}
    assert rule.answer(by_trust) == verdict
    assert verdict.decided == (verdict in {Answer.JOIN, Answer.JOIN_IF, Answer.STAY})


@pytest.mark.parametrize("margin", [1.9, 2.1])
def test_a_planted_shift_of_the_margin_is_seen(margin, monkeypatch):
    cases = {Answer.JOIN: GOOD, Answer.TOO_CLOSE: OPEN}
    monkeypatch.setattr(rule, "MARGIN", margin)
    seen = {
        answer: rule.answer(dict.fromkeys((NOBODY, SEALED, PLACE), each)) for answer, each in cases.items()
    }
    assert any(answer != expected for expected, answer in seen.items())


def test_evidence_of_runs():
    gain = np.arange(1.0, 41)
    seen = rule.evidence(gain, gain + 50)
    assert seen == Evidence(12, 20.5, 29, pytest.approx(np.quantile(gain + 50, 0.1)))
