"""Sparse PCA without privacy that shrinks its rows at the end: the fair reference for methods that shrink.

`sparse_pca` keeps s_hat rows, usually several times too many. The rows that carry nothing keep the error of
sampling. Here rows are shrunk as private estimates are (`dppca_core.numerics.row_shrinkage`, without noise),
and most of these rows vanish. A private method that shrinks may beat a reference that does not shrink, but
not this one.
"""

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Moment
from dppca_core.cohort import Cohort
from dppca_core.numerics import block_power, linalg, row_shrinkage
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method


def release(cohort: Cohort) -> Moment:
    """Return the pooled second moment itself. This is the only step that reads rows; nothing is private."""
    return cohort.pooled


def fit(
    cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator, s_hat: int | None = None
) -> Estimate:
    """Run truncated power iteration as `sparse_pca` does, with the kept rows shrunk.

    Args:
        rng: Draws the start.
        s_hat: Features kept before they are shrunk, from k to d; all by default.

    Returns:
        The basis, (d, k).

    Raises:
        ValueError: Unless k <= s_hat <= d.
    """
    d = cohort.features
    kept = d if s_hat is None else s_hat
    checks.whole(k, d, s_hat=kept)
    moment = release(cohort)
    iterates = block_power.converge(moment, block_power.random_start(d, k, rng), kept)
    # Shrink within the features that were kept, whose moment alone is needed.
    rows = np.flatnonzero(iterates[-1].any(axis=1))
    within = moment.apply(np.eye(len(rows)), rows)[rows]
    basis = row_shrinkage.shrunk(within, iterates[-1][rows], std=0.0, n=cohort.n)
    return Estimate(linalg.scatter_rows(basis, rows, d), bytes_sent=8 * d * k * (len(iterates) - 1))


METHOD = Method(
    title="Sparse PCA, shrunk",
    reference="Ma 2013 (truncated power); James & Stein 1961",
    trust="none",
    guarantee="none",
    uses=("d", "n", "k", "s", "s_hat"),
    fit=fit,
    matrix=False,
)
