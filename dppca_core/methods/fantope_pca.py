"""Sparse PCA without privacy, by convex relaxation: Fantope projection and selection on the pooled moment.

Vu, Cho, Lei & Rohe (NeurIPS 2013), solved as in `dppca_core.numerics.fantope_selection`: what
`ldp_sparse_pca` becomes without its noise. Their theory asks for lam of order lam_1 sqrt(log d / n), the
size of the sampling error of an entry (rate as recalled). As with the rows kept by `sparse_pca`, sparsity
is asked for and not assumed: the default penalty is 0, which is plain PCA.
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
    """The pooled second moment itself, (d, d). The only step that reads rows; nothing is private."""
    return cohort.pooled.dense()


def fit(
    cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator, penalty: float = 0.0
) -> Estimate:
    """Sparse top k directions of the pooled moment. Neither the budget nor the generator is used.

    penalty: in units of (largest eigenvalue of the moment) * sqrt(ln d / n); .1 to .2 suits the synthetic
    population, whose other features vary less than its spikes. Raises ValueError for a negative one.
    """
    checks.not_negative(penalty=penalty)
    d = cohort.features
    moment = release(cohort)
    largest = float(np.linalg.norm(moment, 2)) if penalty else 0.0
    found = fantope_selection.select(moment, k, penalty * largest * math.sqrt(math.log(d) / cohort.n))
    return Estimate(
        found.basis(k), bytes_sent=8 * d * (d + 1) // 2, notes=found.notes, diagnostics=found.diagnostics
    )


METHOD = Method(
    name="fantope_pca",
    title="Fantope PCA, no privacy",
    reference="Vu, Cho, Lei & Rohe, NeurIPS 2013",
    trust="none",
    guarantee="none",
    uses=("d", "n", "k", "s"),
    fit=fit,
    cost=fantope_selection.cost,
)
