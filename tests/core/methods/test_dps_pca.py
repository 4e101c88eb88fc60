"""Test DPS-PCA against a literal Algorithm 1 of Ge et al. 2018, its noise modes and its messages."""

import math

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, sin_theta
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.methods import dps_pca
from dppca_core.numerics.moments import DenseMoment
from tests.core.problems import SMALL, small_cohort

FIT = METHODS["dps_pca"].fit
PRINTED = Budget(1.5, 0.3, accounting="as-printed")
START = np.linalg.qr(np.random.default_rng(9).standard_normal((SMALL.d, 2)))[0]
SPLITS = pytest.mark.parametrize("sizes", [(400,), (200, 200), (1, 150, 249)], ids=str)


def algorithm_1(
    cohort: Cohort,
    start: Array,
    epsilon: float,
    delta: float,
    s_hat: int,
    steps: int,
    rng: np.random.Generator,
) -> list[Array]:
    """Run Algorithm 1 of Ge et al. 2018 line by line, with the logarithm that line 3 lost."""

    def threshold(matrix: Array) -> Array:
        kept = np.argsort(-np.linalg.norm(matrix, axis=1))[:s_hat]
        sparse = np.zeros_like(matrix)
        sparse[kept] = matrix[kept]
        return sparse

    def thin_qr(matrix: Array) -> Array:
        """Return Q of the QR with positive diagonal, so that the same noise meets the same columns."""
        orthogonal, upper = np.linalg.qr(matrix)
        return orthogonal * np.sign(upper.diagonal())

    q = thin_qr(threshold(start))
    sigma = 2 * steps / epsilon * math.sqrt(2 * math.log(2 * steps / delta))
    outputs = [q]
    for _ in range(steps):
        g = rng.standard_normal(q.shape) * sigma  # one matrix for all providers
        sent = [provider.moment.dense() @ q + g / provider.n for provider in cohort]
        total = sum(provider.n * h for provider, h in zip(cohort, sent, strict=True))
        v = thin_qr(total / cohort.n)
        q = thin_qr(threshold(v))
        outputs.append(q)
    return outputs


@SPLITS
@pytest.mark.parametrize("s_hat", [3, 5, 8])
def test_as_printed_it_is_algorithm_1(sizes, s_hat):
    """The same start and noise give every iterate's subspace to 1e-10."""
    cohort = small_cohort(providers=sizes)
    ours = FIT(
        cohort,
        k=2,
        budget=PRINTED,
        rng=np.random.default_rng(3),
        s_hat=s_hat,
        iterations=6,
        burn_in=0,
        provider_noise="shared",
        start=START,
    )
    theirs = algorithm_1(cohort, START, 1.5, 0.3, s_hat, 6, np.random.default_rng(3))
    assert len(ours.iterates) == len(theirs) == 7
    for mine, literal in zip(ours.iterates, theirs, strict=True):
        assert sin_theta(mine, literal) < 1e-10


def test_the_comparison_sees_a_planted_difference():
    """Averaging without the weights n_i/n is another algorithm."""
    cohort = small_cohort(providers=(1, 150, 249))
    equal = np.mean([p.moment.dense() for p in cohort], axis=0)
    unweighted = Cohort(cohort.providers, DenseMoment(equal))
    ours = FIT(unweighted, k=2, budget=Budget(1e9, 0.5), rng=np.random.default_rng(3), start=START)
    weighted = FIT(cohort, k=2, budget=Budget(1e9, 0.5), rng=np.random.default_rng(3), start=START)
    assert sin_theta(ours.basis, weighted.basis) > 1e-3


@SPLITS
@pytest.mark.parametrize("accounting", ["exact", "zcdp", "as-printed"])
def test_the_three_noise_modes(sizes, accounting):
    """The stds are sqrt(N) sigma/n, N sigma/n and sigma/n, whatever the hospitals' sizes."""
    cohort = small_cohort(providers=sizes)
    budget = Budget(1.0, 1e-5, accounting=accounting)
    sensitivity = 2.0 if accounting == "as-printed" else math.sqrt(2)
    sigma = gaussian.composed_std(budget, sensitivity, 7)
    for mode, factor in (
        ("independent", math.sqrt(len(sizes))),
        ("shared", len(sizes)),
        ("secure-aggregation", 1.0),
    ):
        rng = np.random.default_rng(0)
        estimate = FIT(cohort, k=2, budget=budget, rng=rng, iterations=7, provider_noise=mode)
        assert estimate.noise_std == pytest.approx(factor * sigma / 400, rel=1e-12)


@SPLITS
def test_the_mean_message_of_hospitals_is_the_pooled_product(sizes):
    """The simulation reads the pooled moment only, so the weights n_i/n must add up to it."""
    cohort = small_cohort(providers=sizes)
    rows = np.array([1, 2, 5])
    for block, kept in ((START, None), (START[rows], rows)):
        mean = sum(p.n * p.moment.apply(block, kept) for p in cohort) / cohort.n
        silent = dps_pca.release(cohort.pooled, block, kept, 0.0, np.random.default_rng(0))
        np.testing.assert_allclose(silent, mean, atol=1e-14)


def test_a_release_is_the_product_plus_the_noise():
    cohort = small_cohort()
    expected = cohort.pooled.dense() @ START + 0.3 * np.random.default_rng(0).standard_normal((SMALL.d, 2))
    released = dps_pca.release(cohort.pooled, START, None, 0.3, np.random.default_rng(0))
    np.testing.assert_allclose(released, expected, rtol=1e-12)


@pytest.mark.parametrize(("k", "iterations"), [(1, 1), (2, 10), (3, 4)])
def test_bytes_and_rounds(k, iterations):
    """Each hospital sends T messages of d x k doubles; there are T + 1 iterates."""
    estimate = FIT(small_cohort(), k=k, budget=PRINTED, rng=np.random.default_rng(0), iterations=iterations)
    assert estimate.bytes_sent == 8 * SMALL.d * k * iterations
    assert len(estimate.iterates) == iterations + 1
    assert estimate.spent[0].steps == iterations


def test_a_given_start_is_used_and_kept():
    start = START.copy()
    estimate = FIT(small_cohort(), k=2, budget=PRINTED, rng=np.random.default_rng(0), start=start)
    np.testing.assert_array_equal(estimate.iterates[0], START)
    np.testing.assert_array_equal(start, START)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 0}, "iterations must be between 1 and 100000, got 0"),
        ({"iterations": 3.0}, r"iterations must be a whole number, got 3\.0"),
        ({"burn_in": -1}, "burn_in must be at least 0, got -1"),
        ({"burn_in": True}, "burn_in must be a whole number, got True"),
        ({"provider_noise": "none"}, "provider_noise must be one of .*got 'none'"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_by_name_and_value(options, message):
    with pytest.raises(ValueError, match=message):
        FIT(small_cohort(), k=2, budget=PRINTED, rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize("iterations", [1, 3, 10])
@pytest.mark.parametrize("k", [1, 2])
def test_true_epsilon_follows_the_number_of_steps(iterations, k):
    """Exact accounting gives back the budget, whatever T and k; the printed sigma does not."""

    def true_epsilon(accounting: str) -> float:
        budget = Budget(0.7, 1e-6, accounting=accounting)
        return METHODS["dps_pca"].true_epsilon(budget, d=50, k=k, iterations=iterations)

    assert true_epsilon("exact") == pytest.approx(0.7, rel=1e-9)
    sigma = 2 * iterations / 0.7 * math.sqrt(2 * math.log(2 * iterations / 1e-6))
    together = sigma / math.sqrt(iterations) / (math.sqrt(2) if k > 1 else 1.0)
    assert true_epsilon("as-printed") == pytest.approx(gaussian.epsilon_of(together, 1e-6), rel=1e-9)
