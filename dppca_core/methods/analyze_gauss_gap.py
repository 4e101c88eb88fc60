"""Output perturbation behind a private test of the gap: DP-Gauss* (Dwork et al., STOC 2014, second part).

The paper's own variant is recalled, not read; this is a version with proofs. Let P be the projector on the
top k eigenvectors of the pooled moment S, and g = lambda_k - lambda_{k+1}. Neighbours move n S by D with
|D|_op <= 1 and |D|_F <= sqrt 2 (replace-one) or 1 (add/remove), so

    |P - P'|_F <= sqrt 2 |D|_F / (n g - |D|_op) <= sqrt 2 |D|_F / (n g - 1)     (Davis & Kahan)

and n g itself moves by at most 2 or 1 (Weyl). For replace-one, one eigenvalue moves up by at most 1 and the
other down by at most 1. For add/remove, both move the same way, by at most 1.

1. h = n g + Laplace(m/e) - (m/e) ln(1/(2 b)), m that movement: (e, 0)-private, and h <= n g but for b.
2. If h <= 1 nothing more is released: the answer is a random basis.
3. Else P + symmetric Gaussian noise for sensitivity sqrt 2 |D|_F / (h - 1) at the budget's rest.

Whenever h <= n g, step 3 is private given h whatever the neighbour's gap, so all is (epsilon, delta)-
private with b counted in delta. A tenth of both goes to the test.
"""

import math
from dataclasses import replace

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import block_power, linalg
from dppca_core.privacy import Budget, Event, Guarantee, Release
from dppca_core.records import Estimate, Method

_TEST_SHARE = 0.1  # of epsilon and of delta, for the test of the gap


def _split(budget: Budget) -> tuple[Guarantee, Budget]:
    """Return the budget's part for the test of the gap, and the rest for the projector."""
    test = Guarantee(_TEST_SHARE * budget.epsilon, _TEST_SHARE * budget.delta)
    rest = replace(budget, epsilon=budget.epsilon - test.epsilon, delta=budget.delta - test.delta)
    return test, rest


def release(cohort: Cohort, k: int, budget: Budget, rng: np.random.Generator) -> tuple[Array | None, float]:
    """Return the noisy projector, (d, d), and the std of its noise on the diagonal.

    It is None, without noise, where the gap could not be certified (step 2 of the module's text). This is the
    only step that reads rows. The Laplace draw is a floating-point draw, like all noise here: for study, not
    for release.
    """
    d = cohort.features
    values, vectors = linalg.top_eigenpairs(cohort.pooled.dense(), k + 1)
    gap = cohort.n * float(values[k - 1] - values[k])
    test, rest = _split(budget)
    scale = (2.0 if budget.neighbours == "replace-one" else 1.0) / test.epsilon
    # h of the module's text, which exceeds the true gap with probability test.delta at most.
    certified = gap + scale * (rng.laplace() - math.log(1 / (2 * test.delta)))
    if certified <= 1:
        return None, 0.0
    sensitivity = math.sqrt(2) * symmetric_gaussian.sensitivity(budget) / (certified - 1)
    # Two projectors of rank k are never further apart than this.
    sensitivity = min(sensitivity, math.sqrt(2 * min(k, d - k)))
    std = sensitivity * gaussian.noise_multiplier(rest)
    noisy = linalg.isotropic_noise(d, std, rng)
    noisy += vectors[:, :k] @ vectors[:, :k].T
    return noisy, std


def fit(cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator) -> Estimate:
    """Return the top k eigenvectors of the noisy projector, or a random basis if the gap cannot be certified.

    Args:
        budget: Privacy budget; a tenth of it pays for the test of the gap.
        rng: Source of the noise and of the random basis.

    Returns:
        The basis, (d, k); `notes` says so where the basis is random.
    """
    d = cohort.features
    noisy, std = release(cohort, k, budget, rng)
    failed = noisy is None
    return Estimate(
        block_power.random_start(d, k, rng) if noisy is None else linalg.top_eigenspace(noisy, k),
        noise_std=std / math.sqrt(2),
        bytes_sent=8 * d * (d + 1) // 2,
        spent=spends(budget),
        notes=("the gap could not be certified at this budget: the answer is a random guess",) * failed,
    )


def spends(budget: Budget, **_: object) -> tuple[Event, ...]:
    """Return the gap's test and one Gaussian release, each with its part of the budget."""
    test, rest = _split(budget)
    return (test, Release(gaussian.noise_multiplier(rest)))


METHOD = Method(
    title="DP-Gauss*, output noise by gap",
    reference="Dwork, Talwar, Thakurta & Zhang, STOC 2014 (recalled); Davis & Kahan 1970",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    audit="gaps.certified",
)
