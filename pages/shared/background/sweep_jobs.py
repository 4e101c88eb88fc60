"""Sweeps that run beside the page: a visitor's own, with progress, time left and a way to stop them.

A job belongs to a visitor and a place on a page. It waits for its turn, then runs in a thread of its own, for
a moment right there, which quick sweeps need no longer than, then in worker processes, or on the Dask cluster
that DASK_SCHEDULER_ADDRESS names, so no page waits for it. Another page, or the same one later, finds it
running or done; it stops when its visitor has gone. Complete tables are kept for all visitors, by recipe:
recipes hold no private data.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Literal

import pandas as pd
import streamlit as st

from dppca_core.experiments import Progress, Recipe, failures, sweep
from dppca_core.experiments.sweeps import executors, recipe_file, run_cells, store
from dppca_core.experiments.sweeps.recipe import Key
from dppca_core.experiments.sweeps.run_cells import Row
from pages.shared import text
from pages.shared.background.queue import Turn, Turns
from pages.shared.background.sessions import KEPT_SECONDS, present, returning, visitor

HERE_SECONDS = 2.0  # in the server itself, while processes start, which takes them as long
CELL_SECONDS = 0.5  # expected runs beyond this leave the server free
KEPT_TABLES = 48
KEPT_BYTES = 64 * 2**20  # of complete tables, and as many of the rows of sweeps that have ended
_ROW_BYTES = 2_000  # of a row as it was measured
KEPT_JOBS = 256
_FIRST_LOOK_SECONDS = 0.25
_WHY_WAIT = (
    "Sweeps run in the order in which they were asked for, one of each visitor and a few in all at a time; "
    "those of seconds do not wait for those of minutes."
)


class Job:
    """One sweep: what has been measured so far, and how it stands."""

    def __init__(self, recipe: Recipe, visitor: str, turns: Turns, known: tuple[Row, ...] = ()) -> None:
        self.recipe = recipe
        self._turns = turns
        self._turn: Turn | None = None
        self._known = known
        self.visitor = visitor
        self.may_be_asked_for = returning(visitor, KEPT_SECONDS)
        self.state: Literal["waiting", "running", "complete", "stopped", "failed", "again"] = "waiting"
        self.reason = ""
        self.progress = Progress(0, len(recipe.cells()), None)
        self._rows: dict[Key, Row] = {}
        self._table = store.table(recipe, {})
        self._building = threading.Lock()
        self._stop = threading.Event()
        self._ended = threading.Event()

    @property
    def running(self) -> bool:
        """Whether more is to come."""
        return not self._ended.is_set()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What has been measured so far; another recipe may take over what it would measure as well."""
        return tuple(self._rows.values())

    def table(self) -> pd.DataFrame:
        """The same as a tidy table."""
        with self._building:
            rows = self.rows
            if len(rows) > len(self._table):
                self._table = store.table(self.recipe, {store.key_of(self.recipe, row): row for row in rows})
            return self._table

    @property
    def ahead(self) -> tuple[int, int]:
        """While it waits: how many sweeps come first, of other visitors and of its own."""
        return self._turns.ahead(self._turn) if self._turn is not None else (0, 0)

    def stop(self) -> None:
        """Keep what is finished, run no more; wait no more."""
        self._stop.set()
        if self._turn is not None:
            self._turns.end(self._turn)

    def again(self) -> None:
        """Let the next start of this recipe go on from here."""
        self.state = "again"

    def wait(self, seconds: float) -> None:
        """Until it has ended, or so long."""
        self._ended.wait(seconds)

    def hold(self, table: pd.DataFrame) -> None:
        """Take a complete table instead of running."""
        self._table, self.state = table, "complete"
        self.progress = Progress(len(table), len(table), 0.0)
        self._ended.set()

    def run(self) -> None:
        """In a thread of its own."""
        try:
            seconds, cells = _missing(self.recipe, self._known)
            turn = self._turn = self._turns.join(self.visitor, seconds)
            try:
                if self._turns.wait(turn, self._cancelled):
                    self.state = "running"
                    self._measure(seconds, cells)
                # Of who has gone, or whose connection broke: they find it going on when they come back.
                cut_short = "stopped" if self._stop.is_set() else "again"
                self.state = "complete" if self._complete() else cut_short
            finally:
                self._turns.leave(turn)
        except (OSError, ValueError) as reason:  # a cluster that is gone: the page says so
            self.state, self.reason = "failed", f"{reason}."
        except Exception as reason:
            self._fail(reason)
        finally:
            self._ended.set()

    def start(self, work: Callable[[], None], place: str) -> None:
        """Run `work`, which runs this job, in a thread of its own, unless the server has none left."""
        try:
            threading.Thread(target=work, daemon=True, name=f"sweep {place}").start()
        except RuntimeError as reason:
            self._fail(reason)
            self._ended.set()

    def _fail(self, reason: Exception) -> None:
        self.state, self.reason = "failed", text.sentence(f"{failures.reason(reason)}.")

    def _measure(self, seconds: float, cells: int) -> None:
        if seconds > HERE_SECONDS and not os.environ.get(executors.ADDRESS):
            executors.Cores().warm()
        began = time.monotonic()
        if seconds < CELL_SECONDS * cells:
            sweep(
                self.recipe,
                progress=self._tell,
                cancel=lambda: self._cancelled() or time.monotonic() - began > HERE_SECONDS,
                known=self._known,
            )
        if not self._complete() and not self._cancelled():
            with executors.opened() as executor:
                known = (*self._known, *self.rows)
                sweep(self.recipe, executor, progress=self._tell, cancel=self._cancelled, known=known)

    def _tell(self, progress: Progress) -> None:
        self._rows |= {store.key_of(self.recipe, row): row for row in progress.rows}
        self.progress = progress

    def _complete(self) -> bool:
        return self.progress.completed == self.progress.total

    def _cancelled(self) -> bool:
        return self._stop.is_set() or not present(self.visitor)


def _missing(recipe: Recipe, known: tuple[Row, ...]) -> tuple[float, int]:
    """Rough seconds and number of the cells that are not known."""
    ours = {recipe_file.fingerprint(recipe, chosen) for chosen in recipe.methods}
    held = {store.key_of(recipe, row) for row in known if row["recipe"] in ours}
    missing = [key for key in recipe.cells() if key not in held]
    return run_cells.total_seconds(recipe, missing), len(missing)


class Jobs:
    """All visitors' jobs, and the complete tables. at_once: sweeps that run at a time, if not by cores."""

    def __init__(self, at_once: int | None = None) -> None:
        self._jobs: OrderedDict[tuple[str, str], Job] = OrderedDict()
        self._tables: OrderedDict[Recipe, tuple[pd.DataFrame, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._turns = Turns(at_once)

    def start(self, visitor: str, place: str, recipe: Recipe) -> Job:
        """The visitor's job at this place: the one of this recipe, else a new one instead of it.

        A new one takes over the rows that the two recipes share, as after one more method or value.
        """
        with self._lock:
            former = self._jobs.get((visitor, place))
            if former is not None and former.recipe == recipe and former.state != "again":
                return former
            if former is not None:
                former.stop()
            job = Job(recipe, visitor, self._turns, former.rows if former else ())
            self._jobs[visitor, place] = job
            self._jobs.move_to_end((visitor, place))
            self._forget()
            held = self._tables.get(recipe)
            if held is not None:
                self._tables.move_to_end(recipe)
                job.hold(held[0])
                return job
        job.start(partial(self._run, job), place)
        return job

    def at(self, visitor: str, place: str) -> Job | None:
        """The visitor's job at this place, if there is one."""
        with self._lock:
            return self._jobs.get((visitor, place))

    def _run(self, job: Job) -> None:
        job.run()
        if job.state != "complete":
            return
        with failures.surviving("sweep"):
            table = job.table()
            size = int(table.memory_usage(deep=True).sum())
            with self._lock:
                self._tables[job.recipe] = table, size
                while len(self._tables) > KEPT_TABLES or self.table_bytes > KEPT_BYTES:
                    self._tables.popitem(last=False)

    @property
    def table_bytes(self) -> int:
        """Bytes of the complete tables that are kept for all visitors."""
        return sum(size for _, size in self._tables.values())

    def _forget(self) -> None:
        """Jobs that have ended: of visitors who have gone for good, then the oldest."""
        rows = sum(len(job.rows) for job in self._jobs.values())
        for key, job in list(self._jobs.items()):
            many = len(self._jobs) > KEPT_JOBS or rows * _ROW_BYTES > KEPT_BYTES
            if not job.running and (many or not job.may_be_asked_for()):
                rows -= len(job.rows)
                del self._jobs[key]


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """All jobs of this server."""
    return Jobs()


def start(place: str, recipe: Recipe) -> Job:
    """This visitor's job at this place; one that is quick is complete when this returns."""
    job = jobs().start(visitor(), place, recipe)
    job.wait(_FIRST_LOOK_SECONDS)
    return job


def at(place: str) -> Job | None:
    """This visitor's job at this place, if there is one."""
    return jobs().at(visitor(), place)


def status(job: Job, place: str) -> None:
    """How the job stands: a bar with the time left and a button that stops it, or why it ended early."""
    done, total = job.progress.completed, job.progress.total
    if job.running:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(done / total, said(job))
        waiting = job.state == "waiting"
        right.button(
            "Leave" if waiting else "Stop",
            key=f"stop {place}",
            on_click=job.stop,
            help=_WHY_WAIT if waiting else None,
            width="stretch",
        )
    elif job.state == "stopped":
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.caption(f"Stopped: {done:,} of {total:,} runs are shown.")
        right.button("Go on", key=f"go on {place}", on_click=job.again, width="stretch")
    elif job.state == "failed":
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.warning(f"The runs ended early, {done:,} of {total:,} are shown. {job.reason}")
        right.button("Try again", key=f"go on {place}", on_click=job.again, width="stretch")


def said(job: Job) -> str:
    """How far it is, and how long it will still take."""
    if job.state == "waiting":
        return said_ahead(*job.ahead)
    seconds = job.progress.seconds_left
    left = "" if seconds is None else f", about {said_seconds(seconds)} left"
    return f"{job.progress.completed:,} of {job.progress.total:,} runs measured{left}"


def said_ahead(others: int, own: int) -> str:
    """Who comes before a sweep that waits."""
    theirs = text.count(others, "sweep", "sweeps")
    if not others and not own:
        return "Waiting to begin"
    if not own:
        return f"In the queue: {theirs} of other visitors {'runs' if others == 1 else 'run'} before yours"
    mine = f"{own} of your own" if others else f"{text.count(own, 'sweep', 'sweeps')} of your own"
    first = f"{theirs} of other visitors and {mine}" if others else mine
    return f"In the queue: {first} {'runs' if others + own == 1 else 'run'} before this one"


def said_seconds(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
