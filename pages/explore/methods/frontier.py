"""Draw the frontier of privacy and error: points to click and their lower convex hull. No Streamlit here."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.methods import METHODS
from pages.explore.methods import charts
from pages.explore.methods.charts import ComparisonMeasure
from pages.explore.methods.sweeps import AXES, true_epsilon
from pages.shared.charts import style
from pages.shared.charts.traces import ZERO, line, plain_figure, rounded
from pages.shared.settings.catalogue import Settings


class Corner(NamedTuple):
    """Hold a corner of the hull; `level` has other methods there whose 10-90 % interval overlaps."""

    method: str
    epsilon: float
    error: float
    level: frozenset[str]


def hull(table: pd.DataFrame, measure: ComparisonMeasure, methods: Sequence[str]) -> list[Corner]:
    """Return the corners of the lower convex hull of the medians against epsilon, in the axes as drawn.

    Points hardly better than a random guess are no part of it.
    """
    _, floor = charts.span_of(measure, *_extremes(table, measure, methods))
    owner: dict[tuple[float, float], str] = {}
    bands: dict[float, dict[str, tuple[float, float]]] = {}
    guess = measure.guess("epsilon", 1.0)
    for method in methods:
        at, (low, middle, high) = charts.spread(table, measure, method, "epsilon")
        for x, y, *ends in zip(at, np.maximum(middle, floor).tolist(), low, high, strict=True):
            bands.setdefault(x, {})[method] = (ends[0], ends[1])
            if measure.beats(y, guess):
                owner.setdefault((x, y), method)
    corners = []
    for x, y in lower_hull(list(owner), measure.log):
        best = owner[x, y]
        reach = bands[x][best][1]
        level = frozenset(name for name, ends in bands[x].items() if name != best and ends[0] <= reach)
        corners.append(Corner(best, x, y, level))
    return corners


def _extremes(table: pd.DataFrame, measure: ComparisonMeasure, methods: Sequence[str]) -> tuple[float, float]:
    medians = [charts.spread(table, measure, method, "epsilon")[1][1] for method in methods]
    positive = [value for values in medians for value in values if value > ZERO]
    return min(positive, default=1e-2), max([measure.guess("epsilon", 1.0), *positive])


def figure(
    table: pd.DataFrame,
    measure: ComparisonMeasure,
    methods: Sequence[str],
    corners: Sequence[Corner],
    settings: Settings,
) -> dict[str, Any]:
    """Draw medians as points to click, error against epsilon, their hull, and a ring around the release."""
    reach, floor = charts.span_of(measure, *_extremes(table, measure, methods))
    ends = sorted({*AXES["epsilon"], *table["epsilon"].astype(float)})
    shade = style.faded("#C58300", 0.8)
    x, y = [corner.epsilon for corner in corners], rounded([corner.error for corner in corners])
    edge = line(1, "lower convex hull", shade, x=x, y=y, hoverinfo="skip", showlegend=True)
    traces = [edge | {"line": {"color": shade, "width": 6}}]
    ring = line(1, "release below", style.GUESS, mode="markers", hoverinfo="skip")
    ring["marker"] = {"symbol": "circle-open", "size": 20, "color": style.GUESS, "line": {"width": 2.5}}
    for method in charts.order(methods):
        x, (_, middle, _) = charts.spread(table, measure, method, "epsilon")
        look, y = style.look(method), rounded(np.maximum(middle, floor))
        mark = {"symbol": look.symbol, "size": 10, "color": look.colour}
        thin = {"color": style.faded(look.colour, 0.5), "dash": look.dash, "width": 1.2}
        title = charts.marked(method, measure.results.experiment.k)
        traces.append(
            line(1, title, look.colour, x=x, y=y, showlegend=True)
            | {"mode": "lines+markers", "marker": mark, "line": thin, "uid": method}
            | {"hovertemplate": "ε = %{x}: %{y:.3~g}"}
            | charts.grouped(method)
        )
        if method == settings["compare.release"]:
            here = [i for i, e in enumerate(x) if math.isclose(e, settings["compare.at"])]
            ring |= {"x": [x[i] for i in here], "y": [y[i] for i in here]}
    guess = rounded([measure.guess("epsilon", 1.0)] * len(ends))
    random = line(1, "random guess", style.GUESS, "dot", x=ends, y=guess, showlegend=True, hoverinfo="skip")
    across, upward = charts.across("epsilon", ends, settings), charts.upward(measure, reach)
    return plain_figure([*traces, random, ring], across, upward)


def lower_hull(points: Sequence[tuple[float, float]], log_up: bool) -> list[tuple[float, float]]:
    """Return the corners of the lower convex hull, left to right, x on a log axis, y on a log or linear one.

    The monotone chain of Andrew (1979), its lower half.
    """
    lowest: dict[float, float] = {}
    for x, y in points:
        lowest[x] = min(y, lowest.get(x, math.inf))
    points_as_drawn = sorted((math.log(x), math.log(y) if log_up else y, x, y) for x, y in lowest.items())
    kept: list[tuple[float, float, float, float]] = []
    for corner in points_as_drawn:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], corner) <= 0:
            kept.pop()
        kept.append(corner)
    return [(x, y) for _, _, x, y in kept]


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def off_hull(experiment: ExplorerExperiment, methods: Sequence[str]) -> dict[str, str]:
    """Return why methods cannot be on the hull: another promise, or a larger epsilon than drawn."""
    reasons = {}
    for name in methods:
        method = METHODS[name]
        kind = method.guarantee_at(experiment.k)
        if not method.private:
            reasons[name] = "without privacy"
        elif kind in ("on a good event", "approximate sampler"):
            reasons[name] = "another promise"
        elif any((true_epsilon(experiment, name, e) or 0.0) > e for e in AXES["epsilon"]):
            reasons[name] = "its true ε is larger than drawn"
    return reasons
