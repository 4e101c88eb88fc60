"""Name the tables of the figures that compare methods, with the current settings as arguments."""

from dppca_core.experiments import Recipe
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.explore.methods.charts import ComparisonMeasure
from pages.explore.methods.sweeps import SweepSetting
from pages.shared.charts.metric_axis import factor


def against(measure: ComparisonMeasure, sweep: SweepSetting, recipes: tuple[Recipe, ...]) -> FigureRecipe:
    """Return the table of what is drawn against what is swept."""
    k, metric = measure.results.experiment.k, measure.metric
    values = {"recipes": recipes, "over": sweep.over, "column": measure.column, "k": k, "metric": metric}
    return FigureRecipe("sweeps.against", values)


def needed(measure: ComparisonMeasure, sweep: SweepSetting, recipes: tuple[Recipe, ...]) -> FigureRecipe:
    """Return the table of the patients needed."""
    target, seed = measure.settings["compare.target"], measure.results.experiment.seed
    values = {"recipes": recipes, "target": target / factor(measure.settings), "seed": seed}
    return FigureRecipe("sweeps.needed", values)
