"""Two-stage PCA with sealed sums: hospitals add their noise together, and no one sees one hospital's numbers.

As `two_stage` (`dppca_core.mechanisms.two_stage`, with its proof), but every round and the last moment are
sums over hospitals by secure aggregation, each hospital adding 1/N of the noise's variance. The sum has
exactly the law of a curator's. Of N hospitals t that collude know their own noise: (N - t)/N of its variance
is left.
"""

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import two_stage
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method

release = two_stage.release


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    s_hat: int | None = None,
    iterations: int = two_stage.ROUNDS,
    share: float | None = None,
    signal: float = two_stage.SIGNAL,
    stage_one: str = "rounds",
    scaling: str = "unit",
    shrink: bool = True,
    start: Array | None = None,
) -> Estimate:
    """Release noisy rounds, then the moment of the rows that they name, as sealed sums.

    Args:
        cohort: All hospitals' patients, as rows or drawn from a population.
        k: Components, below d.
        budget: The guarantee of the whole run.
        rng: Draws the noise, and the start.
        s_hat: Rows kept, from k to d; all by default.
        iterations: T, rounds of stage 1.
        share: w, the share of the budget (as 1/z^2) that stage 1 spends, in (0, 1); by the rule by default.
        signal: A declared guess of k lambda_k/tr Sigma in (0, 1), for that rule; never read off the rows.
        stage_one: "rounds", or "moment" for one noisy moment of all rows.
        scaling: "unit" scales rows to length 1, "inside" leaves them as the cohort holds them, in moments.
        shrink: Shrink rows at the end (`dppca_core.numerics.row_shrinkage`).
        start: Basis of the first round, (d, k) orthonormal; uniformly random by default.

    Returns:
        The basis, (d, k), zero outside the rows kept; iterates are the bases of stage 1 and the answer;
        noise_std is of an off-diagonal entry of stage 2.

    Raises:
        ValueError: For options out of range, another start, and moments of unknown rows.

    References:
        The module's text; the mathematics is that of `dppca_core.mechanisms.two_stage`.
    """
    return two_stage.fit(
        cohort,
        k=k,
        budget=budget,
        rng=rng,
        trust=METHOD.trust,
        s_hat=s_hat,
        iterations=iterations,
        share=share,
        signal=signal,
        stage_one=stage_one,
        scaling=scaling,
        shrink=shrink,
        start=start,
    )


METHOD = Method(
    title="Two-stage PCA, sealed sums",
    reference="normalised rounds, then the moment of the rows they name",
    trust="secure aggregation",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "s_hat", "providers", "neighbours", "accounting"),
    fit=fit,
    spends=two_stage.spends,
    matrix=False,
    # Rows of the drawn patients, once for all that asks for them.
    cost=lambda d, k, providers: 3.0,
    scaling="unit",
    audit="stages.one_place",
)
