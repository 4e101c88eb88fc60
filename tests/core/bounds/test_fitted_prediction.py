"""Test the prediction for a fitted bound against releases, and against its formula by hand."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from dppca_core import Budget
from dppca_core.arrays import Array
from dppca_core.bounds.fitted_prediction import fitted_prediction
from dppca_core.experiments import fitted_release
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.numerics import linalg, subspace_metrics

D, N = 12, 4000
SPREADS = np.array([0.5, 0.42, 0.25, 0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.08, 0.05, 0.05])


def rows() -> Array:
    """Return rows of numbers in [-1, 1] about a mean that is not the middle, with the spreads above."""
    rng = np.random.default_rng(0)
    return np.clip(0.1 + SPREADS * np.clip(rng.standard_normal((N, D)), -1.8, 1.8), -1, 1)


def rule(epsilon: float, standardised: bool = False, hospitals: int = 1) -> FittedBound:
    return FittedBound(Layout.of_numbers(D), Budget(epsilon, 1e-6), N, standardised, hospitals)


@pytest.mark.parametrize(("epsilon", "k", "hospitals"), [(1.0, 2, 1), (1.0, 3, 1), (3.0, 2, 1), (1.0, 2, 5)])
def test_it_is_within_a_quarter_of_the_median_of_releases(epsilon, k, hospitals):
    table = rows()
    moment = np.cov(table.T, bias=True)
    truth = linalg.top_eigenspace(moment, k)
    at = rule(epsilon, hospitals=hospitals)
    errors = []
    for run in range(61):
        out = fitted_release.fitted_moment(table, at, np.random.default_rng(run))
        errors.append(subspace_metrics.sin_theta(linalg.top_eigenspace(out.moment, k), truth))
    predicted = fitted_prediction(np.linalg.eigvalsh(moment)[::-1], k, at, mean_square=D / 3)
    assert predicted < subspace_metrics.random_guess(D, k) / 3
    assert predicted == pytest.approx(float(np.median(errors)), rel=0.25)


def test_by_hand_for_one_pair():
    """Two columns have one pair, so the median is that of chi-square with one degree of freedom."""
    at = FittedBound(Layout.of_numbers(2), Budget(1.0, 1e-6), 10**5)
    eigenvalues, z = np.array([0.2, 0.1]), 4.2246789
    mean_std = 2 * 1.05 * math.sqrt(2 / 3) * z / 1e5 / math.sqrt(at.shares["mean"])
    square = at.relative_square() * (0.3 + 2 * mean_std**2)
    std = math.hypot(z * square / 1e5 / math.sqrt(at.shares["moment"]), mean_std**2)
    expected = std / 0.1 * math.sqrt(chi2.median(1))
    assert fitted_prediction(eigenvalues, 1, at, 2 / 3) == pytest.approx(expected, rel=1e-5)


def test_more_noise_errs_more_and_no_gap_says_nothing():
    spectrum = np.sort(SPREADS**2)[::-1]
    errors = [fitted_prediction(spectrum, 2, rule(epsilon), D / 3) for epsilon in (4.0, 1.0, 0.25)]
    assert errors == sorted(errors)
    alone, five = (fitted_prediction(spectrum, 2, rule(1.0, hospitals=h), D / 3) for h in (1, 5))
    assert five > 1.5 * alone
    assert fitted_prediction(np.ones(D), 2, rule(1.0), D / 3) == math.inf
    assert 0 < fitted_prediction(np.linspace(3, 0.1, D), 2, rule(1.0, standardised=True), D / 3) < 1
