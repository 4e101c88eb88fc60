"""Form the recipe of a family of trajectories from settings, and read rates off its runs. No Streamlit.

A trajectory is the error of an iterative method after each of its rounds. A family has one for each of a few
values of one parameter, the others as set; its recipe says which runs measure them. What the runs at one
value show is its reading.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.experiments import Axis, Recipe
from dppca_core.experiments.explorer.closed_forms import closed_form
from dppca_core.experiments.explorer.contraction import Contraction, contraction, tail
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.experiments.sweeps.iterate_table import by_round
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Bound
from pages.explore.convergence.settings import STACKED, TWO_STAGES
from pages.shared.charts import QUANTITIES, error_unit, in_unit, more_is_better, value_text
from pages.shared.settings import catalogue, swept, to_experiment
from pages.shared.settings.catalogue import CHOICES, Settings, Value

# Neighbouring values differ by about this factor, which is enough to be seen.
_RATIOS = {
    **{"epsilon": 10**0.5, "delta": 100.0, "n": 10.0, "providers": 3.0, "iterations": 1.7},
    **{"d": 2.0, "k": 1.7, "s": 2.0, "s_hat": 2.0},
}


@dataclass(frozen=True)
class Family:
    """Hold the values of one parameter, the recipe of their runs, and what had to be left out.

    `here` is the value that the parameter is set to.
    """

    key: str  # the swept control, which may differ from the one asked for
    values: tuple[Value, ...]
    here: Value
    recipe: Recipe
    left_out: dict[Value, str]  # impossible values, and why

    def reading(self, readings: Sequence["CurveReading"]) -> "CurveReading":
        """Return the reading at the current setting."""
        return readings[self.values.index(self.here)]

    def marked(self, value: Value) -> str:
        """Return a value as Markdown, bold where it is the current setting."""
        shown = CHOICES[self.key].text(value)
        return f"**{shown}**" if value == self.here else shown


def options_around(key: str, here: Value) -> tuple[Value, ...]:
    """Return up to five options of a control around the one it is set to, `here`, which is among them.

    Of rounds there are up to six. Neighbours differ by about the control's `_RATIOS`. Where there are too few
    on one side, as at an end of a slider, the other side has more. key: of the control.
    """
    choice, count = CHOICES[key], 6 if key == "iterations" else 5
    # Go from `here` in equal ratios to both sides, each time to the option that is nearest.
    ratios = [_RATIOS[key] ** step for step in range(1, len(choice.numbers))]
    below = sorted({low for ratio in ratios if (low := choice.nearest(here / ratio)) < here}, reverse=True)
    above = sorted({high for ratio in ratios if (high := choice.nearest(here * ratio)) > here})
    # Half of them are below, or more where there are too few above.
    lower = below[: max(count // 2, count - 1 - len(above))]
    return (*reversed(lower), here, *above[: count - 1 - len(lower)])


def family_from_settings(settings: Settings) -> Family:
    """Return the family that the settings ask for.

    It is over epsilon instead where the parameter asked for is fixed by a table, not used by the method, or
    set to a word in place of a number. Trajectories start at random: a sweep knows no other start.
    """
    settings = settings | {"start": "random"}
    method, key = METHODS[settings["traced"]], settings["family"]
    if key in catalogue.fixed(settings) or key not in method.uses or isinstance(settings[key], str):
        key = "epsilon"
    values, left_out = swept.possible(settings, key, options_around(key, settings[key]))
    experiment, epsilon = to_experiment.from_settings(settings)
    # A simulated population has k of its own, which a table lacks.
    along, k = Axis(key, values), experiment.k if experiment.table else None
    metrics = ("rounds", "angle rounds", *(() if experiment.table else ("support",)))
    recipe = to_experiment.recipe(experiment, epsilon, (method.name,), along, k=k, metrics=metrics)
    return Family(key, values, settings[key], recipe, left_out)


@dataclass(frozen=True)
class CurveReading:
    """Hold ||sin Theta||_F by round at one value of the family, and its fit.

    What is measured is None before the first run; a method whose rounds differ in kind has no fit.
    """

    value: Value
    metric: str  # on screen: "sin", "projector", "share" or "degrees"
    d: int
    k: int
    ratio: float  # lambda_{k+1} / lambda_k
    theorem: Bound  # Theorem 4.3 of Ge et al.
    closed_form: Bound | None  # of the last round's error, where the method has one
    errors: Array | None = None  # 10, 50 and 90 % over the runs by round, (3, rounds)
    fit: Contraction | None = None
    spread: tuple[float, float] | None = None  # 10 and 90 % of the runs' plateaus
    runs: int = 0
    complete: int | None = None  # of them, those that find all true features; None for a table
    angles: Array | None = None  # 10, 50 and 90 % of the largest angle in degrees by round, (3, rounds)

    @property
    def quantity(self) -> str:
        """Return what a sentence calls the error on screen: "error", "share recovered" or "largest angle"."""
        return QUANTITIES.get(self.metric, "error")

    @property
    def guess(self) -> float:
        """Return the ||sin Theta|| of a random guess."""
        return random_guess(self.d, self.k)

    @property
    def middle(self) -> Array | None:
        """Return the median ||sin Theta||_F by round; None before the first run."""
        return None if self.errors is None else self.errors[1]

    @property
    def shown(self) -> Array:
        """Return 10, 50 and 90 % in the unit on screen, by round, (3, rounds); empty before the first run.

        A share falls as the error rises, so its quantiles come in reverse order.
        """
        if self.errors is None:
            return np.empty((3, 0))
        if self.metric == "degrees" and self.angles is not None:
            return self.angles
        values = self.sines_in_unit(self.errors)
        return values[::-1] if more_is_better(self.metric) else values

    def sines_in_unit(self, sines: float | Array) -> Array:
        """Return a fitted or predicted ||sin Theta||_F, `sines`, in the unit on screen.

        It is nan in degrees where k > 1: the norm does not determine the largest of several angles.
        """
        return in_unit(self.metric, sines, self.k)

    def text(self, value: float) -> str:
        """Return a value in the unit on screen as a sentence has it."""
        return value_text(self.metric, float(value))

    def error(self, at: int = -1, which: int = 1) -> str:
        """Return the 10, 50 or 90 % (`which` 0, 1, 2) of the error in round `at` as text.

        By default it is the median of the last round.
        """
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
        """Return the closed form of the last round's error; None where it does not apply."""
        bound = self.closed_form
        return None if bound is None or not bound.applies else bound.final

    @property
    def theorem_rate(self) -> float | None:
        """Return rho^(1/4), by which a round multiplies the optimisation term of Theorem 4.3.

        rho, alpha and gamma are those of `dppca_core.bounds.ge2018`: in round t the term has rho^((t-1)/4).
        None where alpha >= 1 - gamma, so that the theorem promises no fall.
        """
        rho = self.theorem.quantities.get("rho")
        return None if rho is None else rho**0.25


def readings(family: Family, settings: Settings, table: pd.DataFrame) -> list[CurveReading]:
    """Return what the runs so far show at every value of the family; table: a row for each run."""
    rounds = by_round(table)
    results = []
    for value in family.values:
        experiment, epsilon = to_experiment.from_settings(settings | {"start": "random", family.key: value})
        theory = _theory(experiment, epsilon, settings["traced"])
        runs = rounds[rounds[family.key] == value]
        measured = _read(runs, experiment, settings["traced"]) if len(runs) else {}
        fields = error_unit(settings), experiment.d, experiment.k, *theory  # in the order of `CurveReading`
        results.append(CurveReading(value, *fields, **measured))
    return results


def _read(runs: pd.DataFrame, experiment: ExplorerExperiment, traced: str) -> dict[str, Any]:
    """Return the measured fields of a `CurveReading`.

    runs: a row for each run and round at one value of the family. traced: the method that is run.
    """
    errors = runs.pivot(index="repeat", columns="round", values="sin_theta").to_numpy()
    angles = runs.pivot(index="repeat", columns="round", values="largest_angle").to_numpy()
    spreads = quantiles(errors)
    measured = {"errors": spreads, "angles": quantiles(angles), "runs": len(errors)}
    if "support_found" in runs:  # 1 for all true features; each row of a run repeats it, so round 0 has all
        measured["complete"] = int((runs[runs["round"] == 0]["support_found"] == 1.0).sum())
    if traced in (*TWO_STAGES, *STACKED):  # their rounds differ: no single factor
        return measured
    fit = contraction(spreads[1], d=experiment.d, k=experiment.k)  # to the median
    spread = None
    if fit.plateau is not None:
        # Each run's own plateau is its median over the same last rounds as the fit's.
        ends = np.median(errors[:, -tail(errors.shape[1]) :], axis=1)
        low, _, high = quantiles(ends)
        spread = float(low), float(high)
    return measured | {"fit": fit, "spread": spread}


@lru_cache(maxsize=256)
def _theory(experiment: ExplorerExperiment, epsilon: float, traced: str) -> tuple[float, Bound, Bound | None]:
    """Return lambda_{k+1} / lambda_k, Theorem 4.3, and the closed form of the method traced, if it has one.

    They are cached because a page that refreshes asks for them every time more runs have come.
    """
    results = Results(experiment)
    setting = results.setting(epsilon)
    ratio = float(setting.eigenvalues[experiment.k] / setting.eigenvalues[experiment.k - 1])
    return ratio, BOUNDS["ge2018"](setting), closed_form(results, traced, epsilon)
