"""Sparse PCA without privacy: truncated block power iteration on the pooled second moment.

Yuan & Zhang (JMLR 2013) for k = 1; with row thresholding and a thin QR for k > 1 (Ma, Annals of
Statistics 2013), which is Algorithm 1 of Ge et al. 2018 without its noise.
"""

import numpy as np

from dppca_core.arrays import Array, Moment
from dppca_core.cohort import Cohort
from dppca_core.numerics import block_power
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method


def release(cohort: Cohort) -> Moment:
    """Return the pooled second moment itself. This is the only step that reads rows; nothing is private."""
    return cohort.pooled


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    s_hat: int | None = None,
    iterations: int = 300,
    burn_in: int = 5,
    start: Array | None = None,
) -> Estimate:
    """Iterate to convergence (1e-9), for at most `iterations` steps, keeping `s_hat` rows.

    Args:
        rng: Source of the random start alone.
        iterations: Most steps.
        burn_in: Number of first steps without thresholding.

    Returns:
        The basis, (d, k), with the start and every step as `iterates`.

    Raises:
        ValueError: Unless k <= s_hat <= d, iterations >= 1 and burn_in >= 0, or for another start.
    """
    d = cohort.features
    kept = block_power.checked_rows(d, k, s_hat, iterations, burn_in)
    begin = block_power.begin(start, d, k, rng)
    iterates = block_power.converge(release(cohort), begin, kept, iterations, burn_in)
    return Estimate(iterates[-1], iterates=iterates, bytes_sent=8 * d * k * (len(iterates) - 1))


METHOD = Method(
    title="Sparse PCA, no privacy",
    reference="Yuan & Zhang 2013; Ma 2013 (truncated power)",
    trust="none",
    guarantee="none",
    uses=("d", "n", "k", "s", "s_hat"),
    fit=fit,
    matrix=False,
)
