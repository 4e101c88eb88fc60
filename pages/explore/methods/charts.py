"""Methods against each other -> figures as plain dictionaries. No Streamlit: no browser in tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps.recipe import METRICS, Value
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.populations.spiked import SpikedModel
from dppca_core.records import TRUSTS
from pages.explore.methods.sweeps import SweepSetting
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import error_title, factor
from pages.shared.charts.traces import ZERO, Trace, axis, band, line, plain_figure, rounded
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings

_LOG_FROM = 30.0  # an axis whose ends differ by more is logarithmic


class ComparisonMeasure:
    """What is on the vertical axis: a column of a sweep's table, in the units of the screen."""

    def __init__(self, found: Results, settings: Settings, panel: str) -> None:
        self.found, self.panel = found, panel
        plain = settings["view"] == "board"
        self.energy = panel == "error" and settings["metric"] == "energy"
        self.factor = factor(settings)
        self.column = METRICS["energy"] if self.energy else METRICS["sin"]
        self.log = settings["scale"] == "log" and not self.energy
        self.title = error_title(settings)
        if self.energy:
            self.title = "share of signal captured" if plain else text.METRIC_TITLES["energy"]
        if panel == "time":
            self.column, self.factor, self.title = "seconds", 1e3, "time per fit (ms)"
        if panel == "bytes":
            self.column, self.factor, self.title = (
                "bytes_sent_per_hospital",
                1.0,
                "sent by a hospital (bytes)",
            )
        self.errs = panel not in ("time", "bytes")

    def of(self, rows: pd.DataFrame) -> Array:
        """The finite values of these rows."""
        values = rows[self.column].to_numpy(dtype=float, na_value=np.nan) * self.factor
        finite: Array = values[np.isfinite(values)]
        return finite

    def said(self, value: float) -> str:
        """A value as a sentence has it."""
        return f"{value:.3f}" if self.energy else text.error(value)

    def beats(self, value: float, guess: float) -> bool:
        """Whether this is a tenth better than a random guess: less is luck, or not worth a protocol."""
        return value > 1.1 * guess if self.energy else value < 0.9 * guess

    def guess(self, name: str, value: Value) -> float:
        """What a random subspace gives where the swept parameter has this value."""
        population = self.found.experiment.population
        d, k, eigenvalues = self.found.experiment.d, self.found.experiment.k, self.found.truth.eigenvalues
        if isinstance(population, SpikedModel) and name in ("d", "k", "s"):
            sizes = {"d": d, "k": k, "s": population.s} | {name: int(value)}
            d, k = sizes["d"], sizes["k"]
            if self.energy:
                eigenvalues = replace(population, **sizes).eigenvalues
        elif name == "k":
            k = int(value)
        if self.energy:
            return subspace_metrics.random_energy(eigenvalues, k)
        return self.factor * subspace_metrics.random_guess(d, k)


def spread(
    table: pd.DataFrame, measure: ComparisonMeasure, method: str, name: str
) -> tuple[list[float], Array]:
    """The swept values of which something is measured, and 10, 50 and 90 % there, (3, m)."""
    at, found = [], []
    for value, rows in table[table["method"] == method].groupby(name):
        values = measure.of(rows)
        if len(values):
            at.append(float(value))
            found.append(quantiles(values))
    return at, np.array(found).reshape(-1, 3).T


def order(methods: Sequence[str]) -> list[str]:
    """Methods of one trust beside each other, those who trust more first."""
    return sorted(methods, key=lambda name: TRUSTS.index(METHODS[name].trust))


def marked(name: str, k: int) -> str:
    """A method's title with the mark of its guarantee."""
    return METHODS[name].title + text.GUARANTEE_MARKS.get(METHODS[name].guarantee_at(k), "")


def grouped(name: str) -> Trace:
    """Its place in the legend: under whom it trusts."""
    trust = METHODS[name].trust
    return {"legendgroup": trust, "legendgrouptitle": {"text": text.TRUST_TITLES[trust]}}


def against(
    table: pd.DataFrame,
    measure: ComparisonMeasure,
    methods: Sequence[str],
    of: SweepSetting,
    settings: Settings,
) -> dict[str, Any]:
    """Every method's median and 10-90 % band against what is swept; random guess; the current value."""
    name, here = of.over, of.here
    k = measure.found.experiment.k
    bands: list[Trace] = []
    lines: list[Trace] = []
    lowest, highest = math.inf, 0.0
    spreads = {method: spread(table, measure, method, name) for method in order(methods)}
    for _, values in spreads.values():
        positive = values[values > (ZERO if measure.errs else 0)]
        lowest, highest = min([lowest, *positive]), max([highest, *values.flat])
    ends = [float(value) for value in of.values]
    guesses = [measure.guess(name, value) for value in ends] if measure.errs else []
    reach, floor = span_of(measure, lowest, max([highest, *guesses]))
    for method, (at, (low, middle, high)) in spreads.items():
        look, title = style.look(method), marked(method, k)
        if measure.panel != "bytes" and len(at) > 1:
            edges = band(1, title, look.colour, at)
            edges[0]["y"], edges[1]["y"] = (rounded(np.maximum(v, floor)) for v in (low, high))
            edges[1]["fillcolor"] = style.faded(look.colour, 0.05 if measure.panel == "time" else 0.12)
            bands += [edge | {"legendgroup": METHODS[method].trust} for edge in edges]
        mark = {"symbol": look.symbol, "size": 7, "color": look.colour}
        lines.append(
            line(1, title, look.colour, look.dash, x=at, y=rounded(np.maximum(middle, floor)))
            | {"mode": "lines+markers", "marker": mark, "showlegend": True}
            | {"hovertemplate": "%{x:.4~g}: %{y:.3~g}"}
            | grouped(method)
        )
    if measure.errs:
        lines.append(line(1, "random guess", style.GUESS, "dot", x=ends, y=rounded(guesses), showlegend=True))
    edge = [10**v for v in reach] if measure.log else reach
    spot = line(1, "this setting", "#000000", x=[here] * 2, y=edge, meta="text-colour", hoverinfo="skip")
    return plain_figure([*bands, *lines, spot], across(of.over, ends, settings), upward(measure, reach))


def span_of(measure: ComparisonMeasure, lowest: float, highest: float) -> tuple[list[float], float]:
    """The range of the vertical axis, and what stands on its lower edge."""
    if measure.energy:
        return [0.0, 1.03], 0.0
    if not measure.log:
        return [0.0, 1.12 * max(highest, 1e-3)], 0.0
    least = min(lowest, 1e-2) if measure.errs else min(lowest, highest or 1.0)
    low = math.floor(math.log10(least))
    return [float(low), math.log10(1.6 * max(highest, 10.0**low))], 10.0**low


def upward(measure: ComparisonMeasure, span: Sequence[float]) -> Trace:
    """The vertical axis."""
    form = "e" if measure.errs else "power"  # errors as 0.1 and 0.01, as on every page
    ticks = {"type": "log", "dtick": 1, "exponentformat": form, "minexponent": 6} if measure.log else {}
    return axis(measure.title, range=list(span)) | ticks


def across(key: str, values: Sequence[float], settings: Settings) -> Trace:
    """The horizontal axis of a swept control."""
    title = catalogue.CHOICES[key].name(settings["view"] == "board")
    low, high = values[0], values[-1]
    if high / low < _LOG_FROM:
        pad = 0.04 * (high - low)
        return axis(title, range=[low - pad, high + pad])
    pad = 0.03 * math.log10(high / low)
    ticks: Trace = {"dtick": 1, "exponentformat": "power", "minexponent": 4}
    if key == "epsilon":
        ticks = {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"]}
    return axis(title, type="log", range=[math.log10(low) - pad, math.log10(high) + pad]) | ticks


def needed(
    found: pd.DataFrame, settings: Settings, k: int, grid: Sequence[Value], here: Value, rows: int
) -> dict[str, Any]:
    """A bar for every method: patients needed, with the interval; words for one that never gets there.

    `rows`: of the chart, so that it keeps its height while methods are still measured.
    """
    never = [marked(name, k) for name in found["method"][found["state"] == "never"]]
    ranked = found[np.isfinite(found["patients"])].sort_values("patients", ascending=False)
    names = [marked(name, k) for name in ranked["method"]]
    low, high = float(grid[0]) / 10, float(grid[-1]) * 2  # a bar at the edge still has room for its number
    values = ranked["patients"].to_numpy()
    top = np.minimum(ranked["high"].to_numpy(), high)
    said = [
        f"{'≤ ' if state == 'at most' else ''}{text.patients(value)}"
        for value, state in zip(values, ranked["state"], strict=True)
    ]
    arms = {"array": rounded(top - values), "arrayminus": rounded(values - ranked["low"].to_numpy())}
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": rounded(values),
        "y": names,
        "marker": {"color": [style.look(name).colour for name in ranked["method"]]},
        "error_x": arms | {"symmetric": False, "thickness": 2, "width": 5, "color": style.GUESS},
        "text": said,
        "textposition": "inside",
        "insidetextanchor": "start",
        "textangle": 0,
        "hovertemplate": "%{y}: %{text}<extra></extra>",
        "xaxis": "x",
        "yaxis": "y",
        "showlegend": False,
    }
    nobody = {"mode": "text", "text": ["not reached"] * len(never), "textposition": "middle right"}
    words = line(1, "not reached", style.GUESS, x=[1.15 * low] * len(never), y=never, hoverinfo="skip")
    title = "patients needed" if settings["view"] == "board" else "patients needed, n"
    bottom = axis(title, type="log", range=[math.log10(low), math.log10(high)])
    ticks = {"tickvals": [1e3, 1e6, 1e9], "ticktext": ["1,000", "1 million", "1 billion"]}
    up = axis("", automargin=True, type="category", ticksuffix=" ")
    up |= {"categoryarray": [*never, *names], "range": [-0.6, rows - 0.4]}
    drawn = plain_figure([bars, words | nobody], bottom | ticks, up)
    spot = {"type": "line", "x0": here, "x1": here, "yref": "paper", "y0": 0, "y1": 1, "layer": "above"}
    spot["line"] = {"color": style.GUESS, "width": 1.5, "dash": "dash"}
    drawn["layout"] |= {"height": max(220, 110 + 34 * rows), "showlegend": False, "shapes": [spot]}
    return drawn
