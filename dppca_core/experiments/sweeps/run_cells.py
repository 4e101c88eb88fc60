"""Run cells of a recipe, in this process or another: the numbers are the same, with one BLAS thread.

Common random numbers: a cell's generators are keyed by seed, repeat and method, and by those swept
parameters that the method uses, epsilon, delta and spike excepted. So curves over those see the same
patients and the same noise up to their scale, and neither a new method nor a new value changes another row.
A swept parameter that a method does not use stays at the recipe's value: the curve is flat, and run once.

A cell is one run: a variant (a method with options), a point (a value of each swept parameter) and a repeat.
A task is a group of cells that one worker runs one after the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from dppca_core import byte_cache, datasets
from dppca_core.cohort import Cohort
from dppca_core.experiments import draws, failures
from dppca_core.experiments.estimated_seconds import draw_seconds, run_seconds
from dppca_core.experiments.sweeps import blas, executors
from dppca_core.experiments.sweeps.recipe import BY_ROUND, METRICS, OF_POPULATION, Key, Recipe, Value, Variant
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.populations.elliptical import hospital_sizes
from dppca_core.populations.synthetic import Synthetic
from dppca_core.privacy import Budget

Row = dict[str, Any]
Task = tuple[float, tuple[Key, ...]]  # estimated seconds, and cells
_OF_PATIENTS = ("n", *OF_POPULATION)  # swept parameters that change the patients
_WORKER_BYTES = 48 * 2**20  # of each cache in a worker
_SAME_NOISE_ALONG = ("epsilon", "delta", "spike")  # random numbers are the same along these
TASK_SECONDS = 1.0  # estimated ones; sending a task takes a cluster some milliseconds
_TASKS_LEFT = 4  # no task takes longer than a quarter of what is left to do, so that workers end together
_SHORTEST_SHARE = 0.2  # of the usual length of a task, below which that quarter does not shorten it


class RunnableCell(NamedTuple):
    """Name a cell by what its numbers depend on; cells with equal names are run once."""

    variant: Variant
    values: tuple[tuple[str, Value], ...]
    repeat: int


def runnable(recipe: Recipe, key: Key) -> RunnableCell:
    """Return the cell of a key without swept parameters that its method ignores or fixes by an option."""
    chosen = next(variant for variant in recipe.methods if variant.label == key.label)
    uses, options = METHODS[chosen.method].uses, dict(chosen.options)
    values = (
        (name, value)
        for name, value in zip(recipe.swept_names, key.point, strict=True)
        if name in _OF_PATIENTS or (name in uses and name not in options)  # every method uses patients
    )
    return RunnableCell(chosen, tuple(sorted(values)), key.repeat)


def _seeds_of_values(values: dict[str, Value], names: Sequence[str]) -> tuple[int, ...]:
    """Return seeds that encode which of these swept parameters have which values; empty where none is swept.

    Only whole numbers are encoded: epsilon, delta and spike are left out by the callers.
    """
    # A 0, which no letter of a name is, begins each part, so that two parts never read as another one.
    parts = [(0, *name.encode(), int(values[name])) for name in sorted(values) if name in names]
    return tuple(number for part in parts for number in part)


def run(recipe: Recipe, keys: Sequence[Key], cancelled_by: str = "") -> list[Row]:
    """Run the cells in this thread and return a row for each; those that fail have their reason in it.

    The caller must have set BLAS to one thread. `cancelled_by`: as in `executors.check_wanted`.
    """
    done: dict[RunnableCell, Row] = {}
    rows = []
    for key in keys:
        executors.check_wanted(cancelled_by)
        cell = runnable(recipe, key)
        if cell not in done:
            done[cell] = measured_columns(recipe, cell)
        rows.append(key_columns(recipe, key, cell.variant.method) | done[cell])
    return rows


def run_in_worker(recipe: Recipe, keys: Sequence[Key], cancelled_by: str = "") -> list[Row]:
    """Do what `run` does in a process with small caches: loky restarts one that has grown by 300 MB."""
    blas.use_one_thread()
    byte_cache.return_large_at_once()
    byte_cache.shrink_all(_WORKER_BYTES)
    return run(recipe, keys, cancelled_by)


def key_columns(recipe: Recipe, key: Key, method: str) -> Row:
    point = dict(zip(recipe.swept_names, key.point, strict=True))
    return {"label": key.label, "method": method, **point, "repeat": key.repeat}


def rows_of_dead_worker(recipe: Recipe, keys: Sequence[Key], reason: str) -> list[Row]:
    return [
        key_columns(recipe, key, runnable(recipe, key).variant.method) | failed_columns(recipe, reason)
        for key in keys
    ]


def measured_columns(recipe: Recipe, cell: RunnableCell) -> Row:
    """Return the cell's columns of errors and costs, or where the run fails those of `failed_columns`."""
    try:
        return _measure(recipe, cell)
    except Exception as reason:  # so that a sweep of hours survives any failing cell
        return failed_columns(recipe, failures.reason(reason))


def failed_columns(recipe: Recipe, reason: str) -> Row:
    empty: Row = dict.fromkeys((METRICS[name] for name in recipe.metrics), float("nan"))
    empty |= {METRICS[name]: "" for name in recipe.metrics if name in BY_ROUND}
    costs = {"noise_std": float("nan"), "bytes_sent_per_hospital": None, "seconds": float("nan")}
    return {**empty, **costs, "notes": "", "failed": " ".join(reason.split()) or "failed without a reason"}


def _measure(recipe: Recipe, cell: RunnableCell) -> Row:
    """Run a cell; the variant's options precede swept values, and these the recipe's fields."""
    values = dict(cell.values)
    options: dict[str, Any] = dict(cell.variant.options)
    # The recipe's fields, with the swept values of this cell in their place.
    at = SimpleNamespace(**vars(recipe) | values)
    method, population = METHODS[cell.variant.method], recipe.population
    if isinstance(population, Synthetic):
        changed: dict[str, Any] = {name: value for name, value in values.items() if name in OF_POPULATION}
        population = replace(population, **changed)
        n, k, s, truth_rows = at.n, population.k, population.s, at.n
    else:  # the truth is that of the whole table, however many of its rows are drawn
        truth_rows = datasets.table(population).n
        # How many features matter in a table nobody knows, so s_hat stands for it where support is measured.
        n, k, s = at.n or truth_rows, at.k, at.s_hat
    sizes = hospital_sizes(n, options.pop("providers", recipe.hospitals_at(values)), recipe.largest_share)
    alone = options.pop("alone", False)
    if options.pop("known", False):
        options |= draws.known_spectrum(population, n, recipe.scaling_rule)
    neighbours = options.pop("neighbours", at.neighbours)
    budget = Budget(at.epsilon, at.delta, neighbours, options.pop("accounting", at.accounting))
    of_recipe = draws.method_options(method.name, at, population)
    options = {name: value for name, value in of_recipe.items() if value is not None} | options
    seeding = [name for name in values if name not in _SAME_NOISE_ALONG]
    patients_key = _seeds_of_values(values, [name for name in seeding if name in _OF_PATIENTS])
    cohort = draws.cohort(population, sizes, recipe.scaling_rule, recipe.seed, cell.repeat, patients_key)
    if alone:
        largest = max(cohort, key=lambda provider: provider.n)
        cohort = Cohort((largest,), largest.moment, cohort.bound)
    rng = draws.generator(recipe.seed, cell.repeat, method.name, _seeds_of_values(values, seeding))
    estimate = method.fit(cohort, k=k, budget=budget, rng=rng, **options)
    truth = draws.truth(population, (truth_rows,), k, recipe.scaling_rule, recipe.seed)

    def error(metric: str) -> float | str:
        if metric == "sin":
            return subspace_metrics.sin_theta(estimate.basis, truth.basis)
        if metric == "projector":
            return subspace_metrics.projector_distance(estimate.basis, truth.basis)
        if metric == "support":
            return subspace_metrics.support_found(estimate.basis, truth.basis, s)
        if metric == "angle":
            return float(subspace_metrics.largest_angles(estimate.basis[None], truth.basis)[0])
        if metric in BY_ROUND:
            measure = subspace_metrics.sin_thetas if metric == "rounds" else subspace_metrics.largest_angles
            bases = np.stack(estimate.iterates or (estimate.basis,))
            return " ".join(repr(float(error)) for error in measure(bases, truth.basis))
        moment = draws.second_moment(population, (truth_rows,), recipe.scaling_rule, recipe.seed)
        if metric == "energy":
            best = float(truth.eigenvalues[:k].sum())
            return subspace_metrics.captured_energy(estimate.basis, moment, best)
        if estimate.covariance is None:  # the metric left is "covariance", which not all methods return
            return float("nan")
        return float(np.linalg.norm(estimate.covariance - moment) / np.linalg.norm(moment))

    return {
        **{METRICS[name]: error(name) for name in recipe.metrics},
        "noise_std": float(estimate.noise_std),
        "bytes_sent_per_hospital": int(estimate.bytes_sent),
        "seconds": estimate.seconds,
        "notes": " · ".join(" ".join(note.split()) for note in estimate.notes),
        "failed": "",
    }


def grouped(recipe: Recipe, keys: Sequence[Key], longest: float) -> Iterator[Task]:
    """Yield tasks of about `longest` estimated seconds; cells with the same patients are neighbours."""
    cells = {key: runnable(recipe, key) for key in keys}

    def patients(key: Key) -> tuple[object, ...]:
        """Return what the patients of a cell depend on; cells with an equal result share them."""
        values = tuple(pair for pair in cells[key].values if pair[0] in (*_OF_PATIENTS, "providers"))
        return values, key.repeat

    group: list[Key] = []
    known: set[RunnableCell] = set()  # runs of this task, which a second cell gets for nothing
    seconds, before = 0.0, None  # `before` is what the patients of the cell before depend on
    left = sum(rough_seconds(recipe, cell, fresh=False) for cell in set(cells.values()))
    for key in sorted(keys, key=lambda key: (key.repeat, str(patients(key)))):
        current = patients(key)
        cost = rough_seconds(recipe, cells[key], fresh=current != before) if cells[key] not in known else 0.0
        if group and seconds + cost > min(longest, max(left / _TASKS_LEFT, _SHORTEST_SHARE * longest)):
            yield seconds, tuple(group)
            left -= seconds
            group, seconds, known = [], 0.0, set()
            cost = rough_seconds(recipe, cells[key], fresh=True)  # another worker may run the new task
        group.append(key)
        known.add(cells[key])
        seconds, before = seconds + cost, current
    if group:
        yield seconds, tuple(group)


def total_seconds(recipe: Recipe, keys: Sequence[Key] | None = None) -> float:
    """Estimate the seconds that these cells, or all of the recipe, take on a single core."""
    return _seconds_of_all(recipe) if keys is None else _seconds_of(recipe, keys)


@lru_cache(maxsize=256)  # a page asks for the same recipes whenever it is rendered
def _seconds_of_all(recipe: Recipe) -> float:
    return _seconds_of(recipe, recipe.cells())


def _seconds_of(recipe: Recipe, keys: Sequence[Key]) -> float:
    return sum(seconds for seconds, _ in grouped(recipe, keys, TASK_SECONDS))


def rough_seconds(recipe: Recipe, cell: RunnableCell, fresh: bool) -> float:
    """Estimate the seconds of a run, with the draw of its patients where they are `fresh`.

    The constants are measured: a draw takes 71 ms at d = 1000, more where each row is scaled by itself.
    """
    values, source = dict(cell.values), draws.model_or_table(recipe.population)
    synthetic = isinstance(source, Synthetic)
    d = int(values.get("d", source.d))
    k = int(values.get("k", source.k if isinstance(source, Synthetic) else recipe.k or 1))
    providers = recipe.hospitals_at(values)
    drawing = draw_seconds(d) if fresh and synthetic else 0.0
    if drawing and recipe.scaling in ("unit", "clipped"):  # row by row
        drawing += int(values.get("n", recipe.n or 0)) * d * (1.4e-8 + 1e-10 * d)
    return 5e-4 + drawing + run_seconds(cell.variant.method, d, k, providers)
