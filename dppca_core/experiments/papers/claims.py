"""The conditions by which figures are checked, one for each kind of claim. All use the curves only.

Two means count as different where their 95 % intervals are apart. That is stricter than a test at 5 %: for
equal means with intervals of equal width it errs with a probability of about 1 in 200.

A condition is written as a function of the curves, which yields the parts of the claim. `_claim` turns it
into a function that takes the claim's name in place of the curves and returns a check:
`moves("the error falls", True)` is the check that all curves fall. A part is yielded for each thing compared,
and is None where a result has nothing to compare.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Concatenate, NamedTuple, ParamSpec

import pandas as pd

from dppca_core.experiments.papers.figure import NOTHING, Check, Finding, Printed
from dppca_core.numerics.subspace_metrics import random_guess


class _Mean(NamedTuple):
    """Hold a point of a curve: a mean over runs, and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        if not self.low < self.high:  # a formula, or one run
            return number(self.mean)
        return f"{number(self.mean)} [{number(self.low)}, {number(self.high)}]"


_Curves = dict[str, dict[float, _Mean]]  # by label and x
_Part = tuple[bool, str] | None  # whether a part of a claim holds, in a sentence; None: nothing to compare
_P = ParamSpec("_P")


def _claim(
    judge: Callable[Concatenate[_Curves, _P], Iterable[_Part]],
) -> Callable[Concatenate[str, _P], Check]:
    """Return a function that makes a check of a condition, given the claim's name and further arguments.

    The check does not hold where a part has nothing to compare: no curves prove nothing.
    """

    def named(name: str, /, *args: _P.args, **kwargs: _P.kwargs) -> Check:
        def check(means: pd.DataFrame, _: pd.DataFrame) -> Finding:
            curves: _Curves = {}
            for row in means.sort_values("x", kind="stable").to_dict("records"):
                mean = _Mean(*(float(row[key]) for key in _Mean._fields))
                curves.setdefault(str(row["label"]), {})[float(row["x"])] = mean
            parts = list(judge(curves, *args, **kwargs))
            compared = [part for part in parts if part is not None]
            if not parts or len(compared) < len(parts):
                return Finding(name, False, NOTHING)
            sentences = "; ".join(sentence for _, sentence in compared)
            return Finding(name, all(holds for holds, _ in compared), sentences)

        return check

    return named


def number(value: float) -> str:
    """Return a number as a sentence shows it: three digits, or whole from 1,000 on, powers of ten as such."""
    if not math.isfinite(value):  # the interval of a single run
        return "–"
    if abs(value) < 1000:
        return f"{value:.3g}"
    power = round(math.log10(abs(value)))
    return f"10^{power}" if power >= 6 and value == 10.0**power else f"{value:,.0f}"


def near(name: str, printed: Sequence[Printed], within: float) -> Check:
    """Return the check that measured means differ from the printed numbers by at most `within`.

    Printed numbers at which nothing was measured do not count, but the sentence says how many were.
    """
    check = _within(name, printed, within)
    return lambda means, table: check(means, table)._replace(read=True)


@_claim
def _within(curves: _Curves, printed: Sequence[Printed], within: float) -> Iterator[_Part]:
    pairs = [
        (abs(curves[label][x].mean - value), label, x, value)
        for label, x, value in printed
        if x in curves.get(label, {})
    ]
    if pairs:
        _, label, x, value = max(pairs)
        met = sum(distance <= within for distance, *_ in pairs)
        measured = f"{len(pairs)} of {len(printed)} printed numbers were measured; "
        yield (
            met == len(pairs),
            f"{measured if len(pairs) < len(printed) else ''}{met} of {len(pairs)} are met within "
            f"{number(within)}; furthest is {label} at {number(x)}, where {number(value)} is printed "
            f"and {curves[label][x]} measured",
        )


@_claim
def ranked(curves: _Curves, labels: Sequence[str], at: Sequence[float] | None = None) -> Iterator[_Part]:
    """Check that these curves lie above each other in this order, the lowest first, with intervals apart.

    at: the x at which they are compared; None is everywhere both of two neighbours were measured.
    """
    for lower, upper in pairwise(labels):
        first, second = curves.get(lower, {}), curves.get(upper, {})
        common = [x for x in first if x in second and (at is None or x in at)]
        if not common:
            yield None
            continue
        apart = sum(first[x].high < second[x].low for x in common)
        worst = max(common, key=lambda x: first[x].high - second[x].low)  # nearest to the wrong order
        where = ", intervals apart," if any(first[x].low < first[x].high for x in common) else ""
        yield (
            apart == len(common),
            f"{lower} is below {upper}{where} at {apart} of {len(common)} "
            f"places; closest at {number(worst)}: {first[worst]} and {second[worst]}",
        )


@_claim
def moves(curves: _Curves, falls: bool, labels: Sequence[str] = ()) -> Iterator[_Part]:
    """Check that curves fall (or rise) from their first x to their last, and never turn back.

    The intervals at both ends must be apart; a curve turns back where a step goes the other way with
    intervals apart. labels: the curves, by default all.
    """
    for label in labels or curves:
        points = list(curves.get(label, {}).items())
        if len(points) < 2:
            yield None
            continue
        ordered = points if falls else points[::-1]  # so that they should fall
        (_, highest), (_, lowest) = ordered[0], ordered[-1]
        apart = lowest.high < highest.low
        back = any(later.low > earlier.high for (_, earlier), (_, later) in pairwise(ordered))
        yield apart and not back, _ends(label, points) + (", and turns back between" if back else "")


def _ends(label: str, points: Sequence[tuple[float, _Mean]]) -> str:
    (begin, first), (end, last) = points[0], points[-1]
    return f"{label}: {first} at {number(begin)}, {last} at {number(end)}"


@_claim
def under(curves: _Curves, level: Callable[[float], float], what: str) -> Iterator[_Part]:
    """Check that every curve, with its intervals, stays below a level that depends on x; what: its name."""
    above = [(mean.high - level(x), label, x) for label in curves for x, mean in curves[label].items()]
    if above:
        _, label, x = max(above)
        met = sum(excess < 0 for excess, _, _ in above)
        yield (
            met == len(above),
            f"below {what}, with its interval, at {met} of {len(above)} places; least so at "
            f"{number(x)}: {curves[label][x]}, where {what} is {number(level(x))}",
        )


@_claim
def slower(curves: _Curves, growth: Callable[[float], float], what: str) -> Iterator[_Part]:
    """Check that every curve grows, from its first x to its last, by a smaller factor than `growth` does.

    A curve's factor is the ratio of the last interval's upper end and the first one's lower end. what: the
    name of the growth.
    """
    for label, curve in curves.items():
        points = list(curve.items())  # pairs of x and the mean there
        (begin, first), (end, last) = points[0], points[-1]
        allowed = growth(end) / growth(begin)
        times = last.mean / first.mean if first.mean else math.inf
        yield (
            end > begin and last.high < allowed * first.low,
            f"{_ends(label, points)}, {number(times)} times as much; {what} grows {number(allowed)} times",
        )


@_claim
def lead(curves: _Curves, lower: str, upper: str, least: float, at: Sequence[float]) -> Iterator[_Part]:
    """Check that the mean of `upper` is more than `least` above that of `lower` at one of these x."""
    first, second = curves.get(lower, {}), curves.get(upper, {})
    common = [x for x in first if x in second and x in at]
    if common:
        widest = max(common, key=lambda x: second[x].mean - first[x].mean)
        yield (
            second[widest].mean - first[widest].mean > least,
            f"{upper} is above {lower} by most at {number(widest)}: {second[widest]} and "
            f"{first[widest]}; more than {number(least)} is asked for",
        )


@_claim
def against(
    curves: _Curves, labels: Sequence[str], level: float, what: str, *, above: bool = False
) -> Iterator[_Part]:
    """Check that the means of these curves, by default of all, stay below a level, or above it.

    what: the level's name.
    """
    means = [(mean, label, x) for label in labels or curves for x, mean in curves.get(label, {}).items()]
    if means:
        mean, label, x = min(means) if above else max(means)
        holds = mean.mean > level if above else mean.mean < level
        side = "lowest" if above else "highest"
        yield holds, f"the {side} is {mean}, {label} at {number(x)}; {what} is {number(level)}"


def as_a_guess(name: str, labels: Sequence[str], share: float, d: int, k: int) -> Check:
    """Return the check that these curves stay above a share of a random guess's projector distance.

    That distance, |U U^T - V V^T|, is sqrt 2 times sin Theta (both Frobenius), of k directions among d.
    """
    level = share * math.sqrt(2) * random_guess(d, k)
    return against(name, labels, level, f"{100 * share:g} % of a random guess's distance", above=True)


def below_a_guess(name: str, k: int) -> Check:
    """Return the check that every curve, over d, stays below a random guess's projector distance."""
    return under(name, lambda d: math.sqrt(2) * random_guess(int(d), k), "a random guess's")


def slower_than_root_log(name: str) -> Check:
    """Return the check that every curve, over p features, grows more slowly than sqrt(log p)."""
    return slower(name, lambda p: math.sqrt(math.log(p)), "sqrt(log p)")
