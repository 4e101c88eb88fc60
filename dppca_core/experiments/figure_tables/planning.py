"""The table of a plan's figure: how much each method needs at every epsilon."""

import numpy as np
import pandas as pd

from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.planning.plan_plane import amounts_by_prediction, amounts_reaching_target, plane
from dppca_core.experiments.planning.planning import Asked, Question, StudyPlan


def plans(
    experiment: ExplorerExperiment,
    names: tuple[str, ...],
    question: tuple[Asked, float, int, int],
    target: float,
    energy: bool,
    tuned: bool,
    amounts: tuple[float, float],
    hospital: int | None,
) -> pd.DataFrame:
    """Return how many patients or hospitals reach the target, by epsilon and method.

    The last row, "answer", is the answer to the question. Cells are empty where a closed form does not apply.
    question: what is asked, epsilon, patients, and patients of a hospital, as `Question` has them. amounts:
    the ends of the chart's vertical axis. hospital: its patients where that axis is hospitals.
    """
    plans = [StudyPlan(experiment, name, target, energy) for name in names]
    if tuned:  # the bound of rows and the rounds suit this question
        plans = [plan.tuned(Question(*question)) for plan in plans]
    lines = {}
    for plan in plans:
        if plan.predicted:
            lines[plan.planned] = amounts_by_prediction(plan, np.array(EPSILONS), hospital)
            continue
        field = plane(plan, amounts, np.array(EPSILONS), hospital)
        lines[plan.planned] = amounts_reaching_target(plan, field, hospital)
    table = pd.DataFrame(lines, pd.Index(EPSILONS, dtype=object))
    table.loc["answer"] = [plan.answer(Question(*question)).value for plan in plans]
    return table


def by_trust(
    experiment: ExplorerExperiment,
    names: tuple[str, ...],
    question: tuple[Asked, float, int, int],
    target: float,
    energy: bool,
) -> pd.Series:
    """Return the answer to the question by method; None where its closed form does not apply."""
    plans = [StudyPlan(experiment, name, target, energy) for name in names]
    answers = [plan.answer(Question(*question)).value for plan in plans]
    return pd.Series(answers, [plan.planned for plan in plans])
