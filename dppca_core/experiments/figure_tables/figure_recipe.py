"""The recipe of a figure as JSON: the name of its table, and the arguments that give it.

{"figure": "privacy.releases", "arguments": {"budget": {"epsilon": 1.0, "delta": 1e-06}, "seed": 0}}
"""

import json
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dppca_core import checks
from dppca_core.experiments.figure_tables import FIGURE_TABLES
from dppca_core.populations.synthetic import without_later_defaults


@dataclass(frozen=True)
class FigureRecipe:
    """A figure recipe names a figure's table, a key of FIGURE_TABLES, with the arguments of its function."""

    figure: str
    arguments: Mapping[str, Any]

    def table(self) -> pd.DataFrame:
        """Return the figure's numbers, with the index of the figure's table as columns, for a CSV file."""
        table = FIGURE_TABLES[self.figure](**self.arguments)
        if isinstance(table, pd.Series):
            table = table.to_frame()
        return table.reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that JSON can hold; `from_dict` returns the same recipe from it."""
        from pydantic import TypeAdapter  # imported here: it is slow to load

        types = typing.get_type_hints(FIGURE_TABLES[self.figure])
        json_value = {
            name: TypeAdapter(types[name]).dump_python(value) for name, value in self.arguments.items()
        }
        return {"figure": self.figure, "arguments": _as_before(json_value)}


def _as_before(json_value: Any) -> Any:
    """Return arguments without what populations are written without (`without_later_defaults`)."""
    if isinstance(json_value, dict):
        kept = without_later_defaults(json_value) if "tails" in json_value else json_value
        return {name: _as_before(value) for name, value in kept.items()}
    if isinstance(json_value, list | tuple):
        return type(json_value)(map(_as_before, json_value))
    return json_value


def from_dict(json_value: Mapping[str, Any]) -> FigureRecipe:
    """Return the recipe that a JSON object holds.

    Raises ValueError for an unknown figure or argument, or an unsuitable value, by its name.
    """
    from pydantic import TypeAdapter, ValidationError  # imported here: it is slow to load

    checks.one_of(FIGURE_TABLES, figure=json_value.get("figure"))
    types = typing.get_type_hints(FIGURE_TABLES[json_value["figure"]])
    del types["return"]  # those of the arguments stay
    given = json_value.get("arguments", {})
    if (
        not isinstance(given, dict)
        or given.keys() != types.keys()
        or json_value.keys() - {"figure", "arguments"}
    ):
        raise ValueError(f"arguments must be exactly {', '.join(types) or 'none'}, got {checks.shown(given)}")
    arguments = {}
    for name, value in given.items():
        try:
            # Strict validation of JSON takes a list for a tuple, which that of Python objects refuses.
            written = json.dumps(value)
            arguments[name] = TypeAdapter(types[name]).validate_json(written, strict=True, extra="forbid")
        except ValidationError as reason:
            first = reason.errors(include_url=False)[0]
            where = ".".join(map(str, (name, *first["loc"])))
            raise ValueError(f"{where} of {json_value['figure']} is unsuitable: {first['msg']}") from reason
    return FigureRecipe(json_value["figure"], arguments)
