"""Real tables by name, standardised by public constants, and how rows are dealt to hospitals.

The constants (centre, scale, row bound) stand in `data/<name>.json` with their provenance; none is
computed from the rows.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from dppca_core import checks
from dppca_core.types import Array, Cohort

_DATA = Path(__file__).resolve().parent.parent / "data"
_LOADERS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}


@dataclass(frozen=True)
class Table:
    """What is public about a table: its size, columns, constants and where they come from."""

    name: str
    title: str
    n: int
    bound: float
    features: tuple[str, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    source: str
    licence: str
    provenance: str

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.features)


def _table(name: str) -> Table:
    stored = json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8"))
    columns = stored["features"]
    return Table(
        name=name,
        features=tuple(column["name"] for column in columns),
        centre=tuple(column["centre"] for column in columns),
        scale=tuple(column["scale"] for column in columns),
        **{key: stored[key] for key in ("title", "n", "bound", "source", "licence", "provenance")},
    )


TABLES: dict[str, Table] = {name: _table(name) for name in _LOADERS}


@lru_cache(maxsize=len(_LOADERS))
def rows(name: str) -> Array:
    """The standardised rows (x - centre) / scale, (n, d), read-only; not yet clipped.

    Raises ValueError for an unknown name.
    """
    checks.one_of(TABLES, name=name)
    table = TABLES[name]
    raw, _ = _LOADERS[name](return_X_y=True)
    standard: Array = (raw - np.array(table.centre)) / np.array(table.scale)
    standard.flags.writeable = False
    return standard


@lru_cache(maxsize=4)
def cohort(
    name: str,
    sizes: tuple[int, ...],
    seed: int,
    draw: int = 0,
    scaling: Literal["bound", "largest", "unit"] = "bound",
) -> Cohort:
    """The table's rows dealt at random (by `seed`) to hospitals of these sizes, clipped to its public bound.

    Sizes below the table's n take that many rows, others for another `draw`. scaling: "largest" centres by
    the mean of the whole table and divides by its largest row, as published, which looks at private rows;
    "unit" divides each row by its own length. Raises ValueError for an unknown name or scaling, or sizes
    that add up to more than the table's n.
    """
    checks.one_of(TABLES, name=name)
    checks.one_of(("bound", "largest", "unit"), scaling=scaling)
    checks.whole(0, seed=seed, draw=draw)
    table = TABLES[name]
    for size in sizes:
        checks.whole(1, sizes=size)
    if not 1 <= sum(sizes) <= table.n:
        raise ValueError(f"sizes must add up to at most n = {table.n}, got {sum(sizes)}")
    scaled, bound = rows(name), table.bound
    if scaling == "largest":
        scaled = scaled - scaled.mean(axis=0)
        bound = float(np.linalg.norm(scaled, axis=1).max())
    elif scaling == "unit":
        length = np.linalg.norm(scaled, axis=1, keepdims=True)
        scaled, bound = scaled / np.where(length > 0, length, 1.0), 1.0
    order = np.random.default_rng([seed, draw] if draw else seed).permutation(table.n)
    ends = np.cumsum(sizes)
    parts = np.split(scaled[order[: ends[-1]]], ends[:-1])
    return Cohort.from_rows(parts, bound)


def clipped_share(name: str) -> float:
    """Share of rows longer than the public bound. Reads the rows: show it as not private."""
    checks.one_of(TABLES, name=name)
    return float((np.linalg.norm(rows(name), axis=1) > TABLES[name].bound).mean())
