"""An empirical audit of the two releases at their worst pair of neighbours.

Differential privacy demands p <= e^epsilon q + delta for every event. Clopper-Pearson limits, at ALPHA
shared over 2 x 17 statements, bound p from below and q from above: a mechanism that keeps its promise is
refuted with probability ALPHA at most. It is a check for gross bugs (half the noise); calibration and
sensitivity have exact tests of their own.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dppca_core import METHODS, Budget, Cohort, noisy_moment
from dppca_core.methods import analyze_gauss, dps_pca
from dppca_core.types import Array

ALPHA = 1e-6
DRAWS = 20_000
THRESHOLDS = np.linspace(-4.0, 4.0, 17)
BUDGET = Budget(1.0, 0.01)

# x = e1 replaced by y = e2, both inside span Q: the pair that attains sqrt 2. A third patient stays.
OTHER = [0.0, 0.0, 1.0]
HERE = Cohort.from_rows([np.array([[1.0, 0.0, 0.0], OTHER])], 1.0)
THERE = Cohort.from_rows([np.array([[0.0, 1.0, 0.0], OTHER])], 1.0)
BLOCK = np.eye(3)[:, :2]
DIRECTION = np.diag([1.0, -1.0, 0.0]) / math.sqrt(2)

Sample = Callable[[Cohort, np.random.Generator], Array]


def refuted(sample: Sample, std: float) -> bool:
    """Is there evidence at ALPHA that `sample`, a scalar per release, breaks BUDGET?

    `std` only places the thresholds, in the middle between the neighbours.
    """
    rng = np.random.default_rng(0)
    here, there = sample(HERE, rng), sample(THERE, rng)
    share = ALPHA / (2 * len(THRESHOLDS)) / 2  # one for each of two limits
    for sign, first, second in ((1.0, here, there), (-1.0, there, here)):
        for threshold in THRESHOLDS * std:
            hits = np.array([(sign * first > threshold).sum(), (sign * second > threshold).sum()])
            low = stats.beta.ppf(share, hits[0], DRAWS - hits[0] + 1) if hits[0] else 0.0
            high = stats.beta.isf(share, hits[1] + 1, DRAWS - hits[1]) if hits[1] < DRAWS else 1.0
            if low > math.exp(BUDGET.epsilon) * high + BUDGET.delta:
                return True
    return False


def analyze_gauss_sample(noise: str) -> Sample:
    def sample(cohort: Cohort, rng: np.random.Generator) -> Array:
        outputs = (analyze_gauss.release(cohort, BUDGET, rng, noise) for _ in range(DRAWS))
        return np.array([np.vdot(DIRECTION, output) for output in outputs]) * cohort.n

    return sample


def dps_sample(monkeypatch: pytest.MonkeyPatch) -> Sample:
    """What the server sees in the first step of real runs, started at the worst block."""
    seen: list[float] = []

    def listen(*message: object) -> Array:
        output = release(*message)
        seen.append(float(np.vdot(DIRECTION[:, :2], output)))
        return output

    release = dps_pca.release
    monkeypatch.setattr(dps_pca, "release", listen)

    def sample(cohort: Cohort, rng: np.random.Generator) -> Array:
        seen.clear()
        for _ in range(DRAWS):
            METHODS["dps_pca"].fit(cohort, k=2, budget=BUDGET, rng=rng, iterations=1, start=BLOCK)
        return np.array(seen) * cohort.n

    return sample


STD = math.sqrt(2) * 1.877876  # sqrt 2 times z(1, .01), theory.md section 6


@pytest.mark.parametrize("noise", noisy_moment.SHAPES)
def test_analyze_gauss_keeps_its_promise(noise):
    assert not refuted(analyze_gauss_sample(noise), STD)


@pytest.mark.parametrize("noise", noisy_moment.SHAPES)
def test_analyze_gauss_with_half_the_noise_is_refuted(noise, monkeypatch):
    full = noisy_moment.sum_noise_std
    monkeypatch.setattr(noisy_moment, "sum_noise_std", lambda budget: full(budget) / 2)
    assert refuted(analyze_gauss_sample(noise), STD)


def test_dps_pca_keeps_its_promise(monkeypatch):
    assert not refuted(dps_sample(monkeypatch), STD)


def test_dps_pca_with_half_the_noise_is_refuted(monkeypatch):
    full = dps_pca.sum_noise_std
    monkeypatch.setattr(dps_pca, "sum_noise_std", lambda *a, **own: full(*a, **own) / 2)
    assert refuted(dps_sample(monkeypatch), STD)


@pytest.mark.parametrize(("factor", "caught"), [(1.0, False), (1 / math.sqrt(2), True), (0.5, True)])
def test_what_the_audit_can_see(factor, caught):
    """On plain Gaussians: noise for sensitivity 1 instead of sqrt 2 is still caught."""

    def sample(cohort: Cohort, rng: np.random.Generator) -> Array:
        signal = np.vdot(DIRECTION, cohort.pooled.dense()) * cohort.n
        return signal + factor * STD * rng.standard_normal(DRAWS)

    assert refuted(sample, STD) is caught
