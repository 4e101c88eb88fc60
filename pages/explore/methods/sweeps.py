"""Recipes for an experiment, its methods and a swept setting, without Streamlit: tested without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dppca_core.datasets import TABLES
from dppca_core.experiments import Axis, Recipe, variant
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps import run_cells
from dppca_core.experiments.sweeps.recipe import Point, Value
from dppca_core.populations.spiked import SpikedModel
from pages.shared import text
from pages.shared.settings import catalogue, to_experiment

# The round values that each swept setting takes beside its own.
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
_COARSE_FROM = 500  # features, from which a fit takes so long that the grid over n has two points a decade
_FEWEST = 3  # repeats, unless fewer are asked for
_NEEDED_REPEATS = 5
LIVE_SECONDS = 12.0  # of all live methods together: repeats beyond the fewest are cut to keep it
_OWN_SECONDS = 8.0  # a method whose own share of the fewest repeats is longer waits to be asked for


class SweepSetting(NamedTuple):
    """What runs: every live method in one recipe, and each heavy one in its own.

    `left_out`: values of the axis that cannot be, in a sentence, or empty.
    """

    over: str
    values: Point
    here: Value
    live: Recipe | None
    heavy: dict[str, Recipe]
    left_out: str


def over(settings: catalogue.Settings) -> tuple[str, str]:
    """The control that is swept; and, where a table fixes the one asked for, a sentence that says so."""
    wanted = settings["compare.over"]
    table = TABLES.get(settings["data"])
    if table is None or wanted not in catalogue.FIXED_BY_TABLE:
        return wanted, ""
    name, instead = catalogue.CHOICES[wanted].label, catalogue.CHOICES["epsilon"].label
    return "epsilon", f"{table.title.split(',')[0]} fixes “{name}”: “{instead}” is varied instead."


def setting(experiment: ExplorerExperiment, epsilon: float, key: str) -> Value:
    """What the experiment has for a swept control."""
    population = experiment.population
    if key == "epsilon":
        return epsilon
    if key == "s":
        return population.s if isinstance(population, SpikedModel) else experiment.d
    value: Value = getattr(experiment, key)
    return value


def _possible(experiment: ExplorerExperiment, key: str) -> tuple[Value, Value, str]:
    """From what to what a control can go with all others as they are, and why not further."""
    population = experiment.population
    sparse = population.s if isinstance(population, SpikedModel) else experiment.d
    if key == "d":
        return (
            max(sparse, experiment.s_hat, experiment.k + 1),
            max(experiment.d, 400),
            f"s = {sparse} and ŝ = {experiment.s_hat}",
        )
    if key == "k":
        most = min(sparse, experiment.s_hat, experiment.d) - 1
        return (
            1,
            most,
            f"s = {sparse} and ŝ = {experiment.s_hat}"
            if sparse < experiment.d
            else f"ŝ = {experiment.s_hat}",
        )
    if key == "s":
        return experiment.k + 1, experiment.d, f"k = {experiment.k} and d = {experiment.d}"
    if key == "providers":
        return 1, experiment.n, f"n = {experiment.n:,}"
    if key == "n":
        return experiment.providers, 10**9, f"N = {experiment.providers}"
    return 0.0, float("inf"), ""


def values(experiment: ExplorerExperiment, epsilon: float, key: str) -> tuple[Point, str]:
    """The axis, the experiment's own value among it; and which round values cannot be, in a sentence."""
    here = setting(experiment, epsilon, key)
    low, high, why = _possible(experiment, key)
    given = AXES[key]
    kept = tuple(sorted({value for value in given if low <= value <= high} | {here}))
    lost = [value for value in given if not low <= value <= high]
    if not lost:
        return kept, ""
    which = ", ".join(text.number(value) for value in lost)
    return kept, f"{catalogue.CHOICES[key].label} = {which} left out: impossible beside {why}."


def recipe(
    experiment: ExplorerExperiment, epsilon: float, methods: Sequence[str], along: Axis, repeats: int
) -> Recipe:
    """Return the experiment as a recipe.

    What is swept has no value of its own, so moving its control reuses the rows.
    """
    swept = {along.name: along.values}
    population, k = experiment.population, experiment.k
    if isinstance(population, SpikedModel):
        own: dict[str, Any] = {name: max(swept[name]) for name in ("d", "s") if name in swept}
        if "k" in swept:
            own["k"] = min(swept["k"])
        population = replace(population, **own)
        k = population.k
    table = isinstance(population, str)
    return Recipe(
        population,
        tuple(variant(name) for name in methods),
        (along,),
        n=None if table or "n" in swept else experiment.n,
        k=None if "k" in swept else k,
        epsilon=1.0 if "epsilon" in swept else epsilon,
        delta=1e-5 if "delta" in swept else experiment.delta,
        repeats=repeats,
        metrics=("sin", "energy") if experiment.energy else ("sin",),
        **to_experiment.runs(experiment) | ({"providers": 1} if "providers" in swept else {}),
    )


def of_panel(
    found: Results, epsilon: float, methods: Sequence[str], settings: catalogue.Settings
) -> tuple[SweepSetting | None, str, str]:
    """What the view that is chosen sweeps, under which name its jobs are kept, and a sentence about it."""
    if not methods:
        return None, "", "Choose at least one method."
    panel = settings["compare.panel"]
    if panel == "needed" and settings["data"] in TABLES:
        return None, "", "A table has the patients it has, so nobody can say how many more would be needed."
    if panel == "needed":
        return needed(found, epsilon, methods), "methods needed", ""
    key, said = ("epsilon", "") if panel == "frontier" else over(settings)
    return swept(found, epsilon, methods, key), f"methods {key}", said


def swept(found: Results, epsilon: float, methods: Sequence[str], key: str) -> SweepSetting:
    """The sweep over one control."""
    points, left_out = values(found.experiment, epsilon, key)
    axis = Axis(key, points)
    return _split(found, epsilon, methods, key, axis, left_out)


def needed(found: Results, epsilon: float, methods: Sequence[str]) -> SweepSetting:
    """The sweep over n from which the patients needed are read, two or three points a decade."""
    grid = NEEDED_COARSE if found.experiment.d >= _COARSE_FROM else NEEDED
    return _split(found, epsilon, methods, "n", Axis("n", grid), "", most=_NEEDED_REPEATS)


def _split(
    found: Results,
    epsilon: float,
    methods: Sequence[str],
    key: str,
    axis: Axis,
    left_out: str,
    most: int = 50,
) -> SweepSetting:
    experiment = found.experiment
    possible = [name for name in methods if name not in found.skipped]
    fewest = min(experiment.repeats, _FEWEST)
    alone = {name: recipe(experiment, epsilon, (name,), axis, fewest) for name in possible}
    heavy = {
        name: own
        for name, own in alone.items()
        if name in found.slow or run_cells.total_seconds(own) > _OWN_SECONDS
    }
    light = [name for name in possible if name not in heavy]
    live = None
    if light:
        once = run_cells.total_seconds(recipe(experiment, epsilon, light, axis, 1))
        repeats = max(fewest, min(experiment.repeats, most, int(LIVE_SECONDS / once)))
        live = recipe(experiment, epsilon, light, axis, repeats)
    return SweepSetting(key, axis.values, setting(experiment, epsilon, key), live, heavy, left_out)


def first_look(of: SweepSetting) -> Recipe | None:
    """One run of each method at the current setting: done before anybody waits."""
    if of.live is None:
        return None
    near = min(of.values, key=lambda value: abs(float(value) / float(of.here) - 1))
    return replace(of.live, swept=(Axis(of.live.names[0], (near,)),), repeats=1)


def kin(one: Recipe, other: Recipe) -> bool:
    """Whether they differ in methods, values and repeats only, and so share rows."""
    if one.names != other.names:
        return False
    return replace(one, methods=other.methods, swept=other.swept, repeats=other.repeats) == other
