"""Experiments that screens and scripts run on the core. Random streams are keyed by what a cell is."""

from dppca_core.experiments.sweeps.recipe import Axis, Recipe, Variant, variant
from dppca_core.experiments.sweeps.sweep import Progress, sweep

__all__ = ["Axis", "Progress", "Recipe", "Variant", "sweep", "variant"]
