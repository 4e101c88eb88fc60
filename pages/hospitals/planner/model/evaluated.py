"""Evaluate plans, where that is slow beside the page.

Some closed forms take seconds. Such an *evaluation*, a tuple of a function and its arguments, is done in the
background and kept in `EVALUATIONS` for all visitors; until then its answer is `EVALUATING`.
"""

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.gaussian_floor import patients_at_floor
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.planning.evaluations import EVALUATIONS, Evaluation
from dppca_core.experiments.planning.plan_plane import (
    Plane,
    amounts_by_prediction,
    amounts_reaching_target,
    edge_column,
    plane,
)
from dppca_core.experiments.planning.planning import PLANNED_METHODS, PlanAnswer, StudyPlan
from dppca_core.methods import METHODS
from dppca_core.records import Method
from pages.shared.charts.metric_axis import factor
from pages.shared.settings import to_experiment

CHART_EPSILONS = np.array(EPSILONS)
EVALUATING = PlanAnswer(None, "evaluating")


def method(name: str) -> Method:
    return METHODS[PLANNED_METHODS[name].method]


def title(name: str) -> str:
    return PLANNED_METHODS[name].title


@lru_cache(maxsize=256)
def published(items: tuple[tuple[str, Any], ...], name: str) -> StudyPlan:
    """Return a method's plan for the sliders' population or a bundled table.

    Settings on which a plan does not depend are fixed, so that moving them finds what was evaluated before.

    items: the settings as pairs, which `lru_cache` can hash. name: the planned method.
    """
    settings = dict(items)
    fixed = {"start": "random", "metric": "sin", "repeats": 10, "provider_noise": "independent"}
    # A plan ignores the experiment's n, so a fixed one stands for all; a table keeps its own.
    n = {} if settings["data"] in TABLES else {"n": 10**9}
    experiment, _epsilon = to_experiment.from_settings(settings | fixed | n)
    energy = settings["plan.of"] == "energy"
    # A plan's target is sin Theta, which the error on screen may be a multiple of.
    target = settings["plan.share"] if energy else settings["plan.target"] / factor(settings)
    return StudyPlan(experiment, name, target, energy)


@lru_cache(maxsize=256)
def patients_at_least(study: StudyPlan, epsilon: float) -> int:
    """Return how many patients any method of Gaussian noise needs in the worst case; 0 where none is known.

    It is the floor, solved for the patients: to first order, for an error, and the same whoever is trusted,
    as it only counts what one patient changes.
    """
    if study.energy:
        return 0
    setting = study.setting(study.experiment.n, epsilon)
    n = patients_at_floor(setting, study.target)
    return n if n and BOUNDS["gaussian_floor"](replace(setting, n=n)).applies else 0


def evaluated(evaluation: Evaluation, slow: bool) -> Any:
    """Return an evaluation's value: computed here if it is quick, else None until the background has it."""
    return EVALUATIONS.cells.get(evaluation) if slow else EVALUATIONS.cell(*evaluation)


def failed_or_evaluating(evaluation: Evaluation | None) -> PlanAnswer:
    """Return the answer for an evaluation without a value: the reason if it failed, else `EVALUATING`."""
    reason = EVALUATIONS.failed.get(evaluation) if evaluation else None
    return EVALUATING if reason is None else PlanAnswer(None, "assumption", failed=(reason,))


def is_slow(study: StudyPlan) -> bool:
    """Return whether small simulations predict the error, which is too slow for a page."""
    return study.predicted or not (study.no_formula or study.smooth)


def has_unit_rows(study: StudyPlan) -> bool:
    return study.unit_rows or study.method.scaling == "unit"


def first_with_same_formula(study: StudyPlan) -> StudyPlan:
    """Return the plan of the first method that shares this one's closed form and noise.

    Methods that share them have equal answers, so that what is evaluated for one serves all.
    """
    planned = PLANNED_METHODS[study.planned]
    if not planned.rule:
        return study
    same = (planned.rule, planned.provider_noise)
    sharing = (each.name for each in PLANNED_METHODS.values() if (each.rule, each.provider_noise) == same)
    return replace(study, planned=next(sharing))


def with_fixed_target(study: StudyPlan) -> StudyPlan:
    """Return the plan with a meaningless fixed target: a plane serves all targets, so one is evaluated."""
    return replace(first_with_same_formula(study), target=0.5)


def plane_over(study: StudyPlan, amounts: tuple[float, float], size: int | None) -> Plane:
    """Return the losses over amounts and `CHART_EPSILONS`; size: of each hospital, if those are counted.

    Of a plane that is made of columns, those that were evaluated already are not evaluated again.
    """
    return plane(study, amounts, CHART_EPSILONS, size, partial(EVALUATIONS.cell, edge_column))


def curve_over(study: StudyPlan, amounts: tuple[float, float], size: int | None) -> Array:
    """Return the amount that reaches the target at each of `CHART_EPSILONS`, NaN where none does."""
    if study.predicted:
        return amounts_by_prediction(study, CHART_EPSILONS, size)
    losses = EVALUATIONS.cell(plane_over, with_fixed_target(study), amounts, size)
    return amounts_reaching_target(study, losses, size)
