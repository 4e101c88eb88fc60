"""Turn the planner's settings into plans, with their answers and simulations. No Streamlit here."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.plan_plane import Plane, answered, plane
from dppca_core.experiments.planning.planning import MOST_EPSILON, PLANNED_METHODS, PlanAnswer, StudyPlan
from dppca_core.experiments.sweeps import run_cells
from dppca_core.methods import METHODS
from dppca_core.records import TRUSTS, Bound, Method
from pages.shared.charts.metric_axis import factor
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

CHART_EPSILONS = np.array(EPSILONS)
_FEWEST_RUNS = 10  # at each value of a simulation, for an interval
VALUES = 6  # that a bisection usually takes
Asked = Literal["patients", "epsilon", "hospitals"]
Simulations = dict[str, SimulatedAnswer]  # by the name of the planned method


def listed(settings: Settings) -> list[str]:
    """Return the planned methods under the chosen trust, those that trust most first."""
    trust = settings["plan.trust"]
    names = [name for name, planned in PLANNED_METHODS.items() if trust in ("any", planned.trust)]
    return sorted(names, key=lambda name: TRUSTS.index(PLANNED_METHODS[name].trust))


def method(name: str) -> Method:
    """Return the method that a planned method runs."""
    return METHODS[PLANNED_METHODS[name].method]


def focus(settings: Settings) -> str:
    """Return the planned method that is drawn: the chosen one, or the first that the trust leaves."""
    names = listed(settings)
    chosen: str = settings["plan.way"]
    return chosen if chosen in names else names[0]


def energetic(settings: Settings) -> bool:
    """Say whether the target is a share of the captured energy, not an error."""
    return bool(settings["plan.of"] == "energy")


def plan(settings: Settings, name: str) -> StudyPlan:
    """Return the plan of a method; settings that do not matter are fixed, so that caches find its answers."""
    fixed = {"start": "random", "metric": "sin", "repeats": 10, "provider_noise": "independent"}
    n = {} if settings["data"] in TABLES else {"n": 10**9}
    experiment, _ = to_experiment.from_settings(settings | fixed | n)
    energy = energetic(settings)
    target = settings["plan.share"] if energy else settings["plan.target"] / factor(settings)
    return StudyPlan(experiment, name, target, energy)


def in_total(settings: Settings) -> int:
    """Return the number of patients at the current setting."""
    table = TABLES.get(settings["data"])
    return int(table.n if table else settings["n"])


@lru_cache(maxsize=1536)
def _answer(study: StudyPlan, asked: Asked, epsilon: float, n: int, size: int) -> PlanAnswer:
    if asked == "epsilon":
        return study.epsilon(n)
    return study.patients(epsilon) if asked == "patients" else study.hospitals(epsilon, size)


def answer(settings: Settings, name: str, asked: Asked | None = None) -> PlanAnswer:
    """Return the closed form's answer at the current setting to what is asked, or to another question."""
    asked = asked or settings["plan.asked"]
    study, size = plan(settings, name), settings["plan.size"]
    return _answer(study, asked, settings["epsilon"], in_total(settings), size)


def bound(settings: Settings) -> Bound:
    """Return the closed form in focus at its answer, or at this setting where it has none."""
    name = focus(settings)
    at_setting = plan(settings, name).bound
    return answer(settings, name).bound or at_setting(in_total(settings), settings["epsilon"])


def assumptions(settings: Settings) -> list[tuple[bool, str]]:
    """Return for each assumption of that closed form whether it holds, and the assumption with its number."""
    return [(line.startswith("holds"), line.partition(": ")[2]) for line in bound(settings).why]


class DrawnPlan(NamedTuple):
    """Hold the plane of the method in focus, and the target's curve of each method.

    floor: the amount below which no epsilon reaches the target, NaN if none on the plane.
    """

    plane: Plane
    curves: dict[str, Array]
    floor: float


def drawn(settings: Settings) -> DrawnPlan:
    """Evaluate what the chart draws for what is asked."""
    size = settings["plan.size"] if settings["plan.asked"] == "hospitals" else None
    chosen = focus(settings)
    low, high = (2, 9) if size is None else (0, 4)  # powers of ten
    start = answer(settings, chosen).start if settings["plan.asked"] != "epsilon" else None
    if start is not None and start > 10**high / 3:
        high = min(math.ceil(math.log10(start) + 0.5), 15 if size is None else 5)
    plans = {name: plan(settings, name) for name in listed(settings)}
    # A plane does not depend on the target, so one target stands for all in the cache.
    planes = {name: _plane(replace(study, target=0.5), low, high, size) for name, study in plans.items()}
    curves = {name: answered(plans[name], field, size) for name, field in planes.items()}
    allowed, field, floor = plans[chosen].allowed, planes[chosen], math.nan
    if field.without[-1] <= allowed < field.without[0]:
        losses, amounts = np.log(field.without[::-1]), np.log(field.amounts[::-1])
        floor = math.exp(float(np.interp(math.log(allowed), losses, amounts)))
    return DrawnPlan(field, curves, floor)


@lru_cache(maxsize=256)
def _plane(study: StudyPlan, low: int, high: int, size: int | None) -> Plane:
    fewest = study.experiment.providers if size is None else 1
    return plane(study, (max(10.0**low, fewest), 10.0**high), CHART_EPSILONS, size)


def search(settings: Settings, name: str) -> Search | None:
    """Return the simulation of what is asked; None with nowhere to begin, or only a table's patients."""
    asked: Asked = settings["plan.asked"]
    closed_form = answer(settings, name)
    start = MOST_EPSILON if closed_form.kind in ("epsilon", "sampling") else closed_form.start
    if start is None or settings["data"] in TABLES:
        return None
    at = float(in_total(settings) if asked == "epsilon" else settings["epsilon"])
    repeats = max(settings["repeats"], _FEWEST_RUNS)
    return Search(plan(settings, name), asked, at, start, settings["plan.size"], repeats)


def seconds(simulation: Search) -> float:
    """Return roughly how long a simulation computes on one core."""
    first = simulation.recipe(simulation.first())
    return run_cells.total_seconds(first) * VALUES / len(first.swept[0].values)


def agreement(closed_form: PlanAnswer, simulation: SimulatedAnswer | None) -> float | None:
    """Return the simulated answer over the closed form's; None where one of them is missing."""
    if closed_form.value is None or simulation is None or simulation.state != "found":
        return None
    whole = isinstance(closed_form.value, int)  # patients and hospitals
    return (math.ceil(simulation.value) if whole else simulation.value) / closed_form.value


def true_epsilon(settings: Settings, name: str) -> float | None:
    """Return the epsilon that the calibration truly gives, where it is not the one asked for."""
    experiment, epsilon = plan(settings, name).experiment, settings["epsilon"]
    options = experiment.options(PLANNED_METHODS[name].method)
    true = method(name).true_epsilon(experiment.budget(epsilon), d=experiment.d, k=experiment.k, **options)
    return None if true is None or abs(true / epsilon - 1) <= 0.01 else true
