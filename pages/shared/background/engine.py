"""Run everything that is measured beside the pages, from one queue.

One thread completes the views that visitors look at, step by step, and then the settings that a next press
may ask for. What takes longer than QUICK_SECONDS it leaves to two others, which have a process each measure
it: so no page waits for the interpreter, and no quick answer for one that takes seconds. Each sweep has a
thread of its own once its turn has come; a sweep that waits has none. A step that fails ends only the work it
belongs to. The engine never interrupts a step: it asks work to stop between two steps.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from joblib import cpu_count

from dppca_core.experiments import replicas
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.failures import log_errors
from dppca_core.experiments.sweeps.blas import use_one_thread
from pages.shared.background import sessions
from pages.shared.background.queue import ON_SCREEN, Line, Queue, Queued, Rank
from pages.shared.background.restarted_thread import RestartedThread

Cells = CellStore[Any, Any]
NextCell = Callable[[], tuple[Any, ...] | None]  # returns the cell that a view lacks; None when complete

FIRST_SECONDS = 0.5  # a page measures for this long before it shows what there is
QUICK_SECONDS = 0.03  # of a step that is done in the server; longer ones, or in a crowd all, are not
_FIRST_STEP_SECONDS = 0.1  # of a step that a page does itself for its first answer
_SLOW_SECONDS = 0.5  # of a step that the second process does, beside quicker ones
PATIENCE_SECONDS = 3.0  # that a visitor waits for a first answer; what takes longer must be asked for
SHOWN_SECONDS = 8.0  # a view that is not refreshed for this long is dropped
_PREFETCH_SECONDS = 30.0  # nothing is prefetched for visitors who have not moved a control for this long
CROWD = 4  # above this many visitors the thread sleeps more than half of the time
_YIELD_SECONDS = 0.1  # the longest time that the engine waits for running pages
_LATELY_SECONDS = 10.0  # since a visitor's last page, for which they count in a crowd
_NICE = 5  # pages come first where cores are few
_FAULT_SECONDS = 1.0  # until the engine tries again after it failed to choose a step
_REST_SECONDS = 0.002  # between two steps, so that a key press finds the interpreter free
_STEP_SECONDS = 0.03  # before a step of several cells ends


class Slow(NamedTuple):
    """Stand in a step for a cell that it left alone, since the cell takes long."""

    cells: Cells
    cell: tuple[Any, ...]


Steps = Iterator[Slow | None]


def slow(cells: Cells, cell: tuple[Any, ...], quick: float) -> Slow | None:
    """Return the cell with the store that measures it, unless that takes less than `quick` seconds."""
    store, name = cells.located(*cell)
    return Slow(store, name) if store.seconds(*name) >= quick else None


def _line(left: Slow | None) -> Line:
    """Return the line of a step that measures this cell; of quick steps for None."""
    if left is None:
        return "screen"
    return "slow" if left.cells.seconds(*left.cell) > _SLOW_SECONDS else "aside"


def first_step_seconds() -> float:
    """Return the seconds of a step that a page does itself for its first answer: in a crowd none."""
    return _FIRST_STEP_SECONDS if engine().crowd() < CROWD else 0.0


def missing_cells(cells: Cells, next_cell: NextCell) -> Iterator[None]:
    """Measure here the quick cells that `next_cell` names, in steps, until it names none or a slow one."""
    while (missing := next_cell()) is not None and not slow(cells, missing, first_step_seconds()):
        cells.try_cell(*missing)
        yield


class Engine:
    """Run the work beside the pages; sweeps_at_once: in each of their lines, None for the number of cores."""

    def __init__(self, sweeps_at_once: int | None = None) -> None:
        sweeps = sweeps_at_once or max(2, cpu_count())
        self._queue = Queue(dict.fromkeys(ON_SCREEN, 1) | {"short": sweeps, "long": sweeps})
        self._pages = 0  # that run now
        self._seen: dict[str, float] = {}  # when each visitor asked for a page last
        self._changed = threading.Condition()
        self._processes: dict[Line, replicas.Process] = {
            "aside": replicas.Process(_NICE),
            "slow": replicas.Process(2 * _NICE),
        }
        self._threads = [
            RestartedThread(f"engine, {line}", partial(self._complete_screens, line)) for line in ON_SCREEN
        ]

    def revive(self) -> bool:
        """Start the threads that complete screens unless they run. Return whether one had died."""
        return sum(thread.start() for thread in self._threads) > 0  # all of them, whatever the first says

    def complete(self, visitor: str, cells: Cells, next_cell: NextCell, first: bool = False) -> None:
        """Measure what a view lacks, in place of the visitor's former view; dropped unless asked for again.

        first: whether it has no answer yet, for which its visitor waits.
        """
        left = None
        with suppress(BaseException):  # the engine meets the same error, and logs it
            missing = next_cell()
            left = None if missing is None else slow(cells, missing, self._quick())
        self._show(visitor, Rank.SHOWN, self.missing_cells(cells, next_cell), SHOWN_SECONDS, left, first)

    def missing_cells(self, cells: Cells, next_cell: NextCell, most: float = math.inf) -> Steps:
        """Measure the cells that `next_cell` names, until it names none; quick ones are one step together.

        A slow one is yielded instead, and expected to be measured elsewhere, or to be in the way no more.
        most: seconds of a cell, above which nothing more is measured.
        """
        began = time.monotonic()
        while (missing := next_cell()) is not None:
            if (left := slow(cells, missing, self._quick())) is not None:
                if left.cells.seconds(*left.cell) > most:
                    return
                yield left
                if next_cell() == missing:  # nobody has measured it
                    return
            else:
                store, name = cells.located(*missing)
                cell_began = time.monotonic()
                store.try_cell(*name)
                store.took[name[0]] = time.monotonic() - cell_began
            if time.monotonic() > began + _STEP_SECONDS:
                yield None
                began = time.monotonic()

    def _quick(self) -> float:
        """Return the seconds of a step that is done in the server: in a crowd the process does all."""
        return QUICK_SECONDS / self.crowd()

    def prefetch(self, visitor: str, urgent: Steps, other: Steps) -> None:
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
            self._seen[sessions.visitor()] = time.monotonic()
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
        """Return how many visitors have asked for a page lately, at least one."""
        with self._changed:
            lately = time.monotonic() - _LATELY_SECONDS
            self._seen = {visitor: at for visitor, at in self._seen.items() if at > lately}
            return max(len(self._seen), 1)

    def end_unused(self, seconds: float) -> None:
        """End processes that have had nothing to do for so long."""
        for process in self._processes.values():
            process.end_unused(seconds)

    def _show(
        self,
        visitor: str,
        rank: Rank,
        steps: Steps,
        seconds: float,
        left: Slow | None = None,
        first: bool = False,
    ) -> None:
        """Queue steps for a visitor's screen, dropped after `seconds`, in place of those of this rank.

        left: what is measured before them. first: whether that is a first answer.
        """

        def step() -> Line | None:
            nonlocal left
            if left is not None:
                self._processes[_line(left)].try_cell(*left)
            for left in steps:  # only the next one
                return _line(left)
            return None

        entry = Queued(visitor, _line(left), step, rank, time.monotonic() + seconds, first)
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

    def _complete_screens(self, line: Line) -> None:
        use_one_thread()
        while True:
            rest = _FAULT_SECONDS  # unless all goes well
            with log_errors("engine"):
                entry = self._wait_for_entry(line)
                began = time.monotonic()
                self._run_step(entry)
                # Leave the interpreter to the pages where many visitors look: the engine lags anyway.
                rest = _REST_SECONDS
                if line == "screen":
                    rest += (time.monotonic() - began) * self.crowd() / CROWD
            time.sleep(rest)

    def _wait_for_entry(self, line: Line) -> Queued:
        with self._changed:
            while True:
                if line == "screen":
                    self._changed.wait_for(lambda: not self._pages, _YIELD_SECONDS)
                self._drop_unwanted()
                entry = self._queue.start_next(line)
                if entry is not None:
                    return entry
                self._changed.wait()

    def _run_step(self, entry: Queued) -> None:
        following, began = None, time.monotonic()
        try:
            with log_errors("engine"):
                following = entry.step()
        finally:
            with self._changed:
                self._queue.charge(entry, time.monotonic() - began)
                entry.first = False
                if following is not None:
                    self._queue.requeue(entry, following)
                else:
                    self._queue.remove(entry)
                self._changed.notify_all()


@st.cache_resource(show_spinner=False)
def engine() -> Engine:
    return Engine()
