"""Show rows of shares with their menu."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.shared import text
from pages.shared.plain import rows
from pages.shared.reports import take_along


def code(points: Sequence[tuple[ExplorerExperiment, float]], methods: Sequence[str]) -> FigureRecipe:
    """Return the recipe of the shares recovered by methods; points: experiments, each with its epsilon."""
    return FigureRecipe("explorer.shares", {"points": tuple(points), "methods": tuple(methods)})


def bars(shares: rows.Shares, name: str, title: str, says: str = "", note: str = "", **along: Any) -> None:
    """Show the rows as a figure of this name; `along` are more arguments of `take_along.menu`."""
    says = f"{says} {rows.description(shares)}".strip()
    take_along.show(rows.figure(shares), f"{name} figure", f"dppca-{name}", title, says=says, **along)
    st.caption(f"{note or rows.note(shares)} {text.NO_COST if shares.free else ''}".strip())
