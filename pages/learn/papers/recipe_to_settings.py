"""Convert a recipe to the settings of the sliders, where they can express it. No Streamlit here."""

from dppca_core.experiments import Recipe
from dppca_core.populations.spiked import SpikedModel
from pages.shared.settings.catalogue import CHOICES, SYNTHETIC, Settings


def of_recipe(recipe: Recipe) -> Settings | None:
    """Return the explorer's settings at the middle of a recipe's sweep; None where no sliders have them."""
    population = recipe.population
    if not isinstance(population, SpikedModel) or population.bulk[0] != 0 or recipe.bound is not None:
        return None
    middle = {axis.name: axis.values[len(axis.values) // 2] for axis in recipe.swept}
    variants = [dict(variant.options) for variant in recipe.methods if variant.method == "dps_pca"]
    options = variants[0] if variants else {}
    values = {name: getattr(recipe, name) for name in ("epsilon", "delta", "n", "providers", "iterations")}
    values |= {name: getattr(population, name) for name in ("d", "k", "s", "spike", "seed")}
    for name in ("s_hat", "burn_in", "provider_noise", "accounting", "neighbours"):
        values[name] = options.get(name, getattr(recipe, name))
    values |= middle | {"bulk": population.bulk[1], "largest_share": recipe.largest_share}
    values["scaling"] = {"bound": "public"}.get(recipe.scaling, recipe.scaling)
    settings = {key: value for key, value in values.items() if value is not None}
    for key in ("epsilon", "delta"):  # the middle of a sweep need not be an option
        settings[key] = CHOICES[key].nearest(settings[key])
    known = all(value in CHOICES[key].options for key, value in settings.items())
    return settings | {"data": SYNTHETIC} if known else None
