"""One moment with sealed sums, then sparse post-processing: CAPE's aggregate and truncated power.

Rows have length 1 (`scaling`), hospitals add the noise of one curator together, and all that follows the one
release (`dppca_core.mechanisms.symmetric_gaussian`, with its proof) is free. It sends d(d+1)/2 numbers.
"""

import numpy as np

from dppca_core import checks
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
    s_hat: int | None = None,
    noise: str | None = None,
    shrink: bool = False,
) -> Estimate:
    """Truncate the power iteration on the noisy mean of the hospitals' moments, which alone is seen.

    Args:
        cohort: All hospitals' patients.
        k: Components, below d.
        budget: The guarantee of the whole run.
        rng: Draws the noise.
        s_hat: Rows kept, from k to d; all by default.
        noise: "isotropic" or "mirrored", as for Analyze Gauss.
        shrink: Shrink rows at the end (`dppca_core.numerics.row_shrinkage`).

    Returns:
        The basis, (d, k), with at most s_hat rows that are not zero.

    Raises:
        ValueError: Unless k <= s_hat <= d, and for an unknown shape of noise.

    References:
        The module's text; truncated power iteration after Yuan & Zhang (JMLR 2013).
    """
    d = cohort.features
    kept = d if s_hat is None else s_hat
    checks.whole(k, d, s_hat=kept)
    noisy = release(cohort, budget, rng, noise, METHOD.trust)
    std = symmetric_gaussian.entry_std(budget, cohort.n, noise, METHOD.trust, len(cohort))
    return Estimate.from_moment(
        noisy,
        k,
        s_hat=kept,
        shrink=cohort.n if shrink else None,
        noise_std=std,
        spent=symmetric_gaussian.spends(budget),
    )


METHOD = Method(
    title="Sealed sums + sparse step",
    reference="one noisy moment from each hospital, then truncated power",
    trust="secure aggregation",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "s_hat", "providers", "neighbours", "accounting"),
    fit=fit,
    spends=symmetric_gaussian.spends,
    scaling="unit",
    audit="moments.pooled",
)
