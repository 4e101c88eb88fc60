"""Form the recipes that sweep one setting of an experiment, for several methods.

A recipe says what to run: methods, the values of the swept setting (its axis), and repeats; its
`swept_names` are those of the swept settings, here one. Light methods are live: they are measured at once, in
one recipe. A heavy one takes long, has a recipe of its own, and is measured when its button is pressed.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments import Axis, Recipe, variant
from dppca_core.experiments.explorer.results import UNIT_NAMES, Results
from dppca_core.experiments.sweeps import run_cells
from dppca_core.experiments.sweeps.of_experiment import AXES, COARSE_FROM, NEEDED, NEEDED_COARSE, comparison
from dppca_core.experiments.sweeps.recipe import Point, Value
from dppca_core.methods import METHODS
from pages.shared.settings import catalogue, swept
from pages.shared.settings.catalogue import Settings

_FEWEST = 3  # repeats, unless fewer are asked for
_NEEDED_REPEATS = 5  # at most, of live methods in the view of patients needed, which has many values of n
LIVE_SECONDS = 12.0  # for all live methods together: repeats beyond the fewest are cut to keep it
_HEAVY_SECONDS = 8.0  # a method whose fewest repeats take longer is heavy


class SweepExperiment(NamedTuple):
    """Hold what runs: every live method in one recipe, and each heavy one in its own."""

    over: str  # the setting that is swept
    values: Point
    here: Value  # the current one
    live: Recipe | None
    heavy: dict[str, Recipe]
    left_out: dict[Value, str]  # impossible values of the axis, with what makes them so

    def runs_here(self, table: pd.DataFrame) -> pd.DataFrame:
        here: pd.DataFrame = table[np.isclose(table[self.over].astype(float), float(self.here), rtol=1e-9)]
        return here


def for_panel(
    results: Results, methods: Sequence[str], settings: Settings
) -> tuple[SweepExperiment | None, str]:
    """Return what the view sweeps, and its jobs' slot. Where a table fixes a setting, epsilon is swept."""
    panel, key, fixed = settings["compare.panel"], settings["compare.over"], catalogue.fixed(settings)
    if not methods or (panel == "needed" and "n" in fixed):  # a table's patients cannot be more
        return None, ""
    if panel == "needed":  # two or three points a decade, from which the patients needed are read
        grid = NEEDED_COARSE if results.experiment.d >= COARSE_FROM else NEEDED
        return _split(results, methods, settings, Axis("n", grid), _NEEDED_REPEATS), "methods needed"
    if panel == "frontier" or key in fixed:
        key = "epsilon"
    # The current value is among the round ones that are possible.
    wanted = sorted({*AXES[key], settings[key]})
    values, left_out = swept.possible(settings | {"start": "random"}, key, wanted)
    sweep = _split(results, methods, settings, Axis(key, values))
    return sweep._replace(left_out=left_out), f"methods {key}"


def _split(
    results: Results, methods: Sequence[str], settings: Settings, axis: Axis, most: int = 50
) -> SweepExperiment:
    """Put heavy methods into recipes of their own; the live get up to `most` repeats within LIVE_SECONDS."""
    experiment, epsilon = results.experiment, settings["epsilon"]
    fewest = min(experiment.repeats, _FEWEST)
    heavy, light = {}, []
    for name in methods:
        alone = comparison(experiment, epsilon, (name,), axis, fewest)
        if name in results.slow or run_cells.total_seconds(alone) > _HEAVY_SECONDS:
            heavy[name] = alone
        else:
            light.append(name)
    live = None
    if light:
        once = run_cells.total_seconds(comparison(experiment, epsilon, light, axis, 1))
        repeats = max(fewest, min(experiment.repeats, most, int(LIVE_SECONDS / once)))
        live = comparison(experiment, epsilon, light, axis, repeats)
    return SweepExperiment(axis.name, axis.values, settings[axis.name], live, heavy, {})


def recipes_with(sweep: SweepExperiment, methods: Collection[str]) -> tuple[Recipe, ...]:
    recipes = (*([sweep.live] if sweep.live else []), *sweep.heavy.values())
    return tuple(recipe for recipe in recipes if {chosen.method for chosen in recipe.methods} & set(methods))


def on_unit_rows(sweep: SweepExperiment, table: pd.DataFrame) -> Recipe | None:
    """Return the live recipe of each trust's best published method on rows of length 1, for a fair rival."""
    medians = sweep.runs_here(table).groupby("method")["sin_theta"].median().dropna()
    scaled = {METHODS[name].trust for name in medians.index if METHODS[name].scaling == "unit"}
    chosen = []
    for trust in TRUSTS:
        names = [n for n in medians.index if n in UNIT_NAMES and METHODS[n].trust == trust]
        if trust in scaled and names:
            best = str(medians[names].idxmin())
            chosen.append(variant(best, UNIT_NAMES[best], scaling="unit"))
    return replace(sweep.live, methods=tuple(chosen)) if sweep.live and chosen else None


def first_run(live: Recipe, here: Value) -> Recipe:
    (along,) = live.swept
    # The nearest by ratio, since most settings are swept in equal ratios.
    near = min(along.values, key=lambda value: abs(float(value) / float(here) - 1))
    return replace(live, swept=(Axis(along.name, (near,)),), repeats=1)


def shares_rows(recipe: Recipe, other: Recipe) -> bool:
    """Return whether two recipes differ at most in methods, values and repeats: then they may share runs."""
    if recipe.swept_names != other.swept_names:
        return False
    return replace(recipe, methods=other.methods, swept=other.swept, repeats=other.repeats) == other
