"""Name the table of a plan's answers and of its lines of the target."""

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.hospitals.planner import own_table, view
from pages.shared.settings.catalogue import Settings


def plans(settings: Settings) -> FigureRecipe | None:
    """Return the table of the answers and of the lines that are drawn; None for a visitor's table."""
    if own_table.table_of(settings) is not None:
        return None
    drawn, focus = view.drawn(settings), view.published(settings, view.focus(settings))
    asked, size = settings["plan.asked"], settings["plan.size"]
    values = {
        "experiment": focus.experiment,
        "names": tuple(drawn.curves),
        "question": (asked, settings["epsilon"], view.in_total(settings), size),
        "target": focus.target,
        "energy": focus.energy,
        "tuned": settings["plan.tuned"] != "published",
        "amounts": drawn.amounts,
        "hospital": size if asked == "hospitals" else None,
    }
    return FigureRecipe("planning.plans", values)
