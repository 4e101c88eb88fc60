"""The frontier of privacy and error: points to click, their lower convex hull, and what it says.

No Streamlit: tested without a browser.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.methods import METHODS
from pages.explore.methods.charts import (
    ComparisonMeasure,
    across,
    grouped,
    marked,
    order,
    span_of,
    spread,
    upward,
)
from pages.explore.methods.sweeps import AXES
from pages.explore.methods.text import true_epsilon
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.traces import ZERO, line, plain_figure, rounded
from pages.shared.settings.catalogue import Settings


class Corner(NamedTuple):
    """A corner of the hull; `level`: other methods there whose 10-90 % interval overlaps."""

    method: str
    epsilon: float
    error: float
    level: frozenset[str]


def hull(table: pd.DataFrame, measure: ComparisonMeasure, methods: Sequence[str]) -> list[Corner]:
    """Corners of the lower convex hull of these methods' medians against epsilon, in the axes as drawn.

    Points hardly better than a random guess are no part of it.
    """
    _, floor = span_of(measure, *_extremes(table, measure, methods))
    owner: dict[tuple[float, float], str] = {}
    bands: dict[float, dict[str, tuple[float, float]]] = {}
    guess = measure.guess("epsilon", 1.0)
    for method in methods:
        at, (low, middle, high) = spread(table, measure, method, "epsilon")
        for x, y, *ends in zip(at, np.maximum(middle, floor).tolist(), low, high, strict=True):
            bands.setdefault(x, {})[method] = (ends[0], ends[1])
            if measure.beats(y, guess):
                owner.setdefault((x, y), method)
    found = []
    for x, y in lower_hull(list(owner), measure.log):
        best = owner[x, y]
        reach = bands[x][best][1]
        level = frozenset(name for name, ends in bands[x].items() if name != best and ends[0] <= reach)
        found.append(Corner(best, x, y, level))
    return found


def _extremes(table: pd.DataFrame, measure: ComparisonMeasure, methods: Sequence[str]) -> tuple[float, float]:
    medians = [spread(table, measure, method, "epsilon")[1][1] for method in methods]
    seen = [value for values in medians for value in values if value > ZERO]
    return min(seen, default=1e-2), max([measure.guess("epsilon", 1.0), *seen])


def figure(
    table: pd.DataFrame,
    measure: ComparisonMeasure,
    methods: Sequence[str],
    corners: Sequence[Corner],
    settings: Settings,
) -> dict[str, Any]:
    """Medians as points to click, error against epsilon, the hull under them, a ring around the release."""
    reach, floor = span_of(measure, *_extremes(table, measure, methods))
    ends = sorted({*AXES["epsilon"], *table["epsilon"].astype(float)})
    shade = style.faded("#C58300", 0.8)
    edge = line(
        1,
        "lower convex hull",
        shade,
        x=[corner.epsilon for corner in corners],
        hoverinfo="skip",
        showlegend=True,
    )
    edge |= {"y": rounded([corner.error for corner in corners]), "line": {"color": shade, "width": 6}}
    traces, ring = [edge], line(1, "release below", style.GUESS, mode="markers", hoverinfo="skip")
    ring["marker"] = {"symbol": "circle-open", "size": 20, "color": style.GUESS, "line": {"width": 2.5}}
    for method in order(methods):
        at, (_, middle, _) = spread(table, measure, method, "epsilon")
        look, drawn = style.look(method), rounded(np.maximum(middle, floor))
        mark = {"symbol": look.symbol, "size": 10, "color": look.colour}
        thin = {"color": style.faded(look.colour, 0.5), "dash": look.dash, "width": 1.2}
        traces.append(
            line(1, marked(method, measure.found.experiment.k), look.colour, x=at, y=drawn, showlegend=True)
            | {"mode": "lines+markers", "marker": mark, "line": thin, "uid": method}
            | {"hovertemplate": "ε = %{x}: %{y:.3~g}"}
            | grouped(method)
        )
        if method == settings["compare.release"]:
            here = [i for i, x in enumerate(at) if math.isclose(x, settings["compare.at"])]
            ring |= {"x": [at[i] for i in here], "y": [drawn[i] for i in here]}
    guess = rounded([measure.guess("epsilon", 1.0)] * len(ends))
    random = line(1, "random guess", style.GUESS, "dot", x=ends, y=guess, showlegend=True, hoverinfo="skip")
    return plain_figure([*traces, random, ring], across("epsilon", ends, settings), upward(measure, reach))


def lower_hull(points: Sequence[tuple[float, float]], log_up: bool) -> list[tuple[float, float]]:
    """Corners of the lower convex hull, left to right, x on a log axis and y on a log or linear one.

    The monotone chain of Andrew (1979), its lower half.
    """
    lowest: dict[float, float] = {}
    for x, y in points:
        lowest[x] = min(y, lowest.get(x, math.inf))
    placed = sorted((math.log(x), math.log(y) if log_up else y, x, y) for x, y in lowest.items())
    kept: list[tuple[float, float, float, float]] = []
    for corner in placed:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], corner) <= 0:
            kept.pop()
        kept.append(corner)
    return [(x, y) for _, _, x, y in kept]


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def off_hull(experiment: ExplorerExperiment, methods: Sequence[str]) -> dict[str, str]:
    """Methods that cannot be on the hull, and why: another promise, or a larger epsilon than drawn."""
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


def hull_note(off: Mapping[str, str]) -> str:
    """Which methods the hull leaves off, and why."""
    by: dict[str, list[str]] = {}
    for name, reason in off.items():
        by.setdefault(reason, []).append(METHODS[name].title)
    said = "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in by.items())
    return f"Not counted on the hull: {said}." if said else ""


def said(corners: Sequence[Corner], settings: Settings) -> str:
    """Which methods the hull runs through, from strict to loose privacy."""
    if not corners:
        return "None of these methods is a tenth better than a random guess, or can be on the hull."
    plain = settings["view"] == "board"
    runs: list[tuple[str, float, float, frozenset[str]]] = []
    for name, epsilon, _, level in corners:
        if runs and runs[-1][0] == name:
            _, first, _, before = runs.pop()
            runs.append((name, first, epsilon, before & level))
        else:
            runs.append((name, epsilon, epsilon, level))
    symbol = "privacy setting" if plain else "ε ="
    parts = [
        f"{METHODS[name].title} at {symbol} {_range(low, high)} "
        f"({text.TRUST_TITLES[METHODS[name].trust].lower()}){_level_with(level)}"
        for name, low, high, level in runs
    ]
    return f"Least error for its privacy, as far as drawn: {'; '.join(parts)}."


def _level_with(names: Collection[str]) -> str:
    titles = [METHODS[name].title for name in sorted(names)]
    return f", with {' and '.join(titles)} level within the spread of the runs" if titles else ""


def _range(low: float, high: float) -> str:
    return text.number(low) if low == high else f"{text.number(low)} to {text.number(high)}"
