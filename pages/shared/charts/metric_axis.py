"""Convert measured cells to the metric on screen, and give its axis. No Streamlit here."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.results import Cell, Results
from dppca_core.numerics import subspace_metrics
from dppca_core.numerics.subspace_metrics import in_unit, runs_in_unit
from pages.shared import text
from pages.shared.charts.traces import Trace, rounded
from pages.shared.settings.catalogue import Settings

_LEAST_ERROR = 1e-4  # below it a logarithmic axis does not begin
SPANS = {"energy": [0.0, 1.03], "share": [0.0, 103.0], "degrees": [0.0, 92.0]}  # of axes that are linear
QUANTITIES = {"share": "share recovered", "degrees": "largest angle"}  # what an error is called
_TICKS = {"degrees": {"dtick": 15}}
Span = tuple[list[float], float]  # the range (log10 on a log axis), and the value at the lower edge, or 0


def unit(settings: Settings) -> str:
    """Return the metric on screen: in plain view an error without another choice is the share recovered."""
    metric: str = settings["metric"]
    return "share" if settings["view"] == "plain" and metric in ("sin", "projector") else metric


def error_unit(settings: Settings) -> str:
    """Return the metric of a chart that shows errors alone: captured energy is none."""
    return unit(settings | {"metric": "sin"}) if settings["metric"] == "energy" else unit(settings)


def more_is_better(metric: str) -> bool:
    return metric in ("energy", "share")


def as_error(metric: str, value: float) -> float:
    """Return an error as it is, a share in % as ||sin Theta|| / sqrt k: less is better in both."""
    return math.sqrt(max(1 - value / 100, 0.0)) if metric == "share" else value


def value_text(metric: str, value: float) -> str:
    words = {"share": text.recovered, "degrees": text.degrees}
    return words.get(metric, text.error)(value)


def factor(settings: Settings) -> float:
    """Return the factor from sin Theta to the error on screen: sqrt 2 for the projectors' distance."""
    return math.sqrt(2) if settings["metric"] == "projector" else 1.0


def error_title(settings: Settings) -> str:
    return text.METRIC_TITLES[error_unit(settings)]


def random_guess(settings: Settings, d: int, k: int) -> float:
    metric = error_unit(settings)
    if metric == "degrees":
        return subspace_metrics.random_angle(d, k)
    return float(in_unit(metric, subspace_metrics.random_guess(d, k), k))


def span_of(metric: str, log: bool, least: float, most: float, begins: float = 0.01) -> Span:
    """Return the range of an axis with some room above, and the value at its lower edge, as `Span` has them.

    least: the smallest value drawn. most: the largest that must be seen. begins: what a logarithmic axis
    reaches down to in any case; it begins at a power of ten.
    """
    if metric in SPANS:
        return SPANS[metric], 0.0
    if not log:
        return [0.0, 1.12 * most], 0.0  # 12 % of room above
    low = math.floor(math.log10(min(least, begins)))
    return [float(low), math.log10(1.6 * most)], 10.0**low  # 0.2 decades of room above


def error_axis(settings: Settings, guess: float, least: float, begins: float = 0.01) -> tuple[float, Trace]:
    """Return the error at which a logarithmic axis begins, 0 for a linear one, and Plotly's properties.

    guess: the error of a random guess, which the axis must reach. least, begins: as `span_of` has them.
    """
    metric, log = error_unit(settings), settings["scale"] == "log"
    span, floor = span_of(metric, log, max(least, _LEAST_ERROR), guess, begins)
    if not floor:  # the axis is linear
        return floor, {"type": "linear", "range": span, **_TICKS.get(metric, {})}
    step = 1 if span[1] - span[0] > 2 else "D2"  # whole decades where there are several, else also 2 and 5
    return floor, {"type": "log", "range": span, "dtick": step, "exponentformat": "e", "minexponent": 6}


class Scale:
    """Convert a cell's numbers to the metric on screen, and hold the value of a random guess."""

    def __init__(self, results: Results, settings: Settings) -> None:
        self.metric = unit(settings)
        self.more_is_better = more_is_better(self.metric)
        self.log = settings["scale"] == "log" and self.metric not in SPANS
        self.floor = 0.0  # the value at the edge of a logarithmic axis, once `span` has set it
        d, self.k = results.experiment.d, results.experiment.k
        if self.metric == "energy":
            self.guess = subspace_metrics.random_energy(results.truth.eigenvalues, self.k)
        else:
            self.guess = random_guess(settings, d, self.k)

    def values(self, cell: Cell) -> Array:
        if self.metric == "energy":
            return cell.energy
        return runs_in_unit(self.metric, cell.sin, cell.angle, self.k)

    def final_error(self, cell: Cell) -> float:
        """Return the cell's value at its output, without computing all iterates."""
        if self.metric == "energy":
            return float(cell.energy[-1])
        return float(runs_in_unit(self.metric, cell.sin[-1], cell.angle[-1], self.k))

    def bound_in_unit(self, values: ArrayLike) -> Array:
        """Return a bound on sin Theta in this metric; nan where it says nothing, as for energy."""
        scaled = in_unit(self.metric, values, self.k)
        return scaled * math.nan if self.metric == "energy" else scaled

    @property
    def bounds_drawn(self) -> bool:
        return bool(np.isfinite(self.bound_in_unit(0.0)))

    def text(self, value: float) -> str:
        return value_text(self.metric, value)

    def span(self, smallest: float) -> list[float]:
        """Return the axis range for all frames, down to the smallest value or zero; set `floor`, its edge."""
        span, self.floor = span_of(self.metric, self.log, smallest, self.guess)
        return span

    def drawn(self, values: Sequence[float] | Array) -> list[float | None]:
        """Return rounded values for the browser; values below a logarithmic axis are put on its edge."""
        return rounded(np.maximum(np.asarray(values, dtype=float), self.floor))
