"""Who a cell is measured on, with which generator, and against what: shared by the front page and sweeps.

Generators are keyed by what a cell is, never by the order in which cells run. Patients are drawn once for
a recipe, a seed and a draw, and kept within a number of bytes.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from dppca_core import datasets, linalg
from dppca_core.spiked import PooledDraw, SpikedModel
from dppca_core.types import Array, Cohort


class Cache:
    """What was drawn last, by recipe, within a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[object, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object, draw: Callable[[], Any], size: int) -> Any:
        """What is held under this key, else what `draw` gives, `size` bytes large."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key][0]
        drawn = draw()
        with self._lock:
            self._held[key] = (drawn, size)
            while sum(size for _, size in self._held.values()) > self._limit and len(self._held) > 1:
                self._held.popitem(last=False)
        return drawn

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._held.clear()


DRAWS = Cache(limit=256 * 2**20)
DEALS = Cache(limit=128 * 2**20)  # hospitals' own moments


def generator(seed: int, repeat: int, name: str, key: tuple[int, ...] = ()) -> np.random.Generator:
    """Keyed by what the cell is: the method's name, the repeat, and what else `key` says."""
    return np.random.default_rng([seed, repeat, *name.encode(), *key])


def pooled(
    model: SpikedModel, n: int, failure: float, seed: int, draw: int, key: tuple[int, ...] = ()
) -> PooledDraw:
    """n patients of the population, not yet dealt to hospitals; another `draw` or `key` is other patients."""
    what = (model, n, failure, seed, draw, key)
    drawn: PooledDraw = DRAWS.get(
        what,
        lambda: model.draw_pooled(n, generator(seed, draw, "patients", key), failure=failure),
        16 * model.d**2,
    )
    return drawn


def cohort(
    population: SpikedModel | str,
    sizes: tuple[int, ...],
    failure: float,
    seed: int,
    draw: int,
    key: tuple[int, ...] = (),
) -> Cohort:
    """The patients dealt to hospitals of these sizes. A table is dealt by the seed alone.

    Raises ValueError for an unknown table, or sizes that do not add up to its rows.
    """
    if not isinstance(population, SpikedModel):
        return datasets.cohort(population, sizes, seed)
    n = sum(sizes)
    what = (population, failure, seed, draw, key, sizes)
    dealt: Cohort = DEALS.get(
        what,
        lambda: pooled(population, n, failure, seed, draw, key).deal(sizes),
        8 * len(sizes) * population.d**2,
    )
    return dealt


class Truth(NamedTuple):
    """What the estimates are measured against."""

    basis: Array
    eigenvalues: Array  # all d, descending, of the rows scaled to the bound
    second_moment: Array  # in the same units
    bound: float


def population_truth(model: SpikedModel, n: int, failure: float, covariance: bool) -> Truth:
    """The population's basis; its covariance, which costs d^3, only where asked for, else (0, 0)."""
    bound = model.norm_bound(n, failure)
    moment = model.covariance() / bound**2 if covariance else np.zeros((0, 0))
    return Truth(model.basis, model.eigenvalues / bound**2, moment, bound)


def table_truth(dealt: Cohort, k: int) -> Truth:
    """Pooled non-private PCA of a table's clipped rows."""
    moment = dealt.pooled.dense()
    values = np.maximum(np.linalg.eigvalsh(moment)[::-1], 0.0).astype(np.float64)
    return Truth(linalg.top_eigenspace(moment, k), values, moment, dealt.bound)
