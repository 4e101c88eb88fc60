"""Worst-case pairs of cohorts, and the claim of a release at them.

Pairs differ in one patient, x replaced by y; for add/remove y = 0, as n is public: the row stays, empty.
Symmetric releases move by xx^T - yy^T, sqrt 2 in Frobenius norm at x = e1, y = e2. Products
with Q move by as much when both lie in span Q, and by the operator norm 1 for k = 1, Q = e1. Other patients
only translate what is released, except where noise depends on a gap.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dppca_core.accounting import closed_form
from dppca_core.arrays import Array, Provider
from dppca_core.auditing.lower_bound import Mechanism
from dppca_core.cohort import Cohort
from dppca_core.numerics.moments import DenseMoment
from dppca_core.privacy import Budget, Event

Pair = tuple[Cohort, Cohort]


@dataclass(frozen=True, eq=False)
class Case:
    """Hold one release of a method at its worst pair, with its claim.

    title: what is released. mechanism: makes the release from a cohort and returns the number that tells the
    two cohorts of the pair best apart. epsilon, delta: the claim; delta is 0 where it is pure. gaussian:
    whether `gaussian_tradeoff` bounds its epsilon. tight: whether this pair and statistic attain the claim.
    draws: how many releases of each cohort an audit draws. mu: sensitivity / std of the claim, for Gaussian
    releases.
    """

    title: str
    pair: Pair
    mechanism: Mechanism
    epsilon: float
    delta: float
    gaussian: bool = True
    tight: bool = True
    draws: int = 12_000
    mu: float = math.nan


def gaussian_case(
    title: str, pair: Pair, mechanism: Mechanism, spent: Sequence[Event], budget: Budget, **fields: Any
) -> Case:
    """Return a case whose claim is the epsilon of Gaussian releases at the budget's delta.

    spent: the releases that are claimed, as for an account. fields: other fields of `Case`, where they differ
    from their defaults.
    """
    claim, mu = closed_form.epsilon_of(spent, budget.delta), 1 / closed_form.multiplier_of(spent)
    return Case(title, pair, mechanism, claim, budget.delta, mu=mu, **fields)


def neighbouring_cohorts(budget: Budget, x: Array, y: Array, *, others: Array, n: int) -> Pair:
    """Return two cohorts of n patients at one hospital that differ in one row: x, (d,), or y in its place.

    For add/remove an empty row stands in the place of y. others: sum of the outer products of the n - 1 rows
    that both cohorts have, (d, d).
    """

    def cohort(row: Array) -> Cohort:
        moment = DenseMoment((others + np.outer(row, row)) / n)
        return Cohort((Provider(n, moment),), moment)

    return cohort(x), cohort(y if budget.neighbours == "replace-one" else np.zeros_like(y))


def orthogonal_pair(budget: Budget, n: int = 2, norm: float = 1.0) -> Pair:
    """Return norm e1 against norm e2 in three features, beside n - 1 patients at the third axis."""
    e1, e2, e3 = np.eye(3)
    return neighbouring_cohorts(budget, norm * e1, norm * e2, others=(n - 1) * np.outer(e3, e3), n=n)


def difference_of_sums(pair: Pair) -> Array:
    """Return the sum of x x^T over the first cohort's patients less that of the second, (d, d)."""
    first, second = pair
    return first.n * first.pooled.dense() - second.n * second.pooled.dense()


def coordinate_along(direction: Array) -> Callable[[Array], float]:
    """Return a function that gives an array's coordinate along `direction`, an array of the same shape.

    Of two Gaussian releases whose means differ in this direction, no other number tells more.
    """
    unit = direction / np.linalg.norm(direction)
    return lambda output: float(np.vdot(unit, output))
