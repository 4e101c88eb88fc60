"""Test averaged projectors: one hospital is the spectral projector, many have the sum of precisions."""

import math
import tracemalloc

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, SpikedModel, sin_theta
from dppca_core.arrays import Provider
from dppca_core.mechanisms import spiked_covariance
from dppca_core.methods import federated_projector
from dppca_core.methods.federated_projector import precision
from dppca_core.numerics.moments import DenseMoment

METHOD = METHODS["federated_projector"]
D, K, SPIKE = 40, 2, 20.0
MODEL = SpikedModel(d=D, k=K, s=D, spike=SPIKE + 1, bulk=(1.0, 1.0), seed=1)
BUDGET = Budget(1.0, 1e-5)
RUNS = 60


def fit(cohort: Cohort, run: int, **options: object):
    return METHOD.fit(cohort, k=K, budget=BUDGET, rng=np.random.default_rng([run, 2]), **options)


def drawn(sizes: tuple[int, ...], run: int) -> Cohort:
    return MODEL.draw(sum(sizes), sizes, np.random.default_rng([run, 1]))


def test_one_hospital_is_the_noisy_projector_of_its_rows():
    cohort = drawn((20_000,), 0)
    estimate = fit(cohort, 0)
    rng = np.random.default_rng([0, 2]).spawn(1)[0]
    constant = {"constant": 2.0, "spike": None, "variance": None, "covariance": False}
    release = federated_projector.release(cohort, K, BUDGET, rng, **constant)
    _, vectors = np.linalg.eigh(release.projector)
    np.testing.assert_allclose(
        estimate.basis @ estimate.basis.T, vectors[:, -K:] @ vectors[:, -K:].T, atol=1e-10
    )
    assert estimate.noise_std == pytest.approx(release.std * math.sqrt(0.5))
    assert estimate.bytes_sent == 8 * (D * (D + 1) // 2 + 3)


@pytest.mark.parametrize("sizes", [(30_000,) * 4, (60_000, 30_000, 20_000, 10_000)], ids=["equal", "unequal"])
def test_the_error_is_that_of_the_summed_precision(sizes):
    """sin^2 is k (d - k) / sum of precisions, to first order, with public l and v.

    A mean of 60 runs has a relative standard deviation near sqrt(2/(60 k (d - k))) = 2 %; 8 % are allowed.
    Equal weights are off by more for unequal hospitals.
    """
    bound = MODEL.norm_bound(sum(sizes))
    spike, flat = SPIKE / bound**2, 1 / bound**2
    runs = [fit(drawn(sizes, run), run, spike=spike, variance=flat) for run in range(RUNS)]
    square = np.mean([sin_theta(estimate.basis, MODEL.basis) ** 2 for estimate in runs])
    z = spiked_covariance.multipliers(BUDGET, known=True, covariance=False)["projector"]
    stds = (
        np.array([spiked_covariance.projector_sensitivity(D, n, K, spike, flat, 2.0) for n in sizes])
        * z
        / math.sqrt(2)
    )
    each = np.array([precision(std, spike, flat, n) for std, n in zip(stds, sizes, strict=True)])
    assert square == pytest.approx(K * (D - K) / each.sum(), rel=0.08)
    assert runs[0].noise_std == pytest.approx(float(np.linalg.norm(each / each.sum() * stds)))
    if len(set(sizes)) > 1:
        assert K * (D - K) * (1 / each).sum() / len(sizes) ** 2 > 1.3 * square


def test_a_projector_that_found_nothing_counts_for_nothing():
    assert precision(0.1, -1.0, 0.5, 100) == 0.0
    assert precision(0.1, 1.0, 0.0, 100) == pytest.approx(100.0)
    assert precision(0.1, 1.0, 0.5, 100) < precision(0.1, 1.0, 0.5, 1000) < 100.0


@pytest.mark.parametrize("spikes", [(0.0, 2.0, 3.0), (2.0, 0.0, 0.0), (0.0, 0.0, 0.0)], ids=str)
def test_messages_that_come_one_by_one_are_weighted_as_if_all_were_there(spikes):
    """Shares are w_i / sum w_i, and equal where no hospital has a spike."""
    rng = np.random.default_rng(0)
    halves = rng.standard_normal((3, 6, 6))
    messages = [
        federated_projector.SentProjector(half + half.T, 0.1 * (i + 1), spike, 0.5)
        for i, (half, spike) in enumerate(zip(halves, spikes, strict=True))
    ]
    sizes = (100, 300, 200)
    weights = np.array(
        [precision(m.std, m.spike, m.variance, n) for m, n in zip(messages, sizes, strict=True)]
    )
    share = weights / weights.sum() if weights.any() else np.full(3, 1 / 3)
    basis, std = federated_projector.combine(iter(messages), sizes, 2)
    _, vectors = np.linalg.eigh(np.tensordot(share, [m.matrix for m in messages], axes=1))
    assert sin_theta(basis, vectors[:, -2:]) < 1e-10
    assert std == pytest.approx(math.sqrt(sum((share * [m.std for m in messages]) ** 2)))


def peak(name: str, hospitals: int) -> int:
    """Return the most bytes that a run holds, beside hospitals that share one moment."""
    moment = DenseMoment(np.diag(np.linspace(1.0, 0.1, D) / D))
    cohort = Cohort((Provider(1000, moment),) * hospitals, moment)
    tracemalloc.start()
    METHODS[name].fit(cohort, k=K, budget=BUDGET, rng=np.random.default_rng(0))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("name", ["federated_projector", "dpdis_pca"])
def test_many_hospitals_need_no_more_memory_than_a_few(name):
    """30 times as many need at most 3 times; all messages at once would need 20 times and more."""
    peak(name, 2)
    assert peak(name, 300) < 3 * peak(name, 10)


def test_sending_the_basis_alone_costs_bytes_not_accuracy():
    """It sends d k numbers; over 20 runs the errors differ by less than a tenth."""
    cohorts = [drawn((30_000,) * 3, run) for run in range(20)]
    both = [
        [fit(cohort, run, send=word) for run, cohort in enumerate(cohorts)] for word in ("projector", "basis")
    ]
    whole, small = (np.mean([sin_theta(estimate.basis, MODEL.basis) for estimate in runs]) for runs in both)
    assert small == pytest.approx(whole, rel=0.1)
    assert both[1][0].bytes_sent == 8 * (D * K + 3)


def test_hospitals_without_signal_still_give_a_basis():
    flat = DenseMoment(np.eye(D) / D)
    estimate = fit(Cohort((Provider(50, flat), Provider(70, flat)), flat), 0)
    np.testing.assert_allclose(estimate.basis.T @ estimate.basis, np.eye(K), atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"send": "everything"}, "send must be one of"),
        ({"spike": 1.0}, "must be given together"),
        ({"constant": -1.0}, "constant must be positive"),
    ],
)
def test_what_is_wrong_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit(drawn((500,), 0), 0, **options)
