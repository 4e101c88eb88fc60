"""Form a family of trajectories from settings, and read rates off its runs.

A trajectory is the error of an iterative method after each of its rounds. A family has one for each of a few
values of one parameter, the others as set. What the runs at one value show is its reading.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.experiments import Axis
from dppca_core.experiments.explorer.closed_forms import closed_form
from dppca_core.experiments.explorer.contraction import Contraction, contraction, tail
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.experiments.studies import ConvergenceStudy
from dppca_core.experiments.sweeps import of_experiment
from dppca_core.experiments.sweeps.iterate_table import by_round
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import in_unit, random_guess
from dppca_core.records import Bound
from pages.explore.convergence.settings import STACKED, TWO_STAGES
from pages.shared import text
from pages.shared.background import cache, sweep_jobs
from pages.shared.background.sweep_jobs import Job
from pages.shared.charts import QUANTITIES, error_unit, more_is_better, value_text
from pages.shared.settings import catalogue, swept, to_experiment
from pages.shared.settings.catalogue import CHOICES, Settings

SLOT = "convergence"  # the name under which this page's sweep is kept for each visitor
_NOTHING: dict[str, Any] = {"errors": np.empty((3, 0)), "angles": np.empty((3, 0))}  # before the first run
# Neighbouring values differ by about this factor, which is enough to be seen.
_RATIOS = {
    "epsilon": 10**0.5,
    "delta": 100.0,
    "n": 10.0,
    "providers": 3.0,
    "iterations": 1.7,
    "d": 2.0,
    "k": 1.7,
    "s": 2.0,
    "s_hat": 2.0,
}


class Family:
    """Hold a family of trajectories: one for each of some values of one parameter.

    Attributes:
        settings: How it is shown, and the method that is traced.
        key: The parameter that varies; `here` is the one of its `values` that is set.
        has_rate: Whether the rounds of the method are alike, so that one factor describes them.
    """

    def __init__(self, settings: Settings, key: str, values: Sequence[float], here: float) -> None:
        self.settings, self.key, self.values, self.here = settings, key, tuple(values), here
        self.has_rate = settings["traced"] not in (*TWO_STAGES, *STACKED)

    def named(self, value: float) -> str:
        return f"{text.symbols(self.key)} = {CHOICES[self.key].text(value)}"

    def marked(self, value: float) -> str:
        shown = CHOICES[self.key].text(value)
        return f"**{shown}**" if value == self.here else shown

    def reading(self, readings: Sequence["CurveReading"]) -> "CurveReading":
        return readings[self.values.index(self.here)]

    def at(self, value: float) -> tuple[ExplorerExperiment, float]:
        """Return the experiment, and its epsilon, where the parameter has this value."""
        return to_experiment.from_settings(self.settings | {"start": "random", self.key: value})

    def readings(self, table: pd.DataFrame) -> list["CurveReading"]:
        """Read the runs at each value; table: of the family's sweep, complete or not."""
        rounds, results, metric = by_round(table), [], error_unit(self.settings)
        for value in self.values:
            experiment, epsilon = self.at(value)
            theory = _theory(experiment, epsilon, self.settings["traced"])
            runs = rounds[rounds[self.key] == value]
            measured = _read(runs, experiment, self.has_rate) if len(runs) else _NOTHING
            results.append(CurveReading(value, metric, experiment.d, experiment.k, *theory, **measured))
        return results


class StudiedFamily(Family):
    """Hold a family that a script or a notebook has measured."""

    def __init__(self, study: ConvergenceStudy, settings: Settings) -> None:
        self._study = study
        shown = settings | {"traced": study.method, "iterations": study.experiment.iterations}
        super().__init__(shown, study.over, study.values, study.here)

    def at(self, value: float) -> tuple[ExplorerExperiment, float]:
        return self._study.at(value)


class Convergence(Family):
    """Hold the page at these settings: the family of trajectories, its recipe, and the job that measures it.

    The family is over epsilon where the parameter asked for is fixed by a table, not used by the method, or
    set to a word in place of a number. Trajectories start at random: a sweep knows no other start.

    Attributes:
        left_out: Impossible values, and why.
    """

    def __init__(self, settings: Settings) -> None:
        started = settings | {"start": "random"}
        method, key = METHODS[settings["traced"]], settings["family"]
        if key in catalogue.fixed(settings) or key not in method.uses or isinstance(settings[key], str):
            key = "epsilon"
        values, self.left_out = swept.possible(started, key, options_around(key, settings[key]))
        super().__init__(settings, key, values, settings[key])
        experiment, epsilon = to_experiment.from_settings(started)
        self.recipe = of_experiment.traced(experiment, epsilon, method.name, Axis(key, values))

    @cached_property
    def job(self) -> Job:
        return sweep_jobs.start(SLOT, self.recipe)

    @property
    def results(self) -> Results:
        """Return what other pages have measured here, whose sources the foot names."""
        return cache.results(to_experiment.from_settings(self.settings)[0])


def options_around(key: str, here: float) -> tuple[float, ...]:
    """Return the option `here` with four neighbours, or five of rounds, in ratios of about `_RATIOS`."""
    choice, count = CHOICES[key], 6 if key == "iterations" else 5
    # Go from `here` in equal ratios to both sides, each time to the option that is nearest.
    ratios = [_RATIOS[key] ** step for step in range(1, len(choice.numbers))]
    below = sorted({low for ratio in ratios if (low := choice.nearest(here / ratio)) < here}, reverse=True)
    above = sorted({high for ratio in ratios if (high := choice.nearest(here * ratio)) > here})
    # Half of them are below, or more where there are too few above.
    lower = below[: max(count // 2, count - 1 - len(above))]
    return (*reversed(lower), here, *above[: count - 1 - len(lower)])


@dataclass(frozen=True)
class CurveReading:
    """Hold the errors by round at one value of the family.

    Errors and angles are 10, 50 and 90 % over the runs by round, (3, rounds); before the first run (3, 0).
    """

    value: float
    metric: str  # on screen: "sin", "projector", "share" or "degrees"
    d: int
    k: int
    ratio: float  # lambda_{k+1} / lambda_k
    theorem: Bound  # Theorem 4.3 of Ge et al.
    closed_form: Bound | None  # of the last round's error, where the method has one
    errors: Array  # ||sin Theta||_F
    angles: Array  # the largest, in degrees
    runs: int = 0
    complete: int | None = None  # of them, those that find all true features; None for a table
    fit: Contraction | None = None  # to the median, where one factor describes all rounds
    spread: tuple[float, float] | None = None  # 10 and 90 % of the runs' plateaus

    @property
    def quantity(self) -> str:
        return QUANTITIES.get(self.metric, "error")

    @property
    def middle(self) -> Array:  # the median ||sin Theta||_F
        return np.asarray(self.errors[1])

    @property
    def rounds(self) -> int:  # without the start, which is round 0
        return len(self.middle) - 1

    @property
    def guess(self) -> float:  # its ||sin Theta||_F
        return random_guess(self.d, self.k)

    @property
    def shown(self) -> Array:
        """Return 10, 50 and 90 % in the unit on screen, by round, (3, rounds).

        A share falls as the error rises, so its quantiles come in reverse order.
        """
        if self.metric == "degrees":
            return self.angles
        values = self.sines_in_unit(self.errors)
        return values[::-1] if more_is_better(self.metric) else values

    def sines_in_unit(self, sines: float | Array) -> Array:
        """Convert ||sin Theta||_F; NaN in degrees for k > 1, as the norm gives no largest angle."""
        return in_unit(self.metric, sines, self.k)

    def text(self, value: float) -> str:
        return value_text(self.metric, float(value))

    def error(self, at: int = -1, which: int = 1) -> str:
        """Return the 10, 50 or 90 % (`which` 0, 1, 2) of the error in round `at`."""
        return self.text(self.shown[which][at])

    @property
    def plateau(self) -> tuple[float, float, float] | None:
        """Return the level at which the errors stop falling, with 10 and 90 % of the runs; None without one.

        It is in the unit on screen. Where the plateau of ||sin Theta|| gives no angle, it is the angle of the
        last round.
        """
        if self.fit is None or self.fit.plateau is None or self.spread is None:
            return None
        sines = self.sines_in_unit(np.array([self.fit.plateau, *self.spread]))
        if not np.isfinite(sines).all():  # several angles, which the norm does not determine
            low, middle, high = self.shown[:, -1]
            return float(middle), float(low), float(high)
        # In a unit that rises as the error falls, the two ends have changed places.
        return float(sines[0]), float(sines[1:].min()), float(sines[1:].max())

    @property
    def predicted(self) -> float | None:
        bound = self.closed_form
        return None if bound is None or not bound.applies else bound.final

    @property
    def prediction(self) -> str:
        return "" if self.predicted is None else self.text(float(self.sines_in_unit(self.predicted)))

    @property
    def theorem_rate(self) -> float | None:
        """Return rho^(1/4), by which a round multiplies the optimisation term of Theorem 4.3.

        rho, alpha and gamma are those of `dppca_core.bounds.ge2018`: in round t the term has rho^((t-1)/4).
        None where alpha >= 1 - gamma, so that the theorem promises no fall.
        """
        rho = self.theorem.quantities.get("rho")
        return None if rho is None else rho**0.25


def _read(runs: pd.DataFrame, experiment: ExplorerExperiment, has_rate: bool) -> dict[str, Any]:
    """Return the measured fields of a `CurveReading`; runs: a row for each run and round at one value."""
    errors = runs.pivot(index="repeat", columns="round", values="sin_theta").to_numpy()
    angles = runs.pivot(index="repeat", columns="round", values="largest_angle").to_numpy()
    spreads = quantiles(errors)
    measured = {"errors": spreads, "angles": quantiles(angles), "runs": len(errors)}
    if "support_found" in runs:  # 1 for all true features; each row of a run repeats it, so round 0 has all
        measured["complete"] = int((runs[runs["round"] == 0]["support_found"] == 1.0).sum())
    if not has_rate:
        return measured
    fit, spread = contraction(spreads[1], d=experiment.d, k=experiment.k), None
    if fit.plateau is not None:
        # Each run's own plateau is its median over the same last rounds as the fit's.
        low, _, high = quantiles(np.median(errors[:, -tail(errors.shape[1]) :], axis=1))
        spread = float(low), float(high)
    return measured | {"fit": fit, "spread": spread}


@lru_cache(maxsize=256)  # a page that refreshes asks for it every time more runs have come
def _theory(experiment: ExplorerExperiment, epsilon: float, traced: str) -> tuple[float, Bound, Bound | None]:
    """Return lambda_{k+1} / lambda_k, Theorem 4.3, and the closed form of the method, if it has one."""
    results = Results(experiment)
    setting = results.setting(epsilon)
    ratio = float(setting.eigenvalues[experiment.k] / setting.eigenvalues[experiment.k - 1])
    return ratio, BOUNDS["ge2018"](setting), closed_form(results, traced, epsilon)
