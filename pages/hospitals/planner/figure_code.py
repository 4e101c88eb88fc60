"""Name the tables of a plan: its answers, its lines of the target, and the least answer under each trust."""

from typing import Any

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.planning.planning import StudyPlan
from pages.hospitals.planner import own_table, view
from pages.shared.settings.catalogue import Settings


def _question(settings: Settings, study: StudyPlan) -> dict[str, Any]:
    asked, size = settings["plan.asked"], settings["plan.size"]
    return {
        "experiment": study.experiment,
        "question": (asked, settings["epsilon"], view.in_total(settings), size),
        "target": study.target,
        "energy": study.energy,
    }


def plans(settings: Settings) -> FigureRecipe | None:
    """Return the table of the answers and of the lines that are drawn; None for a visitor's table."""
    if own_table.table_of(settings) is not None:
        return None
    drawn, focus = view.drawn(settings), view.published(settings, view.focus(settings))
    values = _question(settings, focus) | {
        "names": tuple(drawn.curves),
        "tuned": settings["plan.tuned"] != "published",
        "amounts": drawn.amounts,
        "hospital": settings["plan.size"] if settings["plan.asked"] == "hospitals" else None,
    }
    return FigureRecipe("planning.plans", values)


def by_trust(settings: Settings) -> FigureRecipe | None:
    """Return the table of the least answer under each trust; None for a visitor's table."""
    if own_table.table_of(settings) is not None:
        return None
    least = view.by_trust(settings)
    study = view.published(settings, least[0].name)
    values = _question(settings, study) | {"names": tuple(each.name for each in least)}
    return FigureRecipe("planning.by_trust", values)
