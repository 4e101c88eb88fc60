"""A recipe -> the settings of the sliders, where they can express it. No Streamlit here."""

from __future__ import annotations

from dppca_core.experiments import Recipe
from dppca_core.populations.spiked import SpikedModel
from pages.shared.settings.catalogue import CHOICES, SYNTHETIC, Settings


def of_recipe(recipe: Recipe) -> Settings | None:
    """The explorer's settings for a recipe at the middle of its sweep, or None where no sliders say it."""
    population = recipe.population
    if not isinstance(population, SpikedModel) or population.bulk[0] != 0 or recipe.bound is not None:
        return None
    middle = {axis.name: axis.values[len(axis.values) // 2] for axis in recipe.swept}
    own = next((dict(one.options) for one in recipe.methods if one.method == "dps_pca"), {})
    values = {name: getattr(recipe, name) for name in ("epsilon", "delta", "n", "providers", "iterations")}
    values |= {name: getattr(population, name) for name in ("d", "k", "s", "spike", "seed")}
    for name in ("s_hat", "burn_in", "provider_noise", "accounting", "neighbours"):
        values[name] = own.get(name, getattr(recipe, name))
    values |= middle | {"bulk": population.bulk[1], "largest_share": recipe.largest_share}
    values["scaling"] = {"bound": "public"}.get(recipe.scaling, recipe.scaling)
    asked = {key: value for key, value in values.items() if value is not None}
    for key in ("epsilon", "delta"):  # the middle of a sweep need not be an option
        asked[key] = CHOICES[key].nearest(asked[key])
    known = all(value in CHOICES[key].options for key, value in asked.items())
    return asked | {"data": SYNTHETIC} if known else None
