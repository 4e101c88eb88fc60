"""Audit exponential mechanisms: the answer alone is released, so the statistic is read off the frame itself.

Without other patients the two normalisers are equal and the log-density ratio is the statistic times the
factor, half of what is claimed; patients that make the normalisers differ more make the frames that would
show it rare. The claim is pure: delta is 0.
"""

from collections.abc import Callable

import numpy as np

from dppca_core.arrays import Array
from dppca_core.auditing.cases.pairs import Case, difference_of_sums, neighbouring_cohorts
from dppca_core.cohort import Cohort
from dppca_core.methods import amin, ppca
from dppca_core.privacy import Budget, Event, Guarantee

SCANS = 4  # the fewest that PPCA's `fit` accepts for its chain
# Weights of the columns in what is read off a frame of one column, and of two, whose first tells half.
WEIGHTS = {1: np.array([1.0]), 2: np.array([0.5, 1.0])}
DrawFrame = Callable[[Cohort, int, np.random.Generator], Array]


def _case(
    draw: DrawFrame, budget: Budget, k: int, *, weights: Array, spent: tuple[Event, ...], draws: int
) -> Case:
    """Return the case of a frame of k columns in k + 1 features, drawn for one patient at e1 or at e2.

    draw(cohort, k, rng) returns the frame, (k + 1, k). Its statistic is the sum over columns v of v^T D v, D
    the change of x x^T, times the `weights`, (k,). spent: what is claimed. draws: as of `Case`.
    """
    e = np.eye(k + 1)
    pair = neighbouring_cohorts(budget, e[0], e[1], others=np.zeros((k + 1, k + 1)), n=1)  # with nobody else
    change = difference_of_sums(pair)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        frame = draw(cohort, k, rng)
        return float(weights @ np.einsum("ij,ij->j", frame, change @ frame))

    # Purely private draws compose by adding up.
    claim = sum(event.epsilon for event in spent if isinstance(event, Guarantee))
    return Case(f"frame, k = {k}", pair, mechanism, claim, 0.0, gaussian=False, tight=False, draws=draws)


def ppca_cases(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return PPCA's cases, a frame of one column and, for k = 2, one of two columns.

    One column is drawn from the exact law. Two are drawn by a chain, whose claim holds only in the limit of
    many scans, and which is slow: so it is drawn less often.
    """

    def draw(cohort: Cohort, columns: int, rng: np.random.Generator) -> Array:
        frame, _ = ppca.release(cohort, columns, budget, SCANS, start=None, rng=rng)
        return frame

    spent = ppca.spends(budget)
    return tuple(
        _case(draw, budget, width, weights=np.ones(width), spent=spent, draws=draws)
        for width, draws in ((1, 2000), (2, 300))[:k]
    )


def amin_cases(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the cases of columns drawn in turn: of one column and, for k = 2, of two.

    The first of two counts half: the space that it leaves to the second takes back half of what it tells.
    """

    def draw(cohort: Cohort, columns: int, rng: np.random.Generator) -> Array:
        return amin.release(cohort, columns, budget, rng)

    return tuple(
        _case(draw, budget, width, weights=WEIGHTS[width], spent=amin.spends(budget, k=width), draws=draws)
        for width, draws in ((1, 2000), (2, 800))[:k]
    )
