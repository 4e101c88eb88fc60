"""The rate and the plateau of a trajectory, against trajectories of which both are known."""

import numpy as np
import pytest

from dppca_core.experiments.explorer.contraction import contraction, tangent
from dppca_core.numerics import block_power
from dppca_core.numerics.linalg import orthonormalise
from dppca_core.numerics.subspace_metrics import random_guess, sin_thetas

D, K = 200, 3
ROUNDS = np.arange(41)


def errors(rate: float, plateau: float, noise: np.ndarray | float = 0.0) -> np.ndarray:
    """Return sin Theta whose tangents are 8 rate^t over a floor, in squares, times e^noise."""
    floor = float(tangent(np.array(plateau), K))
    square = (floor**2 + (8 * rate**ROUNDS) ** 2) * np.exp(2 * noise)
    return np.sqrt(K * square / (1 + square))


@pytest.mark.parametrize(("rate", "plateau"), [(0.2, 0.2), (0.35, 1e-3), (0.7, 0.05), (0.2, 1e-3)])
def test_rate_and_plateau_of_a_trajectory_made_of_both(rate, plateau):
    trajectory = errors(rate, plateau)
    fit = contraction(trajectory, d=D, k=K)
    assert fit.rate == pytest.approx(rate, rel=0.02)
    assert fit.plateau == pytest.approx(plateau, rel=0.01)
    assert trajectory[fit.reached] <= 1.1 * fit.plateau < trajectory[fit.reached - 1]
    assert np.all(trajectory[fit.phase[0] :] < 0.95 * random_guess(D, K))
    np.testing.assert_allclose(fit.curve(ROUNDS), trajectory, rtol=0.06)


def test_a_sum_of_sines_too_once_the_plateau_is_far_below():
    """e_t = plateau + A q^t: at small errors the sine is its tangent."""
    fit = contraction(1e-4 + 0.2 * 0.5**ROUNDS, d=D, k=K)
    assert fit.rate == pytest.approx(0.5, rel=0.1)
    assert fit.plateau == pytest.approx(1e-4, rel=0.01)


def test_a_wrong_rate_is_refused_through_noise():
    """Ten per cent of noise on every round: the right rate is within 5 %, one 15 % off is not."""
    rng = np.random.default_rng(5)
    noisy = [errors(0.5, 0.01, 0.1 * rng.standard_normal(len(ROUNDS))) for _ in range(20)]
    rates = np.array([contraction(trajectory, d=D, k=K).rate for trajectory in noisy])
    assert rates.mean() == pytest.approx(0.5, rel=0.05)
    assert rates.mean() != pytest.approx(0.575, rel=0.05)
    # A planted bug: halving log tau^2 twice gives the root of the rate.
    assert np.sqrt(rates).mean() != pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize(("k", "tolerance"), [(1, 1e-6), (3, 0.03)])
def test_the_noiseless_power_method_contracts_by_the_eigenvalues(k, tolerance):
    """tan Theta falls by lambda_{k+1}/lambda_k a round: exactly for k = 1, in the limit for more."""
    values = np.r_[np.full(k, 10.0), np.full(40 - k, 6.0)]
    rng = np.random.default_rng([1, k])
    turn = orthonormalise(rng.standard_normal((40, 40)))
    moment = (turn * values) @ turn.T
    start = block_power.random_start(40, k, rng)
    bases = block_power.iterate(
        lambda block, rows, step: moment @ block, start, s_hat=40, steps=40, burn_in=0
    )
    fit = contraction(sin_thetas(np.stack(bases), turn[:, :k]), d=40, k=k)
    assert fit.rate == pytest.approx(0.6, rel=tolerance)
    assert fit.plateau is None and "still falling" in fit.why


def test_noise_alone_is_stuck_at_the_random_guess():
    rng = np.random.default_rng(2)
    fit = contraction(random_guess(D, K) * rng.uniform(0.98, 1.0, 11), d=D, k=K)
    assert fit.stuck and fit.rate is None and fit.reached is None
    assert fit.plateau == pytest.approx(random_guess(D, K), rel=0.02)
    assert fit.why == "no better than a random guess"


def test_one_round_between_guess_and_plateau_is_not_a_rate():
    fit = contraction(np.array([1.71, 0.5, *[0.1] * 8]), d=D, k=K)
    assert fit.rate is None and "2 are needed" in fit.why and "found" not in fit.why
    assert (fit.plateau, fit.reached) == (0.1, 2)
    with pytest.raises(ValueError, match="rate must have been fitted"):
        fit.curve(ROUNDS)


def test_two_rounds_are_too_few_for_a_plateau():
    fit = contraction(np.array([1.71, 0.9, 0.2]), d=D, k=K)
    assert fit.plateau is None and "too few rounds to see a plateau" in fit.why
    assert fit.phase == (1, 2)


def test_an_exact_answer_is_a_plateau_at_rounding():
    fit = contraction(np.array([1.71, 0.5, 0.01, *[0.0] * 6]), d=D, k=K)
    assert fit.plateau == pytest.approx(1e-14)
    assert fit.phase == (1, 2)


@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], [1.0, -0.1], [1.9, 1.0], [[1.0, 0.5]]])
def test_a_wrong_trajectory_is_refused(bad):
    with pytest.raises(ValueError, match=r"error|largest"):
        contraction(np.array(bad), d=D, k=K)
