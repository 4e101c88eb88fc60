"""Draw methods beside each other, and beside packages, from tables of runs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from plotly.graph_objects import Figure

from dppca_core.experiments.explorer.results import RUNS, UNIT_NAMES, Results
from dppca_core.experiments.studies import ComparisonStudy, PatientsStudy
from dppca_core.experiments.sweeps.of_experiment import AXES
from dppca_core.experiments.sweeps.recipe import Value
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import random_guess
from pages.explore.methods.model import packages
from pages.explore.methods.model.frontier import Corner, span
from pages.explore.methods.model.measure import ComparisonMeasure, SweepRuns, order, spreads
from pages.explore.methods.model.sweeps import SweepExperiment
from pages.shared import text
from pages.shared.charts import (
    Trace,
    arms,
    axis,
    in_notebook,
    line,
    marked_line,
    marks,
    plain_figure,
    rounded,
    style,
)
from pages.shared.charts.traces import EPSILON_TICKS, band, this_setting
from pages.shared.settings.catalogue import CHOICES

_LOG_FROM = 30.0  # ratio of an axis's ends from which it is logarithmic
_PACKAGES = {
    packages.NO_PRIVACY: style.Look(style.NOT_PRIVATE, "x", "longdash"),
    packages.BEST_PACKAGE: style.Look(style.VERMILION, "triangle-down", "dash"),
    "OpenDP PCA": style.Look(style.PINK, "star", "dashdot"),
    "diffprivlib PCA": style.Look(style.OCHRE, "hexagon", "longdash"),
} | {title: style.look(name) for title, name in packages.OURS.items()}


def figure(study: ComparisonStudy | PatientsStudy, metric: str = "sin") -> Figure:
    """Draw a study as the page does: methods against what is swept, or how many patients each needs.

    Args:
        study: Of `studies.compare` or `studies.patients_needed`, in which a method is once.
        metric: The unit of errors: "sin", "projector", "share" or "degrees". Patients are needed for an
            error in sin Theta.

    Returns:
        A Plotly figure, which a notebook shows.

    Raises:
        ValueError: For another metric, or a method that has several labels.
    """
    methods = [chosen.method for chosen in study.recipe.methods]
    if len(set(methods)) < len(methods):
        raise ValueError("study must have each method once to be drawn: to_frame() has all labels")
    settings = in_notebook.settings(metric)
    measure = ComparisonMeasure(Results(study.experiment), settings, "error")
    if isinstance(study, PatientsStudy):
        drawn = needed(study.to_frame(), measure, study.values, len(methods))
        drawn["layout"]["shapes"] = []  # no number of patients is set
        return in_notebook.plotly(drawn)
    sweep = SweepExperiment(study.over, study.values, study.here, study.recipe, {}, {})
    return in_notebook.plotly(
        against(SweepRuns(measure, sweep, study.runs, methods, "", study.runs.iloc[:0]))
    )


def against(runs: SweepRuns) -> dict[str, Any]:
    """Draw each method's median and band against what is swept; bytes are the same in every run."""
    measure, sweep, table, unit = runs.measure, runs.sweep, runs.table, runs.unit
    bands: list[Trace] = []
    lines: list[Trace] = []
    drawn = spreads(table, measure, order(runs.methods), sweep.over)
    ends = [float(value) for value in sweep.values]
    guesses = [measure.guess(sweep.over, value) for value in ends] if measure.errs else []
    on_unit = list(dict.fromkeys(unit["method"])) if measure.errs else []
    beside = spreads(unit, measure, on_unit, sweep.over)
    every = [v for part in (drawn, beside) for _, values in part.values() for v in values.flat]
    reach, floor = measure.span(every, guesses)
    # Values below the lower end of the axis, `floor`, are drawn on it.
    for method, (x, (low, _, high)) in drawn.items():
        if measure.panel != "bytes" and len(x) > 1:
            low, high = (rounded(np.maximum(v, floor)) for v in (low, high))
            colour = style.look(method).colour
            edges = band(1, METHODS[method].title, colour, x, low, high)
            edges[1]["fillcolor"] = style.faded(colour, 0.05 if measure.panel == "time" else 0.12)
            bands += [edge | {"legendgroup": METHODS[method].trust} for edge in edges]
    named = [(name, METHODS[name], spread) for name, spread in drawn.items()]
    on_unit_rows = [(UNIT_NAMES[method], spread) for method, spread in beside.items()]
    named += [(name, RUNS[name], spread) for name, spread in on_unit_rows]
    for name, run, (x, (_, middle, _)) in named:
        y = rounded(np.maximum(middle, floor))
        shape = marked_line(run.title, style.look(name), x, y, hovertemplate="%{x:.4~g}: %{y:.3~g}")
        lines.append(shape | _grouped(run.name))
    if measure.errs:
        lines.append(line(1, "random guess", style.GUESS, "dot", x=ends, y=rounded(guesses), showlegend=True))
    whole = [10**v for v in reach] if measure.log else reach  # a logarithmic range is in powers of ten
    here = this_setting(1, [sweep.here] * 2, whole)
    return plain_figure([*bands, *lines, here], _across(sweep.over, ends), _upward(measure, reach))


def needed(
    estimates: pd.DataFrame, measure: ComparisonMeasure, grid: Sequence[Value], rows: int
) -> dict[str, Any]:
    """Draw how many patients each method needs, with room for `rows` bars; grid: the numbers run."""
    here = measure.results.experiment.n
    never = [METHODS[name].title for name in estimates["method"][estimates["state"] == "never"]]
    ranked = estimates[np.isfinite(estimates["patients"])].sort_values("patients", ascending=False)
    names = [METHODS[name].title for name in ranked["method"]]
    low, high = float(grid[0]) / 10, float(grid[-1]) * 2  # a bar at the edge still has room for its number
    values = ranked["patients"].to_numpy()
    # An interval without an upper end goes to the edge of the chart.
    top = np.minimum(ranked["high"].to_numpy(), high)
    labels = [
        f"{'≤ ' if state == 'at most' else ''}{text.patients(value)}"
        for value, state in zip(values, ranked["state"], strict=True)
    ]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": rounded(values),
        "y": names,
        "marker": {"color": [style.look(name).colour for name in ranked["method"]]},
        "error_x": arms(ranked["low"].to_numpy(), values, top, style.GUESS, thickness=2, width=5),
        "text": labels,
        "textposition": "inside",
        "insidetextanchor": "start",
        "textangle": 0,
        "hovertemplate": "%{y}: %{text}<extra></extra>",
    }
    # Methods that never reach the error have words in place of a bar, just inside the left edge.
    never_text = {"mode": "text", "text": ["not reached"] * len(never), "textposition": "middle right"}
    words = line(1, "not reached", style.GUESS, x=[1.15 * low] * len(never), y=never, hoverinfo="skip")
    bottom = axis("patients needed, n", type="log", range=[math.log10(low), math.log10(high)])
    ticks = {"tickvals": [1e3, 1e6, 1e9], "ticktext": ["1,000", "1 million", "1 billion"]}
    up = axis("", automargin=True, type="category", ticksuffix=" ")
    up |= {"categoryarray": [*never, *names], "range": [-0.6, rows - 0.4]}
    drawn = plain_figure([bars, words | never_text], bottom | ticks, up)
    # Mark the patients that are set now by an upright line from the bottom of the chart to its top.
    here_line = {"type": "line", "x0": here, "x1": here, "yref": "paper", "y0": 0, "y1": 1, "layer": "above"}
    here_line["line"] = {"color": style.GUESS, "width": 1.5, "dash": "dash"}
    drawn["layout"] |= {"height": max(220, 110 + 34 * rows), "showlegend": False, "shapes": [here_line]}
    return drawn


def frontier(runs: SweepRuns, corners: Sequence[Corner]) -> dict[str, Any]:
    """Draw medians and their hull; a point's trace has its method as "uid", which a click reports."""
    measure, table, settings = runs.measure, runs.table, runs.measure.settings
    points = spreads(table, measure, order(runs.methods), "epsilon")
    reach, floor = span(measure, points)  # values below the axis are drawn on its edge, `floor`
    ends = sorted({*AXES["epsilon"], *table["epsilon"].astype(float)})
    shade = style.faded(style.OCHRE, 0.8)
    x, y = [corner.epsilon for corner in corners], rounded([corner.error for corner in corners])
    name = f"{'upper' if measure.more_is_better else 'lower'} convex hull"
    drawn = [line(1, name, shade, width=6, x=x, y=y, hoverinfo="skip", showlegend=True)]
    ring = marks(1, "release below", style.GUESS, "circle-open", size=20, edge=2.5, hoverinfo="skip")
    for method, (x, (_, middle, _)) in points.items():
        look, y = style.look(method), rounded(np.maximum(middle, floor))
        thin = {"color": style.faded(look.colour, 0.5), "dash": look.dash, "width": 1.2}
        more = {"line": thin, "uid": method, "hovertemplate": "ε = %{x}: %{y:.3~g}"}
        drawn.append(marked_line(METHODS[method].title, look, x, y, size=10, **more, **_grouped(method)))
        if method == settings["compare.release"]:
            here = [i for i, e in enumerate(x) if math.isclose(e, settings["compare.at"])]
            ring |= {"x": [x[i] for i in here], "y": [y[i] for i in here]}
    guess = rounded([measure.guess("epsilon", 1.0)] * len(ends))  # the same at every epsilon
    random = line(1, "random guess", style.GUESS, "dot", x=ends, y=guess, showlegend=True, hoverinfo="skip")
    return plain_figure([*drawn, random, ring], _across("epsilon", ends), _upward(measure, reach))


def against_packages(neighbours: str) -> dict[str, Any]:
    measured, k = packages.rows("sparse population", neighbours), packages.stored().record["settings"]["k"]
    drawn = []
    for recipe, look in _PACKAGES.items():
        rows = measured[(measured["recipe"] == recipe) & measured["error"].notna()].sort_values("d")
        if len(rows):
            x: list[float | None] = []
            y: list[float | None] = []
            for _, group in rows.groupby("n"):  # a gap between them: the error also depends on n
                x += [*map(float, group["d"]), None]
                y += [*rounded(group["error"].to_numpy()), None]
            drawn.append(marked_line(recipe, look, x, y, size=8, hovertemplate="%{x}: %{y:.3~g}"))
    sizes = sorted(measured["d"].unique().tolist())
    guess = rounded([random_guess(d, k) for d in sizes])
    drawn.append(line(1, "random guess", style.GUESS, "dot", x=sizes, y=guess, showlegend=True))
    ticks = {"tickvals": sizes, "ticktext": [str(d) for d in sizes]}
    across = axis("features d", type="log") | ticks
    figure = plain_figure(drawn, across, axis(text.METRIC_TITLES["sin"], decades=True))
    figure["layout"]["legend"] |= {"traceorder": "normal"}
    return figure


def _grouped(name: str) -> Trace:
    trust = METHODS[name].trust
    return {"legendgroup": trust, "legendgrouptitle": {"text": text.trust_heading(trust)}}


def _upward(measure: ComparisonMeasure, span: Sequence[float]) -> Trace:
    powers = {} if measure.errs or not measure.log else {"exponentformat": "power"}
    return axis(measure.title, decades=measure.log, range=list(span), **powers)


def _across(key: str, values: Sequence[float]) -> Trace:
    title = CHOICES[key].label
    low, high = values[0], values[-1]
    # Pad both ends, so that marks there are drawn in full.
    if high / low < _LOG_FROM:
        pad = 0.04 * (high - low)
        return axis(title, range=[low - pad, high + pad])
    pad = 0.03 * math.log10(high / low)
    powers = {"dtick": 1, "exponentformat": "power", "minexponent": 4}
    ticks = EPSILON_TICKS if key == "epsilon" else powers
    return axis(title, type="log", range=[math.log10(low) - pad, math.log10(high) + pad]) | ticks
