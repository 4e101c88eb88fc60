"""The planner's settings -> plans, their answers, and what is simulated. No Streamlit."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.plan_plane import Plane, answered, plane
from dppca_core.experiments.planning.planning import MOST_EPSILON, PLANNED_METHODS, PlanAnswer, StudyPlan
from dppca_core.experiments.sweeps import run_cells
from dppca_core.methods import METHODS
from dppca_core.records import TRUSTS
from pages.shared.charts.metric_axis import factor
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

CHART_EPSILONS = np.array(EPSILONS)
_FEWEST_RUNS = 10  # of each value in a simulation: an interval needs some
VALUES = 6  # that a bisection takes as a rule
PEOPLE = 8.2e9  # on earth, United Nations 2024


class Answers(NamedTuple):
    """One way's answers at the current setting, by what is asked."""

    patients: PlanAnswer
    epsilon: PlanAnswer
    hospitals: PlanAnswer


def listed(settings: Settings) -> list[str]:
    """The ways under the trust that is chosen, those who trust more first."""
    trust = settings["plan.trust"]
    names = [name for name, way in PLANNED_METHODS.items() if trust in ("any", way.trust)]
    return sorted(names, key=lambda name: TRUSTS.index(PLANNED_METHODS[name].trust))


def focus(settings: Settings) -> str:
    """The way that is drawn: the one chosen, or the first that the trust leaves."""
    names = listed(settings)
    chosen: str = settings["plan.way"]
    return chosen if chosen in names else names[0]


def energetic(settings: Settings) -> bool:
    """Whether the target is a share of the signal."""
    return bool(settings["plan.of"] == "energy")


def plan(settings: Settings, way: str) -> StudyPlan:
    """The plan of one way; what it does not depend on is held, so that it is looked up again."""
    held = {"start": "random", "metric": "sin", "repeats": 10, "provider_noise": "independent"}
    n = {} if settings["data"] in TABLES else {"n": 10**9}
    experiment, _ = to_experiment.from_settings(settings | held | n)
    energy = energetic(settings)
    target = settings["plan.share"] if energy else settings["plan.target"] / factor(settings)
    return StudyPlan(experiment, way, target, energy)


def in_total(settings: Settings) -> int:
    """Patients at the current setting."""
    table = TABLES.get(settings["data"])
    return int(table.n if table else settings["n"])


@lru_cache(maxsize=512)
def _answers(of: StudyPlan, epsilon: float, n: int, size: int) -> Answers:
    return Answers(of.patients(epsilon), of.epsilon(n), of.hospitals(epsilon, size))


def answers(settings: Settings, way: str) -> Answers:
    """What the closed form says at the current setting."""
    return _answers(plan(settings, way), settings["epsilon"], in_total(settings), settings["plan.size"])


def answer(settings: Settings, way: str) -> PlanAnswer:
    """The one that is asked for."""
    found: PlanAnswer = getattr(answers(settings, way), settings["plan.asked"])
    return found


class DrawnPlan(NamedTuple):
    """What the chart draws: the plane of the way looked at, and the target's curve of each way.

    floor: the amount below which no epsilon reaches the target, NaN if none on the plane.
    """

    plane: Plane
    curves: dict[str, Array]
    floor: float


def drawn(settings: Settings) -> DrawnPlan:
    """All of it, for what is asked."""
    size = settings["plan.size"] if settings["plan.asked"] == "hospitals" else None
    chosen, found = focus(settings), answer(settings, focus(settings))
    low, high = (2, 9) if size is None else (0, 4)  # powers of ten
    wanted = found.start if settings["plan.asked"] != "epsilon" else None
    if wanted is not None and wanted > 10**high / 3:
        high = min(math.ceil(math.log10(wanted) + 0.5), 15 if size is None else 5)
    planes = {name: _plane(untargeted(settings, name), low, high, size) for name in listed(settings)}
    allowed = plan(settings, chosen).allowed
    curves = {name: answered(plan(settings, name), own, size) for name, own in planes.items()}
    field, floor = planes[chosen], math.nan
    if field.without[-1] <= allowed < field.without[0]:
        logs = [np.log(values) for values in (field.without[::-1], field.amounts[::-1])]
        floor = math.exp(float(np.interp(math.log(allowed), *logs)))
    return DrawnPlan(field, curves, floor)


def untargeted(settings: Settings, way: str) -> StudyPlan:
    """The plan with a target that stands for all: its plane is the same."""
    return replace(plan(settings, way), target=0.5)


@lru_cache(maxsize=256)
def _plane(of: StudyPlan, low: int, high: int, size: int | None) -> Plane:
    fewest = of.experiment.providers if size is None else 1
    return plane(of, (max(10.0**low, fewest), 10.0**high), CHART_EPSILONS, size)


def search(settings: Settings, way: str) -> Search | None:
    """The simulation of what is asked, or None where there is nowhere to begin, or only a table."""
    asked: Literal["patients", "epsilon", "hospitals"] = settings["plan.asked"]
    found = answer(settings, way)
    start = MOST_EPSILON if found.kind in ("epsilon", "sampling") else found.start
    if start is None or settings["data"] in TABLES:
        return None
    return Search(
        plan(settings, way),
        asked,
        at=float(in_total(settings) if asked == "epsilon" else settings["epsilon"]),
        start=start,
        size=settings["plan.size"],
        repeats=max(settings["repeats"], _FEWEST_RUNS),
    )


def seconds(of: Search) -> float:
    """Roughly how long a simulation computes, on one core."""
    first = of.recipe(of.first())
    values = len(first.swept[0].values)
    return run_cells.total_seconds(first) * VALUES / values


def agreement(found: PlanAnswer, read: SimulatedAnswer) -> float | None:
    """Simulated over closed form; None where one of them is missing."""
    if found.value is None or read.state != "found":
        return None
    value = math.ceil(read.value) if isinstance(found.value, int) else read.value  # of patients, of hospitals
    return value / found.value


def formula(way: str) -> str:
    """LaTeX of the closed form."""
    return BOUNDS[PLANNED_METHODS[way].rule].formula


def true_epsilon(settings: Settings, way: str) -> float | None:
    """The epsilon that the calibration truly gives, where it is not the one asked for."""
    own = plan(settings, way).experiment
    name = PLANNED_METHODS[way].method
    true = METHODS[name].true_epsilon(own.budget(settings["epsilon"]), d=own.d, k=own.k, **own.options(name))
    return None if true is None or abs(true / settings["epsilon"] - 1) <= 0.01 else true
