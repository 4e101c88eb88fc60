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
    """sin Theta whose tangents are 8 rate^t over a floor, squares adding, times e^noise."""
    floor = float(tangent(np.array(plateau), K))
    square = (floor**2 + (8 * rate**ROUNDS) ** 2) * np.exp(2 * noise)
    return np.sqrt(K * square / (1 + square))


@pytest.mark.parametrize("rate", [0.2, 0.35, 0.7])
@pytest.mark.parametrize("plateau", [1e-3, 0.05, 0.2])
def test_rate_and_plateau_of_a_trajectory_made_of_both(rate, plateau):
    seen = errors(rate, plateau)
    found = contraction(seen, d=D, k=K)
    assert found.rate == pytest.approx(rate, rel=0.02)
    assert found.plateau == pytest.approx(plateau, rel=0.01)
    assert seen[found.reached] <= 1.1 * found.plateau < seen[found.reached - 1]
    assert np.all(seen[found.phase[0] :] < 0.95 * random_guess(D, K))
    np.testing.assert_allclose(found.curve(ROUNDS), seen, rtol=0.06)


def test_a_sum_of_sines_too_once_the_plateau_is_far_below():
    """e_t = plateau + A q^t: at small errors the sine is its tangent."""
    found = contraction(1e-4 + 0.2 * 0.5**ROUNDS, d=D, k=K)
    assert found.rate == pytest.approx(0.5, rel=0.1)
    assert found.plateau == pytest.approx(1e-4, rel=0.01)


def test_a_wrong_rate_is_told_apart_through_noise():
    """Ten per cent of noise on every round: the right rate is within 5 %, one 15 % off is not."""
    rng = np.random.default_rng(5)
    noisy = [errors(0.5, 0.01, 0.1 * rng.standard_normal(len(ROUNDS))) for _ in range(20)]
    rates = np.array([contraction(seen, d=D, k=K).rate for seen in noisy])
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
    found = contraction(sin_thetas(np.stack(bases), turn[:, :k]), d=40, k=k)
    assert found.rate == pytest.approx(0.6, rel=tolerance)
    assert found.plateau is None and "still falling" in found.why


def test_noise_alone_is_stuck_at_the_random_guess():
    rng = np.random.default_rng(2)
    found = contraction(random_guess(D, K) * rng.uniform(0.98, 1.0, 11), d=D, k=K)
    assert found.stuck and found.rate is None and found.reached is None
    assert found.plateau == pytest.approx(random_guess(D, K), rel=0.02)
    assert found.why == "no better than a random guess"


def test_one_round_between_guess_and_plateau_is_not_a_rate():
    found = contraction(np.array([1.71, 0.5, *[0.1] * 8]), d=D, k=K)
    assert found.rate is None and "2 are needed" in found.why and "found" not in found.why
    assert (found.plateau, found.reached) == (0.1, 2)
    with pytest.raises(ValueError, match="rate must have been fitted"):
        found.curve(ROUNDS)


def test_two_rounds_are_too_few_for_a_plateau():
    found = contraction(np.array([1.71, 0.9, 0.2]), d=D, k=K)
    assert found.plateau is None and "too few rounds to see a plateau" in found.why
    assert found.phase == (1, 2)


def test_an_exact_answer_is_a_plateau_at_rounding():
    found = contraction(np.array([1.71, 0.5, 0.01, *[0.0] * 6]), d=D, k=K)
    assert found.plateau == pytest.approx(1e-14)
    assert found.phase == (1, 2)


@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], [1.0, -0.1], [1.9, 1.0], [[1.0, 0.5]]])
def test_what_is_no_trajectory_is_refused(bad):
    with pytest.raises(ValueError, match=r"error|largest"):
        contraction(np.array(bad), d=D, k=K)
