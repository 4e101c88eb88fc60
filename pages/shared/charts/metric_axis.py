"""Convert measured cells to the metric on screen, and give its axis. No Streamlit here."""

import math
from collections.abc import Sequence

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.results import Cell, Results
from dppca_core.numerics import subspace_metrics
from pages.shared import text
from pages.shared.charts.traces import rounded
from pages.shared.settings.catalogue import Settings


def factor(settings: Settings) -> float:
    """Return the factor from sin Theta to the error on screen: sqrt 2 for the projectors' distance."""
    return math.sqrt(2) if settings["metric"] == "projector" else 1.0


def error_title(settings: Settings) -> str:
    """Return the axis title of the error on screen; of sin Theta where captured energy is on screen."""
    if settings["view"] == "board":
        return "error"
    return text.METRIC_TITLES["projector" if settings["metric"] == "projector" else "sin"]


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
            self.guess = self.factor * subspace_metrics.random_guess(d, k)

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
