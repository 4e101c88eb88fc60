"""A plan's answer by simulation: bisection over patients, epsilon or hospitals, read off with its interval.

The first values stand a factor 2 on either side of the closed form's answer; while both are on one side of
the target the next is a factor 4 further out, then the gap between the last that misses and the next that
reaches it is halved, in logarithms, until its ends are within 15 %. Every run near the answer counts in the
reading: with m(x) the mean over runs of the squared error, or of the share of energy lost,

    ln m(x) = ln c(x) + a + b ln x,  c(x) the closed form's own,

is fitted by least squares to the values within a factor 2.5 of the gap's middle and solved for the target: c
lends its curvature, not its level or slope. Mean squares, because a closed form predicts a mean square. The
interval: the middle `LEVEL` of the same reading off repeats resampled with replacement, whole repeats at a
time, for they may share their patients.
"""

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.experiments.planning.planning import (
    LEAST_EPSILON,
    MOST_EPSILON,
    MOST_HOSPITALS,
    WAYS,
    StudyPlan,
)
from dppca_core.experiments.sweeps.recipe import METRICS, Axis, Recipe, Value, variant
from dppca_core.experiments.sweeps.run_cells import Row
from dppca_core.experiments.sweeps.sweep import Progress, sweep
from dppca_core.populations.spiked import MOST_PATIENTS, SpikedModel

LEVEL = 0.95
_ASIDE, _FURTHER = 2.0, 4.0
_CLOSE = 1.15
_WINDOW = 2.5
_GRID, _BEYOND = 81, 1.5  # of the fitted curve: points, and how far it goes beyond the values
_MOST_VALUES = 16  # beyond which a simulation that contradicts the closed form is left as it is
_RESAMPLES = 1000


@dataclass(frozen=True)
class SimulatedAnswer:
    """The answer by simulation with the ends of its interval, and what it rests on.

    state: "found"; "least", the smallest value allowed reaches the target; "none", no value up to the largest
    allowed does (NaN); or "measuring", the gap is still wide: `value` is what can be said so far, or NaN.
    """

    state: Literal["found", "least", "none", "measuring"]
    value: float
    low: float
    high: float
    values: int
    runs: int


@dataclass(frozen=True)
class Search:
    """Bisection over `asked`: "patients" (n), "epsilon" or "hospitals" of `size` patients each.

    at: the epsilon, or for "epsilon" the n, that is held. start: near the answer. Raises ValueError for
    another word, a start that is not positive, or a table: its patients cannot be more than they are.
    """

    plan: StudyPlan
    asked: Literal["patients", "epsilon", "hospitals"]
    at: float
    start: float
    size: int = 1
    repeats: int = 20

    def __post_init__(self) -> None:
        checks.one_of(("patients", "epsilon", "hospitals"), asked=self.asked)
        checks.positive(at=self.at, start=self.start)
        checks.whole(1, size=self.size, repeats=self.repeats)
        if not isinstance(self.plan.experiment.population, SpikedModel):
            raise ValueError(
                f"population must be synthetic to be simulated, got {self.plan.experiment.population!r}"
            )

    @property
    def name(self) -> str:
        """The swept parameter."""
        return "epsilon" if self.asked == "epsilon" else "n"

    @property
    def _limits(self) -> tuple[float, float]:
        if self.asked == "epsilon":
            return LEAST_EPSILON, MOST_EPSILON
        if self.asked == "patients":
            return float(self.plan.experiment.providers), float(MOST_PATIENTS)
        return float(self.size), float(self.size) * min(MOST_HOSPITALS, MOST_PATIENTS // self.size)

    @property
    def _unit(self) -> int:
        return self.size if self.asked == "hospitals" else 1

    def _value(self, wanted: float) -> Value:
        """The nearest that can be run: whole patients, or whole hospitals of them."""
        low, high = self._limits
        held = min(max(wanted, low), high)
        if self.asked == "epsilon":
            return float(f"{held:.6g}")
        return int(min(max(self._unit * round(held / self._unit), low), high))

    def first(self) -> tuple[Value, ...]:
        """The values to begin with."""
        middle = self.start * self._unit
        return tuple(sorted({self._value(middle / _ASIDE), self._value(middle * _ASIDE)}))

    def recipe(self, values: tuple[Value, ...]) -> Recipe:
        """The runs at these values."""
        experiment, way = self.plan.experiment, WAYS[self.plan.way]
        swept = self.asked == "epsilon"  # else it is what is held
        return Recipe(
            experiment.population,
            (variant(way.method),),
            (Axis(self.name, values),),
            n=int(self.at) if swept else None,
            epsilon=1.0 if swept else self.at,
            delta=experiment.delta,
            s_hat=experiment.s_hat,
            providers=experiment.providers,
            largest_share=experiment.largest_share if self.asked != "hospitals" else 0.0,
            iterations=experiment.iterations,
            burn_in=experiment.burn_in,
            provider_noise=way.provider_noise,
            neighbours=experiment.neighbours,
            accounting=experiment.accounting,
            failure=experiment.failure,
            patients_each=self.size if self.asked == "hospitals" else None,
            repeats=self.repeats,
            metrics=("energy",) if self.plan.energy else ("sin",),
            seed=experiment.seed,
        )

    def losses(self, table: pd.DataFrame) -> tuple[Array, Array]:
        """Values with all their runs, ascending (m,), and squared errors or lost energy, (m, repeats)."""
        column = METRICS["energy" if self.plan.energy else "sin"]
        wide = table.pivot(index=self.name, columns="repeat", values=column).sort_index().dropna()
        found = wide.to_numpy(dtype=float)
        return wide.index.to_numpy(dtype=float), (1 - found if self.plan.energy else found**2)

    @property
    def _target(self) -> float:
        return self.plan.allowed if self.plan.energy else self.plan.allowed**2

    def more(self, table: pd.DataFrame) -> tuple[Value, ...]:
        """The values of the next table, one more than this one has; the same where nothing is to be added."""
        at, losses = self.losses(table)
        have = {self._value(value) for value in at}
        wanted = self._next(at, np.mean(losses, axis=1)) if 0 < len(at) < _MOST_VALUES else None
        return tuple(sorted(have if wanted is None else have | {self._value(wanted)}))

    def _next(self, at: Array, means: Array) -> float | None:
        reached = means <= self._target
        if reached.all():
            return at[0] / _FURTHER if at[0] > self._limits[0] else None
        last = int(np.flatnonzero(~reached)[-1])
        if last == len(at) - 1:
            return at[-1] * _FURTHER if at[-1] < self._limits[1] else None
        below, above = at[last], at[last + 1]
        if above <= _CLOSE * below or above - below <= (0 if self.asked == "epsilon" else self._unit):
            return None
        return math.sqrt(below * above)

    def reading(self, table: pd.DataFrame) -> SimulatedAnswer:
        """What the runs so far say."""
        at, losses = self.losses(table)
        runs = losses.size
        nothing = SimulatedAnswer("measuring", math.nan, math.nan, math.nan, len(at), runs)
        if not len(at):
            return nothing
        means = np.mean(losses, axis=1)
        reached = means <= self._target
        unit = self._unit
        settled = len(self.more(table)) == len(at)
        if reached.all():
            least = at[0] / unit
            return SimulatedAnswer("least", least, least, least, len(at), runs) if settled else nothing
        last = int(np.flatnonzero(~reached)[-1])
        if last == len(at) - 1:
            return (
                SimulatedAnswer("none", math.nan, math.nan, math.nan, len(at), runs) if settled else nothing
            )
        middle = math.sqrt(at[last] * at[last + 1])
        near = (at >= middle / _WINDOW) & (at <= middle * _WINDOW)
        near[last : last + 2] = True
        rng = np.random.default_rng([self.plan.experiment.seed, 1])
        chosen = rng.integers(losses.shape[1], size=(_RESAMPLES, losses.shape[1]))
        again = np.mean(losses[near][:, chosen], axis=2)
        crossings = self._crossings(at[near], np.column_stack([means[near], again]))
        tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        low, high = np.quantile(crossings[1:], tails, method="inverted_cdf")
        state: Literal["found", "measuring"] = "found" if settled else "measuring"
        return SimulatedAnswer(state, crossings[0] / unit, low / unit, high / unit, len(at), runs)

    def _predicted(self, at: Array) -> Array:
        """ln of what the closed form has for the mean loss at these values."""
        if self.asked == "epsilon":
            losses = [self.plan.loss(int(self.at), float(value)) for value in at]
        else:
            hospitals = [None if self.asked == "patients" else max(round(v / self.size), 1) for v in at]
            losses = [self.plan.loss(round(v), self.at, N) for v, N in zip(at, hospitals, strict=True)]
        logs: Array = np.log(losses)
        return logs if self.plan.energy else 2 * logs

    def _crossings(self, at: Array, means: Array) -> Array:
        """Where the curve fitted to each column of means, (m, c), meets the target; infinite if nowhere."""
        x = np.log(at)
        centred = x - x.mean()
        rest = np.log(np.maximum(means, 1e-300)) - self._predicted(at)[:, None]
        slope = centred @ rest / (centred @ centred)
        low, high = max(at[0] / _BEYOND, self._limits[0]), min(at[-1] * _BEYOND, self._limits[1])
        grid = np.linspace(math.log(low), math.log(high), _GRID)
        curve = self._predicted(np.exp(grid))[:, None] + rest.mean(axis=0) + np.outer(grid - x.mean(), slope)
        above = curve > math.log(self._target)
        last = _GRID - 1 - np.argmax(above[::-1], axis=0)  # the last value that misses the target
        inner = np.minimum(last, _GRID - 2)
        left, right = (np.take_along_axis(curve, inner[None] + step, 0)[0] for step in (0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (left - math.log(self._target)) / (left - right)
        found = np.exp(grid[inner] + share * (grid[1] - grid[0]))
        found = np.where(last == _GRID - 1, np.inf, found)
        return np.where(above.any(axis=0), found, math.exp(grid[0]))


def simulate(
    search: Search,
    executor: Executor | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> SimulatedAnswer:
    """Bisect to the end, or until `cancel` says so; `progress` is told of each value's runs."""
    rows: list[Row] = []

    def tell(done: Progress) -> None:
        rows.extend(done.rows)
        if progress is not None:
            progress(done)

    values = search.first()
    while True:
        known, rows[:] = tuple(rows), []
        table = sweep(search.recipe(values), executor, progress=tell, cancel=cancel, known=known)
        following = search.more(table)
        if following == values or (cancel is not None and cancel()):
            return search.reading(table)
        values = following
