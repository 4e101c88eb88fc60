"""Stacked normalised rounds where hospitals trust nobody: each adds noise to its own sum of every round.

As `stacked_rounds` (`dppca_core.mechanisms.stacked`), with sqrt(N) times the noise in the sum.
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
    """Release T rounds, each hospital with noise of its own, and take the directions that they share.

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
    title="Stacked rounds, own noise",
    reference="normalised rounds, stacked in units of their noise",
    trust="untrusted server",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "providers", "neighbours", "accounting"),
    fit=fit,
    spends=stacked.spends,
    matrix=False,
    # Rows of the drawn patients, once for all that asks for them.
    cost=lambda d, k, providers: 3.0,
    scaling="unit",
    audit="stages.own_rounds",
)
