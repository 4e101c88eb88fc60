"""A projector on integers: what is counted for rounding, the law of its noise, and what it says of itself."""

import math

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget, sin_theta
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import spiked_covariance
from dppca_core.methods import METHODS, federated_projector
from dppca_core.numerics import linalg
from dppca_core.release import discrete_gaussian, projector
from dppca_core.release.projector import ProjectorRequest
from tests.core.accounts.paying import TABLE

D, K, N = 6, 2, 2_000
NAMES = [f"column {i}" for i in range(D)]
BUDGET = Budget(2.0, 1e-6)
SPIKES = np.array([0.3, 0.25, 0.05, 0.05, 0.05, 0.05])
ROWS = np.random.default_rng(0).standard_normal((N, D)) * SPIKES
ROWS /= np.maximum(np.linalg.norm(ROWS, axis=1, keepdims=True), 1)


def payer(budget=BUDGET):
    made = Book().payer(TABLE)
    made.set_limit(Limit(1e9, budget.delta, budget.neighbours))
    return made


def released(rows=ROWS, budget=BUDGET, pays=None, **options):
    request = ProjectorRequest(D, K, budget)
    return projector.make(request, rows, pays or payer(budget), features=NAMES, public={}, **options)


def test_with_hardly_any_noise_it_is_the_projector():
    _, loud = released(budget=Budget(1e8, 1e-6))
    _, vectors = linalg.top_eigenpairs(ROWS.T @ ROWS, K)
    np.testing.assert_allclose(loud.matrix, vectors @ vectors.T, atol=1e-4)
    values = np.linalg.eigvalsh(ROWS.T @ ROWS / N)[::-1]
    assert loud.variance == pytest.approx(values[K:].mean(), rel=1e-3)
    assert loud.spike == pytest.approx(values[K - 1] - values[K:].mean(), rel=1e-2)


def test_it_costs_what_was_asked_and_is_drawn_once():
    pays = payer()
    payment, first = released(pays=pays)
    assert payment.events == METHODS["federated_projector"].spends(BUDGET, d=D, k=K)
    _, again = released(pays=pays, resumed=payment)
    np.testing.assert_array_equal(again.matrix, first.matrix)
    assert again[1:] == first[1:] and len(pays.balance().payments) == 1
    with pytest.raises(ValueError, match="what was paid for is something else"):
        released(ROWS[:-1], pays=pays, resumed=payment)


def test_the_guarantee_is_stated_as_it_is():
    pays = payer()
    payment, _ = released(pays=pays)
    assert payment.about["guarantee"] == METHODS["federated_projector"].guarantee == "on a good event"
    assert pays.drawn(payment.id).document["guarantee"] == projector.ON_A_GOOD_EVENT


def test_the_noise_has_the_law_that_it_states(monkeypatch):
    """Of 200 releases, 21 entries each: a Kolmogorov-Smirnov test at 1e-6, and twice the noise is refused."""
    monkeypatch.setattr(discrete_gaussian, "add_noise", lambda whole, std, *_: np.asarray(whole, dtype=float))
    _, exact = released()
    monkeypatch.undo()
    normed = []
    upper = np.triu_indices(D)
    for _ in range(200):
        _, noisy = released()
        spread = noisy.std * np.where(upper[0] == upper[1], math.sqrt(2), 1.0)
        normed.extend(((noisy.matrix - exact.matrix)[upper] / spread).tolist())
    assert stats.kstest(normed, "norm").pvalue > 1e-6
    assert stats.kstest(np.multiply(2, normed), "norm").pvalue < 1e-6


def whole_numbers(rows, monkeypatch):
    """Return the integers to which noise is added, of spectrum and projector, and the std of each."""
    given = []

    def record(whole, std, *_):
        given.append((np.asarray(whole, dtype=float), std))
        return np.asarray(whole, dtype=float)

    monkeypatch.setattr(discrete_gaussian, "add_noise", record)
    released(rows)
    monkeypatch.undo()
    return given


@pytest.mark.parametrize("other", [np.zeros(D), np.eye(D)[0], np.eye(D)[5], -ROWS[1]])
def test_one_row_moves_the_spectrum_no_further_than_is_paid_for(other, monkeypatch):
    """Rounding is in the integers that are compared."""
    z = spiked_covariance.multipliers(BUDGET, known=False, covariance=False)
    for row in (np.eye(D)[0], np.eye(D)[1]):
        first, second = ROWS.copy(), ROWS.copy()
        first[0], second[0] = row, other
        (before, std), *_ = whole_numbers(first, monkeypatch)
        (after, _), *_ = whole_numbers(second, monkeypatch)
        assert np.linalg.norm(before - after) <= std / z["spectrum"] * (1 + 1e-9)


def test_one_row_of_a_spiked_model_moves_the_projector_no_further_than_is_paid_for(monkeypatch):
    """The good event: rows that behave like the model. Of the spectrum as drawn, entries by their weights."""
    rng = np.random.default_rng(1)
    z = spiked_covariance.multipliers(BUDGET, known=False, covariance=False)
    largest = 0.0
    for _ in range(20):
        first, second = ROWS.copy(), ROWS.copy()
        row = rng.standard_normal(D) * SPIKES
        second[0] = row / max(np.linalg.norm(row), 1)
        _, (diagonal, std), (above, _) = whole_numbers(first, monkeypatch)
        _, (other, _), (others, _) = whole_numbers(second, monkeypatch)
        moved = math.hypot(np.linalg.norm(diagonal - other), math.sqrt(2) * np.linalg.norm(above - others))
        largest = max(largest, moved * z["projector"] / std)
    assert 0 < largest <= 1


def test_it_errs_as_the_method_in_floating_point_does():
    """Medians of 60 runs are within a third of each other."""
    truth = np.eye(D)[:, :K]
    exact, floating = [], []
    cohort = Cohort.from_rows([ROWS], 1.0)
    for seed in range(60):
        exact.append(sin_theta(truth, linalg.top_eigenspace(released()[1].matrix, K)))
        rng = np.random.default_rng(seed)
        floating.append(sin_theta(truth, federated_projector.fit(cohort, k=K, budget=BUDGET, rng=rng).basis))
    assert np.median(exact) == pytest.approx(np.median(floating), rel=1 / 3)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (401, 2), (6, 6), (6, 0)])
def test_a_request_checks_itself(d, k):
    with pytest.raises(ValueError, match="must be between"):
        ProjectorRequest(d, k, BUDGET)
