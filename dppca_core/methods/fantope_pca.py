"""Sparse PCA without privacy, by convex relaxation: Fantope projection and selection on the pooled moment.

This is the method of Vu, Cho, Lei & Rohe (NeurIPS 2013), solved as in
`dppca_core.numerics.fantope_selection`. It is `ldp_sparse_pca` without its noise. Their theory asks for lam
of order lam_1 sqrt(log d / n), the size of the sampling error of an entry (rate as recalled). As with the
features kept by `sparse_pca`, sparsity is asked for and not assumed: the default penalty is 0, which is plain
PCA.
"""

import math

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.numerics import fantope_selection
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method


def release(cohort: Cohort) -> Array:
    """Return the pooled second moment itself, (d, d).

    This is the only step that reads rows; nothing is private.
    """
    return cohort.pooled.dense()


def fit(
    cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator, penalty: float = 0.0
) -> Estimate:
    """Return sparse top k directions of the pooled moment.

    Args:
        penalty: In units of (largest eigenvalue of the moment) * sqrt(ln d / n); .1 to .2 suits the synthetic
            population, whose other features vary less than its spikes.

    Returns:
        The basis, (d, k), with the solver's convergence as `notes` and `diagnostics`.

    Raises:
        ValueError: For a negative penalty.
    """
    checks.not_negative(penalty=penalty)
    d = cohort.features
    moment = release(cohort)
    largest = float(np.linalg.norm(moment, 2)) if penalty else 0.0
    selection = fantope_selection.select(moment, k, penalty * largest * math.sqrt(math.log(d) / cohort.n))
    return Estimate(
        selection.basis(k),
        bytes_sent=8 * d * (d + 1) // 2,
        notes=selection.notes,
        diagnostics=selection.diagnostics,
    )


METHOD = Method(
    title="Fantope PCA, no privacy",
    reference="Vu, Cho, Lei & Rohe, NeurIPS 2013",
    trust="none",
    guarantee="none",
    uses=("d", "n", "k", "s"),
    fit=fit,
    cost=fantope_selection.cost,
)
