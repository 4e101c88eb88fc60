"""Test CAPE's law of one curator's noise, from its protocol step by step, and SULQ's constant."""

import math

import numpy as np
import pytest
from scipy import stats

from dppca_core import METHODS, Budget, Cohort, SpikedModel, sin_theta
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import analyze_gauss, cape, sulq
from dppca_core.privacy import ACCOUNTINGS, NEIGHBOURS
from tests.core.laws import follows, mean_is, uncorrelated

BUDGET = Budget(1.0, 1e-5)
SIZES = (2000, 300, 40, 7)
MODEL = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.1, 1.0), seed=4)


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
@pytest.mark.parametrize("noise", [None, "mirrored", "isotropic"])
def test_cape_is_analyze_gauss_in_law(accounting, noise):
    """The same generator gives the same numbers, whatever the hospitals."""
    cohort = MODEL.draw(sum(SIZES), SIZES, np.random.default_rng(0))
    budget = Budget(1.0, 1e-5, accounting=accounting)
    here, there = (
        METHODS[name].fit(cohort, k=2, budget=budget, rng=np.random.default_rng(0), noise=noise)
        for name in ("cape", "analyze_gauss")
    )
    np.testing.assert_array_equal(here.basis, there.basis)
    assert (here.noise_std, here.spent, here.bytes_sent) == (there.noise_std, there.spent, there.bytes_sent)
    assert cape.release is analyze_gauss.release


S = len(SIZES)
TAU = symmetric_gaussian.sum_noise_std(BUDGET)
DRAWS = 40_000


def protocol(rng: np.random.Generator, *, zero_sum: bool = True) -> tuple[Array, Array]:
    """Return one entry's E_i + G_i of each hospital, and F_i, which the server knows: (DRAWS, S) each.

    They are on the scale of sums; sizes appear nowhere. E_i is the difference from the mean, which secure
    aggregation gives without anybody's knowing it.
    """
    draws = rng.standard_normal((DRAWS, S)) * TAU
    spread = draws - draws.mean(axis=1, keepdims=True)
    if not zero_sum:
        spread = rng.standard_normal((DRAWS, S)) * TAU * math.sqrt(1 - 1 / S)
    known = rng.standard_normal((DRAWS, S)) * TAU * math.sqrt(1 - 1 / S)
    return spread + rng.standard_normal((DRAWS, S)) * TAU / math.sqrt(S), known


def test_the_protocol_gives_every_message_and_the_sum_the_noise_of_one_curator():
    """The server's view less F_i, and the sum of the hospitals' sums over n, pass KS at ALPHA.

    E_i that do not sum to zero leave the sum far too noisy, and are rejected.
    """
    noise, known = protocol(np.random.default_rng(0))
    values = np.arange(1.0, S + 1)  # an entry of the hospitals' own sums
    messages = values + noise + known
    for i in range(S):
        assert follows((messages - known)[:, i] - values[i], stats.norm(scale=TAU))
        assert not follows(messages[:, i] - values[i], stats.norm(scale=TAU))
    mean = (messages - known).sum(axis=1) / sum(SIZES)
    signal = values.sum() / sum(SIZES)
    std = symmetric_gaussian.entry_std(BUDGET, sum(SIZES), "mirrored")
    assert std == pytest.approx(TAU / sum(SIZES))
    assert follows(mean - signal, stats.norm(scale=std))
    loose, _ = protocol(np.random.default_rng(0), zero_sum=False)
    assert not follows(loose.sum(axis=1) / sum(SIZES), stats.norm(scale=std))


def test_all_messages_together_tell_more_than_the_sum():
    """One hospital's noise has variance tau^2 (S + 1)/(2 S) given the others' rows, and not tau^2.

    The test regresses one message's noise on the others', and compares the mean square at ALPHA.
    """
    noise, _ = protocol(np.random.default_rng(1))
    first, others = noise[:, 0], noise[:, 1:]
    covariance = TAU**2 * ((1 + 1 / S) * np.eye(S) - np.ones((S, S)) / S)
    weights = np.linalg.solve(covariance[1:, 1:], covariance[0, 1:])
    left = first - others @ weights
    assert all(uncorrelated(left, other) for other in others.T)
    assert mean_is(left**2, TAU**2 * (S + 1) / (2 * S))
    assert not mean_is(left**2, TAU**2)
    assert mean_is(first**2, TAU**2)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("accounting", ACCOUNTINGS)
def test_sulq_is_its_formula(neighbours, accounting):
    """beta is 2 sqrt 2 d ln(d/delta)/(n epsilon) at d = 10, epsilon = 2, delta = .05, for any accounting."""
    budget = Budget(2.0, 0.05, neighbours, accounting)
    beta = math.sqrt(8 * 100 * math.log(200) ** 2 / 4)
    assert sulq.sum_noise_std(budget, 10) == pytest.approx(beta, rel=1e-12)
    moved = math.sqrt(2) if neighbours == "replace-one" else 1.0
    expected = gaussian.epsilon_of(beta / moved, 0.05)
    assert METHODS["sulq"].true_epsilon(budget, d=10, k=2) == pytest.approx(expected, abs=1e-12)


def test_the_noise_of_sulq_is_that_of_a_symmetrised_full_matrix():
    """beta on the diagonal and beta/sqrt 2 off it pass KS at ALPHA; 1.2 times is rejected."""
    d, n = 150, 40
    cohort = Cohort.from_rows([np.zeros((n, d))], 1.0)
    released = sulq.release(cohort, BUDGET, np.random.default_rng(0))
    beta = sulq.sum_noise_std(BUDGET, d) / n
    std = METHODS["sulq"].fit(cohort, k=2, budget=BUDGET, rng=np.random.default_rng(0)).noise_std
    above = released[np.triu_indices(d, 1)]
    assert std == pytest.approx(beta / math.sqrt(2))
    assert follows(above, stats.norm(scale=std))
    assert follows(released.diagonal(), stats.norm(scale=beta))
    assert not follows(above, stats.norm(scale=1.2 * std))
    whole = beta * np.random.default_rng(1).standard_normal((d, d))
    assert follows(((whole + whole.T) / 2)[np.triu_indices(d, 1)], stats.norm(scale=std))
    np.testing.assert_array_equal(released, released.T)


def test_sulq_buys_more_than_it_says_but_for_a_huge_epsilon():
    """This holds until epsilon is about 8 d^2 ln^2(d/delta); by more, the more features."""
    method = METHODS["sulq"]
    bought = [method.true_epsilon(BUDGET, d=d, k=1) for d in (2, 10, 100)]
    assert bought == sorted(bought, reverse=True)
    assert bought[0] < 0.3
    limit = 8 * 4 * math.log(2 / 1e-5) ** 2
    for factor, short in ((0.3, False), (3.0, True)):
        budget = Budget(factor * limit, 1e-5)
        assert (method.true_epsilon(budget, d=2, k=1) > budget.epsilon) is short


def test_sulq_finds_less_than_one_release_of_analyze_gauss():
    """Its noise is 2 d ln(d/delta)/(epsilon z) times larger, 90 times here: no run of ten is as near."""
    cohort = MODEL.draw(20_000, 1, np.random.default_rng(0))
    far, near = (
        [
            sin_theta(fit(cohort, k=2, budget=BUDGET, rng=np.random.default_rng(run)).basis, MODEL.basis)
            for run in range(10)
        ]
        for fit in (METHODS["sulq"].fit, METHODS["analyze_gauss"].fit)
    )
    ratio = sulq.sum_noise_std(BUDGET, 12) / symmetric_gaussian.sum_noise_std(BUDGET)
    assert ratio == pytest.approx(90, abs=1)
    assert min(far) > max(near)
