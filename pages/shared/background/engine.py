"""Run everything that is measured beside the pages, from one queue.

One thread completes the views that visitors look at, step by step, and then the settings that a next press
may ask for. Each sweep has a thread of its own once its turn has come; a sweep that waits has none. A step
that fails ends only the work it belongs to. The engine never interrupts a step: it asks work to stop between
two steps.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from joblib import cpu_count

from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.failures import log_errors
from dppca_core.experiments.sweeps.blas import use_one_thread
from pages.shared.background import sessions
from pages.shared.background.queue import Queue, Queued, Rank
from pages.shared.background.restarted_thread import RestartedThread

Cells = CellStore[Any, Any]
NextCell = Callable[[], tuple[Any, ...] | None]  # returns the cell that a view lacks; None when complete

FIRST_SECONDS = 2.0  # a page measures for this long before it shows what there is
SHOWN_SECONDS = 8.0  # a view that is not refreshed for this long is dropped
_PREFETCH_SECONDS = 30.0  # nothing is prefetched for visitors who have not moved a control for this long
CROWD = 8  # above this many visitors the thread sleeps more than half of the time
_YIELD_SECONDS = 0.1  # the longest time that the engine waits for running pages
_FAULT_SECONDS = 1.0  # until the engine tries again after it failed to choose a step
_REST_SECONDS = 0.002  # between two steps, so that a key press finds the interpreter free
_STEP_SECONDS = 0.03  # before a step of several cells ends
_ENDED = object()  # stands for the step after the last


def missing_cells(cells: Cells, next_cell: NextCell) -> Iterator[None]:
    """Measure the cells that `next_cell` names, until it names none; quick ones are one step together."""
    began = time.monotonic()
    while (missing := next_cell()) is not None:
        cells.try_cell(*missing)
        if time.monotonic() > began + _STEP_SECONDS:
            yield
            began = time.monotonic()


class Engine:
    """Run the work beside the pages; sweeps_at_once: in each of their lines, None for the number of cores."""

    def __init__(self, sweeps_at_once: int | None = None) -> None:
        sweeps = sweeps_at_once or max(2, cpu_count())
        self._queue = Queue({"screen": 1, "short": sweeps, "long": sweeps})
        self._pages = 0  # that run now
        self._changed = threading.Condition()
        self._thread = RestartedThread("engine", self._complete_screens)

    def revive(self) -> bool:
        """Start the thread that completes screens unless it runs. Return whether it had died."""
        return self._thread.start()

    def complete(self, visitor: str, cells: Cells, next_cell: NextCell) -> None:
        self._show(visitor, Rank.SHOWN, missing_cells(cells, next_cell), SHOWN_SECONDS)

    def prefetch(self, visitor: str, urgent: Iterator[None], other: Iterator[None]) -> None:
        """Measure what this visitor may ask for next, in place of an earlier call; for few visitors only.

        urgent: steps that run before the rest of what is on their screen. other: steps that run when nobody's
        screen lacks anything.
        """
        self._show(visitor, Rank.NEXT_PRESS, urgent, _PREFETCH_SECONDS)
        self._show(visitor, Rank.WHEN_IDLE, other, _PREFETCH_SECONDS)

    def sweep(self, entry: Queued) -> None:
        """Queue a sweep, whose one step runs in a thread once a place is free."""
        with self._changed:
            if entry.ending:  # it was asked to stop before it was queued
                entry.abandon()
            else:
                self._queue.add(entry)
            self._begin_sweeps()

    def stop(self, entry: Queued) -> None:
        """Ask a sweep to stop and give away its place; abandon it if it has not begun."""
        with self._changed:
            entry.ending = True
            if not entry.active and self._queue.remove(entry):
                entry.abandon()
            self._begin_sweeps()

    def position(self, entry: Queued) -> tuple[int, int]:
        with self._changed:
            self._drop_unwanted()
            return self._queue.position(entry)

    @contextmanager
    def yielding(self) -> Iterator[None]:
        """Begin no step, for up to _YIELD_SECONDS, while a visitor waits for a page."""
        with self._changed:
            self._pages += 1
        try:
            yield
        finally:
            with self._changed:
                self._pages -= 1
                self._changed.notify_all()

    def prefetches(self) -> bool:
        with self._changed:
            return self._queue.prefetches()

    def crowd(self) -> int:
        with self._changed:
            return sum(entry.rank == Rank.SHOWN for entry in self._queue.line("screen"))

    def _show(self, visitor: str, rank: Rank, steps: Iterator[None], seconds: float) -> None:
        """Queue steps for a visitor's screen, dropped after `seconds`, in place of those of this rank."""

        def step() -> bool:
            return next(steps, _ENDED) is not _ENDED  # do the next step: if there was one, more may follow

        entry = Queued(visitor, "screen", step, rank, time.monotonic() + seconds)
        with self._changed:
            self._queue.replace(entry)
            self._changed.notify_all()
        self.revive()

    def _drop_unwanted(self) -> None:
        """Drop entries that are out of date or whose visitor has gone. The caller holds the lock."""
        now, connected = time.monotonic(), sessions.is_connected
        for entry in self._queue.drop(lambda entry: entry.until < now or not connected(entry.visitor)):
            entry.abandon()

    def _begin_sweeps(self) -> None:
        """Start a thread for each sweep that has a place now. The caller holds the lock."""
        self._drop_unwanted()
        for line in ("short", "long"):
            while (entry := self._queue.start_next(line)) is not None:
                try:
                    threading.Thread(target=self._run_sweep, args=(entry,), daemon=True, name="sweep").start()
                except RuntimeError as reason:  # the server has no thread left
                    self._queue.remove(entry)
                    entry.abandon(reason)

    def _run_sweep(self, entry: Queued) -> None:
        try:
            entry.step()
        finally:
            with self._changed:
                self._queue.remove(entry)
                self._begin_sweeps()

    def _complete_screens(self) -> None:
        use_one_thread()
        while True:
            rest = _FAULT_SECONDS  # unless all goes well
            with log_errors("engine"):
                entry = self._wait_for_entry()
                began = time.monotonic()
                self._run_step(entry)
                # Leave the interpreter to the pages where many visitors look: the engine lags anyway.
                rest = _REST_SECONDS + (time.monotonic() - began) * self.crowd() / CROWD
            time.sleep(rest)

    def _wait_for_entry(self) -> Queued:
        with self._changed:
            while True:
                self._changed.wait_for(lambda: not self._pages, _YIELD_SECONDS)
                self._drop_unwanted()
                entry = self._queue.start_next("screen")
                if entry is not None:
                    return entry
                self._changed.wait()

    def _run_step(self, entry: Queued) -> None:
        step, more = entry.step, False
        try:
            with log_errors("engine"):
                more = bool(step())
        finally:
            with self._changed:
                if more or entry.step is not step:  # meanwhile the visitor has opened another view
                    self._queue.requeue(entry)
                else:
                    self._queue.remove(entry)


@st.cache_resource(show_spinner=False)
def engine() -> Engine:
    return Engine()
