"""The answer of any private method by simulation: bisection over patients, epsilon or hospitals.

The first values are a factor 2 on either side of the closed form's answer. While both are on one side of the
target, the next is a factor 4 further out; then the gap between the last value that misses the target and the
next that reaches it is halved, in logarithms, until its ends are within 15 %. All runs near the answer enter
the estimate: with m(x) the mean over runs of the squared error, or of the share of energy lost,

    ln m(x) = ln c(x) + a + b ln x,  c(x) the closed form's prediction,

is fitted by least squares to the values within a factor 2.5 of the gap's middle and solved for the target. So
the closed form determines the curvature, but neither the level nor the slope. Where there is none c is 1, and
the values are those within a factor 1.4. Means are of squares because a closed form predicts a mean square.
Of two stages, whose errors fall off an edge, medians are interpolated by powers of x. The interval is
the middle `LEVEL` of the same estimate from repeats resampled with replacement, whole repeats at a time, for
they may share their patients.

A value is a number of patients, or epsilon. Where hospitals are asked for, it is the patients of all of them,
which is what the recipe of the runs sweeps; answers are in hospitals again. The loss is the squared error, or
with a target of captured energy the share of energy lost.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.experiments.planning.planning import PLANNED_METHODS, Asked, Question, StudyPlan
from dppca_core.experiments.sweeps.patients_needed import last_fall
from dppca_core.experiments.sweeps.recipe import METRICS, Axis, Recipe, Value, variant
from dppca_core.populations.synthetic import Synthetic

LEVEL = 0.95
_FIRST_FACTOR, _OUTWARD_FACTOR = 2.0, 4.0  # factors: first values beside the start; the next one further out
_CLOSE_RATIO = 1.15  # the ratio of the ends of a gap that is not halved any more
_FIT_FACTOR, _FIT_FACTOR_WITHOUT_FORM = 2.5, 1.4  # factors within which values enter the fit
_GRID_POINTS, _GRID_MARGIN = 81, 1.5  # of the fitted curve: points, and how far it goes beyond the values
_MOST_VALUES = 16  # beyond which a simulation that contradicts the closed form is left as it is
_RESAMPLES = 1000
# The fields that an experiment and the recipe of its simulation have in common.
_SAME_FIELDS = (
    *("delta", "s_hat", "providers", "iterations", "burn_in"),
    *("neighbours", "accounting", "failure", "seed"),
)


@dataclass(frozen=True)
class SimulatedAnswer:
    """Hold the answer by simulation, the ends of its interval, and how many values and runs it rests on.

    state: "found"; "least", the smallest value allowed reaches the target; "none", no value up to the largest
    allowed does (NaN); or "measuring", the gap is still wide and `value` preliminary, or NaN. high may be
    infinite.
    """

    state: Literal["found", "least", "none", "measuring"]
    values: int
    runs: int
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Search:
    """A search bisects over patients, epsilon or hospitals until the plan's target is reached.

    start: a guess of the answer. repeats: the runs at each value. Raises ValueError for a table, whose
    patients cannot be more than they are.
    """

    plan: StudyPlan
    question: Question
    start: float
    repeats: int = 20

    def __post_init__(self) -> None:
        checks.one_of(get_args(Asked), asked=self.question.asked)
        checks.positive(epsilon=self.question.epsilon, start=self.start)
        checks.whole(1, n=self.question.n, size=self.question.size, repeats=self.repeats)
        population = self.plan.experiment.population
        if not isinstance(population, Synthetic):
            raise ValueError(f"population must be synthetic to be simulated, got {checks.shown(population)}")

    @property
    def name(self) -> str:
        return "epsilon" if self._over_epsilon else "n"

    @property
    def _over_epsilon(self) -> bool:
        return self.question.asked == "epsilon"

    @property
    def _limits(self) -> tuple[float, float]:
        low, high = self.question.limits(self.plan.experiment.providers)
        return float(self._unit * low), float(self._unit * high)

    @property
    def _unit(self) -> int:
        """Return the factor from an answer to a value: the patients of a hospital for hospitals, else 1."""
        return self.question.size if self.question.asked == "hospitals" else 1

    def _value(self, wanted: float) -> Value:
        """Return the value nearest to `wanted` that can be run; epsilon is rounded to six digits."""
        low, high = self._limits
        limited = min(max(wanted, low), high)
        if self._over_epsilon:
            return float(f"{limited:.6g}")
        return int(min(max(self._unit * round(limited / self._unit), low), high))

    def first_values(self) -> tuple[Value, ...]:
        middle = self.start * self._unit
        return tuple(sorted({self._value(middle / _FIRST_FACTOR), self._value(middle * _FIRST_FACTOR)}))

    def recipe(self, values: tuple[Value, ...]) -> Recipe:
        experiment, planned = self.plan.experiment, PLANNED_METHODS[self.plan.planned]
        assert isinstance(experiment.population, Synthetic)  # no other is planned for
        over_hospitals = self.question.asked == "hospitals"
        options = experiment.rows_rule(planned.method) | ({"scaling": "unit"} if self.plan.unit_rows else {})
        # Of n and epsilon, the swept one has no value of its own. Hospitals that are asked for have one size.
        return Recipe(
            experiment.population,
            (variant(planned.method, **options),),
            (Axis(self.name, values),),
            n=self.question.n if self._over_epsilon else None,
            epsilon=1.0 if self._over_epsilon else self.question.epsilon,
            largest_share=0.0 if over_hospitals else experiment.largest_share,
            provider_noise=planned.provider_noise,
            patients_each=self.question.size if over_hospitals else None,
            repeats=self.repeats,
            metrics=("energy",) if self.plan.energy else ("sin",),
            **{name: getattr(experiment, name) for name in _SAME_FIELDS},
        )

    def losses(self, runs: Any) -> tuple[Array, Array]:
        """Return the values whose runs are complete, ascending, (m,), and their losses, (m, repeats)."""
        column = METRICS["energy" if self.plan.energy else "sin"]
        # A row for each value; dropna leaves out those of which a run is missing or has failed.
        wide = runs.pivot(index=self.name, columns="repeat", values=column).sort_index().dropna()
        measured = wide.to_numpy(dtype=float)
        return wide.index.to_numpy(dtype=float), (1 - measured if self.plan.energy else measured**2)

    @property
    def _typical(self) -> Callable[..., Array]:
        return np.median if self.plan.median else np.mean

    @property
    def _target(self) -> float:
        return self.plan.allowed_loss if self.plan.energy else self.plan.allowed_loss**2

    def values_to_run(self, runs: Any) -> tuple[Value, ...]:
        """Return the values at which runs are wanted: those whose runs are complete, and the next, if any."""
        at, losses = self.losses(runs)
        values = {self._value(value) for value in at}
        # Before any value is complete, the bisection cannot tell which way to go.
        following = self._next(at, self._typical(losses, axis=1)) if 0 < len(at) < _MOST_VALUES else None
        return tuple(sorted(values if following is None else values | {self._value(following)}))

    def _next(self, at: Array, means: Array) -> float | None:
        """Return the next value of the bisection, or None where it is complete; means: of losses."""
        last_miss = self._last_miss(means)
        if last_miss == -1:  # all values reach the target
            return at[0] / _OUTWARD_FACTOR if at[0] > self._limits[0] else None
        if last_miss == len(at) - 1:  # not even the largest value does
            return at[-1] * _OUTWARD_FACTOR if at[-1] < self._limits[1] else None
        below, above = at[last_miss], at[last_miss + 1]
        # Between neighbouring whole numbers of patients, or of hospitals, nothing can be run.
        if above <= _CLOSE_RATIO * below or above - below <= (0 if self._over_epsilon else self._unit):
            return None
        return math.sqrt(below * above)

    def _last_miss(self, means: Array) -> int:
        # The True in front stands for index -1, so that there always is a last one.
        return int(np.flatnonzero(np.append(True, means > self._target))[-1]) - 1

    def simulated_answer(self, runs: Any) -> SimulatedAnswer:
        at, losses = self.losses(runs)
        unit = self._unit
        measuring = SimulatedAnswer("measuring", values=len(at), runs=losses.size)
        if not len(at):
            return measuring
        complete, means = len(self.values_to_run(runs)) == len(at), self._typical(losses, axis=1)
        last_miss = self._last_miss(means)
        if last_miss in (-1, len(at) - 1) and not complete:  # no gap yet in which the answer must lie
            return measuring
        if last_miss == -1:
            least = at[0] / unit
            return replace(measuring, state="least", value=least, low=least, high=least)
        if last_miss == len(at) - 1:
            return replace(measuring, state="none")
        # The answer lies in the gap above the last value that misses the target. Values near it are fitted.
        middle = math.sqrt(at[last_miss] * at[last_miss + 1])
        window = _FIT_FACTOR if self.plan.smooth else _FIT_FACTOR_WITHOUT_FORM
        near = (at >= middle / window) & (at <= middle * window)
        near[last_miss : last_miss + 2] = True  # both ends of the gap, however wide it still is
        # The first column is the estimate from all runs, each other one from repeats that are resampled.
        rng = np.random.default_rng([self.plan.experiment.seed, 1])
        chosen = rng.integers(losses.shape[1], size=(_RESAMPLES, losses.shape[1]))
        resampled = np.column_stack([means, self._typical(losses[:, chosen], axis=2)])
        if self.plan.median:
            crossings = last_fall(at, resampled.T, self._target)
        else:
            crossings = self._crossings(at[near], resampled[near])
        tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        low, high = np.quantile(crossings[1:], tails, method="inverted_cdf")
        state: Literal["found", "measuring"] = "found" if complete else "measuring"
        # A curve that is fitted to few values may miss the target between two that enclose it.
        value = crossings[0] if math.isfinite(crossings[0]) else at[last_miss + 1]
        return replace(measuring, state=state, value=value / unit, low=low / unit, high=high / unit)

    def _predicted(self, at: Array) -> Array:
        """Return the logarithm of the mean loss that a closed form predicts at these values, (m,), or 0."""
        if not self.plan.smooth:
            return np.zeros(len(at))
        losses = []
        for value in at.tolist():
            n, epsilon, hospitals = self.question.at(value / self._unit)
            # Between whole hospitals the patients are counted singly, so that the curve is smooth.
            losses.append(self.plan.loss(round(value) if hospitals else n, epsilon, hospitals))
        logs: Array = np.log(losses)
        return logs if self.plan.energy else 2 * logs

    def _crossings(self, at: Array, means: Array) -> Array:
        """Return the value from which on the curve fitted to each column of means stays below the target.

        at: ascending, (m,); means: (m, c). Crossings, (c,), are infinite where the curve is above the target
        at the end of the grid, and the beginning of the grid where it is below it everywhere.
        """
        # The line a + b ln x of the module's formula is fitted to `rest`. With ln x centred, its mean is the
        # line's height in the middle.
        x = np.log(at)
        centred = x - x.mean()
        rest = np.log(np.maximum(means, 1e-300)) - self._predicted(at)[:, None]
        slope = centred @ rest / (centred @ centred)  # b, for each column
        low, high = max(at[0] / _GRID_MARGIN, self._limits[0]), min(at[-1] * _GRID_MARGIN, self._limits[1])
        grid = np.linspace(math.log(low), math.log(high), _GRID_POINTS)
        curve = self._predicted(np.exp(grid))[:, None] + rest.mean(axis=0) + np.outer(grid - x.mean(), slope)
        above = curve > math.log(self._target)
        last = _GRID_POINTS - 1 - np.argmax(above[::-1], axis=0)  # the last value that misses the target
        inner = np.minimum(last, _GRID_POINTS - 2)  # so that a next point follows it on the grid
        left, right = (np.take_along_axis(curve, inner[None] + step, 0)[0] for step in (0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (left - math.log(self._target)) / (left - right)  # of the step at which the target is met
        crossings = np.exp(grid[inner] + share * (grid[1] - grid[0]))
        crossings = np.where(last == _GRID_POINTS - 1, np.inf, crossings)
        return np.where(above.any(axis=0), crossings, math.exp(grid[0]))
