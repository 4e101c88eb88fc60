"""Convert measured cells to the metric on screen, and give its axis. No Streamlit here."""

import math
from collections.abc import Sequence

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.results import Cell, Results
from dppca_core.numerics import subspace_metrics
from pages.shared import text
from pages.shared.charts.traces import Trace, rounded
from pages.shared.settings.catalogue import Settings

_LEAST_ERROR = 1e-4  # below it a logarithmic axis does not begin


def factor(settings: Settings) -> float:
    """Return the factor from sin Theta to the error on screen: sqrt 2 for the projectors' distance."""
    return math.sqrt(2) if settings["metric"] == "projector" else 1.0


def error_title(settings: Settings) -> str:
    """Return the axis title of the error on screen; of sin Theta where captured energy is on screen."""
    if settings["view"] == "plain":
        return "error"
    return text.METRIC_TITLES["projector" if settings["metric"] == "projector" else "sin"]


def random_guess(settings: Settings, d: int, k: int) -> float:
    """Return the error on screen of k random directions among d features."""
    return factor(settings) * subspace_metrics.random_guess(d, k)


def error_axis(settings: Settings, guess: float, least: float, begins: float = 0.01) -> tuple[float, Trace]:
    """Return where an axis of errors up to a random guess begins, and its properties.

    Args:
        settings: Of the page.
        guess: The error of a random guess.
        least: The smallest error drawn.
        begins: What a logarithmic axis reaches down to in any case; it ends at a power of ten.
    """
    if settings["scale"] != "log":
        return 0.0, {"type": "linear", "range": [0.0, 1.12 * guess]}
    low = math.floor(math.log10(min(max(least, _LEAST_ERROR), begins)))
    span = [float(low), math.log10(1.6 * guess)]
    step = 1 if span[1] - span[0] > 2 else "D2"  # whole decades where there are several, else also 2 and 5
    return 10.0**low, {"type": "log", "range": span, "dtick": step, "exponentformat": "e", "minexponent": 6}


class Scale:
    """Convert a cell's numbers to the metric on screen, and hold the value of a random guess."""

    def __init__(self, results: Results, settings: Settings) -> None:
        self.metric = settings["metric"]
        self.log = settings["scale"] == "log" and self.metric != "energy"
        self.floor = 0.0
        self.factor = factor(settings)
        d, k = results.experiment.d, results.experiment.k
        if self.metric == "energy":
            self.guess = subspace_metrics.random_energy(results.truth.eigenvalues, k)
        else:
            self.guess = random_guess(settings, d, k)

    def values(self, cell: Cell) -> Array:
        """Return the cell's values, one per iterate."""
        return cell.energy if self.metric == "energy" else cell.sin * self.factor

    def last(self, cell: Cell) -> float:
        """Return the cell's value at its output, without computing all iterates."""
        return float((cell.energy if self.metric == "energy" else cell.sin)[-1]) * self.factor

    def bounded(self, values: float | Array) -> Array:
        """Return a bound on sin Theta in this metric; nan for energy, which no bound here is about."""
        scaled = np.asarray(values, dtype=float) * self.factor
        return scaled * math.nan if self.metric == "energy" else scaled

    def span(self, smallest: float) -> list[float]:
        """Return a fixed axis range: whole decades down to the smallest value, or from zero."""
        if self.metric == "energy":
            return [0.0, 1.03]
        if not self.log:
            return [0.0, 1.12 * self.guess]
        self.floor = 10.0 ** min(math.floor(math.log10(smallest)), -2)
        return [math.log10(self.floor), math.log10(1.6 * self.guess)]

    def drawn(self, values: Sequence[float] | Array) -> list[float | None]:
        """Return rounded values for the message; values below a logarithmic axis are put on its edge."""
        return rounded(np.maximum(np.asarray(values, dtype=float), self.floor))
