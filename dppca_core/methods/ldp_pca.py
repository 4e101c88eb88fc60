"""PCA in the local model (Wang & Xu, IJCAI 2019, Algorithm 1).

Every user adds symmetric Gaussian noise to x x^T before it leaves; the top eigenvectors of the mean of what
arrives are post-processing. Nobody is trusted, and the noise of the mean falls with sqrt n only: the
paper's own experiment (n = 1e5, 40 features, epsilon = 1/2) ends at a random guess, and n near 1e10 would
be needed. Release, sensitivity and proof: `dppca_core.mechanisms.symmetric_gaussian`. Algorithm and constant
read in the paper.
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
    """Return the top k eigenvectors of the mean of the users' noisy messages.

    Args:
        cohort: The hospitals' second moments, d features.
        k: Number of components.
        budget: Privacy budget of each user.
        rng: Source of the noise.
        noise: "isotropic", or "mirrored" (the paper's triangle; the default when the accounting is as
            printed).
        shrink: True shrinks rows at the end (`dppca_core.numerics.row_shrinkage`).

    Returns:
        The basis, (d, k); `bytes_sent` is one user's.

    Raises:
        ValueError: For an unknown shape of the noise.

    References:
        Wang & Xu, IJCAI 2019, Algorithm 1.
    """
    noisy = release(cohort, budget, rng, noise, METHOD.trust)
    std = symmetric_gaussian.entry_std(budget, cohort.n, noise, METHOD.trust)
    return Estimate.from_moment(
        noisy,
        k,
        shrink=cohort.public_n(budget) if shrink else None,
        noise_std=std,
        spent=symmetric_gaussian.spends(budget),
    )


METHOD = Method(
    title="Local PCA",
    reference="Wang & Xu, IJCAI 2019, Algorithm 1",
    trust="local",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=symmetric_gaussian.spends,
    audit="moments.one_user",
)
