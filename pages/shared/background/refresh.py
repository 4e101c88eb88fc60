"""Refresh a part of a page while something is measured beside it."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from pages.shared import text
from pages.shared.background import engine, sessions, turns
from pages.shared.document.blocks import Measuring
from pages.shared.figure import component
from pages.shared.settings import widgets

SECONDS = 0.6  # between two renderings
_ASKED = "what is measured although it takes long"
# That a rendering waits for the background, at most; it looks 16 times whether all is measured. Then the
# browser asks for the next one within a quarter of that time.
_WAITS = 0.4
_WAITS_EACH = 10.0  # times that the last rendering took, at least: less than a tenth of the time is for these
_LONGEST_WAIT = engine.SHOWN_SECONDS / 2  # else the engine would drop the view


def while_more(part: Callable[[], None], more: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Render a part of the page, again and again while more is to come, then the whole page once.

    more: says whether more is to come; asked before the first rendering and after each. seconds: between two.
    """
    refreshing, whole_page = more(), True

    def render() -> None:
        nonlocal whole_page
        with turns.TURNS.taken(refresh=True), component.preliminary(refreshing):
            sessions.end_if_moved_on()  # while it waited for its turn
            part()
        if more() != refreshing:
            st.rerun()  # the whole page decides anew whether this part refreshes itself
        if not whole_page:
            sessions.wait_until_sent()
        whole_page = False

    st.fragment(render, run_every=seconds * _crowded() if refreshing else None)()


def while_cells_come(name: str, part: Callable[[], None], measuring: Measuring) -> None:
    """Render a part of the page while the background measures the cells that it lacks, and once it has them.

    Where the first answer takes longer than a visitor waits, the part says how long, and measures nothing
    until its button is pressed. name: of the part, for that button.
    `measuring.first` runs in the run of the whole page alone, since the engine and a refresh would wait for
    each other; of its steps as many come before the part as a page waits for.
    """
    next_cell, later = measuring.next_cell, measuring.later
    begun, took = False, 0.0  # seconds of the last rendering
    interval = min(_WAITS * _crowded(), _LONGEST_WAIT)

    def lacking() -> engine.NextCell | None:
        if asks(measuring):
            return None
        return next((cell for cell in (next_cell, later) if cell and cell() is not None), None)

    def wait(until: float) -> None:
        """Let the background measure until then, or until the view is complete or has its first answer."""
        missing, had_none = lacking(), measuring.awaited
        with turns.TURNS.given_away():
            while missing and missing() is not None and not widgets.has_pending_move():
                sessions.end_if_moved_on()
                if time.monotonic() > until or (had_none and not measuring.awaited):
                    break
                time.sleep(interval / 16)

    def render() -> None:
        nonlocal begun, took
        # The parts of a page wait together: a page of several would else take as many times as long.
        until = time.monotonic() + engine.FIRST_SECONDS - turns.TURNS.waited()
        for _ in () if begun else measuring.first():
            sessions.end_if_moved_on()
            if time.monotonic() > until:
                break
        if lacking() is next_cell:
            first = measuring.awaited is not None
            engine.engine().complete(sessions.visitor(), measuring.cells, next_cell, first)
        if begun or measuring.awaited:
            each = min(max(interval, _WAITS_EACH * took), _LONGEST_WAIT)
            wait(time.monotonic() + each if begun else until)
        begun = True
        if (ask := asks(measuring)) is not None:
            ask.show(name)
            return
        with st.container():  # always there, so that what follows keeps its place
            awaited = _first_answer(measuring)
            if awaited is not None and awaited.seconds > engine.PATIENCE_SECONDS:
                st.caption(text.first_answer_comes(awaited.seconds))
        rendering_began = time.monotonic()
        part()
        took = time.monotonic() - rendering_began

    while_more(render, lambda: lacking() is not None, _WAITS / 4)


def _crowded() -> float:
    """Return how many times as long as alone a part waits: where many refresh, each does so less often."""
    return max(1.0, engine.engine().crowd() / engine.CROWD)


class Ask(NamedTuple):
    """Hold what is measured only if it is asked for, by what it is made from, and its seconds."""

    made_from: tuple[Any, ...]
    seconds: float

    @property
    def open(self) -> bool:
        """Return whether it takes longer than a visitor waits, and nobody has asked for it."""
        return self.seconds > engine.PATIENCE_SECONDS and self.made_from not in _asked()

    def show(self, name: str) -> None:
        with st.container(border=True):
            st.markdown(text.first_answer_takes(self.seconds))
            st.button("Measure it", key=f"measure {name}", on_click=self._press)

    def _press(self) -> None:
        st.session_state[_ASKED] = {*_asked(), self.made_from}


def _asked() -> set[tuple[Any, ...]]:
    asked: set[tuple[Any, ...]] = st.session_state.get(_ASKED, set())
    return asked


def asks(measuring: Measuring) -> Ask | None:
    """Return what a part must ask for before it is measured; None where its first answer comes soon."""
    first = _first_answer(measuring)
    return first if first is not None and first.open else None


def _first_answer(measuring: Measuring) -> Ask | None:
    """Return what a first answer is made from, with its seconds; None where there is one, or none comes."""
    if (awaited := measuring.awaited) is None:
        return None
    store, cell = awaited
    return Ask((type(store), *store.made_from), store.answer_seconds(*cell))


def coming(runs: int) -> str:
    return f"{text.count(runs, 'run', 'runs')} measured, more coming"
