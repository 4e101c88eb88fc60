"""Audit Wishart noise: the statistic is the likelihood ratio of the positive definite output.

The noise N has log-density a ln|N| - tr N/(2c), a > 0, so at x against y of equal norm the ratio for the
output M (the sum, the others taken off) is a power of |M - xx^T| / |M - yy^T| = (1 - x^T M^-1 x)/(1 - y^T
M^-1 y), minus or plus infinity where one of the two is no density; at x against nothing, of 1 - x^T M^-1 x.
"""

import math

import numpy as np

from dppca_core.accounting import closed_form
from dppca_core.auditing.cases.pairs import Case, neighbouring_cohorts
from dppca_core.cohort import Cohort
from dppca_core.methods import wishart
from dppca_core.privacy import Budget


def cases(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return two cases of the noisy moment: at the budget's delta, and at twice that, at a smaller epsilon.

    At the budget's delta only events about as rare as delta come near the claim, too rare to be counted. The
    patient who changes is alone: others translate the output, and their sum is known. k plays no part.
    """
    e1, e2, _ = np.eye(3)
    pair = neighbouring_cohorts(budget, e1, e2, others=np.zeros((3, 3)), n=1)
    replaced = budget.neighbours == "replace-one"

    def log_of_rest(part: float) -> float:
        """Return log(1 - x^T M^-1 x) for `part` = x^T M^-1 x; very low in place of minus infinity."""
        return math.log(max(1 - part, 1e-300))

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        """Return the logarithm of the ratio in the module's text, for x = e1 against y = e2 or nothing."""
        inverse = np.linalg.inv(cohort.n * wishart.release(cohort, budget, rng)).tolist()
        return log_of_rest(inverse[0][0]) - (log_of_rest(inverse[1][1]) if replaced else 0.0)

    m, scale = wishart.calibrate(budget, d=3)
    doubled = min(2 * budget.delta, 0.5)
    degrees = m - 2  # m - d + 1, of the chi-square variable in `epsilon_of`; 1/scale is its shift by a row

    def case(title: str, epsilon: float, delta: float) -> Case:
        return Case(title, pair, mechanism, epsilon, delta, gaussian=False, tight=False, draws=10_000)

    return (
        case("moment", closed_form.epsilon_of(wishart.spends(budget, d=3), budget.delta), budget.delta),
        case("moment, 2 delta", wishart.epsilon_of(degrees, 1 / scale, doubled, budget.neighbours), doubled),
    )
