"""Run PCA without privacy on the true features, which only a simulation of synthetic patients knows.

It takes the top eigenvectors of the second moment within the rows that truly carry the components. The
distance to it is the price of looking for these rows, with privacy or without.
"""

from collections.abc import Sequence

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Indices
from dppca_core.cohort import Cohort
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method


def release(cohort: Cohort, rows: Indices) -> Array:
    """Return the moment within these features, (s, s).

    This is the only step that reads patients; nothing is protected.
    """
    return cohort.pooled.apply(np.eye(len(rows)), rows)[rows]


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    support: Sequence[int] | None = None,
) -> Estimate:
    """Return the top k eigenvectors of the moment within the true features.

    Args:
        support: The true features, at least k of them; all features where nobody knows.

    Returns:
        The basis, (d, k), zero outside the support.

    Raises:
        ValueError: For fewer than k features, or features that are not there.
    """
    d = cohort.features
    rows = np.arange(d) if support is None else np.unique(np.asarray(support, dtype=np.intp))
    checks.whole(k, d, **{"number of rows of support": len(rows)})
    checks.whole(0, d - 1, **{"first row of support": int(rows[0]), "last row of support": int(rows[-1])})
    return Estimate(linalg.scatter_rows(linalg.top_eigenspace(release(cohort, rows), k), rows, d))


METHOD = Method(
    title="PCA of the true features, no privacy",
    reference="the error that is left when the rows are known",
    trust="none",
    guarantee="none",
    uses=("d", "n", "k", "s"),
    fit=fit,
    matrix=False,
)
