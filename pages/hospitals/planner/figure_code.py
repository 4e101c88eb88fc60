"""Name the tables of a plan: its answers, its lines of the target, and the least answer under each trust."""

from dataclasses import replace
from typing import Any

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.planning.planning import StudyPlan
from pages.hospitals.planner.view import Planner


def plans(planner: Planner) -> FigureRecipe:
    """Return the table of the answers and of the lines that are drawn."""
    drawn = planner.drawn()
    values = _question(planner, planner.published()) | {
        "names": tuple(drawn.curves),
        "tuned": planner.settings["plan.tuned"] != "published",
        "amounts": drawn.amounts,
        "hospital": planner.size if planner.asked == "hospitals" else None,
    }
    return FigureRecipe("planning.plans", values)


def by_trust(planner: Planner) -> FigureRecipe:
    """Return the table of the least answer under each trust."""
    names = tuple(each.name for each in planner.by_trust())
    values = _question(planner, planner.published(names[0]))
    return FigureRecipe("planning.by_trust", values | {"names": names})


def _question(planner: Planner, study: StudyPlan) -> dict[str, Any]:
    return {
        "experiment": study.experiment,
        "question": planner.question,
        "target": study.target,
        "energy": study.energy,
        "public": planner.table and replace(planner.table, columns=()),
    }
