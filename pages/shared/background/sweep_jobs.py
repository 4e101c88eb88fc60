"""Run a visitor's sweeps beside the page, with progress, time left and a way to stop them.

A job belongs to a visitor and a slot on a page. It waits for its turn, then runs in a thread of its own: for
HERE_SECONDS in the server, which is enough for quick sweeps, then in worker processes or on the Dask cluster
that DASK_SCHEDULER_ADDRESS names; in a crowd at once there. No page waits for it. Another page, or the same
page later, finds it running or complete; it stops when its visitor has gone. Complete tables are kept for all
visitors, by recipe: recipes hold no private data.
"""

import os
import threading
import time
from collections import OrderedDict
from typing import Literal

import pandas as pd
import streamlit as st

from dppca_core.byte_cache import ByteCache
from dppca_core.experiments import Progress, Recipe, failures, sweep
from dppca_core.experiments.sweeps import executors, recipe_file, run_cells, store
from dppca_core.experiments.sweeps.recipe import Key
from pages.shared import text
from pages.shared.background import cache, sessions, turns
from pages.shared.background.engine import CROWD, Engine, engine
from pages.shared.background.queue import LONG_SECONDS, Queued

HERE_SECONDS = 2.0  # in the server itself, as long as worker processes take to start
CELL_SECONDS = 0.5  # runs expected to take longer never run in the server itself
KEPT_BYTES = 64 * 2**20  # of the rows of sweeps that have ended
_ROW_BYTES = 2_000  # of a row as it was measured
KEPT_JOBS = 256
_FIRST_LOOK_SECONDS = 0.25  # that a page waits for a new job, so that a quick one is complete at once


class Job(Queued):
    """Hold one sweep: its rows so far, its progress, and its state ("again": the next start continues it)."""

    def __init__(self, recipe: Recipe, visitor: str, board: "Jobs", known: tuple[run_cells.Row, ...]) -> None:
        super().__init__(visitor, "short", self._run)
        self.recipe = recipe
        self.visitor_may_return = sessions.return_check(visitor)
        self.state: Literal["waiting", "running", "complete", "stopped", "failed", "again"] = "waiting"
        self.reason = ""
        self.progress = Progress(0, len(recipe.cells()), None)
        self._known = known  # rows that it takes over where the two sweeps share a run
        self._board = board
        self._seconds, self._cells = 0.0, 0  # estimated time and number of the cells that are not known
        self._rows: dict[Key, run_cells.Row] = {}
        self._table = store.table(recipe, {})
        self._building = threading.Lock()
        self._ended = threading.Event()

    @property
    def running(self) -> bool:
        """Return whether more is to come, also while it waits."""
        return not self._ended.is_set()

    @property
    def rows(self) -> tuple[run_cells.Row, ...]:
        return tuple(self._rows.values())

    def table(self) -> pd.DataFrame:
        with self._building:
            rows = self.rows
            if len(rows) > len(self._table):
                self._table = store.table(self.recipe, {store.key_of(self.recipe, row): row for row in rows})
            return self._table

    @property
    def position(self) -> tuple[int, int]:
        return self._board.engine.position(self)

    def begin(self) -> None:
        try:
            self._seconds, self._cells = _missing(self.recipe, self._known)
            self.line = "long" if self._seconds > LONG_SECONDS else "short"
            self._board.engine.sweep(self)
        except Exception as reason:  # the page shows it as it shows a failed run
            self.abandon(reason)

    def stop(self) -> None:
        self._board.engine.stop(self)

    def continue_at_next_start(self) -> None:
        self.state = "again"

    def wait(self, seconds: float) -> None:
        self._ended.wait(seconds)

    def complete_with(self, table: pd.DataFrame) -> None:
        self._table, self.state = table, "complete"
        self.progress = Progress(len(table), len(table), 0.0)
        self._ended.set()

    def _run(self) -> None:
        try:
            if not self._cancelled():
                self.state = "running"
                self._measure()
            if self._complete():
                self.state = "complete"
                with failures.log_errors("sweep"):
                    self._board.keep(self)
            else:
                self.abandon()
        except BaseException as reason:
            self.abandon(reason)
        finally:
            self._ended.set()

    def abandon(self, reason: BaseException | None = None) -> None:
        """End early: it failed for this reason, was stopped, or its visitor has gone and may return."""
        if reason is not None:
            # The message of a lost cluster is written for visitors already.
            why = str(reason) if isinstance(reason, OSError) else failures.reason(reason)
            self.state, self.reason = "failed", text.sentence(f"{why}.")
        else:
            self.state = "stopped" if self.ending else "again"
        self._ended.set()

    def _measure(self) -> None:
        if self._seconds > HERE_SECONDS and not os.environ.get(executors.ADDRESS):
            executors.Cores().warm()  # worker processes start while the quick cells run here
        began = time.monotonic()
        alone = self._board.engine.crowd() < CROWD
        if alone and self._seconds < CELL_SECONDS * self._cells:  # the average cell is quick
            sweep(
                self.recipe,
                progress=self._note,
                cancel=lambda: self._cancelled() or time.monotonic() - began > HERE_SECONDS,
                known=self._known,
            )
        if not self._complete() and not self._cancelled():
            with executors.opened() as executor:
                known = (*self._known, *self.rows)
                sweep(self.recipe, executor, progress=self._note, cancel=self._cancelled, known=known)

    def _note(self, progress: Progress) -> None:
        self._rows |= {store.key_of(self.recipe, row): row for row in progress.rows}
        self.progress = progress

    def _complete(self) -> bool:
        return self.progress.completed == self.progress.total

    def _cancelled(self) -> bool:
        return self.ending or not sessions.is_connected(self.visitor)


def _missing(recipe: Recipe, known: tuple[run_cells.Row, ...]) -> tuple[float, int]:
    fingerprints = {recipe_file.fingerprint(recipe, chosen) for chosen in recipe.methods}
    measured = {store.key_of(recipe, row) for row in known if row["recipe"] in fingerprints}
    missing = [key for key in recipe.cells() if key not in measured]
    return run_cells.total_seconds(recipe, missing if measured else None), len(missing)


class Jobs:
    """Hold all visitors' jobs, which `engine` runs; tables: where complete ones are kept, by recipe."""

    def __init__(self, engine: Engine, tables: ByteCache = cache.CELLS) -> None:
        self.engine, self._tables = engine, tables
        self._jobs: OrderedDict[tuple[str, str], Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, visitor: str, slot: str, recipe: Recipe) -> Job:
        """Return the visitor's job in this slot: the one of this recipe, else a new one instead of it.

        A new one takes over the rows that the two recipes share, as after one more method or value.
        """
        with self._lock:
            former = self._jobs.get((visitor, slot))
            if former is not None and former.recipe == recipe and former.state != "again":
                return former
            if former is not None:
                former.stop()
            job = Job(recipe, visitor, self, former.rows if former else ())
            self._jobs[visitor, slot] = job
            self._jobs.move_to_end((visitor, slot))
            self._forget_ended()
            table = self._tables.peek(recipe)
            if table is not None:  # some visitor's sweep of this recipe was completed before
                job.complete_with(table)
                return job
        job.begin()
        return job

    def at(self, visitor: str, slot: str) -> Job | None:
        return self._jobs.get((visitor, slot))

    def keep(self, job: Job) -> None:
        table = job.table()
        self._tables.get(job.recipe, lambda: table, int(table.memory_usage(deep=True).sum()))

    def forget(self) -> None:
        with self._lock:
            self._forget_ended()

    def _forget_ended(self) -> None:
        """Forget ended jobs: of visitors who have gone for good, then the oldest. The lock is held."""
        rows = sum(len(job.rows) for job in self._jobs.values())
        for key, job in list(self._jobs.items()):
            too_many = len(self._jobs) > KEPT_JOBS or rows * _ROW_BYTES > KEPT_BYTES
            if not job.running and (too_many or not job.visitor_may_return()):
                rows -= len(job.rows)
                del self._jobs[key]


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    return Jobs(engine())


def start(slot: str, recipe: Recipe, visitor: str = "") -> Job:
    """Return the job of the recipe in this slot, begun now if need be; a quick one is complete.

    visitor: Whose it is; by default this session's. A file is written outside of the session.
    """
    visitor = visitor or sessions.visitor()
    former, job = at(slot, visitor), jobs().start(visitor, slot, recipe)
    if job is not former and engine().crowd() < CROWD:  # it is new, and runs here
        with turns.TURNS.given_away():
            job.wait(_FIRST_LOOK_SECONDS)
    return job


def at(slot: str, visitor: str = "") -> Job | None:
    return jobs().at(visitor or sessions.visitor(), slot)
