"""Show what pages in plain view share: rows with their menu, cells that come, the statistician's fold."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.shared import text
from pages.shared.background import engine, refresh
from pages.shared.document import streamlit
from pages.shared.plain import phrases, rows
from pages.shared.reports import sources, take_along
from pages.shared.settings.catalogue import Settings

Cell = tuple[Any, ...]


class CombinedStore(ABC):
    """Combine stores of cells into one for the engine: a cell's first part is the index of its store.

    Attributes:
        stores: The stores.
    """

    stores: Sequence[CellStore[Any, Any]]

    @abstractmethod
    def wanted(self) -> Iterator[Cell]:
        """Return all cells of the view, in the order in which a reader needs them."""

    def next_missing(self) -> Cell | None:
        """Return the first wanted cell, (store, *its key there), without a value or a reason of failure."""
        return next((cell for cell in self.wanted() if self.stores[cell[0]].missing([cell[1:]])), None)

    def try_cell(self, store: int, *cell: Any) -> None:
        """Measure a cell of the store with this index."""
        self.stores[store].try_cell(*cell)

    def show(self, part: Callable[[], None]) -> None:
        """Render a part of the page while the cells come; as many as a page waits for come before it."""
        first = partial(engine.missing_cells, self, self.next_missing)
        refresh.while_cells_come(part, self, self.next_missing, first)


def code(points: Sequence[tuple[ExplorerExperiment, float]], methods: Sequence[str]) -> FigureRecipe:
    """Return the recipe of the shares recovered by methods; points: experiments, each with its epsilon."""
    return FigureRecipe("explorer.shares", {"points": tuple(points), "methods": tuple(methods)})


def bars(shares: rows.Shares, name: str, title: str, says: str = "", note: str = "", **along: Any) -> None:
    """Show the rows as a figure of this name; `along` are more arguments of `take_along.menu`."""
    says = f"{says} {rows.description(shares)}".strip()
    take_along.show(rows.figure(shares), f"{name} figure", f"dppca-{name}", title, says=says, **along)
    st.caption(f"{note or rows.note(shares)} {text.NO_COST if shares.free else ''}".strip())


def fold(settings: Settings, shares: Callable[[], rows.Shares], k: int, *about: str) -> None:
    """Show the fold with the methods behind the rows, and in `about`, as Markdown, how they were measured."""
    about_rows = lambda: (rows.table(shares(), k), *about)  # noqa: E731
    streamlit.show_block(sources.fold(settings, about_rows, sources.LIMITS, phrases.FOLD))
