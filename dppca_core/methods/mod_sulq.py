"""MOD-SULQ (Chaudhuri, Sarwate & Sinha, NeurIPS 2012 / JMLR 14, Algorithm 1).

The pooled second moment plus a symmetric matrix of entries i.i.d. N(0, beta^2) with

    beta = (d+1)/(n epsilon) sqrt(2 ln((d^2+d)/(2 sqrt(2 pi) delta))) + 1/(n sqrt epsilon),

then its top eigenvectors. beta is the standard deviation (as in the authors' public code; the journal page
itself was not read). Replacing a row moves the upper triangle by at most sqrt 2 / n in l2 norm
(`dppca_core.mechanisms.symmetric_gaussian`). So beta is larger than the guarantee needs by a factor that
grows with d: `true_epsilon` returns the epsilon that it truly gives.
"""

import math

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import Estimate, Method


def sum_noise_std(budget: Budget, d: int) -> float:
    """Return n beta, the std of each entry of the noise in sum x x^T; beta is in the module's text."""
    inside = (d * d + d) / (2 * math.sqrt(2 * math.pi) * budget.delta)
    lead = (d + 1) / budget.epsilon * math.sqrt(2 * math.log(inside))
    return lead + 1 / math.sqrt(budget.epsilon)


def release(cohort: Cohort, budget: Budget, rng: np.random.Generator) -> Array:
    """Return the noisy pooled second moment, (d, d) symmetric.

    This is the only step that reads private rows.
    """
    std = sum_noise_std(budget, cohort.features) / cohort.n
    return symmetric_gaussian.with_noise(cohort.pooled, std, "mirrored", rng)


def fit(
    cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator, shrink: bool = False
) -> Estimate:
    """Return the top k eigenvectors of the noisy moment.

    Args:
        cohort: The hospitals' second moments, d features.
        k: Number of components.
        budget: Privacy budget; the calibration is the paper's whatever the accounting.
        rng: Source of the noise.
        shrink: True shrinks rows at the end (`dppca_core.numerics.row_shrinkage`).

    Returns:
        The basis, (d, k).

    References:
        Chaudhuri, Sarwate & Sinha, JMLR 14, 2013, Algorithm 1.
    """
    std = sum_noise_std(budget, cohort.features) / cohort.n
    spent = spends(budget, d=cohort.features)
    return Estimate.from_moment(
        release(cohort, budget, rng),
        k,
        shrink_n=cohort.public_n(budget) if shrink else None,
        noise_std=std,
        spent=spent,
    )


def spends(budget: Budget, *, d: int, **_: object) -> tuple[Event, ...]:
    """Return one Gaussian release."""
    return (Release(sum_noise_std(budget, d) / symmetric_gaussian.sensitivity(budget)),)


METHOD = Method(
    title="MOD-SULQ",
    reference="Chaudhuri, Sarwate & Sinha, JMLR 2013",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours"),
    fit=fit,
    spends=spends,
    audit="moments.mod_sulq_cases",
)
