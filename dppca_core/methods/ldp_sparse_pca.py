"""Sparse PCA in the local model (Wang & Xu, IJCAI 2019, Algorithm 2).

The release is that of `ldp_pca` (`dppca_core.mechanisms.symmetric_gaussian`, with its proof). The rest is
post-processing: the sparse principal subspace of the noisy mean by Fantope projection and selection, and its
top k eigenvectors (`dppca_core.numerics.fantope_selection`). The penalty is public: lam = penalty * (noise
std of an entry) * sqrt(2 ln d), where sqrt(2 ln d) std is the size of the largest of d noise entries. Theorem
4 asks for lam of order lam_1 sqrt(log d / (n epsilon^2)), constant unnamed; the experiments do not report
lam. Read in the paper.
"""

import math

import numpy as np

from dppca_core import checks
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import fantope_selection
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method

release = symmetric_gaussian.release

# Among 0, .25, .35, .5, .6, .7 and 1 this has the least error, or is within 12 % of it, at d = 100 and 200
# with s = 5 to 20 and n = 1e7 to 1e9 (four runs each). Less is better if half of all features matter, and
# more if s = k.
PENALTY = 0.35


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    penalty: float | None = None,
    noise: str | None = None,
) -> Estimate:
    """Return sparse top k directions of the mean of the patients' noisy messages, one from each.

    Args:
        budget: Privacy budget of each patient.
        penalty: In noise standard deviations times sqrt(2 ln d), PENALTY by default; 0 is `ldp_pca`.

    Returns:
        The basis, (d, k); `bytes_sent` is one patient's; the solver's convergence is in `notes` and
        `diagnostics`.

    Raises:
        ValueError: For a negative penalty, or an unknown shape of the noise.
    """
    chosen = PENALTY if penalty is None else penalty
    checks.not_negative(penalty=chosen)
    d = cohort.features
    noisy = release(cohort, budget, rng, noise, METHOD.trust)
    std = symmetric_gaussian.entry_std(budget, cohort.n, noise, METHOD.trust)
    selection = fantope_selection.select(noisy, k, chosen * std * math.sqrt(2 * math.log(d)))
    return Estimate(
        selection.basis(k),
        noise_std=std,
        bytes_sent=8 * d * (d + 1) // 2,
        spent=symmetric_gaussian.spends(budget),
        notes=selection.notes,
        diagnostics=selection.diagnostics,
    )


METHOD = Method(
    title="Local sparse PCA",
    reference="Wang & Xu, IJCAI 2019, Algorithm 2",
    trust="local",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=symmetric_gaussian.spends,
    cost=fantope_selection.cost,
    audit="moments.one_user",
)
