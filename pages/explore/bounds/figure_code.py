"""Name the tables of the figures of bounds, with the current settings as arguments."""

from collections.abc import Sequence

from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.explore.bounds import controls
from pages.shared.charts.metric_axis import error_unit
from pages.shared.settings.catalogue import Settings


def against_epsilon(results: Results, names: Sequence[str], settings: Settings) -> FigureRecipe:
    """Return the table of the measured error and the bounds against epsilon."""
    bounds = {name: dict(controls.constants(settings, name)) for name in names}
    values = {"method": settings["of"], "bounds": bounds, "metric": error_unit(settings)}
    return _table("against_epsilon", results, settings, **values)


def chances(results: Results, rule: str, settings: Settings) -> FigureRecipe:
    """Return the table of how often all true features are recovered; `rule` is the method's closed form."""
    constants = dict(controls.constants(settings, rule))
    return _table("chances", results, settings, method=settings["of"], rule=rule, constants=constants)


def terms(results: Results, settings: Settings) -> FigureRecipe:
    """Return the table of Theorem 4.3 term by term, beside the measured trajectory."""
    constants = dict(controls.constants(settings, "ge2018"))
    return _table("terms", results, settings, epsilon=settings["epsilon"], constants=constants)


def regimes(results: Results, constants: tuple[tuple[str, float], ...], settings: Settings) -> FigureRecipe:
    """Return the table of what dominates where."""
    return _table("regimes", results, settings, by=settings["map"], constants=dict(constants))


def figure_2() -> FigureRecipe:
    return FigureRecipe("bounds.figure_2", {})


def _table(name: str, results: Results, settings: Settings, **values: object) -> FigureRecipe:
    same = {"experiment": results.experiment, "tau": settings["tau"]}
    return FigureRecipe(f"bounds.{name}", same | values)
