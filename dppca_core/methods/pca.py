"""Principal component analysis without privacy: top eigenvectors of the pooled second moment.

Every private method is compared with this reference.
"""

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method


def release(cohort: Cohort) -> Array:
    """Return the pooled second moment itself, (d, d).

    This is the only step that reads rows; nothing is private.
    """
    return cohort.pooled.dense()


def fit(cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator) -> Estimate:
    """Return the top k eigenvectors of the pooled moment.

    Returns:
        The basis, (d, k).
    """
    return Estimate.from_moment(release(cohort), k)


METHOD = Method(
    title="PCA, no privacy",
    reference="Pearson 1901; the pooled, non-private reference",
    trust="none",
    guarantee="none",
    uses=("d", "n", "k", "s"),
    fit=fit,
)
