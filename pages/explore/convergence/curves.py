"""Form the recipe of a family of trajectories from settings, and read rates off its runs. No Streamlit."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.datasets import TABLES
from dppca_core.experiments import Axis, Recipe
from dppca_core.experiments.explorer.contraction import Contraction, contraction, tail
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps.iterate_table import by_round
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Bound
from pages.shared.settings import catalogue, swept, to_experiment
from pages.shared.settings.catalogue import CHOICES, Settings, Value

# Neighbouring values differ by about this factor, which is enough to be seen.
_RATIOS = {
    **{"epsilon": 10**0.5, "delta": 100.0, "n": 10.0, "providers": 3.0, "iterations": 1.7},
    **{"d": 2.0, "k": 1.7, "s": 2.0, "s_hat": 2.0},
}


@dataclass(frozen=True)
class Family:
    """Hold the values of one parameter, the recipe of their runs, and what had to be left out."""

    key: str  # the swept control, which may differ from the one asked for
    values: tuple[Value, ...]
    here: Value
    recipe: Recipe
    left_out: dict[Value, str]  # impossible values, and why


def around(key: str, here: Value) -> tuple[Value, ...]:
    """Return options of a control spread around the one it is set to, which is among them."""
    choice, count = CHOICES[key], 6 if key == "iterations" else 5
    ratios = [_RATIOS[key] ** step for step in range(1, len(choice.numbers))]
    below = sorted({low for ratio in ratios if (low := choice.nearest(here / ratio)) < here}, reverse=True)
    above = sorted({high for ratio in ratios if (high := choice.nearest(here * ratio)) > here})
    lower = below[: max(count // 2, count - 1 - len(above))]
    return (*reversed(lower), here, *above[: count - 1 - len(lower)])


def family(settings: Settings) -> Family:
    """Return the family that the settings ask for; over epsilon, where that parameter makes no difference."""
    settings = settings | {"start": "random"}
    method, key = METHODS[settings["traced"]], settings["family"]
    fixed = settings["data"] in TABLES and key in catalogue.FIXED_BY_TABLE
    if fixed or key not in method.uses or isinstance(settings[key], str):
        key = "epsilon"
    values, left_out = swept.possible(settings, key, around(key, settings[key]))
    experiment, epsilon = to_experiment.from_settings(settings)
    along, k = Axis(key, values), experiment.k if experiment.table else None
    recipe = to_experiment.recipe(experiment, epsilon, (method.name,), along, k=k, metrics=("rounds",))
    return Family(key, values, settings[key], recipe, left_out)


@dataclass(frozen=True)
class CurveReading:
    """Hold sin Theta by round at one value of the family, and its fit; None before the first run."""

    value: Value
    guess: float
    ratio: float  # lambda_{k+1} / lambda_k
    theorem: Bound
    low: Array | None = None  # by round: 10 %, 50 %, 90 % over the runs
    middle: Array | None = None
    high: Array | None = None
    fit: Contraction | None = None
    spread: tuple[float, float] | None = None  # 10 and 90 % of the runs' plateaus

    @property
    def theorem_rate(self) -> float | None:
        """Return rho^(1/4) of Theorem 4.3; None where alpha >= 1 - gamma leaves no rho."""
        rho = self.theorem.quantities.get("rho")
        return None if rho is None else rho**0.25


def readings(family: Family, settings: Settings, table: pd.DataFrame) -> list[CurveReading]:
    """Return what the runs so far show at every value of the family."""
    rounds = by_round(table)
    results = []
    for value in family.values:
        experiment, epsilon = to_experiment.from_settings(settings | {"start": "random", family.key: value})
        ratio, theorem = _theorem(experiment, epsilon)
        guess, runs = random_guess(experiment.d, experiment.k), rounds[rounds[family.key] == value]
        measured = _read(runs, experiment) if len(runs) else {}
        results.append(CurveReading(value, guess, ratio, theorem, **measured))
    return results


def _read(runs: pd.DataFrame, experiment: ExplorerExperiment) -> dict[str, Any]:
    errors = runs.pivot(index="repeat", columns="round", values="sin_theta").to_numpy()
    low, middle, high = quantiles(errors)
    fit = contraction(middle, d=experiment.d, k=experiment.k)
    spread = None
    if fit.plateau is not None:
        ends = np.median(errors[:, -tail(len(middle)) :], axis=1)
        spread = tuple(float(v) for v in quantiles(ends)[[0, 2]])
    return {"low": low, "middle": middle, "high": high, "fit": fit, "spread": spread}


@lru_cache(maxsize=256)
def _theorem(experiment: ExplorerExperiment, epsilon: float) -> tuple[float, Bound]:
    """Return lambda_{k+1} / lambda_k, and Theorem 4.3."""
    setting = Results(experiment).setting(epsilon)
    values = setting.eigenvalues
    return float(values[experiment.k] / values[experiment.k - 1]), BOUNDS["ge2018"](setting)
