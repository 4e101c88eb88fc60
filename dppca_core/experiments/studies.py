"""Whole comparisons in one call, for scripts and notebooks: what the dashboard's pages run, without a screen.

`compare` is the page *Methods*, `convergence` the page of that name, `bounds` is *Bounds*, and
`patients_needed` the view of that name. Each runs the same sweep or experiment as its page, so that the same
settings give the same numbers, and returns a frozen study whose `to_frame()` is a data frame. A page's
`charts.figure` draws a study.

**Own rows**, a matrix or a data frame, may take the place of a population. They are the private rows of a
simulation: methods are run on them, clipped to `bound`, and compared with PCA without privacy of the same
clipped rows. Errors so measured are read off private rows, and no budget paid for them. They are for whoever
may see the rows, and not for publication. Own rows stay in this process, and are not centred or scaled.
"""

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from dppca_core import checks, datasets
from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.datasets import HeldTable
from dppca_core.experiments import draws
from dppca_core.experiments import progress as progress_bar
from dppca_core.experiments.draws import Population
from dppca_core.experiments.explorer import closed_forms
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps import executors, of_experiment
from dppca_core.experiments.sweeps import patients_needed as needed
from dppca_core.experiments.sweeps.blas import one_thread
from dppca_core.experiments.sweeps.iterate_table import by_round
from dppca_core.experiments.sweeps.recipe import OF_POPULATION, SWEPT, Axis, Point, Recipe, Value, Variant
from dppca_core.experiments.sweeps.spread_table import spread_table
from dppca_core.experiments.sweeps.sweep import sweep
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import in_unit, runs_in_unit
from dppca_core.privacy import Budget
from dppca_core.records import RELEASED, Bound

Patients = Population | Array | pd.DataFrame
_OPTIONS = (
    *("n", "bound", "providers", "repeats", "s_hat", "iterations", "burn_in", "provider_noise"),
    *("largest_share", "failure", "seed"),
)
_SPREAD = ["10 %", "50 %", "90 %"]


@dataclass(frozen=True, eq=False)
class SweptStudy:
    """Hold what was swept, and its runs.

    Attributes:
        experiment: All settings but epsilon.
        epsilon: The privacy loss where it is not swept.
        recipe: The sweep; `recipe_file.to_dict` writes it for `python -m dppca_core.experiments`.
        runs: A row for each run, as `sweep` returns it.
        held: The caller's own rows, if it is about any.
    """

    experiment: ExplorerExperiment
    epsilon: float
    recipe: Recipe
    runs: pd.DataFrame = field(repr=False)
    held: HeldTable | None = field(repr=False)

    @property
    def over(self) -> str:
        """Return the swept parameter."""
        return self.recipe.swept_names[0]

    @property
    def values(self) -> Point:
        """Return the values of the swept parameter."""
        return self.recipe.swept[0].values

    @property
    def here(self) -> Value:
        """Return the value of the swept parameter in the settings that were given."""
        return _current(self.experiment, self.epsilon, self.over)

    def at(self, value: Value) -> tuple[ExplorerExperiment, float]:
        """Return the experiment and its epsilon where the swept parameter has this value."""
        if self.over == "epsilon":
            return self.experiment, float(value)
        changed: dict[str, Any] = {self.over: value}
        if self.over in OF_POPULATION and not isinstance(self.experiment.population, str):
            population: Any = replace(self.experiment.population, **changed)
            kept = min(self.experiment.s_hat, population.d)
            changed = {"population": population, "k": population.k, "s_hat": kept}
        return replace(self.experiment, **changed), self.epsilon


@dataclass(frozen=True, eq=False)
class ComparisonStudy(SweptStudy):
    """Hold methods that were run on the same patients, along one parameter."""

    def to_frame(self, metric: str = "sin") -> pd.DataFrame:
        """Return 10, 50 and 90 % of the error over the runs that have finished.

        Args:
            metric: The unit of errors, one of those of `subspace_metrics.in_unit`, as "sin" or "share".

        Returns:
            A row for each label and value of the swept parameter, which are its index.
        """
        table = spread_table(self.runs, ["label", self.over], self.experiment.k, metric)
        return table.set_axis(_SPREAD, axis=1)


@dataclass(frozen=True, eq=False)
class ConvergenceStudy(SweptStudy):
    """Hold the errors of one method after every round, at some values of one parameter."""

    @property
    def method(self) -> str:
        """Return the method, a key of METHODS."""
        return self.recipe.methods[0].method

    def to_frame(self, metric: str = "sin") -> pd.DataFrame:
        """Return 10, 50 and 90 % of the error by round, over the runs that have finished.

        Args:
            metric: The unit of errors, one of those of `subspace_metrics.in_unit`, as "sin" or "share".

        Returns:
            A row for each value of the parameter and round, which are its index; round 0 is the start.
        """
        table = spread_table(by_round(self.runs), [self.over, "round"], self.experiment.k, metric)
        return table.set_axis(_SPREAD, axis=1)


@dataclass(frozen=True, eq=False)
class PatientsStudy(SweptStudy):
    """Hold how many patients methods need for an error.

    Attributes:
        target: The error, ||sin Theta||_F.
    """

    target: float

    def to_frame(self) -> pd.DataFrame:
        """Return the table of `patients_needed.patients_needed`, with a row for each label."""
        return needed.patients_needed(self.runs, self.target, seed=self.experiment.seed)


@dataclass(frozen=True, eq=False)
class BoundsStudy:
    """Hold bounds, and the runs of the method next to which they are shown.

    Attributes:
        experiment: All settings but epsilon.
        epsilon: The privacy loss that was given; runs and bounds are at all of `EPSILONS`.
        method: The method, a key of METHODS.
        constants: The free constants of each bound that differ from their defaults, by its key in BOUNDS.
        tau: Theorem 4.3's slack, in standard deviations.
        results: The runs.
        held: The caller's own rows, if it is about any.
    """

    experiment: ExplorerExperiment
    epsilon: float
    method: str
    constants: Mapping[str, Mapping[str, float]]
    tau: float
    results: Results = field(repr=False)
    held: HeldTable | None = field(repr=False)

    @cached_property
    def evaluated(self) -> dict[str, tuple[Bound, ...]]:
        """Return each bound at all of `EPSILONS`, by its key in BOUNDS."""
        return {
            name: tuple(
                closed_forms.evaluate(self.results, name, epsilon, tau=self.tau, **constants)
                for epsilon in EPSILONS
            )
            for name, constants in self.constants.items()
        }

    def to_frame(self, metric: str = "sin") -> pd.DataFrame:
        """Return 10, 50 and 90 % of the method's error, and each bound, by epsilon.

        Args:
            metric: The unit of errors, one of those of `subspace_metrics.in_unit`, as "sin" or "share".

        Returns:
            A row for each epsilon, and a column for each bound, by its key; infinite where it is void.
        """
        k = self.experiment.k
        runs = [
            {"epsilon": epsilon, "error": float(runs_in_unit(metric, cell.sin[-1], cell.angle[-1], k))}
            for epsilon in EPSILONS
            for cell in self.results.measured(self.method, epsilon)
        ]
        table = spread_table(pd.DataFrame(runs), ["epsilon"], k, metric, "error").set_axis(_SPREAD, axis=1)
        for name, each in self.evaluated.items():
            table[name] = in_unit(metric, [bound.final for bound in each], k)
        return table


def compare(
    population: Patients,
    methods: Sequence[str | Variant],
    budget: Budget,
    k: int | None = None,
    *,
    over: str = "epsilon",
    values: Sequence[Value] | None = None,
    executor: Executor | str | None = None,
    progress: bool = True,
    **options: Any,
) -> ComparisonStudy:
    """Compare methods on the same patients, as the page *Methods* does.

    Args:
        population: A model whose patients are drawn, the name of a bundled table, or own rows, (n, d), whose
            errors are not for publication (see above).
        methods: Keys of METHODS; `variant` gives one options of its own.
        budget: The privacy budget.
        k: The number of components; a model has its own.
        over: The parameter that is swept, one of `recipe.SWEPT`.
        values: Its values; by default those of the page, `of_experiment.AXES`, that are possible. The one
            set is always among them.
        executor: Where it runs: None in this thread, "cores" on all cores, or as `sweep` takes it.
        progress: Whether a bar says how far it has come, in a terminal and a notebook.
        options: `n`, the number of patients, which a model needs; `bound`, the public norm at which own rows
            are clipped, which these need; `providers` (1), `repeats` (10), `s_hat` (all features), and
            `iterations`, `burn_in`, `provider_noise`, `largest_share`, `failure` and `seed`, as
            `ExplorerExperiment` has them.

    Returns:
        The study.

    Raises:
        ValueError: For an unsuitable value, by its name, and where no run has an answer, with a reason.
        TypeError: For an unknown option, with the nearest, and for methods that are one text.
    """
    if isinstance(methods, str):
        raise TypeError(f"methods must be a list of keys, got one text: write [{methods[:40]!r}]")
    experiment, held = _experiment(population, budget, k, options)
    along = _axis(over, values, experiment, budget.epsilon)
    recipe = of_experiment.comparison(experiment, budget.epsilon, methods, along, experiment.repeats)
    recipe, runs = _run(recipe, experiment, held, executor, progress)
    return ComparisonStudy(experiment, budget.epsilon, recipe, runs, held)


def convergence(
    population: Patients,
    method: str | Variant,
    budget: Budget,
    k: int | None = None,
    *,
    over: str = "epsilon",
    values: Sequence[Value] = (),
    executor: Executor | str | None = None,
    progress: bool = True,
    **options: Any,
) -> ConvergenceStudy:
    """Measure a method's error after every round, as the page *Convergence* does.

    Args:
        population: As in `compare`.
        method: A key of METHODS, or a variant.
        budget: The privacy budget.
        k: The number of components; a model has its own.
        over: The parameter whose values have a trajectory each.
        values: These values; the one set is always among them.
        executor: As in `compare`.
        progress: As in `compare`.
        options: As in `compare`.

    Returns:
        The study.

    Raises:
        ValueError: As `compare` does.
        TypeError: As `compare` does.
    """
    experiment, held = _experiment(population, budget, k, options)
    along = _axis(over, values, experiment, budget.epsilon)
    recipe = of_experiment.traced(experiment, budget.epsilon, method, along)
    recipe, runs = _run(recipe, experiment, held, executor, progress)
    return ConvergenceStudy(experiment, budget.epsilon, recipe, runs, held)


def patients_needed(
    population: Population,
    target: float,
    methods: Sequence[str | Variant],
    budget: Budget,
    *,
    values: Sequence[int] | None = None,
    executor: Executor | str | None = None,
    progress: bool = True,
    **options: Any,
) -> PatientsStudy:
    """Measure how many patients methods need for an error, as the page *Methods* does.

    Args:
        population: A model, of which any number of patients can be drawn.
        target: The error that the median over runs reaches, ||sin Theta||_F.
        methods: As in `compare`.
        budget: The privacy budget.
        values: The numbers of patients that are run, between which the answer is interpolated; by default
            those of the page.
        executor: As in `compare`.
        progress: As in `compare`.
        options: As in `compare`, without `n` and `bound`.

    Returns:
        The study.

    Raises:
        ValueError: As `compare` does, and for rows and tables, whose patients are as many as they are.
        TypeError: As `compare` does.
    """
    if isinstance(population, str) or not hasattr(population, "eigenvalues"):
        shown = checks.shown(population)
        raise ValueError(f"population must be a model of which any number can be drawn, got {shown}")
    checks.positive(target=target)
    coarse = draws.model_or_table(population).d >= of_experiment.COARSE_FROM
    grid = of_experiment.NEEDED_COARSE if coarse else of_experiment.NEEDED
    along = Axis("n", tuple(grid if values is None else values))
    experiment, _ = _experiment(population, budget, None, {"n": max(along.values)} | options)
    recipe = of_experiment.comparison(experiment, budget.epsilon, methods, along, experiment.repeats)
    recipe, runs = _run(recipe, experiment, None, executor, progress)
    return PatientsStudy(experiment, budget.epsilon, recipe, runs, None, target)


def bounds(
    population: Patients,
    names: Sequence[str] | None,
    budget: Budget,
    k: int | None = None,
    *,
    method: str = "dps_pca",
    constants: Mapping[str, Mapping[str, float]] | None = None,
    tau: float = 3.3,
    progress: bool = True,
    **options: Any,
) -> BoundsStudy:
    """Evaluate bounds at all `EPSILONS`, and measure a method there, as the page *Bounds* does.

    Args:
        population: As in `compare`.
        names: Keys of BOUNDS; None takes all that are about the method's ||sin Theta||.
        budget: The privacy budget, whose epsilon is marked in the figure.
        k: The number of components; a model has its own.
        method: The method that is measured, a key of METHODS.
        constants: Free constants of bounds that differ from their defaults, by the bound's key.
        tau: Theorem 4.3's slack, in standard deviations.
        progress: As in `compare`.
        options: As in `compare`.

    Returns:
        The study.

    Raises:
        ValueError: As `compare` does, and for a bound that is not about ||sin Theta||.
        TypeError: As `compare` does.
        KeyError: For an unknown method or bound, with the nearest.
    """
    name = METHODS[method].name
    if names is None:
        about = (rule for rule in BOUNDS.values() if not rule.methods or name in rule.methods)
        names = [rule.name for rule in about if rule.measure == "sin"]
    if others := [each for each in names if BOUNDS[each].measure != "sin"]:
        raise ValueError(f"names must be of bounds on sin Theta, got {', '.join(others)}")
    given = dict(constants or {})
    for each in given.keys() - set(names):
        raise ValueError(f"constants must be of the bounds named, got {each}: {checks.meant(each, names)}")
    experiment, held = _experiment(population, budget, k, options)
    results = Results(experiment)
    runs = [(name, epsilon, repeat) for repeat in range(experiment.repeats) for epsilon in EPSILONS]
    with one_thread(), progress_bar.bar("runs", progress) as report:
        for _ in results.steps(runs):
            report(len(runs) - len(results.missing(runs)), len(runs))
        for run in runs:
            results.cell(*run)  # raises where a run failed
    of_each = {each: dict(given.get(each, {})) for each in names}
    return BoundsStudy(experiment, budget.epsilon, name, of_each, tau, results, held)


def _experiment(
    population: Patients, budget: Budget, k: int | None, options: Mapping[str, Any]
) -> tuple[ExplorerExperiment, HeldTable | None]:
    """Return the experiment of these settings, and the own rows that it is about, if any."""
    checks.instance(Budget, budget=budget)
    for name in options.keys() - set(_OPTIONS):
        raise TypeError(f"a study takes no option {checks.shown(name)}: {checks.meant(name, _OPTIONS)}")
    given, held = dict(options), None
    bound, n, s_hat = (given.pop(name, None) for name in ("bound", "n", "s_hat"))
    if isinstance(population, draws.Population):
        known: Population = population
        if bound is not None:
            raise ValueError("bound must be left out: only own rows have none by themselves")
    elif hasattr(population, "shape"):  # a matrix or a data frame
        if bound is None:
            raise ValueError("bound must be given for own rows: the public norm at which they are clipped")
        held = datasets.hold(population, bound)
        known = held.table.name
    else:
        shown = checks.shown(population)
        raise ValueError(f"population must be a model, a table's name, a matrix or a data frame, got {shown}")
    source = draws.model_or_table(known)
    if isinstance(source, datasets.Table):
        if n is not None:
            raise ValueError(f"n must be left out: there are {source.n} rows")
        n = source.n
    sizes = {"n": n, "k": getattr(source, "k", None) if k is None else k}
    checks.whole(1, **sizes)
    checks.whole(1, source.d - 1, k=sizes["k"])
    experiment = ExplorerExperiment(
        population=known,
        s_hat=source.d if s_hat in (None, RELEASED) else s_hat,
        choose_rows=s_hat == RELEASED,
        **{name: getattr(budget, name) for name in ("delta", "neighbours", "accounting")},
        **{"providers": 1} | sizes | given,
    )
    return experiment, held


def _current(experiment: ExplorerExperiment, epsilon: float, over: str) -> Value:
    """Return the value that the settings have of a swept parameter."""
    if over == "epsilon":
        return epsilon
    value: Value = getattr(experiment.population if over in ("s", "spike") else experiment, over)
    return value


def _axis(over: str, values: Sequence[Value] | None, experiment: ExplorerExperiment, epsilon: float) -> Axis:
    """Return the axis with these values and the current one. Raises ValueError for what cannot be swept."""
    checks.one_of(SWEPT, over=over)
    population: Any = experiment.population
    if over in OF_POPULATION and not hasattr(population, over) and over != "k":
        raise ValueError(f"over must be another parameter than {over}, which this population does not have")
    current = _current(experiment, epsilon, over)
    if isinstance(current, tuple):
        raise ValueError(f"over must be another parameter than {over}, of which there are several")
    if values is None:
        values = [value for value in of_experiment.AXES.get(over, ()) if _possible(population, over, value)]
    return Axis(over, tuple(sorted({*values, current})))


def _possible(population: Any, over: str, value: Value) -> bool:
    """Return whether a population can have this value of what is swept, if that is a part of it."""
    if over in OF_POPULATION and not isinstance(population, str):
        try:
            replace(population, **{over: value})
        except ValueError:
            return False
    return True


def _run(
    recipe: Recipe,
    experiment: ExplorerExperiment,
    held: HeldTable | None,
    executor: Executor | str | None,
    shown: bool,
) -> tuple[Recipe, pd.DataFrame]:
    """Return the recipe, in which all features are all wherever d is swept, and its runs.

    Raises ValueError, with a reason, where no run has an answer, and warns of methods that have none.
    """
    if held is not None and executor is not None:
        raise ValueError("executor must be left out for own rows, which stay in this process")
    if experiment.s_hat == experiment.d:
        recipe = replace(recipe, s_hat=None)
    place = executors.opened(executor) if isinstance(executor, str) else nullcontext(executor)
    with place as chosen, progress_bar.bar("runs", shown) as report:
        runs = sweep(recipe, chosen, progress=lambda step: report(step.completed, step.total))
    reasons = runs["failed"]
    if len(runs) and (reasons != "").all():
        raise ValueError(f"no run has an answer: {reasons.iloc[0]}")
    for label, each in reasons.groupby(runs["label"], sort=False):
        if (each != "").all():
            warnings.warn(f"{label} has no answer: {each.iloc[0]}", stacklevel=3)
    return recipe, runs
