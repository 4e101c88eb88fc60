"""Experiments that screens and scripts run on the core.

An experiment is measured in cells, a cell being one run of a method. Its random generator is seeded by what
the cell is (method, repeat and so on), so that its numbers do not depend on when or where it runs.
"""

from dppca_core.experiments.sweeps.recipe import Axis, Recipe, Variant, variant
from dppca_core.experiments.sweeps.sweep import Progress, sweep

__all__ = ["Axis", "Progress", "Recipe", "Variant", "sweep", "variant"]
