"""Audit the steps of a fitted bound (`mechanisms.paid_lengths`), each at its worst pair.

Encoded rows are two numbers, and the indicators of a column of two categories. What earlier steps released is
fixed, as claims hold whatever it was, at numbers that let a pair attain the step's sensitivity. With mean
squares of -100 the mean square length T is next to nothing. So every row away from the released mean has
tails, and is shortened. No pair attains all four steps at once: that of a whole run is loose.

The statistic of a step is the logarithm of the likelihood ratio of its sum. Means and stds are read off the
program, which draws zeros and ones in place of noise. So it also sees a std that depends on rows.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dppca_core.arrays import Array, Provider
from dppca_core.auditing.cases.pairs import Case, Pair, gaussian_case
from dppca_core.cohort import Cohort
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.numerics.moments import RowMoment
from dppca_core.privacy import Budget

_LAYOUT = Layout.of_columns((0, 0, 2), (True, True, True), np.zeros(4))
_MIDDLE = np.array([0.0, 0.0, 0.5, -0.5])  # of both numbers, and the first category
_CORNER = np.array([1.0, 1.0, 0.5, -0.5])
_TURNED = np.array([1.0, -1.0, 0.5, -0.5])  # about _MIDDLE it is orthogonal to _CORNER
_LEAST_STD = 1e-9  # taken for noise that is not there


class _Constant(np.random.Generator):
    """Draw one number in place of all noise."""

    def __init__(self, drawn: float) -> None:
        super().__init__(np.random.default_rng(0).bit_generator)
        self.drawn = drawn

    def standard_normal(self, size: Any = None, *_: Any, **__: Any) -> Any:
        return np.full(size, self.drawn)


def rule_of(budget: Budget, n: int = 2) -> FittedBound:
    return FittedBound(_LAYOUT, budget, n)


def _pair(rule: FittedBound, first: Array, second: Array) -> Pair:
    """Return two cohorts of n encoded rows, of which one is `first` or `second`, (4,), and the others empty.

    For add/remove an empty row stands in the place of `second`.
    """

    def cohort(row: Array) -> Cohort:
        moment = RowMoment(np.vstack([row, np.zeros((rule.n - 1, 4))]))
        return Cohort((Provider(rule.n, moment),), moment)

    return cohort(first), cohort(second if rule.budget.neighbours == "replace-one" else np.zeros(4))


def _rows(cohort: Cohort) -> Array:
    assert isinstance(cohort.pooled, RowMoment)
    return cohort.pooled.rows


def _log_ratio(
    rule: FittedBound, step: str, pair: Pair, earlier: Mapping[str, Array]
) -> Callable[[Array], float]:
    """Return a function of a step's sum: the logarithm of how much likelier the first cohort gives it."""
    laws = []
    for cohort in pair:
        silent, ones = (rule.noisy_sum(step, _rows(cohort), earlier, _Constant(x)) for x in (0.0, 1.0))
        laws.append((silent, max(float((ones - silent).max()), _LEAST_STD)))

    def ratio(given: Array) -> float:
        # A symmetric matrix of noise has so many independent entries.
        free = len(given) if given.ndim == 1 else len(given) * (len(given) + 1) / 2
        first, second = (
            -float(np.square((given - silent) / std).sum()) / 2 - free * math.log(std) for silent, std in laws
        )
        return first - second

    return ratio


def steps(rule: FittedBound) -> dict[str, Case]:
    """Return the case of each step of a rule of two patients, by the step's name."""
    short, near = {"squares": np.full(2, 0.1)}, {"squares": np.full(2, -100.0), "mean": _MIDDLE}

    def case(step: str, first: Array, second: Array, earlier: Mapping[str, Array]) -> Case:
        pair = _pair(rule, first, second)
        ratio = _log_ratio(rule, step, pair, earlier)

        def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
            return ratio(rule.noisy_sum(step, _rows(cohort), earlier, rng))

        return gaussian_case(step, pair, mechanism, (rule.price(step),), rule.budget)

    return {
        "squares": case("squares", _CORNER, _MIDDLE, {}),
        "mean": case("mean", _CORNER, -_CORNER, short),
        "tails": case("tails", _CORNER, _MIDDLE, near),
        "moment": case("moment", _CORNER, _TURNED, near | {"tails": np.zeros(2)}),
    }


def stated_bound(rule: FittedBound) -> Case:
    """Return the case of b, which a release states: it follows from the tails and costs no more.

    rule: of so many patients that the typical tails do not decide alone.
    """
    pair, earlier = _pair(rule, _CORNER, _MIDDLE), {"squares": np.full(2, -100.0), "mean": _MIDDLE}
    frame = rule.released_frame(earlier)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        return rule.bound(rule.noisy_sum("tails", _rows(cohort), earlier, rng) / rule.n, frame)

    return gaussian_case("bound", pair, mechanism, (rule.price("tails"),), rule.budget, tight=False)


def whole_run(rule: FittedBound) -> Case:
    """Return the case of all steps in turn, each after what those before it released in the same run."""
    pair = _pair(rule, _CORNER, -_CORNER)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        released: dict[str, Array] = {}
        total = 0.0
        for step in rule.steps:
            given = rule.noisy_sum(step, _rows(cohort), released, rng)
            total += _log_ratio(rule, step, pair, released)(given)
            released[step] = given / rule.n
        return total

    spent = tuple(map(rule.price, rule.steps))
    return gaussian_case("all steps", pair, mechanism, spent, rule.budget, tight=False)
