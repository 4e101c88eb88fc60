"""Name the tables of the explorer's figures, with the current settings as arguments."""

from collections.abc import Collection

from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.shared.charts.metric_axis import unit
from pages.shared.settings.catalogue import Settings


def panels(results: Results, epsilon: float, shown: Collection[str], settings: Settings) -> FigureRecipe:
    """Return the table of the error against epsilon, and of the methods side by side."""
    experiment = results.experiment
    others = tuple(name for name in results.names if name in shown and name != experiment.method)
    values = {"experiment": experiment, "epsilon": epsilon, "others": others, "metric": unit(settings)}
    return FigureRecipe("explorer.panels", values)


def loadings(results: Results, epsilon: float) -> FigureRecipe:
    """Return the table of the loadings of the first release."""
    experiment = results.experiment
    values = {"experiment": experiment, "method": experiment.method, "epsilon": epsilon}
    return FigureRecipe("explorer.loadings", values)
