"""Stacked normalised rounds at one place, for directions that no few rows carry.

A curator reads the rows of all hospitals and releases T rounds; the mathematics and the proof are those of
`dppca_core.mechanisms.stacked`. It estimates the leading directions of E[v v^T], v = x/|x|, as `two_stage`
does, without asking for sparsity. It fails where T rounds do not converge.

This combination was not found elsewhere. Recalled, not read again: noise scaled to normalised gradients, Liu
et al. (2022); signs with Gaussian noise, Kim & Jung (2025).
"""

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product, stacked
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method

release = normalised_product.release


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    iterations: int = stacked.ROUNDS,
    left_out: int = stacked.LEFT_OUT,
    start: Array | None = None,
) -> Estimate:
    """Release T normalised rounds and take the directions that they share of all hospitals together.

    Args:
        cohort: All hospitals' patients, as rows or drawn from a population.
        k: Components, below d.
        budget: The guarantee of the whole run.
        rng: Draws the noise, and the start.
        iterations: T, rounds.
        left_out: First rounds that only lead to the next and are not stacked.
        start: Basis of the first round, (d, k) orthonormal; uniformly random by default.

    Returns:
        The basis, (d, k); iterates are the start and the basis after every round; noise_std is of an entry of
        a round.

    Raises:
        ValueError: For options out of range, another start, and moments of unknown rows.

    References:
        The module's text; the mathematics is that of `dppca_core.mechanisms.stacked`.
    """
    return stacked.fit(
        cohort,
        k=k,
        budget=budget,
        rng=rng,
        trust=METHOD.trust,
        iterations=iterations,
        left_out=left_out,
        start=start,
    )


METHOD = Method(
    title="Stacked rounds",
    reference="normalised rounds, stacked in units of their noise",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=stacked.spends,
    matrix=False,
    # Rows of the drawn patients, once for all that asks for them.
    cost=lambda d, k, providers: 3.0,
    scaling="unit",
    audit="stages.rounds",
)
