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
        noiseless = method == view.NOISELESS
        values = {"setting": view.noiseless(setting) if noiseless else setting, "method": method.split()[0]}
        return FigureRecipe("story.weights", values)
    methods: dict[str, Sequence[str]] = {"without noise": view.OPEN}
    if step == 7:
        methods = {**view.WORKING, "alone, published": view.PROTECTED, "alone, in-house": view.IN_HOUSE}
    elif step in (5, 6):
        methods["with noise"] = view.WORKING[way]
    along = {5: view.along_privacy, 6: view.along_patients}.get(step)
    shown = [setting, view.largest_hospital(setting)] if along is None else along(settings)
    few = [along is not None and point != setting for point in shown]
    points = [(p.sizes, p.budget.epsilon, view.runs(p, each)) for p, each in zip(shown, few, strict=True)]
    values = {"setting": setting, "points": tuple(points), "methods": methods}
    return FigureRecipe("story.errors", values)
