"""Add a method by this file alone: Analyze Gauss under another name.

A trusted curator releases the pooled second moment plus symmetric Gaussian noise. Noise, sensitivity and
proof: `dppca_core.mechanisms.symmetric_gaussian`.
"""

import numpy as np

from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method

release = symmetric_gaussian.release


def fit(cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator) -> Estimate:
    """Return the top k eigenvectors of the noisy moment.

    Returns:
        The basis, (d, k).
    """
    noisy = release(cohort, budget, rng, None)
    return Estimate(
        linalg.top_eigenspace(noisy, k),
        noise_std=symmetric_gaussian.entry_std(budget, cohort.n, None),
        bytes_sent=8 * cohort.features * (cohort.features + 1) // 2,
        spent=symmetric_gaussian.spends(budget),
    )


METHOD = Method(
    title="Added PCA",
    reference="a test of this project",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=symmetric_gaussian.spends,
    audit="moments.pooled",
)
