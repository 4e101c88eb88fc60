"""Audit releases whose noise depends on a gap: DP-Gauss* and the spectral projector.

Not audited is the spectral projector's own projector: its noise is calibrated to a good event of the data,
not to a worst case. Off that event the claim fails, as a test shows: of n patients at e1 and e2, as many at
each, one decides which of the two is released, with noise of order 1/n.
"""

import math

import numpy as np

from dppca_core.accounting import closed_form
from dppca_core.arrays import Array
from dppca_core.auditing.cases import pairs
from dppca_core.auditing.cases.pairs import Case, Pair, gaussian_case, neighbouring_cohorts
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import spiked_covariance
from dppca_core.methods import analyze_gauss_gap, spiked_projector
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget


def certified(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return two cases of DP-Gauss*: its test of the gap, and the noisy projector where the gap is certified.

    The test releases a lower limit of n times the gap. It is read off the std of the projector's noise, which
    falls as the limit grows. n times the gap moves by 2 where a patient at e2 takes the place of one at e1.
    The projector turns most for (e1 + e2)/sqrt 2 against (e1 - e2)/sqrt 2, by sqrt 2 / (n gap) where Davis
    and Kahan allow 2 / (n gap), so its claim is not attained. k plays no part: one component is released.
    """
    test_event, projector_event = analyze_gauss_gap.spends(budget)
    test_epsilon = closed_form.epsilon_of((test_event,), budget.delta)
    e1, e2, _ = np.eye(3)

    def pair_with_gap(x: Array, y: Array, gap: float) -> Pair:
        """Return the pair of x and y, and as many at e1 as make n (lambda_1 - lambda_2) about gap/epsilon."""
        n = math.ceil(gap / budget.epsilon) + 1
        return neighbouring_cohorts(budget, x, y, others=np.diag([n - 1.0, 0.0, 0.0]), n=n)

    def minus_std(cohort: Cohort, rng: np.random.Generator) -> float:
        """Return minus the std that the test sets, which grows with its limit; -inf where it fails."""
        noisy, std = analyze_gauss_gap.release(cohort, k=1, budget=budget, rng=rng)
        return -math.inf if noisy is None else -std

    # Both gaps are far beyond the test's noise, of order 1/epsilon, so that it always passes. The wider one
    # also makes the std of the projector's noise practically the same in all releases: the claim is Gaussian.
    near = pair_with_gap(e1, e2, gap=1e4)
    turned = pair_with_gap((e1 + e2) / math.sqrt(2), (e1 - e2) / math.sqrt(2), gap=1e7)
    first, second = (linalg.top_eigenspace(cohort.pooled.dense(), 1) for cohort in turned)
    coordinate = pairs.coordinate_along(first @ first.T - second @ second.T)

    def turn(cohort: Cohort, rng: np.random.Generator) -> float:
        noisy, _ = analyze_gauss_gap.release(cohort, k=1, budget=budget, rng=rng)
        return -math.inf if noisy is None else coordinate(noisy) * cohort.n

    return (
        # The test is purely private: its delta is 0.
        Case("test of the gap", near, minus_std, test_epsilon, 0.0, gaussian=False, draws=8000),
        gaussian_case("projector", turned, turn, (projector_event,), budget, tight=False, draws=8000),
    )


def spectrum_of_one(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of the spectrum, the one of a hospital's two releases with worst-case sensitivity.

    The other is the projector, left out as the module's text says. k plays no part: it is taken to be 1.
    """
    return (_spectrum(budget),)


def spiked(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the cases of the two releases with worst-case sensitivity: spectrum, and block of eigenvalues.

    k plays no part: the spectrum is released for one component, the block for two.
    """
    return (_spectrum(budget), _eigenvalues(budget))


def _spectrum(budget: Budget) -> Case:
    """Return the case of the released spectrum: lambda_1 and the sum of the other two eigenvalues, at k = 1.

    Where e2 takes the place of e1, n lambda_1 falls by 1 and n times the sum grows by 1. Neither number is
    published itself. Both are computed from what is: the nuisance variance v, half of the sum, and the std of
    the projector's noise, which is proportional to r + sqrt r with r = v / spike. For r the method moves v
    and spike to the cautious side by constants, which cancel between the cohorts. n is so large that solving
    for r hardly distorts the noise.
    """
    e1, e2, _ = np.eye(3)
    n = math.ceil(1e5 / min(budget.epsilon, 1.0))
    pair = neighbouring_cohorts(budget, e1, e2, others=np.diag([0.6, 0.3, 0.1]) * (n - 1), n=n)
    projector_event, spectrum_event = spiked_projector.spends(budget, covariance=False)
    multiplier = closed_form.multiplier_of((projector_event,))
    # The std is unit times r + sqrt r, which is 2 where spike and variance are equal. The model's
    # constant C is 1 here, as in the release below.
    at_one = spiked_covariance.projector_sensitivity(d=3, n=n, k=1, spike=1.0, variance=1.0, constant=1.0)
    unit = at_one / 2 * multiplier
    replaced = budget.neighbours == "replace-one"
    # A patient at e1 who leaves and has no successor lowers lambda_1 alone.
    coordinate = pairs.coordinate_along(np.array([1.0, -1.0 if replaced else 0.0]))

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        released = spiked_projector.release(
            cohort, k=1, budget=budget, rng=rng, spike=None, variance=None, constant=1.0, covariance=False
        )
        v = released.variance
        root = (math.sqrt(1 + 4 * released.std / unit) - 1) / 2  # sqrt r, from std = unit (r + sqrt r)
        return n * coordinate(np.array([v / root**2 + v, 2 * v]))  # lambda_1 is spike + v

    return gaussian_case("spectrum", pair, mechanism, (spectrum_event,), budget, draws=8000)


def _eigenvalues(budget: Budget) -> Case:
    """Return the case of the eigenvalues' release: the moment's noisy 2 x 2 block in the released basis.

    The method is told in public that the spike is far stronger than the other directions. It then releases
    the basis with next to no noise, so that the block alone tells which cohort it comes from.
    """
    e1, e2, _ = np.eye(3)
    # Of 11 other patients five lie at e1, five at e2, one at e3: the basis spans e1 and e2 in both cohorts.
    pair = neighbouring_cohorts(budget, e1, e2, others=np.diag([5.0, 5.0, 1.0]), n=12)
    coordinate = pairs.coordinate_along(pairs.difference_of_sums(pair))
    # The projector's noise is proportional to about sqrt(variance/spike) = 1e-6. So strong a spike also
    # leaves the block at its worst-case sensitivity, which is below the model's then, whose C is `constant`.
    spike, variance = 1e3, 1e-9
    _, block_event = spiked_projector.spends(budget, spike=spike, variance=variance)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        released = spiked_projector.release(
            cohort, k=2, budget=budget, rng=rng, spike=spike, variance=variance, constant=1.0, covariance=True
        )
        assert released.block is not None  # covariance=True releases it
        basis = linalg.top_eigenspace(released.projector, 2)
        # Turned back into the features, it does not depend on which two columns span the basis.
        return cohort.n * coordinate(basis @ released.block @ basis.T)

    return gaussian_case("eigenvalues", pair, mechanism, (block_event,), budget, draws=8000)
