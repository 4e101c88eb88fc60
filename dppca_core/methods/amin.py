"""Pure-epsilon eigenvectors, one at a time (Amin, Dick, Kulesza, Munoz & Vassilvitskii, NeurIPS 2019).

A trusted curator draws u_1, then u_2 orthogonal to it, and so on to u_k, each exactly, with density prop. to

    exp(c u^T C u),   C = sum_i x_i x_i^T, |x_i| <= 1, on the unit sphere orthogonal to the earlier draws.

Replacing a row moves u^T C u = sum (u^T x_i)^2 by at most 1, whatever was drawn before, so one draw is
2c-private. Adding a row moves it up by at most 1 for every u, so there one draw is c-private. The k draws
compose by addition: c = epsilon/(2k) for replace-one and epsilon/k for add/remove spend epsilon exactly. No
delta is used.

As printed (read in diffprivlib's and OpenDP's code and in the abstract, not in the paper): the budget
goes in k + 1 parts (k = d: in k) and c = epsilon_i/4. One part pays for eigenvalues, which are not needed
here and are not released; the k draws truly spend less than the budget, which `true_epsilon` returns.
"""

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.numerics import bingham, linalg
from dppca_core.privacy import Budget, Event, Guarantee
from dppca_core.records import Estimate, Method


def movement_factor(budget: Budget) -> int:
    """Return 2 if a row may move u^T C u both ways, so that a draw is 2c-private; else 1, for c-private."""
    return 2 if budget.neighbours == "replace-one" else 1


def strength(budget: Budget, k: int) -> float:
    """Return c, the factor of C in the exponent of one draw."""
    if budget.accounting == "as-printed":  # one of k + 1 parts pays for eigenvalues, which are not released
        return budget.epsilon / (k + 1) / 4
    return budget.epsilon / k / movement_factor(budget)


def release(cohort: Cohort, k: int, budget: Budget, rng: np.random.Generator) -> Array:
    """Return the k drawn directions, (d, k). This is the only step that reads private rows.

    One eigenproblem of C serves all draws, which are made in its eigenvectors' coordinates. The factor of the
    mean moment is held below what doubles resolve, by a public number: that only flattens the density.
    """
    # Rows have length 1 at most, so energies spread over no more than the factor.
    factor = min(strength(budget, k) * cohort.n, bingham.STRONGEST / 2)
    energies, axes = bingham.energies(factor * cohort.pooled.dense())
    drawn = np.empty((cohort.features, 0))
    for _ in range(k):
        drawn = np.hstack([drawn, bingham.conditional(energies, drawn).draw(1, rng)])
    return axes @ drawn


def fit(cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator) -> Estimate:
    """Draw k directions exactly, each from the orthogonal complement of those before.

    Args:
        budget: Privacy budget; its delta is not used.
        rng: Source of the draws.

    Returns:
        The basis, (d, k), and k purely private events as `spent`.
    """
    d = cohort.features
    return Estimate(
        linalg.orthonormalise(release(cohort, k, budget, rng)),
        bytes_sent=8 * d * (d + 1) // 2,
        spent=spends(budget, k=k),
    )


def spends(budget: Budget, *, k: int, **_: object) -> tuple[Event, ...]:
    """Return the k purely private draws."""
    return (Guarantee(movement_factor(budget) * strength(budget, k)),) * k


METHOD = Method(
    title="Pure-ε eigenvectors",
    reference="Amin, Dick, Kulesza, Munoz & Vassilvitskii, NeurIPS 2019",
    trust="central",
    guarantee="ε",
    uses=("epsilon", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    audit="exponential.amin_cases",
)
