"""PCA without privacy at the largest hospital alone: what it can learn without joining anybody.

It takes the top eigenvectors of that hospital's own second moment. Nothing is sent, so nothing is protected.
"""

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method


def release(cohort: Cohort) -> Array:
    """Return the largest hospital's moment, (d, d).

    This is the only step that reads rows; nothing is private.
    """
    return max(cohort, key=lambda provider: provider.n).moment.dense()


def fit(cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator) -> Estimate:
    """Return the top k eigenvectors of the largest hospital's moment; of equally large ones the first counts.

    Returns:
        The basis, (d, k).
    """
    return Estimate(linalg.top_eigenspace(release(cohort), k))


METHOD = Method(
    title="PCA of the largest hospital",
    reference="the non-private alternative to joining",
    trust="none",
    guarantee="none",
    uses=("d", "n", "k", "s", "providers"),
    fit=fit,
    # The moments of all hospitals are drawn together.
    cost=lambda d, k, providers: float(providers),
)
