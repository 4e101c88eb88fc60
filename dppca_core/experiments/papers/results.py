"""Recipes and results of the papers' figures: data/recipes/NAME.json, data/results/NAME.csv and its sidecar.

A result holds what figures are drawn from, to six significant digits: method, point, repeat and metrics, and
the seconds only where they are the result. The sidecar NAME.json says how it came about, of which recipe, and
by a digest of which table: one that was cut short or changed is refused.
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

from dppca_core.experiments.sweeps import recipe_file
from dppca_core.experiments.sweeps.recipe import METRICS, WHOLE, Recipe
from dppca_core.experiments.sweeps.sweep import sweep
from dppca_core.paths import DATA

_DIGITS = 6
_WORDS = ("label", "method", "failed", METRICS["rounds"])
_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")


@dataclass(frozen=True, eq=False)
class Stored:
    """A result and where it comes from: the command, the versions, the seed and the day (ISO 8601)."""

    name: str
    table: pd.DataFrame
    command: str
    versions: Mapping[str, str]
    seed: int
    date: str
    fingerprint: str


def names() -> list[str]:
    """All recipes of the papers."""
    return sorted(path.stem for path in (DATA / "recipes").glob("*.json"))


def recipe(name: str) -> Recipe:
    """The recipe of that name. Raises ValueError for an unknown name, or a table that is not there."""
    return recipe_file.read(_path(name))


def fingerprint(name: str) -> str:
    """Sixteen letters for the whole recipe file, however it is laid out; also of a table that is absent."""
    plain = _plain(name)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def repeats(name: str) -> int:
    """Runs of every cell that the recipe asks for, also of a table that is absent."""
    return int(_plain(name)["repeats"])


def _plain(name: str) -> dict[str, Any]:
    path = _path(name)
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(plain, dict) and "repeats" in plain:
            return plain
    except (ValueError, RecursionError):
        pass
    raise ValueError(f"the file data/recipes/{name}.json must hold a recipe, it is damaged: restore it")


def _path(name: str) -> Path:
    if name not in names():
        raise ValueError(f"recipe must be one of {', '.join(names())}, got {name!r}")
    return DATA / "recipes" / f"{name}.json"


def stored(name: str, folder: Path | None = None) -> Stored:
    """The stored result. Raises ValueError for one that is absent, damaged or not of today's recipe."""
    place = folder or DATA / "results"
    again = f"run python -m dppca_core.experiments.papers {name}"
    mark = fingerprint(name)
    try:
        data = (place / f"{name}.csv").read_bytes()
        told = json.loads((place / f"{name}.json").read_text(encoding="utf-8"))
        of, digest = told["recipe"], told["sha256"]
        about = str(told["command"]), dict(told["versions"]), int(told["seed"]), str(told["date"])
    except FileNotFoundError as reason:
        raise ValueError(f"{name} must have a result in data/results: {again}") from reason
    except (KeyError, TypeError, ValueError, RecursionError) as reason:
        raise ValueError(
            f"the file data/results/{name}.json must say what it is of, it is damaged: {again}"
        ) from reason
    if of != mark:
        raise ValueError(f"the file data/results/{name}.csv must be of its recipe, it is of another: {again}")
    if digest != hashlib.sha256(data).hexdigest():
        raise ValueError(f"the file data/results/{name}.csv must be as it was written, it is not: {again}")
    kinds = dict.fromkeys(_WORDS, "str") | dict.fromkeys(("repeat", *WHOLE), "int64")
    table = pd.read_csv(io.BytesIO(data), keep_default_na=False, na_values=_empty(), dtype=kinds)
    return Stored(name, table, *about, mark)


def _empty() -> dict[str, list[str]]:
    return {name: [""] for name in (*METRICS.values(), "seconds") if name not in _WORDS}


def remake(name: str, executor: Executor | None, timed: bool, folder: Path | None = None) -> Path:
    """Run a recipe and write its result. timed: keep the seconds. Raises ValueError for an unknown name."""
    chosen, place = recipe(name), folder or DATA / "results"
    table = shown(sweep(chosen, executor), timed)
    path = place / f"{name}.csv"
    data = table.to_csv(index=False, float_format=f"%.{_DIGITS}g").encode()
    told = {
        "command": f"python -m dppca_core.experiments.papers {name}",
        "recipe": fingerprint(name),
        "sha256": hashlib.sha256(data).hexdigest(),
        "seed": chosen.seed,
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version()} | {each: version(each) for each in _PACKAGES},
    }
    _replace(path, data)
    _replace(place / f"{name}.json", (json.dumps(told, indent=1) + "\n").encode())
    return path


def _replace(path: Path, data: bytes) -> None:
    """The whole file at once: where the disk is full, the former stays as it is."""
    draft = path.with_name(f"{path.name}.draft")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def shown(table: pd.DataFrame, timed: bool = False) -> pd.DataFrame:
    """A sweep's table with what a result keeps of it."""
    dropped = ["noise_std", "bytes_sent_per_hospital", "notes", "recipe", *([] if timed else ["seconds"])]
    kept = table.drop(columns=dropped)
    rounds = METRICS["rounds"]
    if rounds in kept:
        kept[rounds] = kept[rounds].map(_rounded)
    return kept


def _rounded(word: str) -> str:
    return " ".join(f"{float(part):.{_DIGITS}g}" for part in word.split())


def thinned(chosen: Recipe, repeats: int = 3, points: int = 3) -> Recipe:
    """A quicker recipe: at most so many repeats, and values of each swept parameter, the first and last among
    them. Its rows are rows of the whole recipe's table. Raises ValueError for fewer than one.
    """
    if min(repeats, points) < 1:
        raise ValueError(f"repeats and points must be at least 1, got {repeats!r} and {points!r}")

    def thin(values: tuple[float | int, ...]) -> tuple[float | int, ...]:
        if len(values) <= points:
            return values
        last = len(values) - 1
        return tuple(values[round(i * last / max(points - 1, 1))] for i in range(points))

    axes = tuple(replace(axis, values=thin(axis.values)) for axis in chosen.swept)
    return replace(chosen, swept=axes, repeats=min(repeats, chosen.repeats))
