"""The results of the explorer's experiment, measured cell by cell in the order that a reader needs them.

A cell is (method, epsilon, repeat), one run. Pages measure what they show first, and a thread beside them the
rest. Live methods are fast enough to run whenever a control moves; slow ones run only when the reader asks
for them. The experiment's method is the one that the figure is about. DPS_PCA is DPS-PCA. Runs at several
epsilons are computed in one call. Noises are runs of the experiment's method beyond the repeats; only the
picture of directions shows them. In place of a method a cell may have NO_PRIVACY, one run of every way to do
without, or a name of ON_UNIT_ROWS: a published method on rows of length 1, where it takes others by itself.
A page asks for UNIT_ROWS where it shows the best of these under its method's trust.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, groupby
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.estimated_seconds import draw_rows_seconds, draw_seconds, eigenproblem_seconds
from dppca_core.experiments.explorer import many_runs
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.picture import COMPONENTS, NOISES, AnglePlane, aligned_with, plane
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS
from dppca_core.numerics import block_power, subspace_metrics
from dppca_core.populations.synthetic import Synthetic
from dppca_core.records import Estimate, Method, Setting

# By the name of these runs, the published method that takes rows inside a bound; and the other way round.
ON_UNIT_ROWS = {
    f"{name} on rows of length 1": name
    for name, method in METHODS.items()
    if method.private and method.scaling == "inside" and method.guarantee in ("(ε, δ)", "ε")
}
UNIT_NAMES = {name: unit for unit, name in ON_UNIT_ROWS.items()}
UNIT_ROWS = "rows of length 1"
_SAME_RUNS = draws.SAME_RUNS | {name: other for other, name in draws.SAME_RUNS.items()}
# What cells are of, by name. NO_PRIVACY stands for several methods, of which PCA is one.
RUNS: dict[str, Method] = dict(METHODS)
for _unit, _name in ON_UNIT_ROWS.items():
    _fit = partial(METHODS[_name].fit, scaling="unit")
    RUNS[_unit] = replace(METHODS[_name], title=f"{METHODS[_name].title}, length 1", fit=_fit)
RUNS[NO_PRIVACY] = replace(METHODS["pca"], title="Best, no privacy")


class Cell(NamedTuple):
    """Hold one run: its errors, and what it cost.

    Errors are one per iterate, (T + 1,), for DPS-PCA and the experiment's method where they have iterates,
    else one, (1,); as NO_PRIVACY is kept they are one for each way. `noise_std` to `notes` are those of
    `Estimate`.
    """

    sin: Array  # sin Theta
    energy: Array  # captured energy, as a share of the best; empty where the experiment does not measure it
    support: float  # share of the features that matter that the run found
    noise_std: float
    bytes_sent: int
    seconds: float
    notes: tuple[str, ...]
    angle: Array  # largest principal angle, in degrees
    # Plane of that angle, for the picture of the experiment's method; else None.
    plane: AnglePlane | None = None
    # A table's first components, turned onto the true ones, (d, at most COMPONENTS); else None.
    components: Array | None = None


def quantiles(values: Sequence[Array] | Sequence[float] | Array) -> Array:
    """Return the 10, 50 and 90 % quantiles over the first axis (repeats), linearly interpolated: (3, ...).

    The numbers are np.quantile's, without its overhead, which is most of a page's time on ten values.
    """
    ordered = np.sort(np.asarray(values, dtype=float), axis=0)
    position = np.array([0.1, 0.5, 0.9]) * (len(ordered) - 1)
    below = position.astype(int)
    above = np.minimum(below + 1, len(ordered) - 1)
    share = (position - below).reshape(-1, *[1] * (ordered.ndim - 1))
    interpolated: Array = ordered[below] * (1 - share) + ordered[above] * share
    return interpolated


# A method is live where a run costs up to four eigenproblems, or a tenth of a second.
_LIVE_COST, _LIVE_SECONDS = 4.0, 0.1
_FIRST_SECONDS = 0.012  # of a run that the page waits for before it shows anything
# Of the method's runs that the page waits for, at the epsilon that is shown and at others.
_FIRST_AT_EPSILON_SECONDS, _FIRST_ELSEWHERE_SECONDS = 0.015, 0.03
# Of a run however few the features, by how rows are scaled.
_LEAST_RUN_SECONDS = {"unit": 0.005, "inside": 0.0005}
# Of a first run, with its patients' rows: where it takes longer, the page does not wait.
_LONGEST_FIRST_SECONDS = 0.3
_SWEEP_REPEATS, MANY_FEATURES = 3, 1000  # of any method at all epsilons; with so many features one
_STEP_SECONDS, _JOINED = (
    0.2,
    16,
)  # of the runs of one step, which are at least so many where they share products
# Of the truth, for each d^3; and of a further run in one call, as a share.
_TRUTH_SECONDS, _NEXT_RUN = 2e-10, 0.3
_SLOW_REPEATS = 3
_FEW_FEATURES = 400  # features up to which a page waits for a run of every quick method that it compares

Key = tuple[str, float, int]


class Results(CellStore[Key, Cell]):
    """Hold the cells of an experiment: (method, epsilon, repeat)."""

    def __init__(self, experiment: ExplorerExperiment, methods: tuple[str, ...] = tuple(METHODS)) -> None:
        super().__init__(experiment.repeats)
        self.experiment = experiment
        self.methods = methods
        self._lock = Lock()  # shared by the threads that measure steps

    @cached_property
    def truth(self) -> draws.Truth:
        """Return the directions and eigenvalues that runs are compared with, without the (d, d) matrix."""
        e = self.experiment
        return draws.truth(e.population, e.sizes, e.k, e.scaling, e.seed)

    @property
    def second_moment(self) -> Array:
        """Return the second moment behind the truth, (d, d), from a shared cache."""
        e = self.experiment
        return draws.second_moment(e.population, e.sizes, e.scaling, e.seed)

    @property
    def support_size(self) -> int:
        """Return how many features count as those that matter: a model's own number, else s_hat."""
        experiment = self.experiment
        if experiment.sparse:
            assert isinstance(experiment.population, Synthetic)
            return experiment.population.s
        return experiment.s_hat

    @cached_property
    def skipped(self) -> dict[str, str]:
        reasons = {name: METHODS[name].skip(self.experiment.d) for name in self.methods}
        if self.experiment.fitted is not None:
            others = set(self.methods) - {self.experiment.method, "pca", "sparse_pca"}
            reasons |= dict.fromkeys(others, "a rehearsed release is of rows of any length")
        if self.experiment.clip is not None:
            # Dividing patients into batches and scaling rows to length 1 need the rows.
            needy = (name for name in self.methods if name == "dp_oja" or METHODS[name].scaling == "unit")
            reasons |= dict.fromkeys(needy, "of clipped rows only the moments are kept")
        return {name: reason for name, reason in reasons.items() if reason}

    def _cost(self, name: str) -> float:
        """Return the number of d x d eigenproblems that take about as long as one run."""
        return RUNS[name].cost(self.experiment.d, self.experiment.k, self.experiment.providers)

    def _seconds(self, name: str) -> float:
        return self._cost(name) * eigenproblem_seconds(self.experiment.d)

    @cached_property
    def live_methods(self) -> tuple[str, ...]:
        runnable = (name for name in self.methods if name not in self.skipped)
        return tuple(n for n in runnable if self._cost(n) <= _LIVE_COST or self._seconds(n) <= _LIVE_SECONDS)

    @cached_property
    def slow(self) -> tuple[str, ...]:
        return tuple(
            name for name in self.methods if name not in self.live_methods and name not in self.skipped
        )

    def repeats_of(self, name: str) -> int:
        experiment = self.experiment
        if name == NO_PRIVACY:
            return experiment.patient_draws if self.has_reference else 0
        return min(experiment.repeats, _SLOW_REPEATS) if name in self.slow else experiment.repeats

    def _rows_seconds(self, name: str) -> float:
        """Estimate the seconds of simulating one draw of patients for a method that needs their rows.

        It is 0 for a method that takes moments, which are drawn without rows, and for a table, whose rows are
        there. At most max(10 d, 1000) rows are drawn, so n plays no part. The constants were measured.
        """
        population = self.experiment.population
        on_unit = name in ON_UNIT_ROWS or name == NO_PRIVACY or RUNS[name].scaling == "unit"
        drawn = isinstance(population, Synthetic) and (on_unit or population.tails is not None)
        return draw_rows_seconds(self.experiment.d) + 0.01 if drawn else 0.0

    def _affordable_runs(self, seconds: float, most: int, beside: float = 0.0) -> int:
        """Return how many runs fit into these seconds, at most `most`; beside: what each takes besides."""
        name = self.experiment.method
        run = max(self._seconds(name), _LEAST_RUN_SECONDS[METHODS[name].scaling])
        return min(most, int(seconds / (run + beside)))

    @property
    def sweep_repeats(self) -> int:
        """Return how many repeats of a method are measured at epsilons not shown."""
        return min(self.experiment.repeats, 1 if self.experiment.d >= MANY_FEATURES else _SWEEP_REPEATS)

    def key(self, cell: Key) -> Key:
        """Return a cell's key; what has no privacy has one run for all epsilons, kept at the first."""
        name, epsilon, repeat = cell
        return (name, epsilon if RUNS[name].private else EPSILONS[0], repeat)

    def measure(self, cell: Key) -> Cell:
        name, _, repeat = cell
        if name != NO_PRIVACY:
            return self._measured(name, self.estimate(*cell))
        e = self.experiment
        errors = no_privacy.errors(e.population, e.n, e.k, seed=e.seed, draw=repeat, energy=e.energy)
        nothing: dict[str, Any] = {"noise_std": 0.0, "bytes_sent": 0, "seconds": 0.0, "notes": ()}
        return Cell(sin=errors.sin, energy=errors.energy, support=math.nan, angle=errors.angle, **nothing)

    @property
    def has_reference(self) -> bool:
        """Return whether NO_PRIVACY can be run: not on invented rows, and not where rows are clipped."""
        return isinstance(self.experiment.population, Synthetic | str) and self.experiment.clip is None

    def measured(self, *part: Any) -> list[Cell]:
        """Return the cells of a method at an epsilon so far; of NO_PRIVACY, those of its best way."""
        cells = super().measured(*part)
        if part[0] != NO_PRIVACY or not cells:
            return cells
        way = [no_privacy.best([cell.sin for cell in cells])]
        kept = ("sin", "angle", *(("energy",) if self.experiment.energy else ()))
        return [cell._replace(**{field: getattr(cell, field)[way] for field in kept}) for cell in cells]

    def try_cells(self, wanted: Iterable[Key]) -> None:
        """Try each cell; successive epsilons of one method and repeat run in one call, which is faster."""
        for _ in self.steps(wanted):
            pass

    def steps(self, wanted: Iterable[Key], quick: float = math.inf) -> Iterator[None]:
        """Do what `try_cells` does, yielding after each step so that the caller can stop there.

        Computing the truth and drawing the patients are steps of their own, for each may take seconds. Where
        several threads go through the same cells, a step measures what is still missing when it begins.
        quick: seconds of a step, above which it is left out.
        """
        # Successive cells that differ only in their epsilon form a group.
        for (name, repeat), cells in groupby(wanted, key=lambda cell: (cell[0], cell[2])):
            group = self.missing(cells)
            if group and self._seconds_of(name, len(group), repeat) >= quick:
                continue
            for prepare in (lambda: self.truth, lambda repeat=repeat: self.experiment.cohort(repeat)):
                with self._lock:
                    incomplete = bool(self.missing(group))
                    if incomplete:
                        with suppress(Exception):  # each cell meets the same error, and records it
                            prepare()
                if incomplete:
                    yield
            with self._lock:
                self._try_together(name, group)
            yield

    def _try_together(self, name: str, cells: Iterable[Key]) -> None:
        """Try cells of one method on the same patients in one call, or take another's of the same law."""
        runs = list(dict.fromkeys((epsilon, repeat) for _, epsilon, repeat in self.missing(cells)))
        other = _SAME_RUNS.get(name, name)
        if self.experiment.method not in (name, other):  # of the experiment's method more is kept
            done = {run: self.cells[other, *run] for run in runs if (other, *run) in self.cells}
            self.cells.update({(name, *run): cell for run, cell in done.items()})
            runs = [run for run in runs if run not in done]
        if len(runs) > 1 and RUNS[name].private:
            with suppress(Exception):  # where it fails, each cell is tried, and its failure kept, by itself
                for run, estimate in zip(runs, self.estimates(name, runs), strict=True):
                    self.cells[self.key((name, *run))] = self._measured(name, estimate)
                return
        for run in runs:
            super().try_cell(name, *run)

    def try_cell(self, *cell: Any) -> None:
        """Try a cell and, in the same call, others that a page asks for soon: the first of `_beside` it."""
        name, _, _ = cell
        second_try = self.key(cell) in self.failed
        if RUNS[name].private:
            self._try_together(name, self._at_once(*cell))
        if second_try or self.key(cell) not in self.failed:  # a second try comes after all other cells
            super().try_cell(*cell)

    def _at_once(self, name: str, epsilon: float, repeat: int) -> list[Key]:
        """Return the runs of one call, at least this one; alone the one that a reader waits for."""
        runs = [(name, epsilon, r) for r in range(self.repeats)]
        if name == self.experiment.method and self.missing(runs) == runs:  # nobody has measured any
            return [(name, epsilon, repeat)]
        least = _JOINED if name in many_runs.JOINED else 1
        at_once = max(least, int(_STEP_SECONDS / max(self._seconds(name), 1e-4)))
        return self.missing([*self._beside(name, epsilon, repeat), (name, epsilon, repeat)])[:at_once]

    def seconds(self, *cell: Any) -> float:
        name, _, repeat = cell
        return self._seconds_of(name, len(self._at_once(*cell)) if RUNS[name].private else 1, repeat)

    def _seconds_of(self, name: str, runs: int, repeat: int) -> float:
        """Estimate the seconds of runs of a method in one call, with what they are the first to need.

        That is the truth, and the rows of this repeat's draw of patients. The constants were measured.
        """
        d = self.experiment.d
        run = max(self._seconds(name), _LEAST_RUN_SECONDS["inside"])
        needed = 0.0 if self.cells else _TRUTH_SECONDS * d**3
        drawn = {r % self.experiment.patient_draws for kind, _, r in list(self.cells) if kind == name}
        if repeat % self.experiment.patient_draws not in drawn:
            needed += self._rows_seconds(name) + draw_seconds(d)
        return needed + max(run * (1 + _NEXT_RUN * (runs - 1)), self.took.get(name, 0.0))

    def _beside(self, name: str, epsilon: float, repeat: int) -> Iterator[Key]:
        """Return the runs that one call makes with this run, which come first: those of the same patients.

        They are the same run at all epsilons up to `sweep_repeats`, then the next repeats at this one. A run
        of DPS-PCA that only the picture shows, a noise, is made at all epsilons as well: the picture
        needs them as soon as epsilon moves.
        """
        noise = repeat >= self.repeats
        if self._noises_together if noise else repeat < self.sweep_repeats:
            yield from ((name, at, repeat) for at in self._nearest(epsilon))
        elif name in many_runs.JOINED:
            last, step = NOISES if noise else self.repeats, self.experiment.patient_draws
            yield from ((name, epsilon, r) for r in range(repeat, last, step))

    def _nearest(self, epsilon: float) -> list[float]:
        return sorted(EPSILONS, key=lambda e: abs(math.log(e / epsilon)))

    @property
    def _noises_together(self) -> bool:
        """Return whether one call runs a noise at all epsilons: for DPS-PCA, in hundredths of a second."""
        return self.experiment.method == DPS_PCA and self.experiment.d <= _FEW_FEATURES

    def _is_fitted(self, name: str) -> bool:
        return self.experiment.fitted is not None and name == self.experiment.method

    def estimate(self, name: str, epsilon: float, repeat: int) -> Estimate:
        """Run a method once, on the repeat's patients with the budget at epsilon, and return its result."""
        if self._is_fitted(name):
            rng = draws.generator(self.experiment.seed, repeat, draws.SAME_RUNS.get(name, name))
            return self.experiment.fitted_estimate(epsilon, repeat, rng)
        cohort, budget = self.experiment.cohort(repeat), self.experiment.budget(epsilon)
        return RUNS[name].fit(cohort, budget=budget, **self._arguments(name, repeat))

    def estimates(self, name: str, runs: Sequence[tuple[float, int]]) -> list[Estimate]:
        """Return what `estimate` returns for each epsilon and repeat, on the same patients, in one call."""
        if self._is_fitted(name):
            return [self.estimate(name, *run) for run in runs]
        cohort = self.experiment.cohort(runs[0][1])
        if name in ON_UNIT_ROWS:
            cohort = cohort.unit()
        given = [self._arguments(name, repeat) for _, repeat in runs]
        rngs = [arguments.pop("rng") for arguments in given]
        budgets = [self.experiment.budget(epsilon) for epsilon, _ in runs]
        method = METHODS[ON_UNIT_ROWS.get(name, name)]
        return many_runs.runs(method, cohort, budgets=budgets, rngs=rngs, **given[0])

    def _arguments(self, name: str, repeat: int) -> dict[str, Any]:
        """Return the arguments of `fit` but patients and budget: the same start and noise at all epsilons."""
        e = self.experiment
        name = ON_UNIT_ROWS.get(name, name)  # on other rows a method has the same start and noise
        rng = draws.generator(e.seed, repeat, draws.SAME_RUNS.get(name, name))
        options = e.options(name)
        if name == DPS_PCA and e.start_error is not None:
            options["start"] = block_power.start_near(self.truth.basis, e.start_error, rng)
        return {"k": e.k, "rng": rng, **options}

    def setting(self, epsilon: float) -> Setting:
        return self.experiment.setting(epsilon, self.truth.eigenvalues)

    def _measured(self, name: str, estimate: Estimate) -> Cell:
        truth = self.truth
        # Errors by round are shown for these methods only; of others the result alone is measured.
        traced = estimate.iterates if name in (DPS_PCA, self.experiment.method) else ()
        bases = traced or (estimate.basis,)
        energy = np.zeros(0)
        if self.experiment.energy:
            best = float(truth.eigenvalues[: self.experiment.k].sum())
            moment = self.second_moment
            energy = np.array([subspace_metrics.captured_energy(basis, moment, best) for basis in bases])
        stacked = np.stack(bases)
        return Cell(
            sin=subspace_metrics.sin_thetas(stacked, truth.basis),
            angle=subspace_metrics.largest_angles(stacked, truth.basis),
            energy=energy,
            support=subspace_metrics.support_found(estimate.basis, truth.basis, self.support_size),
            noise_std=estimate.noise_std,
            bytes_sent=estimate.bytes_sent,
            seconds=estimate.seconds,
            notes=estimate.notes,
            **(self._picture(estimate.basis) if name == self.experiment.method else {}),
        )

    def _picture(self, basis: Array) -> dict[str, Any]:
        """Return the fields of a cell that the picture of directions needs; none for invented patients."""
        population, truth = self.experiment.population, self.truth
        if isinstance(population, Synthetic):
            return {"plane": plane(basis, truth.basis, lambda b: population.variances(b) / truth.bound**2)}
        if isinstance(population, str):
            moment = self.second_moment
            return {
                "plane": plane(basis, truth.basis, lambda b: np.einsum("ij,ij->j", b, moment @ b)),
                "components": aligned_with(basis, truth.basis)[:, :COMPONENTS].copy(),
            }
        return {}

    def first(self, epsilon: float, shown: Collection[str] | None = None) -> Iterator[Key]:
        """Return the cells to measure before the page shows anything: few enough to be quick at every d."""
        experiment = self.experiment
        names = [name for name in self.live_methods if shown is None or name in shown]
        if experiment.method == DPS_PCA:
            # With many features only the repeats that use the first draw of patients, so that one is drawn.
            step = experiment.patient_draws if experiment.d > _FEW_FEATURES else 1
            yield from ((DPS_PCA, epsilon, r) for r in range(0, experiment.repeats, step))
            if experiment.d <= 1000:  # with more, the page would wait too long for all epsilons
                yield from ((DPS_PCA, e, 0) for e in EPSILONS)
        else:
            yield from self._first_of_method(epsilon)
        if experiment.d <= _FEW_FEATURES:
            yield from ((name, epsilon, 0) for name in names if self._seconds(name) <= _FIRST_SECONDS)
        elif DPS_PCA in names:  # with many features, DPS-PCA alone of the methods compared
            yield (DPS_PCA, epsilon, 0)
        if experiment.d <= _FEW_FEATURES and METHODS[experiment.method].scaling == "unit":
            # Rows of length 1 are there already: they are most of what NO_PRIVACY takes.
            yield from self._reference_cells(shown, 1)

    def _first_of_method(self, epsilon: float) -> Iterator[Key]:
        """Return repeats, and single runs at other epsilons, that fit into the time that a page waits."""
        name, repeats, drawing = self.experiment.method, self.experiment.repeats, 0.0
        if self.experiment.patient_draws > 1:  # else all repeats share one draw of patients
            drawing = self._rows_seconds(name)
        if self._rows_seconds(name) + self._seconds(name) > _LONGEST_FIRST_SECONDS:
            return
        runs = self._affordable_runs(_FIRST_AT_EPSILON_SECONDS, repeats, beside=drawing)
        yield from ((name, epsilon, r) for r in range(max(1, runs)))
        points = self._affordable_runs(_FIRST_ELSEWHERE_SECONDS, len(EPSILONS))
        if points > 2:  # fewer would not show a curve
            yield from ((name, e, 0) for e in EPSILONS[:: -(-len(EPSILONS) // points)])

    def rest(self, epsilon: float, slow: bool = False, shown: Collection[str] | None = None) -> Iterator[Key]:
        """Return all other cells, in the order that a page needs them; some may also be in `first`.

        shown: the methods whose cells are wanted, with NO_PRIVACY and UNIT_ROWS; all live ones, and both, by
        default.
        """
        others, main = self._nearest(epsilon), self.experiment.method
        fast = [name for name in self.live_methods if shown is None or name in shown]
        slow_ones = [name for name in self.slow if slow and (shown is None or name in shown)]
        yield from ((main, e, 0) for e in others)
        # Those with the least error first: where a run takes long, the others come seconds later.
        yield from ((name, epsilon, 0) for name in fast if METHODS[name].chooses_rows)
        yield from ((name, epsilon, 0) for name in fast)
        yield from ((main, epsilon, r) for r in range(self.experiment.repeats))
        # The headline compares with an answer without privacy, on the same patients.
        yield from self._reference_cells(shown, self.repeats_of(NO_PRIVACY))
        for r in range(self.experiment.repeats):  # one repeat after the other, as each draws patients' rows
            yield from ((name, epsilon, r) for name in fast if r < self.repeats_of(name))
        if self.experiment.d < MANY_FEATURES or shown is None:
            yield from self._noises(epsilon)
        yield from ((main, e, r) for r in range(self.sweep_repeats) for e in others)
        yield from ((name, epsilon, r) for name in slow_ones for r in range(self.repeats_of(name)))
        if self.experiment.d < MANY_FEATURES or shown is None:
            swept = [name for name in fast if METHODS[name].private and name != main]
            yield from ((name, e, r) for r in range(self.sweep_repeats) for name in swept for e in others)
        if shown is None or UNIT_ROWS in shown:
            yield from self._unit_rows(epsilon)

    def _reference_cells(self, shown: Collection[str] | None, repeats: int) -> Iterator[Key]:
        if shown is None or NO_PRIVACY in shown:
            few = min(repeats, self.repeats_of(NO_PRIVACY))
            yield from ((NO_PRIVACY, EPSILONS[0], r) for r in range(few))

    def best_published(self, epsilon: float, trust: str) -> str | None:
        """Return the method of this trust with the least median error of those that keep published rows.

        These divide rows by a public bound and promise (epsilon, delta) for all data. None before any run.
        """
        errors = {
            name: float(np.median([cell.sin[-1] for cell in self.measured(name, epsilon)] or [math.inf]))
            for name in ON_UNIT_ROWS.values()
            if METHODS[name].trust == trust
        }
        name = min(errors, key=errors.__getitem__)
        return name if math.isfinite(errors[name]) else None

    def _unit_rows(self, epsilon: float) -> Iterator[Key]:
        """Return the trust's best published method, once all have run, on rows of length 1."""
        trust, live = METHODS[self.experiment.method].trust, self.live_methods
        published = [name for name in ON_UNIT_ROWS.values() if METHODS[name].trust == trust and name in live]
        if not published or not self.has_reference:
            return
        yield from ((name, epsilon, r) for r in range(self.sweep_repeats) for name in published)
        if (best := self.best_published(epsilon, trust)) in published:
            both = (best, UNIT_NAMES[best])
            yield from ((name, epsilon, r) for r in range(self.experiment.repeats) for name in both)

    def _noises(self, epsilon: float) -> Iterator[Key]:
        """Return the runs beyond the repeats, of which a picture of simulated patients shows NOISES."""
        if isinstance(self.experiment.population, Synthetic):
            yield from ((self.experiment.method, epsilon, r) for r in range(self.repeats, NOISES))

    def planes(self, epsilon: float) -> list[AnglePlane]:
        """Return the planes of largest error of the method's runs at this epsilon so far, at most NOISES."""
        keys = (self.key((self.experiment.method, epsilon, repeat)) for repeat in range(NOISES))
        cells = [self.cells[key] for key in keys if key in self.cells]
        return [cell.plane for cell in cells if cell.plane is not None]

    def wanted(
        self, epsilon: float, slow: bool = False, shown: Collection[str] | None = None
    ) -> Iterator[Key]:
        return chain(self.first(epsilon, shown), self.rest(epsilon, slow, shown))

    def next_of(self, name: str, repeats: int | None = None) -> Key | None:
        """Return the next missing cell of a method at all epsilons, first repeats first, or None."""
        times = range(self.repeats_of(name) if repeats is None else repeats)
        return self.first_missing((name, e, r) for r in times for e in EPSILONS)

    def records(self, cell: Key, value: Cell) -> Iterator[dict[str, Any]]:
        """Return a row of the downloadable table for each iterate; none for a run of the picture alone."""
        name, epsilon, repeat = cell
        if repeat >= self.repeats:
            return
        free, private = name == NO_PRIVACY, RUNS[name].private
        ways = [f"{name}: {', '.join(way)}" for way in no_privacy.ways(self.experiment.population) if free]
        for step, error in enumerate(value.sin):
            yield {
                "method": ways[step] if free else name,
                "epsilon": epsilon if private else None,
                "delta": self.experiment.delta if private else None,
                "repeat": repeat,
                "iteration": step if not free and (len(value.sin) > 1 or name == DPS_PCA) else None,
                "sin_theta": float(error),
                "support_found": value.support if step == len(value.sin) - 1 and not free else None,
                "noise_std": value.noise_std,
                "bytes_sent_per_hospital": value.bytes_sent,
                "seconds": value.seconds,
            }
