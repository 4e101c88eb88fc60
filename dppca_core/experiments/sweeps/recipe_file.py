"""Recipes as JSON: numbers and words, checked by name when read. No pickle, no eval.

`json_value` is what the JSON module reads or writes: dictionaries, lists, numbers and texts, not checked yet.

{"population": {"d": 200, "k": 3, "s": 10}, "n": 10000, "methods": ["pca", {"method": "dps_pca",
 "label": "as printed", "options": {"accounting": "as-printed", "burn_in": 0}}],
 "swept": {"epsilon": [0.1, 1.0]}, "s_hat": 30, "repeats": 20, "metrics": ["sin", "energy"], "seed": 1}
"""

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

from dppca_core import checks
from dppca_core.experiments.sweeps.recipe import Axis, Recipe, Variant, variant
from dppca_core.populations.spiked import SpikedModel
from dppca_core.populations.stated import StatedCorrelations, StatedEigenvalues
from dppca_core.populations.synthetic import Synthetic, without_later_defaults

Parsed = TypeVar("Parsed")


def to_dict(recipe: Recipe) -> dict[str, Any]:
    """Return a dictionary that JSON can hold; `from_dict` returns the same recipe from it."""
    json_value = {field.name: getattr(recipe, field.name) for field in fields(recipe)}
    json_value["metrics"] = list(recipe.metrics)
    json_value["methods"] = [_method(chosen) for chosen in recipe.methods]
    json_value["swept"] = {axis.name: list(axis.values) for axis in recipe.swept}
    if not isinstance(recipe.population, str):
        json_value["population"] = _population(recipe.population)
    return json_value


def from_dict(json_value: object) -> Recipe:
    """Return the recipe that parsed JSON describes; the module's text has an example.

    Raises ValueError that names what is unknown, missing or unsuitable.
    """
    names = [field.name for field in fields(Recipe)]
    named = dict(_object("recipe", json_value, names, required=("population", "methods", "swept")))
    if not isinstance(named["population"], str):
        named["population"] = _model(named["population"])
    named["methods"] = tuple(map(_variant, _list("methods", named["methods"])))
    axes = _object("swept", named["swept"])
    named["swept"] = tuple(Axis(name, tuple(_list(name, values))) for name, values in axes.items())
    if "metrics" in named:
        named["metrics"] = tuple(_list("metrics", named["metrics"]))
    return Recipe(**named)


def read(path: str | Path) -> Recipe:
    """Read a recipe from a JSON file.

    Args:
        path: The file.

    Returns:
        The recipe, for `sweep`.

    Raises:
        ValueError: For a file that is not JSON or not a recipe, by the name of what is wrong.
        OSError: For a file that cannot be read.
    """
    return parse(path, from_dict)


def parse(path: str | Path, reader: Callable[[Any], Parsed]) -> Parsed:
    """Return what `reader` makes of the parsed JSON at `path`; ValueError for any other file names it."""
    try:
        try:
            json_value = json.loads(Path(path).read_bytes())
        except json.JSONDecodeError as reason:
            raise ValueError(f"{path} must hold JSON: {reason.msg} in line {reason.lineno}") from reason
        except UnicodeDecodeError as reason:
            raise ValueError(f"{path} must hold JSON: it is not in UTF-8") from reason
        except ValueError as reason:
            raise ValueError(f"{path} must hold JSON: it has a number of thousands of digits") from reason
        return reader(json_value)
    except RecursionError as reason:  # of reading it, or of quoting it in a message
        raise ValueError(f"{path} must hold a recipe, got lists or objects nested too deeply") from reason


def fingerprint(recipe: Recipe, chosen: Variant) -> str:
    """Return eight hexadecimal digits for all that the rows of one variant depend on.

    Other variants, the swept values and the number of repeats do not count, so that a file of rows can be
    continued by a recipe with more of them.
    """
    json_value = to_dict(recipe)
    json_value["methods"] = [_method(chosen)]
    json_value["swept"] = sorted(recipe.swept_names)
    del json_value["repeats"]
    return hashlib.sha256(json.dumps(json_value, sort_keys=True).encode()).hexdigest()[:8]


def _population(model: Synthetic) -> dict[str, Any]:
    kept = without_later_defaults(
        {each.name: getattr(model, each.name) for each in fields(model) if each.init}
    )
    return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}


def _model(json_value: object) -> Synthetic:
    """Return the model whose fields these are: stated correlations or eigenvalues, or a spiked one."""
    named = _object("population", json_value)
    kind: type[Synthetic] = SpikedModel
    if "correlations" in named:
        kind = StatedCorrelations
    elif "values" in named:
        kind = StatedEigenvalues
    known = [field for field in fields(kind) if field.init]
    required = [field.name for field in known if field.default is MISSING]
    _object("population", named, [field.name for field in known], required)
    model: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in named.items()
    }
    if "bulk" in named:
        model["bulk"] = tuple(_list("bulk", named["bulk"]))
    return kind(**model)


def _method(chosen: Variant) -> dict[str, Any]:
    return {"method": chosen.method, "label": chosen.label, "options": dict(chosen.options)}


def _variant(json_value: object) -> Variant:
    """Return the variant that a method's name, or an object with method, label and options, stands for."""
    if isinstance(json_value, str):
        return variant(json_value)
    named = _object("methods", json_value, {"method", "label", "options"})
    options = _object("options", named.get("options", {}))
    method = named.get("method", "")
    return Variant(method, named.get("label", method), tuple(sorted(options.items())))


def _object(
    name: str, json_value: object, known: Collection[str] | None = None, required: Collection[str] = ()
) -> dict[str, Any]:
    if not isinstance(json_value, dict):
        raise ValueError(f"{name} must be an object of named values, got {checks.shown(json_value)}")
    for key in json_value:
        if known is not None and key not in known:
            raise ValueError(f"{name} has no {checks.shown(key)}, it may have {', '.join(sorted(known))}")
    for key in required:
        if key not in json_value:
            raise ValueError(f"{name} must have {key}")
    return json_value


def _list(name: str, json_value: object) -> list[Any]:
    if not isinstance(json_value, list):
        raise ValueError(f"{name} must be a list, got {checks.shown(json_value)}")
    return json_value
