"""Name the tables of a plan: its answers, its lines of the target, and the least answer under each trust."""

from dataclasses import replace
from typing import Any

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.planning.planning import StudyPlan
from pages.hospitals.planner import own_table, view
from pages.shared.settings.catalogue import Settings


def plans(settings: Settings) -> FigureRecipe:
    """Return the table of the answers and of the lines that are drawn."""
    drawn, study = view.drawn(settings), view.published(settings, view.focus(settings))
    values = _question(settings, study) | {
        "names": tuple(drawn.curves),
        "tuned": settings["plan.tuned"] != "published",
        "amounts": drawn.amounts,
        "hospital": settings["plan.size"] if settings["plan.asked"] == "hospitals" else None,
    }
    return FigureRecipe("planning.plans", values)


def by_trust(settings: Settings) -> FigureRecipe:
    """Return the table of the least answer under each trust."""
    least = view.by_trust(settings)
    values = _question(settings, view.published(settings, least[0].name))
    return FigureRecipe("planning.by_trust", values | {"names": tuple(each.name for each in least)})


def _question(settings: Settings, study: StudyPlan) -> dict[str, Any]:
    asked, size = settings["plan.asked"], settings["plan.size"]
    table = own_table.table_of(settings)
    return {
        "experiment": study.experiment,
        "question": (asked, settings["epsilon"], view.in_total(settings), size),
        "target": study.target,
        "energy": study.energy,
        "public": table and replace(table, columns=()),
    }
