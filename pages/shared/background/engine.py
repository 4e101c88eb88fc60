"""The one engine of the screens: whatever is measured beside the pages is begun here, from one queue.

One thread completes what visitors look at, step by step, and then what their next press may ask for. Each
sweep has a thread of its own from its turn on; one that waits has none. A step that fails costs its own
visitor what it was for, and nobody else anything. Nothing that runs is interrupted: it is asked to stop, and
does so between two steps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import streamlit as st
from joblib import cpu_count

from dppca_core.experiments.failures import surviving
from dppca_core.experiments.sweeps.blas import for_good
from pages.shared.background import sessions
from pages.shared.background.lasting import LastingThread
from pages.shared.background.queue import LONG_SECONDS, Queue, Queued, QueuePosition, Rank, Work

NextCell = Callable[[], tuple[Any, ...] | None]


class Cells(Protocol):
    """What is measured cell by cell."""

    def try_cell(self, *cell: Any) -> None:
        """Measure this cell unless it was, or note why it cannot be."""


FIRST_SECONDS = 2.0  # that a page measures before it shows what there is
_LOOKING_SECONDS = 8.0  # a view that is not refreshed for this long is given up
_AHEAD_SECONDS = 30.0  # what somebody who has not moved for this long may ask for next counts no more
_CROWD = 8  # visitors at once beyond whom less than half of a thread completes what they look at
_YIELD_SECONDS = 0.1  # at most, that the engine waits for pages under way
_REFRESH_SECONDS = 0.6
_FAULT_SECONDS = 1.0  # until the engine tries again, where it cannot even choose its next step
_REST_SECONDS = 0.002  # between steps, so that a key press finds the interpreter free
_ENDED = object()


@dataclass(frozen=True)
class _View:
    """What a page shows, with the cells that it lacks."""

    cells: Cells
    next_cell: NextCell

    def step(self) -> bool:
        missing = self.next_cell()
        if missing is not None:
            self.cells.try_cell(*missing)
        return missing is not None

    def abandon(self, reason: Exception | None = None) -> None:
        """What was measured stays in the cells."""


@dataclass(frozen=True)
class _Ahead:
    """What a visitor may ask for next."""

    steps: Iterator[None]

    def step(self) -> bool:
        return next(self.steps, _ENDED) is not _ENDED

    def abandon(self, reason: Exception | None = None) -> None:
        """Nobody has asked for it yet: whoever does is told why it fails."""


class Engine:
    """What runs beside the pages. sweeps_at_once: of either line of sweeps; None for as many as cores."""

    def __init__(self, sweeps_at_once: int | None = None) -> None:
        sweeps = sweeps_at_once or max(2, cpu_count())
        self._queue = Queue({"screen": 1, "short": sweeps, "long": sweeps})
        self._pages = 0  # that run now
        self._changed = threading.Condition()
        self._thread = LastingThread("engine", self._complete_screens)

    def revive(self) -> bool:
        """Start the thread that completes screens unless it runs. Return whether it had died."""
        return self._thread.start()

    def look(self, visitor: str, cells: Cells, next_cell: NextCell) -> None:
        """Complete this view, which the visitor looks at now instead of what they looked at before."""
        self._show(visitor, Rank.SHOWN, _View(cells, next_cell), _LOOKING_SECONDS)

    def ahead(self, visitor: str, urgent: Iterator[None], other: Iterator[None]) -> None:
        """Measure what this visitor may ask for next, instead of what was said before; for few visitors only.

        Args:
            visitor: Their session.
            urgent: Steps that come before the rest of what is on their screen.
            other: Steps for when nobody's screen lacks anything.
        """
        self._show(visitor, Rank.NEXT_PRESS, _Ahead(urgent), _AHEAD_SECONDS)
        self._show(visitor, Rank.WHEN_IDLE, _Ahead(other), _AHEAD_SECONDS)

    def sweep(self, visitor: str, work: Work, seconds: float) -> Queued:
        """Put a sweep of so many rough seconds in line, and begin it at once where a place is free."""
        entry = Queued(visitor, "long" if seconds > LONG_SECONDS else "short", work)
        with self._changed:
            self._queue.add(entry)
            self._begin_sweeps()
        return entry

    def stop(self, entry: Queued) -> None:
        """Take note that a sweep was told to stop: it gives up its place, or ends where it waits."""
        with self._changed:
            entry.ending = True
            if not entry.running and entry in self._queue:
                self._queue.remove(entry)
                entry.work.abandon()
            self._begin_sweeps()

    def position(self, entry: Queued) -> QueuePosition:
        """Return how many sweeps come before this one."""
        with self._changed:
            self._tidy()
            return self._queue.ahead(entry)

    @contextmanager
    def yielding(self) -> Iterator[None]:
        """Begin no step while a visitor waits for a page, for a while."""
        with self._changed:
            self._pages += 1
        try:
            yield
        finally:
            with self._changed:
                self._pages -= 1
                self._changed.notify_all()

    def looks_ahead(self) -> bool:
        """Return whether anything is measured ahead: not for many visitors at once."""
        with self._changed:
            return self._queue.looks_ahead()

    def crowd(self) -> int:
        """Return how many visitors look at a view that is not complete."""
        with self._changed:
            return sum(entry.rank == Rank.SHOWN for entry in self._queue.line("screen"))

    def _show(self, visitor: str, rank: Rank, work: Work, seconds: float) -> None:
        with self._changed:
            self._queue.replace(Queued(visitor, "screen", work, rank, time.monotonic() + seconds))
            self._changed.notify_all()
        self.revive()

    def _tidy(self) -> None:
        """Give up what nobody waits for any more."""
        now = time.monotonic()
        for entry in self._queue.drop(lambda entry: entry.until < now or not sessions.present(entry.visitor)):
            entry.work.abandon()

    def _begin_sweeps(self) -> None:
        self._tidy()
        for line in ("short", "long"):
            while (entry := self._queue.take(line)) is not None:
                try:
                    threading.Thread(target=self._run, args=(entry,), daemon=True, name="sweep").start()
                except RuntimeError as reason:  # the server has no thread left
                    self._queue.remove(entry)
                    entry.work.abandon(reason)

    def _run(self, entry: Queued) -> None:
        try:
            while entry.work.step():
                pass
        finally:
            with self._changed:
                self._queue.remove(entry)
                self._begin_sweeps()

    def _complete_screens(self) -> None:
        for_good()
        while True:
            with surviving("engine"):
                self._go_on()
            time.sleep(_FAULT_SECONDS)

    def _go_on(self) -> None:
        while True:
            entry = self._next()
            began = time.monotonic()
            self._step(entry)
            # Where many look the interpreter is theirs: they ask for more than could be completed anyway.
            time.sleep(_REST_SECONDS + (time.monotonic() - began) * self.crowd() / _CROWD)

    def _next(self) -> Queued:
        with self._changed:
            while True:
                self._changed.wait_for(lambda: not self._pages, _YIELD_SECONDS)
                self._tidy()
                entry = self._queue.take("screen")
                if entry is not None:
                    return entry
                self._changed.wait()

    def _step(self, entry: Queued) -> None:
        work, more = entry.work, False
        try:
            with surviving("engine"):
                more = work.step()
        finally:
            with self._changed:
                if more or entry.work is not work:  # the visitor looks at something else by now
                    self._queue.back(entry)
                else:
                    self._queue.remove(entry)


@st.cache_resource(show_spinner=False)
def engine() -> Engine:
    """Return the one engine of this server."""
    return Engine()


def at_first(steps: Iterator[None]) -> Iterator[None]:
    """Measure what a page needs at first, for FIRST_SECONDS at most: the engine does the rest."""
    until = time.monotonic() + FIRST_SECONDS
    for _ in steps:
        yield
        if time.monotonic() > until:
            return


def look(cells: Cells, next_cell: NextCell) -> None:
    """Tell the engine what this visitor is looking at, and which cell that needs next."""
    engine().look(sessions.visitor(), cells, next_cell)


def ahead(urgent: Iterator[None], other: Iterator[None]) -> None:
    """Tell the engine what this visitor may ask for next: in steps, most likely first."""
    engine().ahead(sessions.visitor(), urgent, other)


def refresh_seconds() -> float:
    """Return how often a page that still lacks runs should ask again: seldom where many do."""
    return min(max(_REFRESH_SECONDS, _REFRESH_SECONDS * engine().crowd() / _CROWD), _LOOKING_SECONDS / 2)
