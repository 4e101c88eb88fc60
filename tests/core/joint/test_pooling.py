"""The pool of hospitals' moments is unbiased, and its intervals are those that noise gives."""

import numpy as np
import pytest

from dppca_core.joint import pooling
from dppca_core.joint.pooling import HospitalMoment
from dppca_core.mechanisms.paid_lengths import Layout
from dppca_core.numerics import linalg

D, K = 5, 2
P = np.array([0.5, 0.2, 0.3])
MEAN_STDS = np.array([0.3, 0.5, 0.4])
NOISE_STDS = np.array([0.02, 0.05, 0.03])
RNG = np.random.default_rng(0)
MEANS = 0.5 * RNG.standard_normal((3, D))
HALVES = RNG.standard_normal((3, D, D)) * np.array([2.0, 1.5, 0.5, 0.4, 0.3])[None, :, None]
COVARIANCES = HALVES @ np.swapaxes(HALVES, 1, 2)
SCALES = 1 + 0.5 * RNG.random((3, D))
LAYOUT = Layout.of_numbers(D)
RUNS = 4_000
Z = 4.9  # of a two-sided test of one number at 1e-6; the tests below look at 25 of them


def drawn(rng, mean_stds=MEAN_STDS, noise_stds=NOISE_STDS):
    """Draw what three hospitals release, by the law of the module's text."""
    hospitals = []
    for i in range(3):
        e = mean_stds[i] * rng.standard_normal(D)
        noise = linalg.isotropic_noise(D, np.sqrt(2) * noise_stds[i], rng) * np.outer(SCALES[i], SCALES[i])
        moment = COVARIANCES[i] + np.outer(e, e) + noise
        variances, stds = COVARIANCES[i].diagonal(), np.full(D, 1e-3)
        hospitals.append(
            HospitalMoment(moment, MEANS[i] + e, mean_stds[i], noise_stds[i], SCALES[i], variances, stds)
        )
    return hospitals


def wanted():
    mean = P @ MEANS
    between = sum(p * np.outer(m - mean, m - mean) for p, m in zip(P, MEANS, strict=True))
    return np.tensordot(P, COVARIANCES, axes=1) + between


def moments(removed=0.0):
    rng = np.random.default_rng(1)
    return np.array(
        [pooling.pooled(drawn(rng), P, layout=LAYOUT).moment + removed * np.eye(D) for _ in range(RUNS)]
    )


def deviations(runs):
    """Return by how many standard errors the mean of runs is off, of each entry."""
    return np.abs(runs.mean(axis=0) - wanted()) / (runs.std(axis=0) / np.sqrt(len(runs)))


def test_the_pool_is_unbiased_and_a_forgotten_correction_is_not():
    runs = moments()
    assert deviations(runs).max() < Z
    # The planted bugs: nothing removed, and only what the moments carry, without the means' part.
    squares = np.square(MEAN_STDS)
    for bug in (P @ ((2 - P) * squares), P @ ((1 - P) * squares)):
        assert deviations(runs + bug * np.eye(D)).max() > Z


def test_of_one_hospital_the_pool_is_its_own_moment():
    (first, *_) = drawn(np.random.default_rng(2), np.zeros(3), np.zeros(3))
    pool = pooling.pooled([first], np.ones(1), layout=LAYOUT)
    np.testing.assert_allclose(pool.moment, COVARIANCES[0], atol=1e-12)
    assert not pool.loading_stds(K).any() and pool.eigenvalue_error() == 0


@pytest.mark.parametrize("standardised", [False, True])
def test_without_noise_components_are_those_of_the_mixture(standardised):
    hospitals = drawn(np.random.default_rng(3), np.full(3, 1e-9), np.full(3, 1e-9))
    pool = pooling.pooled(hospitals, P, layout=LAYOUT, standardised=standardised)
    truth = wanted()
    if standardised:
        stds = np.sqrt(truth.diagonal())
        truth = truth / np.outer(stds, stds)
        np.testing.assert_allclose(pool.divisors, stds, rtol=1e-3)
    np.testing.assert_allclose(pool.moment, truth, atol=2e-3 * truth.max())


def test_intervals_are_as_wide_as_the_noise_makes_them():
    """Noise small enough for the first order: stated over seen is 1 to 12 %, and half of it is refused."""
    rng, seen, stated, errors = np.random.default_rng(4), [], [], []
    small = MEAN_STDS / 10, NOISE_STDS
    truth, vectors = linalg.top_eigenpairs(wanted(), D)
    for _ in range(400):
        pool = pooling.pooled(drawn(rng, *small), P, layout=LAYOUT)
        basis = linalg.top_eigenspace(pool.moment, K)
        seen.append(basis * np.sign(np.sum(basis * vectors[:, :K], axis=0)))
        errors.append(np.abs(linalg.top_eigenpairs(pool.moment, D)[0] - truth).max())
        stated.append(pool.loading_stds(K))
    ratio = np.sqrt(np.mean(np.square(stated))) / np.sqrt(np.mean(np.var(seen, axis=0)))
    assert ratio == pytest.approx(1, abs=0.12) and abs(ratio / 2 - 1) > 0.12
    # What 95 of 100 draws do not exceed: of 400 runs at least 360 stay below, but for 1 chance in 10^4.
    error = pool.eigenvalue_error()
    assert sum(each <= error for each in errors) >= 360
    assert sum(each <= error / 3 for each in errors) < 360  # the planted bug


def test_weights_are_by_precision_and_read_no_row():
    shares = pooling.weights([1.0, 2.0, 1.0], [100, 100, 200], D, K, None)
    assert shares.sum() == pytest.approx(1) and shares[1] < shares[0] < shares[2]
