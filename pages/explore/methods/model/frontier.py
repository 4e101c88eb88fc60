"""Find the frontier of privacy and error: the convex hull of the methods' points.

A point is a method's median error at one epsilon. The hull shows which method errs least for its privacy. It
is the lower hull, or the upper one where more is better, as for captured energy.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.sweeps.of_experiment import AXES
from dppca_core.methods import METHODS
from pages.explore.methods.model.measure import ComparisonMeasure, Spreads, at_value, spreads
from pages.shared.charts.explorer_text import other_epsilon


class Corner(NamedTuple):
    method: str
    epsilon: float
    error: float  # the median, in the unit on screen
    level: frozenset[str]  # other methods whose 10-90 % interval at this epsilon overlaps: they are as good


def hull(table: pd.DataFrame, measure: ComparisonMeasure, methods: Sequence[str]) -> list[Corner]:
    """Return the corners of the medians' hull, in the axes as drawn, of points better than a random guess."""
    # A guess is the same at every epsilon.
    drawn, guess = spreads(table, measure, methods, "epsilon"), measure.guess("epsilon", 1.0)
    _, floor = span(measure, drawn)
    points: dict[tuple[float, float], str] = {}
    for method, (at, (_, middle, _)) in drawn.items():
        for x, y in zip(at, np.maximum(middle, floor).tolist(), strict=True):
            if measure.beats(y, guess):
                points.setdefault((x, y), method)
    corners = []
    # Where more is better, mirror the values to use the lower hull. good, bad: the index of the best and of
    # the worst end of a method's interval, whose quantiles are 10, 50 and 90 %.
    sign, good, bad = (-1, 2, 0) if measure.more_is_better else (1, 0, 2)
    for x, mirrored in lower_hull([(x, sign * y) for x, y in points], measure.log):
        y = sign * mirrored
        method, here = points[x, y], at_value(drawn, x)
        worst = sign * here[method][bad]
        level = frozenset(name for name in here if name != method and sign * here[name][good] <= worst)
        corners.append(Corner(method, x, y, level))
    return corners


def span(measure: ComparisonMeasure, spreads: Spreads) -> tuple[list[float], float]:
    """Return the range of the vertical axis for all medians and a guess, and the value at its lower edge."""
    medians = [value for _, (_, middle, _) in spreads.values() for value in middle]
    return measure.span(medians, [measure.guess("epsilon", 1.0)])  # the same guess at every epsilon


def lower_hull(points: Sequence[tuple[float, float]], log_up: bool) -> list[tuple[float, float]]:
    """Return the corners of the lower convex hull, left to right, by the monotone chain of Andrew (1979).

    x is on a logarithmic axis, y too if `log_up`.
    """
    lowest = dict(sorted(points, reverse=True))  # the lowest point of each x comes last, so it is kept
    kept: list[tuple[complex, float, float]] = []  # a corner's place on the axes, and its x and y
    for x, y in sorted(lowest.items()):
        place = complex(math.log(x), math.log(y) if log_up else y)
        # A point from which the way to the next one does not turn left lies on or above the hull.
        while len(kept) > 1:
            (first, *_), (second, *_) = kept[-2:]
            if ((second - first).conjugate() * (place - first)).imag > 0:
                break
            kept.pop()
        kept.append((place, x, y))
    return [(x, y) for _, x, y in kept]


def off_hull(experiment: ExplorerExperiment, methods: Sequence[str]) -> dict[str, str]:
    """Return the methods that do not keep (epsilon, delta) as drawn, each with the reason."""
    reasons = {}
    for name in methods:
        if not METHODS[name].private:
            reasons[name] = "no privacy"
        elif METHODS[name].guarantee_at(experiment.k) in ("on a good event", "approximate sampler"):
            reasons[name] = "another promise"
        elif any((other_epsilon(experiment, name, e) or 0.0) > e for e in AXES["epsilon"]):
            reasons[name] = "its true ε is larger than drawn"
    return reasons
