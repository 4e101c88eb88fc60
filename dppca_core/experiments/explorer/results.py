"""What the front page shows: one experiment, measured cell by cell, in the order that a reader needs it.

A cell is (method, epsilon, repeat).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, groupby
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.experiments import draws
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.draws import Truth
from dppca_core.experiments.explorer.experiment import EPSILONS, TRACED, ExplorerExperiment
from dppca_core.experiments.explorer.many_runs import MANY_RUNS
from dppca_core.methods import METHODS
from dppca_core.numerics import block_power, subspace_metrics
from dppca_core.populations.spiked import SpikedModel
from dppca_core.records import Estimate, Setting


class Cell(NamedTuple):
    """One run: errors (one per iterate for the traced method, else one), and what it cost."""

    sin: Array
    energy: Array
    support: float
    noise_std: float
    bytes_sent: int
    seconds: float
    notes: tuple[str, ...]


def eigenproblem_seconds(d: int) -> float:
    """One d x d eigenproblem, roughly: 1.6 ms at d = 200, growing by d^2.4 (measured)."""
    return 1.6e-3 * math.exp(2.4 * math.log(d / 200))


def run_seconds(name: str, d: int, k: int, providers: int) -> float:
    """Roughly one run's time: that of its eigenproblems."""
    return METHODS[name].cost(d, k, providers) * eigenproblem_seconds(d)


# A method is live up to four eigenproblems, or a tenth of a second; the others run when asked for.
_LIVE_COST, _LIVE_SECONDS = 4.0, 0.1
_FIRST_SECONDS = 0.012  # a run that a first look waits for
_SWEEP_REPEATS = 3  # of methods other than the main one, away from the epsilon that is looked at
_SLOW_REPEATS = 3


Key = tuple[str, float, int]


class Results(CellStore[Key, Cell]):
    """The cells of an experiment: (method, epsilon, repeat)."""

    def __init__(self, experiment: ExplorerExperiment, methods: tuple[str, ...] = tuple(METHODS)) -> None:
        super().__init__(experiment.repeats)
        self.experiment = experiment
        self.methods = methods
        self._lock = Lock()  # of the threads that measure steps

    @cached_property
    def truth(self) -> Truth:
        """Population basis of a spiked model; pooled non-private PCA of a table's clipped rows.

        Without its matrix (d, d), which is `second_moment`.
        """
        experiment = self.experiment
        if isinstance(experiment.population, SpikedModel):
            return draws.population_truth(
                experiment.population, experiment.n, experiment.scaling, covariance=False
            )
        return draws.without_moment(draws.table_truth(experiment.cohort(0), experiment.k))

    @property
    def second_moment(self) -> Array:
        """The truth's second moment, (d, d); not held here, so that many scenes take little."""
        experiment = self.experiment
        return draws.second_moment(
            experiment.population, experiment.sizes, experiment.scaling, experiment.seed
        )

    @property
    def support_size(self) -> int:
        """Rows that count as the support: the true ones, or the s_hat heaviest of a table's truth."""
        population = self.experiment.population
        return population.s if isinstance(population, SpikedModel) else self.experiment.s_hat

    @cached_property
    def skipped(self) -> dict[str, str]:
        """Methods that cannot run here, and why."""
        reasons = {name: METHODS[name].skip(self.experiment.d) for name in self.methods}
        if self.experiment.clip is not None and "dp_oja" in reasons:
            reasons["dp_oja"] = "it deals rows into batches, and of clipped rows only the moments are kept"
        return {name: reason for name, reason in reasons.items() if reason}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Methods that are fast enough here to be live."""
        experiment = self.experiment
        return tuple(
            name
            for name in self.methods
            if name not in self.skipped
            and (
                METHODS[name].cost(experiment.d, experiment.k, experiment.providers) <= _LIVE_COST
                or run_seconds(name, experiment.d, experiment.k, experiment.providers) <= _LIVE_SECONDS
            )
        )

    @cached_property
    def slow(self) -> tuple[str, ...]:
        """Methods that run here only when asked for."""
        return tuple(name for name in self.methods if name not in self.names and name not in self.skipped)

    def private(self, name: str) -> bool:
        """Whether the method depends on epsilon at all."""
        return METHODS[name].private

    def repeats_of(self, name: str) -> int:
        """Repeats that the fill aims for: all, fewer where one run takes long."""
        experiment = self.experiment
        if name == experiment.method:
            return experiment.repeats
        work = METHODS[name].cost(experiment.d, experiment.k, experiment.providers) * experiment.d**3
        least = 1 if name in self.names else min(experiment.repeats, _SLOW_REPEATS)
        return max(least, min(experiment.repeats, int(1e9 / work)))

    def key(self, cell: Key) -> Key:
        """Return a cell's key: a method without privacy has one run for all epsilons."""
        name, epsilon, repeat = cell
        return (name, epsilon if self.private(name) else EPSILONS[0], repeat)

    def measure(self, cell: Key) -> Cell:
        """Run a method once and measure its answer."""
        return self._measured(cell[0], self.estimate(*cell))

    def try_cells(self, wanted: Iterable[Key]) -> None:
        """`try_cell` of each; a repeat's successive epsilons run in one call where the method offers that."""
        for _ in self.steps(wanted):
            pass

    def steps(self, wanted: Iterable[Key]) -> Iterator[None]:
        """`try_cells` in steps, so that whoever asked can leave off between them.

        The population and the patients are steps of their own. Of two threads that want the same cells each
        takes what the other has not begun.
        """
        for (name, repeat), cells in groupby(wanted, key=lambda cell: (cell[0], cell[2])):
            asked = list(cells)
            for part in (lambda: self.truth, lambda repeat=repeat: self.experiment.cohort(repeat)):
                with self._lock:
                    lacking = bool(self.missing(asked))
                    if lacking:
                        with suppress(Exception):  # each cell notes it for itself
                            part()
                if lacking:
                    yield
            with self._lock:
                self._try_together(name, repeat, asked)
            yield

    def _try_together(self, name: str, repeat: int, cells: Iterable[Key]) -> None:
        epsilons = list(dict.fromkeys(epsilon for _, epsilon, _ in self.missing(cells)))
        if len(epsilons) > 1 and name in MANY_RUNS:
            with suppress(Exception):  # then each is tried, and noted, by itself
                for epsilon, found in zip(epsilons, self.estimates(name, epsilons, repeat), strict=True):
                    self.cells[self.key((name, epsilon, repeat))] = self._measured(name, found)
                return
        for epsilon in epsilons:
            self.try_cell(name, epsilon, repeat)

    def estimate(self, name: str, epsilon: float, repeat: int) -> Estimate:
        """Run one method once: the run behind that cell."""
        experiment = self.experiment
        rng, options = self._drawn(name, repeat)
        budget = experiment.budget(epsilon)
        return METHODS[name].fit(experiment.cohort(repeat), k=experiment.k, budget=budget, rng=rng, **options)

    def estimates(self, name: str, epsilons: Sequence[float], repeat: int) -> tuple[Estimate, ...]:
        """Return `estimate` at each epsilon, in one call. Raises ValueError for a method not in MANY_RUNS."""
        checks.one_of(tuple(MANY_RUNS), name=name)
        experiment = self.experiment
        rng, options = self._drawn(name, repeat)
        budgets = [experiment.budget(epsilon) for epsilon in epsilons]
        return MANY_RUNS[name](
            experiment.cohort(repeat), k=experiment.k, budgets=budgets, rngs=[rng], **options
        )[0]

    def _drawn(self, name: str, repeat: int) -> tuple[np.random.Generator, dict[str, Any]]:
        """The run's generator and the method's options, its start among them."""
        experiment = self.experiment
        rng, options = experiment.generator(name, repeat), experiment.options(name)
        if name == TRACED and experiment.start_error is not None:
            options["start"] = block_power.start_near(self.truth.basis, experiment.start_error, rng)
        return rng, options

    def setting(self, epsilon: float) -> Setting:
        """Where the bounds are evaluated. A table's truth has no zero rows: its sparsity is d."""
        experiment = self.experiment
        population = experiment.population
        return Setting(
            d=experiment.d,
            n=experiment.n,
            k=experiment.k,
            s=population.s if isinstance(population, SpikedModel) else experiment.d,
            s_hat=experiment.s_hat,
            providers=experiment.providers,
            iterations=experiment.iterations,
            eigenvalues=self.truth.eigenvalues,
            budget=experiment.budget(epsilon),
            provider_noise=experiment.provider_noise,
            burn_in=experiment.burn_in,
            start_error=experiment.start_error,
        )

    def _measured(self, name: str, estimate: Estimate) -> Cell:
        truth = self.truth
        bases = estimate.iterates if name == TRACED else (estimate.basis,)
        energy = np.zeros(0)
        if self.experiment.energy:
            best = float(truth.eigenvalues[: self.experiment.k].sum())
            moment = self.second_moment
            energy = np.array([subspace_metrics.captured_energy(basis, moment, best) for basis in bases])
        return Cell(
            sin=subspace_metrics.sin_thetas(np.stack(bases), truth.basis),
            energy=energy,
            support=subspace_metrics.support_found(estimate.basis, truth.basis, self.support_size),
            noise_std=estimate.noise_std,
            bytes_sent=estimate.bytes_sent,
            seconds=estimate.seconds,
            notes=estimate.notes,
        )

    def first(self, epsilon: float) -> Iterator[Key]:
        """The cells to measure before anything is shown: few enough to be quick at every d."""
        experiment = self.experiment
        same_draw = range(0, experiment.repeats, experiment.patient_draws) if experiment.d > 400 else None
        yield from ((experiment.method, epsilon, r) for r in same_draw or range(experiment.repeats))
        if experiment.d <= 1000:
            yield from ((experiment.method, e, 0) for e in EPSILONS)
        if experiment.d <= 400:
            for name in self.names:
                if run_seconds(name, experiment.d, experiment.k, experiment.providers) <= _FIRST_SECONDS:
                    yield name, epsilon, 0

    def rest(self, epsilon: float, slow: bool = False) -> Iterator[Key]:
        """All other cells: this epsilon, with or without the slow methods, then the other epsilons."""
        others = sorted(EPSILONS, key=lambda e: abs(np.log(e / epsilon)))
        yield from ((name, epsilon, 0) for name in self.names)
        for name in self.names:
            yield from ((name, epsilon, r) for r in range(self.repeats_of(name)))
        yield from ((self.experiment.method, e, r) for r in range(self.experiment.repeats) for e in others)
        if slow:
            for repeat in range(_SLOW_REPEATS):
                yield from ((name, epsilon, repeat) for name in self.slow if repeat < self.repeats_of(name))
        for e in others:
            for name in self.names:
                if self.private(name):
                    repeats = min(self.repeats_of(name), _SWEEP_REPEATS)
                    yield from ((name, e, r) for r in range(repeats))

    def wanted(self, epsilon: float, slow: bool = False) -> Iterator[Key]:
        """Return all cells of a view at one epsilon, those of a first look first."""
        return chain(self.first(epsilon), self.rest(epsilon, slow))

    def next_of(self, name: str) -> Key | None:
        """The next missing cell of one method's whole sweep, first repeats first; None when complete."""
        repeats = range(self.repeats_of(name))
        return self.first_missing((name, e, r) for r in repeats for e in EPSILONS)

    def all_cells(self) -> list[Cell]:
        """What has been measured so far; safe while another thread measures on."""
        return list(self.cells.values())

    def rows(self, cell: Key, value: Cell) -> Iterator[dict[str, Any]]:
        """Return a row for each iterate."""
        name, epsilon, repeat = cell
        for step, error in enumerate(value.sin):
            yield {
                "method": name,
                "epsilon": epsilon if self.private(name) else None,
                "delta": self.experiment.delta if self.private(name) else None,
                "repeat": repeat,
                "iteration": step if name == TRACED else None,
                "sin_theta": float(error),
                "support_found": value.support if step == len(value.sin) - 1 else None,
                "noise_std": value.noise_std,
                "bytes_sent_per_hospital": value.bytes_sent,
                "seconds": value.seconds,
            }
