"""Exponential mechanisms: the answer alone is released, so the statistic is read off the frame itself.

Without other patients the two normalisers are equal and the log-density ratio is the statistic times the
factor, half of what is claimed; patients that make the normalisers differ more make the frames that would
show it rare. The claim is pure: delta is 0.
"""

from collections.abc import Callable

import numpy as np

from dppca_core.arrays import Array
from dppca_core.auditing.cases.pairs import Case, moved, neighbours
from dppca_core.cohort import Cohort
from dppca_core.methods import amin, ppca
from dppca_core.privacy import Budget, Event, Guarantee

SCANS = 4
HALVES = np.array([[1.0, 0.0], [0.5, 1.0]])  # weights of the columns, a row for each k
Frame = Callable[[Cohort, int, np.random.Generator], Array]


def _case(frame: Frame, budget: Budget, k: int, weights: Array, spent: tuple[Event, ...], draws: int) -> Case:
    e = np.eye(k + 1)
    pair = neighbours(budget, e[0], e[1], np.zeros((k + 1, k + 1)), 1)  # with nobody else
    direction = moved(pair)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        drawn = frame(cohort, k, rng)
        return float(weights @ np.einsum("ij,ij->j", drawn, direction @ drawn))

    claim = sum(event.epsilon for event in spent if isinstance(event, Guarantee))
    return Case(f"frame, k = {k}", pair, mechanism, claim, 0.0, gaussian=False, tight=False, draws=draws)


def ppca_cases(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return PPCA's cases: the exact law for k = 1, and above a chain, whose claim holds in the limit."""
    return tuple(
        _case(
            lambda cohort, columns, rng: ppca.release(cohort, columns, budget, SCANS, None, rng)[0],
            *(budget, columns, np.ones(columns), ppca.spends(budget), draws),
        )
        for columns, draws in ((1, 2000), (2, 300))[:k]
    )


def amin_cases(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the cases of k draws in turn.

    The space that an early draw leaves to the later ones takes back half of what it tells.
    """
    return tuple(
        _case(
            lambda cohort, columns, rng: amin.release(cohort, columns, budget, rng),
            *(budget, columns, HALVES[columns - 1, :columns], amin.spends(budget, k=columns), draws),
        )
        for columns, draws in ((1, 2000), (2, 800))[:k]
    )
