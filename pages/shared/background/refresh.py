"""Refresh a part of a page while something is measured beside it."""

import time
from collections.abc import Callable, Iterator

import streamlit as st

from pages.shared import text
from pages.shared.background import engine, sessions
from pages.shared.figure import component

SECONDS = 0.6  # between two renderings
# That a rendering waits for the background, at most; it looks 16 times whether all is measured. Then the
# browser asks for the next one within a quarter of that time.
_WAITS = 0.4


def while_more(part: Callable[[], None], more: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Render a part of the page, again and again while more is to come, then the whole page once.

    Args:
        part: Renders the part.
        more: Says whether more is to come; asked before the first rendering and after each.
        seconds: Between two renderings.
    """
    refreshing = more()

    def render() -> None:
        with component.preliminary(refreshing):
            part()
        if more() != refreshing:
            st.rerun()  # the whole page decides anew whether this part refreshes itself

    st.fragment(render, run_every=seconds if refreshing else None)()


def while_cells_come(
    part: Callable[[], None],
    store: engine.Cells,
    next_cell: engine.NextCell,
    first: Callable[[], Iterator[None]] = lambda: iter(()),
    seconds: float = 0.0,
    moved: Callable[[], bool] = lambda: False,
    later: engine.NextCell | None = None,
) -> None:
    """Render a part of the page while the background measures the cells that it lacks, and once it has them.

    Args:
        part: Renders what has been measured.
        store: Where the cells are kept.
        next_cell: Returns the cell to measure next, or None when the part is complete.
        first: Measures what a first view needs, in steps, of which as many as a page waits for come before
            it. Called in the run of the whole page alone, since the engine and a refresh would wait for each
            other.
        seconds: Between two renderings, at most, while cells are missing.
        moved: Returns whether the part has moved a setting, so that rendering it must not wait.
        later: Returns the cell that is measured next once the part is complete, by others.
    """
    begun = False
    # Where many refresh, each does so less often, yet often enough that the engine does not drop the view.
    crowded = max(1.0, engine.engine().crowd() / engine.CROWD)
    interval = max(seconds, min(_WAITS * crowded, engine.SHOWN_SECONDS / 2))

    def lacking() -> engine.NextCell | None:
        """Return what names the cell that is measured next, if any is."""
        return next((cell for cell in (next_cell, later) if cell and cell() is not None), None)

    def rest() -> Iterator[None]:
        """Wait for the background, until the part is complete or, after that, all is measured."""
        missing = lacking()
        while missing and missing() is not None and not moved():
            time.sleep(interval / 16)
            yield

    def render() -> None:
        nonlocal begun
        until = time.monotonic() + (interval if begun else engine.FIRST_SECONDS)
        for _ in rest() if begun else first():
            st.session_state.get("epsilon")  # Streamlit interrupts the run here when the visitor has moved on
            if time.monotonic() > until:
                break
        begun = True
        part()
        if next_cell() is not None:
            engine.engine().complete(sessions.visitor(), store, next_cell)

    while_more(render, lambda: lacking() is not None, interval / 4)


def coming(runs: int) -> str:
    """Return how many runs have been measured, while more are to come."""
    return f"{text.count(runs, 'run', 'runs')} measured, more coming"
