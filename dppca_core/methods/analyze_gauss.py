"""Analyze Gauss (Dwork, Talwar, Thakurta & Zhang, STOC 2014, Algorithm 1).

A trusted curator releases the pooled second moment plus symmetric Gaussian noise; its leading
eigenvectors are post-processing. Noise, sensitivity and proof: `dppca_core.mechanisms.symmetric_gaussian`.
"""

import numpy as np

from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method

release = symmetric_gaussian.release


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    noise: str | None = None,
    shrink: bool = False,
) -> Estimate:
    """Return the top k eigenvectors of the noisy pooled second moment.

    Args:
        cohort: The hospitals' second moments, d features.
        k: Number of components.
        budget: Privacy budget.
        rng: Source of the noise.
        noise: "isotropic", or "mirrored" (the paper's triangle; the default when the accounting is as
            printed).
        shrink: True shrinks rows at the end (`dppca_core.numerics.row_shrinkage`).

    Returns:
        The basis, (d, k); `covariance` is the noisy moment itself, (d, d), of the scaled rows.

    Raises:
        ValueError: For an unknown shape of the noise.

    References:
        Dwork, Talwar, Thakurta & Zhang, STOC 2014, Algorithm 1.
    """
    noisy = release(cohort, budget, rng, noise)
    std = symmetric_gaussian.entry_std(budget, cohort.n, noise)
    return Estimate.from_moment(
        noisy,
        k,
        shrink=cohort.public_n(budget) if shrink else None,
        noise_std=std,
        spent=symmetric_gaussian.spends(budget),
        covariance=noisy,
    )


METHOD = Method(
    title="Analyze Gauss",
    reference="Dwork, Talwar, Thakurta & Zhang, STOC 2014",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=symmetric_gaussian.spends,
    audit="moments.pooled",
)
