"""The sweeps of an experiment: its runs along an axis, for the pages, for scripts and for notebooks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.sweeps.recipe import Axis, Point, Recipe, Variant, variant

COMMON = (  # fields that an experiment and a recipe have under the same names
    "s_hat",
    "providers",
    "largest_share",
    "iterations",
    "burn_in",
    "provider_noise",
    "neighbours",
    "accounting",
    "seed",
)
# The round values of a swept parameter at which methods are compared, with the current one.
AXES: dict[str, Point] = {
    "epsilon": (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
    "delta": tuple(10.0**-p for p in (10, 8, 6, 5, 4, 3, 2, 1)),
    "n": tuple(10**p for p in range(2, 10)),
    "d": (20, 50, 100, 200, 300, 400),
    "k": (1, 2, 3, 4, 5, 7, 10, 15, 20),
    "s": (2, 3, 5, 10, 20, 50, 100, 200),
    "providers": (1, 2, 5, 10, 20, 50, 100, 200),
}
# Numbers of patients from which those needed are read: three a decade, and two where there are many features.
NEEDED: Point = (*(m * 10**p for p in range(3, 9) for m in (1, 2, 5)), 10**9)
NEEDED_COARSE: Point = (*(m * 10**p for p in range(3, 9) for m in (1, 3)), 10**9)
COARSE_FROM = 500  # features


def recipe(
    experiment: ExplorerExperiment,
    epsilon: float,
    methods: Sequence[str | Variant],
    along: Axis,
    **changed: Any,
) -> Recipe:
    """Return a sweep of this experiment's runs along an axis; `changed` are fields in place of its own."""
    same = (*COMMON, "failure", "population", "delta", "repeats")
    fields = {name: getattr(experiment, name) for name in same}
    fields |= {"epsilon": epsilon, "n": None if experiment.table else experiment.n}
    if experiment.choose_rows:  # two-stage methods choose by `rows_rule`, and others keep all
        fields["s_hat"] = None
    variants = tuple(
        chosen if isinstance(chosen, Variant) else variant(chosen, **experiment.rows_rule(chosen))
        for chosen in methods
    )
    return Recipe(methods=variants, swept=(along,), **fields | changed)


def comparison(
    experiment: ExplorerExperiment,
    epsilon: float,
    methods: Sequence[str | Variant],
    along: Axis,
    repeats: int,
) -> Recipe:
    """Return the experiment as a recipe that compares methods along an axis."""
    population = experiment.population
    # What is swept gets a fixed value: so moving its control gives the same recipe, whose rows are reused.
    # The population needs a value of what is swept; d and s at their most and k at its least are possible.
    ends = {"d": max, "s": max, "k": min}
    if not isinstance(population, str) and along.name in ends:
        size: dict[str, Any] = {along.name: ends[along.name](along.values)}
        population = replace(population, **size)
    fields: dict[str, Any] = {"k": experiment.k, "population": population, "repeats": repeats}
    support = () if experiment.table else ("support",)
    fields["metrics"] = ("sin", "angle", *(("energy",) if experiment.energy else ()), *support)
    fixed = {"n": None, "k": None, "delta": 1e-5, "providers": 1}
    fields |= {name: value for name, value in fixed.items() if name == along.name}
    fixed_epsilon = 1.0 if along.name == "epsilon" else epsilon
    return recipe(experiment, fixed_epsilon, methods, along, **fields)


def traced(experiment: ExplorerExperiment, epsilon: float, method: str | Variant, along: Axis) -> Recipe:
    """Return the experiment as a recipe of one method's errors after every round, along an axis."""
    k = experiment.k if experiment.table else None  # a model has its own, which may be swept
    metrics = ("rounds", "angle rounds", *(() if experiment.table else ("support",)))
    return recipe(experiment, epsilon, (method,), along, k=k, metrics=metrics)
