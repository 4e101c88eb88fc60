"""Name the tables of the figures of hospitals that differ."""

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.hospitals.differences.view import SiteView


def table(name: str, view: SiteView) -> FigureRecipe:
    """Return the table of the joint errors, "standardising", or of every hospital, "joining"."""
    values = {"recipe": view.recipe, "strength": view.strength, "kind": view.kind}
    return FigureRecipe(f"collaboration.{name}", values)
