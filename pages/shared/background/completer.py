"""The one thread that measures what visitors look at beyond what a page waits for, and what may come next.

It measures the missing cells of the newest view first, and forgets views that nobody has asked for lately.
A step that fails costs its own visitor what it was for, and nobody else anything.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

import streamlit as st

from dppca_core.experiments.failures import surviving
from dppca_core.experiments.sweeps.blas import for_good
from pages.shared.background import sessions
from pages.shared.background.lasting import LastingThread

NextCell = Callable[[], tuple[Any, ...] | None]


class Cells(Protocol):
    """What is measured cell by cell."""

    def try_cell(self, *cell: Any) -> None:
        """Measure this cell unless it was, or note why it cannot be."""


_LOOKING_SECONDS = 8.0  # a view that is not refreshed for this long is given up
_AHEAD_SECONDS = 30.0  # what somebody who has not moved for this long may ask for next counts no more
_FEW = 3  # visitors at once for whom anything is measured ahead
_CROWD = 8  # visitors at once beyond whom less than half of a thread completes what they look at
_YIELD_SECONDS = 0.1  # at most, that the worker waits for pages under way
FIRST_SECONDS = 2.0  # that a page measures before it shows what there is
_NOTHING: Iterator[None] = iter(())
_ENDED = object()
_REFRESH_SECONDS = 0.6
_FAULT_SECONDS = 1.0  # until the worker tries again, where it cannot even choose its next step
_REST_SECONDS = 0.002  # between cells, so that a key press finds the interpreter free


class NextPress(NamedTuple):
    """What a visitor may ask for next, measured step by step while they look at what they have."""

    since: float
    urgent: Iterator[None]  # before the rest of what is on the screen
    other: Iterator[None]  # when nobody's screen lacks anything


class Completer:
    """One thread that measures the missing cells of what visitors look at now, then what they may ask for."""

    def __init__(self) -> None:
        self._views: dict[str, tuple[float, Cells, NextCell]] = {}
        self._ahead: dict[str, NextPress] = {}
        self._running = 0
        self._changed = threading.Condition()
        self._thread = LastingThread("completer", self._work)
        self._thread.start()

    def revive(self) -> bool:
        """Start the thread again if it has died. Return whether it had."""
        return self._thread.start()

    def look(self, visitor: str, found: Cells, wanted: NextCell) -> None:
        """This visitor looks at this view now; whatever they looked at before is abandoned."""
        with self._changed:
            self._views[visitor] = (time.monotonic(), found, wanted)
            self._changed.notify_all()
        self.revive()

    def ahead(self, visitor: str, urgent: Iterator[None], other: Iterator[None]) -> None:
        """What this visitor may ask for next, instead of what was said before; for few visitors only."""
        with self._changed:
            now = time.monotonic()
            self._ahead[visitor] = NextPress(now, urgent, other)
            self._ahead = {
                who: what for who, what in self._ahead.items() if what.since > now - _AHEAD_SECONDS
            }
            self._changed.notify_all()
        self.revive()

    @contextmanager
    def yielding(self) -> Iterator[None]:
        """While a visitor waits for a page: the worker begins nothing, for a while."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def looks_ahead(self) -> bool:
        """Whether anything is measured ahead: not for many visitors at once."""
        return len(self._ahead) <= _FEW

    def crowd(self) -> int:
        """How many visitors look at a view that is not complete."""
        return len(self._views)

    def _newest(self) -> Callable[[], None]:
        """What to do next."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: not self._running, _YIELD_SECONDS)
                oldest = time.monotonic() - _LOOKING_SECONDS
                here = sessions.present
                self._views = {who: v for who, v in self._views.items() if v[0] > oldest and here(who)}
                self._ahead = {who: what for who, what in self._ahead.items() if here(who)}
                last = None
                if self._ahead and self.looks_ahead():
                    last = max(self._ahead, key=lambda who: self._ahead[who].since)
                if last is not None and self._ahead[last].urgent is not _NOTHING:
                    return partial(self._go_on, last, "urgent")
                if self._views:
                    return partial(self._complete, max(self._views.values(), key=lambda view: view[0]))
                if last is not None:
                    return partial(self._go_on, last, "other")
                self._changed.wait()

    def _complete(self, view: tuple[float, Cells, NextCell]) -> None:
        _, found, wanted = view
        with surviving("completer"):
            missing = wanted()
            if missing is not None:
                found.try_cell(*missing)
                return
        with self._changed:
            self._views = {who: seen for who, seen in self._views.items() if seen is not view}

    def _go_on(self, visitor: str, what: Literal["urgent", "other"]) -> None:
        held = self._ahead.get(visitor)
        with surviving("completer, ahead"):  # nobody has asked for it yet: whoever does is told why
            if held is None or next(getattr(held, what), _ENDED) is not _ENDED:
                return
        with self._changed:
            if self._ahead.get(visitor) is held and what == "urgent":
                self._ahead[visitor] = held._replace(urgent=_NOTHING)
            elif self._ahead.get(visitor) is held:
                del self._ahead[visitor]

    def _work(self) -> None:
        while True:
            with surviving("completer"):
                self._go()
            time.sleep(_FAULT_SECONDS)

    def _go(self) -> None:
        for_good()
        while True:
            step = self._newest()
            began = time.monotonic()
            step()
            # Where many look the interpreter is theirs: they ask for more than could be completed anyway.
            time.sleep(_REST_SECONDS + (time.monotonic() - began) * self.crowd() / _CROWD)


@st.cache_resource(show_spinner=False)
def completer() -> Completer:
    """The one worker of this server."""
    return Completer()


def at_first(steps: Iterator[None]) -> Iterator[None]:
    """What a page measures before it shows what there is, for so long at most: the worker does the rest."""
    until = time.monotonic() + FIRST_SECONDS
    for _ in steps:
        yield
        if time.monotonic() > until:
            return


def look(found: Cells, wanted: NextCell) -> None:
    """Tell the worker what this visitor is looking at, and which cell that needs next."""
    completer().look(sessions.visitor(), found, wanted)


def ahead(urgent: Iterator[None], other: Iterator[None]) -> None:
    """Tell the worker what this visitor may ask for next: in steps, most likely first."""
    completer().ahead(sessions.visitor(), urgent, other)


def refresh_seconds() -> float:
    """How often a page that still lacks runs should ask again: seldom where many do."""
    return min(max(_REFRESH_SECONDS, _REFRESH_SECONDS * completer().crowd() / _CROWD), _LOOKING_SECONDS / 2)
