"""Measure several stores of cells as one view, and write the Python of the rows that they give."""

from collections.abc import Iterable, Sequence
from typing import Any

from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from pages.shared.reports import python_code

_CODE = """
import numpy as np
from dppca_core.experiments.explorer.results import Results

for experiment, epsilon in $points:
    results = Results(experiment)
    for method in $methods:
        runs = [results.cell(method, epsilon, repeat) for repeat in range(results.repeats_of(method))]
        shares = [100 * (1 - run.sin[-1] ** 2 / experiment.k) for run in runs]
        print(experiment.n, epsilon, method, np.quantile(shares, [0.1, 0.5, 0.9]))
"""


class Several:
    """Hold stores as the engine takes one: the first part of a cell's key is its store's place.

    Args:
        stores: The stores.
    """

    def __init__(self, *stores: CellStore[Any, Any]) -> None:
        self.stores = stores

    def try_cell(self, store: int, *cell: Any) -> None:
        """Measure a cell of a store."""
        self.stores[store].try_cell(*cell)

    def first_missing(self, wanted: Iterable[tuple[Any, ...]]) -> tuple[Any, ...] | None:
        """Return the first of these cells that has neither a value nor a reason."""
        return next((cell for cell in wanted if self.stores[cell[0]].missing([cell[1:]])), None)


def code(points: Sequence[tuple[ExplorerExperiment, float]], methods: Sequence[str]) -> str:
    """Return the Python of the shares that methods recover in these experiments."""
    return python_code.program(_CODE, points=list(points), methods=tuple(methods))
