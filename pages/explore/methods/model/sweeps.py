"""Form the recipes that sweep one setting of an experiment, for several methods.

A recipe says what to run: methods, the values of the swept setting (its axis), and repeats; its
`swept_names` are those of the swept settings, here one. Light methods are live: they are measured at once, in
one recipe. A heavy one takes long, has a recipe of its own, and is measured when its button is pressed.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments import Axis, Recipe, variant
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import UNIT_NAMES, Results
from dppca_core.experiments.sweeps import run_cells
from dppca_core.experiments.sweeps.recipe import Point, Value
from dppca_core.methods import METHODS
from dppca_core.populations.synthetic import Synthetic
from pages.shared.settings import catalogue, swept, to_experiment
from pages.shared.settings.catalogue import Settings

# The round values that each swept setting takes beside its current one.
AXES: dict[str, Point] = {
    "epsilon": (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
    "delta": tuple(10.0**-p for p in (10, 8, 6, 5, 4, 3, 2, 1)),
    "n": tuple(10**p for p in range(2, 10)),
    "d": (20, 50, 100, 200, 300, 400),
    "k": (1, 2, 3, 4, 5, 7, 10, 15, 20),
    "s": (2, 3, 5, 10, 20, 50, 100, 200),
    "providers": (1, 2, 5, 10, 20, 50, 100, 200),
}
NEEDED = (*(m * 10**p for p in range(3, 9) for m in (1, 2, 5)), 10**9)
NEEDED_COARSE = (*(m * 10**p for p in range(3, 9) for m in (1, 3)), 10**9)
_COARSE_FROM = 500  # features from which a fit takes so long that the grid over n has two points a decade
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


def recipe(
    experiment: ExplorerExperiment, epsilon: float, methods: Sequence[str], along: Axis, repeats: int
) -> Recipe:
    """Return the experiment as a recipe of these methods along an axis."""
    population = experiment.population
    # What is swept gets a fixed value: so moving its control gives the same recipe, whose rows are reused.
    # The population needs a value of what is swept; d and s at their most and k at its least are possible.
    ends = {"d": max, "s": max, "k": min}
    if isinstance(population, Synthetic) and along.name in ends:
        size: dict[str, Any] = {along.name: ends[along.name](along.values)}
        population = replace(population, **size)
    fields: dict[str, Any] = {"k": experiment.k, "population": population, "repeats": repeats}
    support = () if experiment.table else ("support",)
    fields["metrics"] = ("sin", "angle", *(("energy",) if experiment.energy else ()), *support)
    fixed = {"n": None, "k": None, "delta": 1e-5, "providers": 1}
    fields |= {name: value for name, value in fixed.items() if name == along.name}
    fixed_epsilon = 1.0 if along.name == "epsilon" else epsilon
    return to_experiment.recipe(experiment, fixed_epsilon, methods, along, **fields)


def for_panel(
    results: Results, methods: Sequence[str], settings: Settings
) -> tuple[SweepExperiment | None, str]:
    """Return what the view sweeps, and its jobs' slot. Where a table fixes a setting, epsilon is swept."""
    panel, key, fixed = settings["compare.panel"], settings["compare.over"], catalogue.fixed(settings)
    if not methods or (panel == "needed" and "n" in fixed):  # a table's patients cannot be more
        return None, ""
    if panel == "needed":  # two or three points a decade, from which the patients needed are read
        grid = NEEDED_COARSE if results.experiment.d >= _COARSE_FROM else NEEDED
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
        alone = recipe(experiment, epsilon, (name,), axis, fewest)
        if name in results.slow or run_cells.total_seconds(alone) > _HEAVY_SECONDS:
            heavy[name] = alone
        else:
            light.append(name)
    live = None
    if light:
        once = run_cells.total_seconds(recipe(experiment, epsilon, light, axis, 1))
        repeats = max(fewest, min(experiment.repeats, most, int(LIVE_SECONDS / once)))
        live = recipe(experiment, epsilon, light, axis, repeats)
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
