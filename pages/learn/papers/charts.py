"""Draw a paper's figure: what is stored, what is printed, and what was run again.

Curves are a table with a row for each curve ("label") and x, and with the mean over runs, its 95 % interval
("low", "high") and the number of runs. `recipe` says which runs gave them; for a formula it is None.
"""

import math
from itertools import cycle

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.experiments import Recipe
from dppca_core.experiments.draws import model_or_table
from dppca_core.experiments.papers import Figure
from dppca_core.experiments.sweeps.recipe import METRICS
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.populations.synthetic import Synthetic
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, arms, axis, line, marked_line, marks, one_panel, rounded
from pages.shared.settings.catalogue import CHOICES

Y_TITLES = {METRICS[metric]: text.METRIC_TITLES[metric] for metric in ("sin", "projector", "energy")} | {
    "covariance_error": "relative error of the covariance",
    "seconds": "seconds a run",
    "bound": "bound on ‖sin Θ‖<sub>F</sub>",
}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "pentagon", "star", "hexagon", "cross", "x")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_LOG_FROM = 12.0  # ratio of the largest to the smallest value from which an axis is logarithmic


def looks(curves: pd.DataFrame) -> dict[str, style.Look]:
    """Return colour, marker and dash of each curve: its method's, or by rank where curves share a method."""
    methods = curves.drop_duplicates("label").set_index("label")["method"]
    if methods.is_unique:
        return {str(label): style.look(method) for label, method in methods.items()}
    ranked = zip(methods.index, cycle(style.SERIES), cycle(_SYMBOLS), cycle(_DASHES), strict=False)
    return {label: style.Look(*look) for label, *look in ranked}


def comparison(
    figure: Figure, recipe: Recipe | None, curves: pd.DataFrame, again: pd.DataFrame | None = None
) -> Trace:
    """Draw means with 95 % intervals, printed numbers as open marks, and a second run as crosses."""
    traces: list[Trace] = []
    formula = any(run.formula is not None for run in figure.runs)
    for label, look in looks(curves).items():
        curve = curves[curves["label"] == label].sort_values("x")
        name = text.symbols(label) or "this run"
        drawn = [_series(name, look, curve, formula)]
        if again is not None:
            second = again[again["label"] == label].sort_values("x")
            at: Trace = {"x": rounded(second["x"].to_numpy()), "y": rounded(second["mean"].to_numpy())}
            drawn.append(marks(1, f"{name}, run again", look.colour, "x-thin", size=9, **at))
        printed = [point for point in figure.printed if point.label == label]
        if printed:
            at = {"x": [point.x for point in printed], "y": [point.value for point in printed]}
            symbol = f"{look.symbol.removesuffix('-open')}-open"  # the curve's own marker, but open
            points = marks(1, f"{name}, printed", look.colour, symbol, size=13, **at)
            drawn.append(points | {"hovertemplate": "printed: %{y}<extra></extra>"})
        traces += [trace | {"legendgroup": name} for trace in drawn]
    values = np.array([*curves["mean"], *(point.value for point in figure.printed)], dtype=float)
    guess = _guess(figure, recipe, curves)
    if guess is not None:
        traces.append(line(1, "random guess", style.GUESS, "dot", showlegend=True) | guess)
        values = np.append(values, guess["y"])
    # Traces without a point explain in the legend what open marks and crosses are.
    key: Trace = {"x": [None], "y": [None], "showlegend": True}
    if figure.printed:
        traces.append(marks(1, "open: printed in the paper", style.GUESS, "circle-open", size=10, **key))
    if again is not None:
        traces.append(marks(1, "run again", style.GUESS, "x-thin-open", size=10, **key))
    title = CHOICES[figure.x].label if figure.x in CHOICES else figure.x
    across = _axis(title, curves["x"].to_numpy(dtype=float), may_log=figure.x != "round")
    upward = _axis(Y_TITLES[figure.metric], values, may_log=figure.metric != "captured_energy")
    return one_panel(traces, legend_at=-0.17, height=430, xaxis=across, yaxis=upward)


def _series(name: str, look: style.Look, curve: pd.DataFrame, formula: bool) -> Trace:
    x, y = (rounded(curve[column].to_numpy()) for column in ("x", "mean"))
    series = marked_line(name, look, x, y, size=8)
    if formula:
        return series | {"mode": "lines"}
    if len(curve) and curve["runs"].min() > 1:
        low, middle, high = (curve[column].to_numpy() for column in ("low", "mean", "high"))
        series["error_y"] = arms(low, middle, high, look.colour, thickness=1.5, width=4)
    return series


def _guess(figure: Figure, recipe: Recipe | None, curves: pd.DataFrame) -> Trace | None:
    """Return x and y of a random subspace's error; None if the figure has none, or curves of several d, k."""
    if recipe is None or figure.metric not in ("sin_theta", "projector_distance"):
        return None
    if {"d", "k"} & set(recipe.swept_names) - {figure.x}:  # d or k is swept, and it is not the x axis
        return None
    population = recipe.population
    # As in the runs, a table's recipe that states no k asks for one direction.
    k = population.k if isinstance(population, Synthetic) else int(recipe.k or 1)
    size = {"d": model_or_table(population).d, "k": k}
    # The distance of two projectors is sqrt 2 ||sin Theta||_F.
    factor = math.sqrt(2) if figure.metric == "projector_distance" else 1.0
    xs = sorted(set(curves["x"]))
    sizes = [size | {figure.x: int(x)} if figure.x in size else size for x in xs]
    guesses = [random_guess(**each) for each in sizes]
    return {"x": rounded(xs), "y": rounded([factor * guess for guess in guesses])}


def _axis(title: str, values: Array, may_log: bool) -> Trace:
    known = values[np.isfinite(values)]
    if may_log and len(known) and known.min() > 0 and known.max() / known.min() >= _LOG_FROM:
        # Write errors as 0.1 and 0.01, numbers of patients as powers.
        form = "e" if known.max() < 1000 else "power"
        return axis(title, type="log", dtick=1, exponentformat=form, minexponent=4)
    return axis(title, rangemode="tozero" if len(known) and known.min() >= 0 else "normal")
