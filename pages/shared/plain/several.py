"""Measure several stores of cells as one view, and name the table of the rows that they give."""

from collections.abc import Iterable, Sequence
from typing import Any

from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe


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


def code(points: Sequence[tuple[ExplorerExperiment, float]], methods: Sequence[str]) -> FigureRecipe:
    """Return the table of the shares that methods recover in these experiments."""
    return FigureRecipe("explorer.shares", {"points": tuple(points), "methods": tuple(methods)})
