"""Write the Python that gives the answers of a plan and its lines of the target."""

from dataclasses import replace
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
$imported

experiment = $experiment
question = $question$public
plans = [$plan for name in $names]$tuned
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


_BY_TRUST = """
import pandas as pd
$imported

experiment = $experiment
question = $question$public
plans = [$plan for name in $names]
answers = [plan.answer(*question).value for plan in plans]  # None where the closed form does not apply
table = pd.Series(answers, [plan.planned for plan in plans])
print(table)
"""
_STUDY = {
    "$imported": "from dppca_core.experiments.planning.planning import StudyPlan",
    "$plan": "StudyPlan(experiment, name, $target, $energy)",
    "$public": "",
}
_OF_TABLE = {
    "$imported": "from dppca_core.experiments.planning.table_plan import TablePlan",
    "$plan": "TablePlan(experiment, name, $target, table=public)",
    "$public": "\npublic = $known  # what is public of your table",
}


def _program(template: str, settings: Settings, study: StudyPlan, **values: Any) -> str:
    table = own_table.table_of(settings)
    for name, words in (_STUDY if table is None else _OF_TABLE).items():
        template = template.replace(name, words)
    asked, size = settings["plan.asked"], settings["plan.size"]
    return python_code.program(
        template,
        experiment=study.experiment,
        question=(asked, settings["epsilon"], view.in_total(settings), size),
        target=study.target,
        energy=study.energy,
        known=table and replace(table, columns=()),
        **values,
    )


def plans(settings: Settings) -> str:
    """Return the code of the answers and of the lines that are drawn."""
    drawn, study = view.drawn(settings), view.published(settings, view.focus(settings))
    hospital = settings["plan.size"] if settings["plan.asked"] == "hospitals" else None
    template = _PLANS.replace("$tuned", "" if settings["plan.tuned"] == "published" else _TUNED)
    given = {"names": tuple(drawn.curves), "amounts": drawn.amounts, "hospital": hospital}
    return _program(template, settings, study, **given)


def by_trust(settings: Settings) -> str:
    """Return the code of the least answer under each trust."""
    least = view.by_trust(settings)
    study = view.published(settings, least[0].name)
    return _program(_BY_TRUST, settings, study, names=tuple(each.name for each in least))
