"""Recipes and results of the papers' figures: data/recipes/NAME.json, data/results/NAME.csv and NAME.json.

A result's table holds what figures are drawn from, to six significant digits: method, point, repeat and
metrics, and the seconds only where they are the result. Its NAME.json holds the provenance: the command, the
recipe, and a digest of the table, so that a table that was cut short or changed is refused.
"""

import hashlib
import io
import json
import os
import platform
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from dppca_core import datasets
from dppca_core.experiments import progress
from dppca_core.experiments.sweeps import recipe_file
from dppca_core.experiments.sweeps.recipe import BY_ROUND, METRICS, WHOLE, Recipe
from dppca_core.experiments.sweeps.sweep import sweep
from dppca_core.paths import DATA

_DIGITS = 6
_WORDS = ("label", "method", "failed", *(METRICS[name] for name in BY_ROUND))
_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")


@dataclass(frozen=True, eq=False)
class Stored:
    """Hold a result and its provenance."""

    name: str
    table: pd.DataFrame  # runs, with the columns that `shown` keeps
    command: str
    versions: Mapping[str, str]
    seed: int
    date: str  # day (ISO 8601)
    fingerprint: str  # that of the recipe, as the function `fingerprint` returns it


def names() -> list[str]:
    return sorted(path.stem for path in (DATA / "recipes").glob("*.json"))


def recipe(name: str) -> Recipe:
    """Read a recipe. Raises ValueError for an unknown name, or a table that is not there."""
    return recipe_file.read(_path(name))


def fingerprint(name: str) -> str:
    """Return a mark of the content of a recipe's file, without its population, which may not be installed."""
    json_value = _json_value(name)
    return hashlib.sha256(json.dumps(json_value, sort_keys=True).encode()).hexdigest()[:16]


def repeats(name: str) -> int:
    """Return how many repeats the recipe asks for, also where the table that it is about is not installed."""
    return int(_json_value(name)["repeats"])


def sizes(name: str) -> dict[str, tuple[float, float]]:
    """Return the least and the most of d, k, n and epsilon in a recipe, also where its table is not here."""
    json_value = _json_value(name)
    population = json_value["population"]
    if isinstance(population, str):
        table = (datasets.TABLES | datasets.OPTIONAL)[population]
        population = {"d": table.d, "k": json_value.get("k", 1), "n": table.n}
    fixed = population | {key: json_value[key] for key in ("n", "epsilon") if json_value.get(key) is not None}
    values = {key: json_value["swept"].get(key, [fixed.get(key)]) for key in ("d", "k", "n", "epsilon")}
    return {key: (min(each), max(each)) for key, each in values.items()}


def _json_value(name: str) -> dict[str, Any]:
    path = _path(name)
    try:
        json_value = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(json_value, dict) and "repeats" in json_value:
            return json_value
    except (ValueError, RecursionError):
        pass
    raise ValueError(f"the file data/recipes/{name}.json must hold a recipe, it is damaged: restore it")


def _path(name: str) -> Path:
    """Return a recipe's path. Raises ValueError for other names, such as a path to a file elsewhere."""
    if name not in names():
        raise ValueError(f"recipe must be one of {', '.join(names())}, got {name!r}")
    return DATA / "recipes" / f"{name}.json"


def stored(name: str, folder: Path | None = None) -> Stored:
    """Read a stored result; ValueError for one that is absent, damaged or not of today's recipe."""
    folder = folder or DATA / "results"
    file, again = f"the file data/results/{name}", f"run python -m dppca_core.experiments.papers {name}"
    expected = fingerprint(name)
    try:
        data = (folder / f"{name}.csv").read_bytes()
        note = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        recipe_mark, digest = note["recipe"], note["sha256"]
        command, versions = str(note["command"]), dict(note["versions"])
        seed, day = int(note["seed"]), str(note["date"])
    except FileNotFoundError as reason:
        raise ValueError(f"{name} must have a result in data/results: {again}") from reason
    except (KeyError, TypeError, ValueError, RecursionError) as reason:
        raise ValueError(f"{file}.json must say what it is of, it is damaged: {again}") from reason
    if recipe_mark != expected:
        raise ValueError(f"{file}.csv must be of its recipe, it is of another: {again}")
    if digest != hashlib.sha256(data).hexdigest():
        raise ValueError(f"{file}.csv must be as it was written, it is not: {again}")
    kinds = dict.fromkeys(_WORDS, "str") | dict.fromkeys(("repeat", *WHOLE), "int64")
    # An empty field is NaN in a column of numbers, and the empty text in one of words.
    empty = {column: [""] for column in (*METRICS.values(), "seconds") if column not in _WORDS}
    table = pd.read_csv(io.BytesIO(data), keep_default_na=False, na_values=empty, dtype=kinds)
    return Stored(name, table, command, versions=versions, seed=seed, date=day, fingerprint=expected)


def remake(name: str, executor: Executor | None, timed: bool) -> Path:
    """Run a recipe of the papers, and write its result, with the seconds where it is `timed`."""
    chosen, folder = recipe(name), DATA / "results"
    with progress.bar("cells") as drawn:
        swept = sweep(chosen, executor, progress=lambda step: drawn(step.completed, step.total))
    table = shown(swept, timed)
    path = folder / f"{name}.csv"
    data = table.to_csv(index=False, float_format=f"%.{_DIGITS}g").encode()
    note = {
        "command": f"python -m dppca_core.experiments.papers {name}",
        "recipe": fingerprint(name),
        "sha256": hashlib.sha256(data).hexdigest(),
        "seed": chosen.seed,
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version()} | {each: version(each) for each in _PACKAGES},
    }
    _replace(path, data)
    _replace(folder / f"{name}.json", (json.dumps(note, indent=1) + "\n").encode())
    return path


def _replace(path: Path, data: bytes) -> None:
    """Write a file by way of a draft beside it, so that the former file stays where the disk is full."""
    draft = path.with_name(f"{path.name}.draft")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def shown(table: pd.DataFrame, timed: bool = False) -> pd.DataFrame:
    """Return the columns of a sweep's table that a result keeps, errors by round rounded."""
    dropped = ["noise_std", "bytes_sent_per_hospital", "notes", "recipe", *([] if timed else ["seconds"])]
    kept, rounds = table.drop(columns=dropped), METRICS["rounds"]
    if rounds in kept:
        kept[rounds] = [
            " ".join(f"{float(e):.{_DIGITS}g}" for e in errors.split()) for errors in kept[rounds]
        ]
    return kept


def thinned(chosen: Recipe, repeats: int = 3, points: int = 3) -> Recipe:
    """Return a quicker recipe, with evenly taken values: its rows are rows of the whole recipe's table."""

    def thin(values: tuple[float | int, ...]) -> tuple[float | int, ...]:
        if len(values) <= points:
            return values
        last = len(values) - 1
        return tuple(values[round(i * last / max(points - 1, 1))] for i in range(points))

    axes = tuple(replace(axis, values=thin(axis.values)) for axis in chosen.swept)
    return replace(chosen, swept=axes, repeats=min(repeats, chosen.repeats))
