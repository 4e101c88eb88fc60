"""Releases whose noise depends on a gap: DP-Gauss* and the spectral projector.

Not audited is the spectral projector's own projector: its noise is calibrated to a good event of the data,
not to a worst case. Off that event the claim fails, as a test shows: of n patients at e1 and e2, as many at
each, one decides which of the two is released, with noise of order 1/n.
"""

import math

import numpy as np

from dppca_core.accounting import closed_form
from dppca_core.arrays import Array
from dppca_core.auditing.cases.pairs import Case, along, gaussian_case, moved, neighbours
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import spiked_covariance
from dppca_core.methods import analyze_gauss_gap, spiked_projector
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget


def certified(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the test of the gap, read off the noise that it sets, and the projector where it is certified.

    The gap moves by 2 (from e1 to e2). The projector turns most for (e1 + e2)/sqrt 2 against (e1 - e2)/sqrt
    2, by sqrt 2 / gap where Davis and Kahan allow 2 / gap, so its claim is not attained.
    """
    test, rest = analyze_gauss_gap.spends(budget)
    pure = closed_form.epsilon_of((test,), budget.delta)
    e1, e2, _ = np.eye(3)

    def crowd(gap: float) -> tuple[Array, int]:
        n = math.ceil(gap / budget.epsilon) + 1
        return np.diag([n - 1.0, 0.0, 0.0]), n

    def level(cohort: Cohort, rng: np.random.Generator) -> float:
        noisy, std = analyze_gauss_gap.release(cohort, 1, budget, rng)
        return -math.inf if noisy is None else -std

    near = neighbours(budget, e1, e2, *crowd(1e4))
    turned = neighbours(budget, (e1 + e2) / math.sqrt(2), (e1 - e2) / math.sqrt(2), *crowd(1e7))
    first, second = (linalg.top_eigenspace(cohort.pooled.dense(), 1) for cohort in turned)
    coordinate = along(first @ first.T - second @ second.T)

    def projector(cohort: Cohort, rng: np.random.Generator) -> float:
        noisy, _ = analyze_gauss_gap.release(cohort, 1, budget, rng)
        return -math.inf if noisy is None else coordinate(noisy) * cohort.n

    return (
        Case("test of the gap", near, level, pure, 0.0, gaussian=False, draws=8000),
        gaussian_case("projector", turned, projector, (rest,), budget, tight=False, draws=8000),
    )


def spectrum_of_one(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the one of a hospital's two releases that has worst-case sensitivity."""
    return (_spectrum(budget),)


def spiked(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the two releases of worst-case sensitivity: the spectrum, and the block of eigenvalues."""
    return (_spectrum(budget), _eigenvalues(budget))


def _spectrum(budget: Budget) -> Case:
    """Return the case of (lambda_1, the other eigenvalues' sum) from e1 to e2: one down by 1, the other up.

    Both are read off what is public: the nuisance variance v, and the projector's noise std, prop. to r +
    sqrt r with r = v / spike. Both are moved to the cautious side there, by constants, which a difference
    between cohorts does not see; n is large, so that the noise of v does not bend r.
    """
    e1, e2, _ = np.eye(3)
    n = math.ceil(1e5 / min(budget.epsilon, 1.0))
    pair = neighbours(budget, e1, e2, np.diag([0.6, 0.3, 0.1]) * (n - 1), n)
    projector, spectrum = spiked_projector.spends(budget, covariance=False)
    multiplier = closed_form.multiplier_of((projector,))
    unit = spiked_covariance.projector_sensitivity(3, n, 1, 1.0, 1.0, 1.0) / 2 * multiplier
    tight = budget.neighbours == "replace-one"
    coordinate = along(np.array([1.0, -1.0 if tight else 0.0]))

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        _, std, flat, _, _ = spiked_projector.release(
            cohort, 1, budget, rng, spike=None, variance=None, constant=1.0, covariance=False
        )
        root = (math.sqrt(1 + 4 * std / unit) - 1) / 2
        return n * coordinate(np.array([flat / root**2 + flat, 2 * flat]))

    return gaussian_case("spectrum", pair, mechanism, (spectrum,), budget, tight=tight, draws=8000)


def _eigenvalues(budget: Budget) -> Case:
    """Return the case of the block: with a public spike so strong that the basis is exact, a noisy moment."""
    e1, e2, _ = np.eye(3)
    pair = neighbours(budget, e1, e2, np.diag([5.0, 5.0, 1.0]), 12)
    coordinate = along(moved(pair))
    _, eigenvalues = spiked_projector.spends(budget, spike=1e3, variance=1e-9)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        projector, _, _, block, _ = spiked_projector.release(
            cohort, 2, budget, rng, spike=1e3, variance=1e-9, constant=1.0, covariance=True
        )
        basis = linalg.top_eigenspace(projector, 2)
        return math.nan if block is None else cohort.n * coordinate(basis @ block @ basis.T)

    return gaussian_case("eigenvalues", pair, mechanism, (eigenvalues,), budget, draws=8000)
