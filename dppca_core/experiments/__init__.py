"""Experiments: what a screen or a script asks of the core, with seeds keyed by what a cell is."""

from dppca_core.experiments.recipe import Axis, Recipe, Variant, variant

__all__ = ["Axis", "Recipe", "Variant", "variant"]
