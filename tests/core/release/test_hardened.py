"""Releases for real patients: exact sums, noise of the stated size and shape, from the system's entropy."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget, SpikedModel
from dppca_core.accounting import gaussian
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import moments
from dppca_core.release import discrete_gaussian
from dppca_core.release.discrete_gaussian import IntegerSum, bits_for, release
from tests.core.release.summing import sum_rows

BUDGET = Budget(1.0, 1e-5)
D = 40
ALPHA = 1e-6  # of each statistical test here; noise comes from the operating system, so no seed


def rows(n: int, d: int = 6, seed: int = 0) -> np.ndarray:
    return moments.clip_rows(np.random.default_rng(seed).standard_normal((n, d)), 1.5)


def zero(n: int = 10**6, d: int = D) -> IntegerSum:
    return IntegerSum(n, bits_for(n), np.zeros((d, d)))


def test_sums_are_exact():
    """Compare with rational arithmetic to the last bit."""
    given = rows(50)
    total = sum_rows([given[:7], given[7:]], 6)
    unit = 2**total.bits
    whole = [[int(entry * unit) for entry in row] for row in given.tolist()]  # int() rounds towards zero
    exact = [[sum(Fraction(row[i]) * row[j] for row in whole) for j in range(6)] for i in range(6)]
    assert [[Fraction(entry) for entry in row] for row in total.total.tolist()] == exact
    np.testing.assert_array_equal(total.total, sum_rows([given], 6).total)
    np.testing.assert_allclose(total.total / 4.0**total.bits / 50, given.T @ given / 50, atol=2e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 2**10, 2**10 + 1, 10**6, 2**31, 2**37])
def test_the_largest_sum_fits(n):
    """n rows of norm 1 in one column: n 4^b, one more bit would not fit or is not used."""
    bits = bits_for(n)
    assert n * 4**bits <= 2**53
    assert bits == 20 or n * 4 ** (bits + 1) > 2**53 / 2


def test_rounding_never_lengthens_a_row():
    given = rows(1000)
    given /= np.maximum(np.linalg.norm(given, axis=1, keepdims=True), 1)
    for bits in (8, 14, 20):
        whole = np.trunc(given * 2.0**bits)
        assert (np.einsum("ij,ij->i", whole, whole) <= 4.0**bits * (1 + 1e-12)).all()


def noise_of(budget: Budget, n: int = 10**6) -> np.ndarray:
    return release(zero(n), budget) * n


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_noise_is_gaussian_of_the_calibrated_size(neighbours):
    """Kolmogorov-Smirnov at ALPHA, on and off the diagonal; 20 % more or less is rejected."""
    budget = Budget(1.0, 1e-5, neighbours)
    std = gaussian.noise_multiplier(budget) * (math.sqrt(2) if neighbours == "replace-one" else 1)
    drawn = [noise_of(budget) for _ in range(10)]
    upper = np.triu_indices(D, 1)
    off = np.concatenate([noise[upper] for noise in drawn]) / (std / math.sqrt(2))
    on = np.concatenate([noise.diagonal() for noise in drawn]) / std
    assert stats.kstest(off, "norm").pvalue > ALPHA
    assert stats.kstest(on, "norm").pvalue > ALPHA
    for factor in (0.8, 1.25):
        assert stats.kstest(off * factor, "norm").pvalue < ALPHA
    np.testing.assert_array_equal(drawn[0], drawn[0].T)


def test_opendp_states_the_same_zero_concentrated_guarantee():
    """Its map of one entry: rho = D^2/(2 s^2); over the diagonal and above it together |D|_F^2/(2 s^2)."""
    std = symmetric_gaussian.sum_noise_std(BUDGET)
    on, off = discrete_gaussian._measurement(std), discrete_gaussian._measurement(std / math.sqrt(2))
    x, y = np.array([0.6, 0.8, 0.0]), np.array([0.0, -0.6, 0.8])
    moved = np.outer(x, x) - np.outer(y, y)
    diagonal, above = np.linalg.norm(moved.diagonal()), np.linalg.norm(moved[np.triu_indices(3, 1)])
    whole = on.map(float(diagonal)) + off.map(float(above))
    assert whole == pytest.approx(np.linalg.norm(moved) ** 2 / (2 * std**2), rel=1e-9)
    assert whole <= symmetric_gaussian.sensitivity(BUDGET) ** 2 / (2 * std**2) * (1 + 1e-9)


def test_with_hardly_any_noise_it_is_the_moment():
    model = SpikedModel(d=8, k=2, s=4, seed=1)
    given = moments.clip_rows(next(model.rows(500, np.random.default_rng(0))), model.norm_bound(500))
    moment = release(sum_rows([given], 8), Budget(1e6, 1e-5))
    np.testing.assert_allclose(moment, given.T @ given / 500, atol=1e-4)


def test_progress_is_told_and_can_stop():
    seen: list[float] = []
    release(zero(d=80), BUDGET, lambda share: seen.append(share) or True)
    assert seen == sorted(seen) and seen[-1] == 1.0 and len(seen) > 2
    with pytest.raises(discrete_gaussian.StoppedError):
        release(zero(d=80), BUDGET, lambda share: False)


@pytest.mark.parametrize(("std", "held"), [(63.9, False), (64.0, True), (2.0**56, True), (2.0**56.01, False)])
def test_noise_is_what_integers_hold(monkeypatch, std, held):
    """From 2^6 units, where discrete noise is as good as continuous, to 2^56, with its tails in 64 bits."""
    monkeypatch.setattr(symmetric_gaussian, "sum_noise_std", lambda budget: std / 4.0 ** bits_for(1))
    if held:
        assert np.isfinite(release(zero(1, 2), BUDGET)).all()
        return
    with pytest.raises(ValueError, match=r"^epsilon = 1 asks for noise outside of what integers can hold"):
        release(zero(1, 2), BUDGET)


def test_what_cannot_be_released_is_refused():
    with pytest.raises(ValueError, match="features must be between 1 and 400"):
        release(zero(d=401), BUDGET)
    with pytest.raises(ValueError, match=r"^accounting must be one of exact, zcdp"):
        release(zero(), Budget(1.0, 1e-5, accounting="as-printed"))
    for n, epsilon, delta in ((2, 1e-12, 1e-12), (2**37, 1e12, 1e-5)):
        with pytest.raises(ValueError, match="outside of what integers can hold"):
            release(zero(n), Budget(epsilon, delta))
    with pytest.raises(ValueError, match="clipped to norm 1"):
        sum_rows([rows(5) * 3], 6)
    with pytest.raises(ValueError, match="clipped to norm 1"):
        sum_rows([rows(5) * np.nan], 6)
    with pytest.raises(ValueError, match="rows must have 7 columns"):
        sum_rows([rows(5)], 7)
    with pytest.raises(ValueError, match="n must be between"):
        bits_for(2**38)
