"""Write the Python that gives the answers of a plan and its lines of the target."""

from typing import Any

from dppca_core.experiments.planning.planning import StudyPlan
from pages.hospitals.planner import own_table, view
from pages.shared.reports import python_code
from pages.shared.settings.catalogue import Settings

_PLANS = """
import numpy as np
import pandas as pd
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.planning.plan_plane import answered, plane
from dppca_core.experiments.planning.planning import StudyPlan

experiment = $experiment
question = $question
plans = [StudyPlan(experiment, name, $target, $energy) for name in $names]$tuned
answers = {plan.planned: plan.answer(*question).value for plan in plans}
print(pd.Series(answers))  # None where the closed form does not apply
lines = {}
for plan in plans:  # the target's line in the chart: how many it takes at each epsilon
    field = plane(plan, $amounts, np.array(EPSILONS), $hospital)
    lines[plan.planned] = answered(plan, field, $hospital)
table = pd.DataFrame(lines, EPSILONS)
print(table)
"""
_TUNED = "\nplans = [plan.tuned(*question) for plan in plans]"


def _question(settings: Settings, study: StudyPlan) -> dict[str, Any]:
    asked, size = settings["plan.asked"], settings["plan.size"]
    return {
        "experiment": study.experiment,
        "question": (asked, settings["epsilon"], view.in_total(settings), size),
        "target": study.target,
        "energy": study.energy,
    }


def plans(settings: Settings) -> str:
    """Return the code of the answers and of the lines that are drawn; empty for a visitor's table."""
    if own_table.table_of(settings) is not None:
        return ""
    drawn, focus = view.drawn(settings), view.published(settings, view.focus(settings))
    asked, size = settings["plan.asked"], settings["plan.size"]
    values = _question(settings, focus) | {
        "names": tuple(drawn.curves),
        "amounts": drawn.amounts,
        "hospital": size if asked == "hospitals" else None,
    }
    template = _PLANS.replace("$tuned", "" if settings["plan.tuned"] == "published" else _TUNED)
    return python_code.program(template, **values)


_BY_TRUST = """
import pandas as pd
from dppca_core.experiments.planning.planning import StudyPlan

experiment = $experiment
question = $question
plans = [StudyPlan(experiment, name, $target, $energy) for name in $names]
answers = [plan.answer(*question).value for plan in plans]  # None where the closed form does not apply
table = pd.Series(answers, [plan.planned for plan in plans])
print(table)
"""


def by_trust(settings: Settings) -> str:
    """Return the code of the least answer under each trust; empty for a visitor's table."""
    if own_table.table_of(settings) is not None:
        return ""
    least = view.by_trust(settings)
    study = view.published(settings, least[0].name)
    values = _question(settings, study) | {"names": tuple(each.name for each in least)}
    return python_code.program(_BY_TRUST, **values)
