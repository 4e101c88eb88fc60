"""Experiments: what a screen or a script asks of the core, with seeds keyed by what a cell is."""

from dppca_core.experiments.sweeps.recipe import Axis, Recipe, Variant, variant
from dppca_core.experiments.sweeps.sweep import Progress, sweep

__all__ = ["Axis", "Progress", "Recipe", "Variant", "sweep", "variant"]
