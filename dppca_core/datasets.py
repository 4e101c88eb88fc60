"""Real tables by name, standardised by public constants, and how rows are dealt to hospitals.

The constants (centre, scale, row bound) stand in `data/<name>.json` with their provenance; none is
computed from the rows.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

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
def cohort(name: str, sizes: tuple[int, ...], seed: int) -> Cohort:
    """The table dealt at random (by `seed`) to hospitals of these sizes, clipped to its public bound.

    Raises ValueError for an unknown name or sizes that do not add up to the table's n.
    """
    checks.one_of(TABLES, name=name)
    checks.whole(0, seed=seed)
    table = TABLES[name]
    for size in sizes:
        checks.whole(1, sizes=size)
    if sum(sizes) != table.n:
        raise ValueError(f"sizes must add up to n = {table.n}, got {sum(sizes)}")
    order = np.random.default_rng(seed).permutation(table.n)
    parts = np.split(rows(name)[order], np.cumsum(sizes)[:-1])
    return Cohort.from_rows(parts, table.bound)


def clipped_share(name: str) -> float:
    """Share of rows longer than the public bound. Reads the rows: show it as not private."""
    checks.one_of(TABLES, name=name)
    return float((np.linalg.norm(rows(name), axis=1) > TABLES[name].bound).mean())
