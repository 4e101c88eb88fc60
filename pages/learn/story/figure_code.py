"""Name the table of each step of the story."""

from collections.abc import Mapping, Sequence
from typing import Any

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.learn.story import view


def table(step: int, settings: Mapping[str, Any]) -> FigureRecipe:
    """Return the table of a step of the story."""
    setting, way = view.to_setting(settings), settings["story.way"]
    if step == 2:
        return FigureRecipe("story.record", {"setting": setting, "patient": settings["story.patient"] - 1})
    if step == 4:
        seed = settings["seed"] + settings["story.draw"] - 1
        return FigureRecipe("privacy.releases", {"budget": setting.budget, "seed": seed})
    if step in (3, 8):
        method = view.measure_weights(settings, way if step == 8 else "").method
        return FigureRecipe("story.weights", {"setting": setting, "method": method})
    # A table of bars or curves has the unit of its chart.
    unit, parts = view.unit(settings, setting), None
    methods: dict[str, Sequence[str]] = {
        "with noise": view.working(settings, way),
        "without noise": view.OPEN,
    }
    shown = view.along_privacy(settings) if step == 5 else view.along_patients(settings)
    if step in (1, 7):
        drawn = view.measure_sharing(settings) if step == 1 else view.measure_joined(settings)
        methods = {"together": view.OPEN, "alone": view.OPEN_ALONE}
        if step == 7:
            methods = {each: view.working(settings, each) for each in view.WORKING}
            methods |= {"alone, in-house": view.IN_HOUSE, "alone, published": view.PROTECTED}
        shown = list(dict.fromkeys((setting, view.lone(setting))))
        parts = unit.parts(drawn.spreads) or None
    few = step in (5, 6)
    points = tuple((p.sizes, p.budget.epsilon, view.runs(p, few=few and p != setting)) for p in shown)
    values = {"setting": setting, "points": points, "methods": methods, "metric": unit.metric}
    return FigureRecipe("story.errors", values | {"lost_in": parts})
