"""SULQ (Blum, Dwork, McSherry & Nissim, PODS 2005), as Chaudhuri, Sarwate & Sinha (JMLR 14) state it.

The pooled second moment plus a full matrix N of i.i.d. N(0, beta^2),

    beta = 2 sqrt(2) d ln(d/delta) / (n epsilon).

As recalled; the constants are not checked against the papers. N is not symmetric, so the sum can have complex
eigenvalues; (N + N^T)/2 is post-processing of it and is what is decomposed here. Replacing a row moves the
moment by at most sqrt 2 / n in Frobenius norm (`dppca_core.mechanisms.symmetric_gaussian`, with its proof).
So beta is larger than the guarantee needs by a factor that grows with d: `true_epsilon` returns its true
epsilon. Only for epsilon above about 8 d^2 ln^2(d/delta) beta is too small, as the need falls with sqrt
epsilon.
"""

import math

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import Estimate, Method


def sum_noise_std(budget: Budget, d: int) -> float:
    """Return n beta, the std of each entry of n N, the noise in sum x x^T; beta is in the module's text."""
    return 2 * math.sqrt(2) * d * math.log(d / budget.delta) / budget.epsilon


def release(cohort: Cohort, budget: Budget, rng: np.random.Generator) -> Array:
    """Return the noisy pooled moment, symmetrised, (d, d). This is the only step that reads private rows."""
    std = sum_noise_std(budget, cohort.features) / cohort.n
    return symmetric_gaussian.with_noise(cohort.pooled, std, "isotropic", rng)


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
        Blum, Dwork, McSherry & Nissim, PODS 2005 (constants as recalled).
    """
    # Off the diagonal two entries of N are averaged.
    std = sum_noise_std(budget, cohort.features) / (math.sqrt(2) * cohort.n)
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
    title="SULQ",
    reference="Blum, Dwork, McSherry & Nissim, PODS 2005 (constants as recalled)",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours"),
    fit=fit,
    spends=spends,
    audit="moments.sulq_cases",
)
