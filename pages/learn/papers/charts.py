"""Draw a paper's figure as a plain dictionary: what is stored, what is printed, and what was run again."""

import math
from typing import Any

import numpy as np
import pandas as pd

from dppca_core import datasets
from dppca_core.arrays import Array
from dppca_core.experiments import Recipe
from dppca_core.experiments.papers import Figure
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.populations.spiked import SpikedModel
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, line, one_panel, rounded

X_TITLES = {
    **{"epsilon": "privacy loss ε", "delta": "failure chance δ", "spike": "spike eigenvalue λ"},
    **{"n": "patients n", "d": "features d", "k": "components k", "s": "rows that matter s"},
    **{"s_hat": "rows kept ŝ", "providers": "hospitals N", "iterations": "rounds T", "round": "round"},
}
Y_TITLES = {
    "sin_theta": "error ‖sin Θ‖<sub>F</sub>",
    "projector_distance": "error ‖VVᵀ − WWᵀ‖<sub>F</sub>",
    "captured_energy": "captured energy (share)",
    "covariance_error": "relative error of the covariance",
    "seconds": "seconds a run",
    "bound": "bound on ‖sin Θ‖<sub>F</sub>",
}
SHADES = ("#1F7FC0", "#D55E00", "#009E73", "#CC79A7", "#C58300", "#8468B8", "#2F9AD0", "#7A8793", "#8C6D1F")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "pentagon", "star", "hexagon", "cross", "x")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_LOG_FROM = 12.0  # ratio of the largest to the smallest value from which an axis is logarithmic


def looks(curves: pd.DataFrame) -> dict[str, style.Look]:
    """Return a look for each curve: its method's where no two curves share one, else by rank."""
    methods = curves.drop_duplicates("label").set_index("label")["method"]
    if methods.is_unique:
        return {label: style.look(method) for label, method in methods.items()}
    return {
        label: style.Look(SHADES[i % len(SHADES)], _SYMBOLS[i % len(_SYMBOLS)], _DASHES[i % len(_DASHES)])
        for i, label in enumerate(methods.index)
    }


def comparison(
    figure: Figure, recipe: Recipe | None, curves: pd.DataFrame, again: pd.DataFrame | None = None
) -> dict[str, Any]:
    """Draw means with their 95 % intervals, printed numbers as open marks, and a second run as crosses."""
    traces: list[Trace] = []
    formula = any(run.formula is not None for run in figure.runs)
    for label, look in looks(curves).items():
        curve = curves[curves["label"] == label].sort_values("x")
        name = text.symbols(label) or "this run"
        traces.append(_series(name, look, curve, formula) | {"legendgroup": name})
        if again is not None:
            second = again[again["label"] == label].sort_values("x")
            x, y = rounded(second["x"]), rounded(second["mean"])
            traces.append(_marks(f"{name}, run again", look.colour, "x-thin", 9, x=x, y=y, legendgroup=name))
        printed = [(point.x, point.value) for point in figure.printed if point.label == label]
        if printed:
            x, y = (list(values) for values in zip(*printed, strict=True))
            symbol = f"{look.symbol.removesuffix('-open')}-open"
            marks = _marks(f"{name}, printed", look.colour, symbol, 13, x=x, y=y, legendgroup=name)
            traces.append(marks | {"hovertemplate": "printed: %{y}<extra></extra>"})
    values = np.array([*curves["mean"], *(point.value for point in figure.printed)], dtype=float)
    guess = _guess(figure, recipe, curves)
    if guess is not None:
        traces.append(line(1, "random guess", style.GUESS, "dot", showlegend=True) | guess)
        values = np.append(values, guess["y"])
    for name, symbol, shown in (
        ("open: printed in the paper", "circle-open", bool(figure.printed)),
        ("run again", "x-thin-open", again is not None),
    ):
        if shown:
            traces.append(_marks(name, style.GUESS, symbol, 10, x=[None], y=[None], showlegend=True))
    across = _axis(X_TITLES[figure.x], curves["x"].to_numpy(dtype=float), figure.x != "round")
    upward = _axis(Y_TITLES[figure.metric], values, figure.metric != "captured_energy")
    drawn = one_panel(traces, legend_at=-0.17, height=430, xaxis=across, yaxis=upward)
    return drawn | {"filename": figure.key}


def _series(name: str, look: style.Look, curve: pd.DataFrame, formula: bool) -> Trace:
    x, y = rounded(curve["x"]), rounded(curve["mean"])
    series = line(1, name, look.colour, look.dash, x=x, y=y, showlegend=True)
    series["mode"] = "lines" if formula else "lines+markers"
    series["marker"] = {"symbol": look.symbol, "size": 8, "color": look.colour}
    if not formula and len(curve) and curve["runs"].min() > 1:
        up, down = rounded(curve["high"] - curve["mean"]), rounded(curve["mean"] - curve["low"])
        bars = {"type": "data", "symmetric": False, "array": up, "arrayminus": down}
        series["error_y"] = bars | {"thickness": 1.5, "width": 4, "color": look.colour}
    return series


def _marks(name: str, colour: str, symbol: str, size: int, **more: Any) -> Trace:
    marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 2, "color": colour}}
    return line(1, name, colour, mode="markers", marker=marker, **more)


def _guess(figure: Figure, recipe: Recipe | None, curves: pd.DataFrame) -> Trace | None:
    """Return the error of a random subspace, where it is the same for all curves."""
    if recipe is None or figure.metric not in ("sin_theta", "projector_distance"):
        return None
    swept = [name for name in recipe.names if name in ("d", "k")]
    if any(name != figure.x for name in swept):
        return None
    population = recipe.population
    d = population.d if isinstance(population, SpikedModel) else datasets.table(population).d
    k = population.k if isinstance(population, SpikedModel) else int(recipe.k or 1)
    factor = math.sqrt(2) if figure.metric == "projector_distance" else 1.0
    xs = sorted(set(curves["x"]))
    sizes = [(int(x) if figure.x == "d" else d, int(x) if figure.x == "k" else k) for x in xs]
    return {"x": rounded(xs), "y": rounded([factor * random_guess(*size) for size in sizes])}


def _axis(title: str, values: Array, may_log: bool) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    if may_log and len(known) and known.min() > 0 and known.max() / known.min() >= _LOG_FROM:
        form = "e" if known.max() < 1000 else "power"  # errors as 0.1 and 0.01, patients as powers
        return axis(title, type="log", dtick=1, exponentformat=form, minexponent=4)
    return axis(title, rangemode="tozero" if len(known) and known.min() >= 0 else "normal")
