"""Sparse PCA without privacy that shrinks its rows at the end: the fair reference of private methods that do.

`sparse_pca` keeps s_hat rows, usually several times too many, and the rows that carry nothing keep the error
of sampling. Shrunk as private estimates are (`dppca_core.numerics.row_shrinkage`, without noise), most of
them vanish. A private method that shrinks may beat a reference that does not; it does not beat this one.
"""

import numpy as np

from dppca_core.cohort import Cohort
from dppca_core.methods import sparse_pca
from dppca_core.numerics import row_shrinkage
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method

release = sparse_pca.release


def fit(
    cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator, s_hat: int | None = None
) -> Estimate:
    """Run `sparse_pca` and shrink the rows that it keeps.

    Args:
        cohort: All hospitals' patients.
        k: Components, below d.
        budget: Not used.
        rng: Draws the start.
        s_hat: Rows kept before they are shrunk, from k to d; all by default.

    Returns:
        The basis, (d, k).

    Raises:
        ValueError: Unless k <= s_hat <= d.

    References:
        The module's text; truncated power iteration after Yuan & Zhang (JMLR 2013).
    """
    kept = sparse_pca.fit(cohort, k=k, budget=budget, rng=rng, s_hat=s_hat)
    rows = np.flatnonzero(kept.basis.any(axis=1))
    moment = release(cohort).apply(np.eye(len(rows)), rows)[rows]
    basis = np.zeros(kept.basis.shape)
    basis[rows] = row_shrinkage.shrunk(moment, kept.basis[rows], 0.0, cohort.n)
    return Estimate(basis, bytes_sent=kept.bytes_sent)


METHOD = Method(
    title="Sparse PCA that shrinks, no privacy",
    reference="Ma 2013 (truncated power); James & Stein 1961",
    trust="none",
    guarantee="none",
    uses=("d", "n", "k", "s", "s_hat"),
    fit=fit,
    matrix=False,
)
