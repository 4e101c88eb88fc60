"""Name the table of the error by round for every value of a family."""

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.explore.convergence.curves import Family
from pages.shared.charts.metric_axis import error_unit
from pages.shared.settings.catalogue import Settings


def trajectories(family: Family, settings: Settings) -> FigureRecipe:
    """Return the table of the page's figure, in the error that is on screen."""
    values = {"recipe": family.recipe, "key": family.key, "k": settings["k"], "metric": error_unit(settings)}
    return FigureRecipe("sweeps.trajectories", values)
