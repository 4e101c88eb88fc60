"""Wishart noise: the statistic is the likelihood ratio of the positive definite output.

The noise N has log-density a ln|N| - tr N/(2c), a > 0, so at x against y of equal norm the ratio for the
output M (the sum, the others taken off) is a power of |M - xx^T| / |M - yy^T| = (1 - x^T M^-1 x)/(1 - y^T
M^-1 y), minus or plus infinity where one of the two is no density; at x against nothing, of 1 - x^T M^-1 x.
"""

import math

import numpy as np

from dppca_core.accounting import closed_form
from dppca_core.auditing.cases.pairs import Case, neighbours
from dppca_core.cohort import Cohort
from dppca_core.methods import wishart
from dppca_core.privacy import Budget


def cases(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the noisy moment, at the budget and at twice its delta, where its epsilon is smaller.

    At delta itself only events about as rare as delta come near the claim. Nobody else is there: others
    translate the output, and their sum is known.
    """
    e1, e2, _ = np.eye(3)
    pair = neighbours(budget, e1, e2, np.zeros((3, 3)), 1)
    replaced = budget.neighbours == "replace-one"

    def left(share: float) -> float:
        return math.log(max(1 - share, 1e-300))

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        inverse = np.linalg.inv(cohort.n * wishart.release(cohort, budget, rng)).tolist()
        return left(inverse[0][0]) - (left(inverse[1][1]) if replaced else 0.0)

    m, scale = wishart.calibrate(budget, 3)
    wider = min(2 * budget.delta, 0.5)

    def case(title: str, epsilon: float, delta: float) -> Case:
        return Case(title, pair, mechanism, epsilon, delta, gaussian=False, tight=False, draws=10_000)

    return (
        case("moment", closed_form.epsilon_of(wishart.spends(budget, d=3), budget.delta), budget.delta),
        case("moment, 2 delta", wishart.epsilon_of(m - 2, 1 / scale, wider, budget.neighbours), wider),
    )
