"""Refresh a part of a page while something is measured beside it."""

import time
from collections.abc import Callable, Iterator

import streamlit as st

from pages.shared import text
from pages.shared.background import engine, sessions
from pages.shared.document.blocks import Measuring
from pages.shared.figure import component
from pages.shared.settings import widgets

SECONDS = 0.6  # between two renderings
# That a rendering waits for the background, at most; it looks 16 times whether all is measured. Then the
# browser asks for the next one within a quarter of that time.
_WAITS = 0.4


def while_more(part: Callable[[], None], more: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Render a part of the page, again and again while more is to come, then the whole page once.

    more: says whether more is to come; asked before the first rendering and after each. seconds: between two.
    """
    refreshing = more()

    def render() -> None:
        with component.preliminary(refreshing):
            part()
        if more() != refreshing:
            st.rerun()  # the whole page decides anew whether this part refreshes itself

    st.fragment(render, run_every=seconds if refreshing else None)()


def while_cells_come(part: Callable[[], None], measuring: Measuring) -> None:
    """Render a part of the page while the background measures the cells that it lacks, and once it has them.

    `measuring.first` runs in the run of the whole page alone, since the engine and a refresh would wait for
    each other; of its steps as many come before the part as a page waits for.
    """
    next_cell, later = measuring.next_cell, measuring.later
    begun = False
    # Where many refresh, each does so less often, yet often enough that the engine does not drop the view.
    crowded = max(1.0, engine.engine().crowd() / engine.CROWD)
    interval = min(_WAITS * crowded, engine.SHOWN_SECONDS / 2)

    def lacking() -> engine.NextCell | None:
        return next((cell for cell in (next_cell, later) if cell and cell() is not None), None)

    def rest() -> Iterator[None]:
        missing = lacking()
        while missing and missing() is not None and not widgets.has_pending_move():
            time.sleep(interval / 16)
            yield

    def render() -> None:
        nonlocal begun
        until = time.monotonic() + (interval if begun else engine.FIRST_SECONDS)
        for _ in rest() if begun else measuring.first():
            st.session_state.get("epsilon")  # Streamlit interrupts the run here when the visitor has moved on
            if time.monotonic() > until:
                break
        begun = True
        part()
        if next_cell() is not None:
            engine.engine().complete(sessions.visitor(), measuring.cells, next_cell)

    while_more(render, lambda: lacking() is not None, interval / 4)


def coming(runs: int) -> str:
    return f"{text.count(runs, 'run', 'runs')} measured, more coming"
