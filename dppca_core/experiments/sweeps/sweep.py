"""Every cell of a recipe, on any executor, to one tidy table: progress, cancel, and going on from a file."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from dppca_core.experiments.sweeps import run_cells, store
from dppca_core.experiments.sweeps.blas import one_thread
from dppca_core.experiments.sweeps.cancellation import Mark
from dppca_core.experiments.sweeps.executors import Cores, LostError, Serial
from dppca_core.experiments.sweeps.recipe import Key, Recipe
from dppca_core.experiments.sweeps.recipe_file import fingerprint
from dppca_core.experiments.sweeps.run_cells import Row

_AHEAD = 512  # tasks given at a time to an executor that does not say: enough for large clusters
_PART_HERE = 0.25  # tasks are shorter where none is sent anywhere, and their rows seen sooner
_POLL_SECONDS = 0.1
_GRACE_SECONDS = 1.0  # what runs when a sweep is cancelled may finish within this


@dataclass(frozen=True)
class Progress:
    """Cells finished, of how many, and the seconds still to go; None until something has been measured.

    rows: those that were added since the last time, from a file or measured.
    """

    completed: int
    total: int
    seconds_left: float | None
    rows: tuple[Row, ...] = ()


def sweep(
    recipe: Recipe,
    executor: Executor | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    cancel: Callable[[], bool] | None = None,
    out: str | Path | None = None,
    known: Iterable[Row] = (),
) -> pd.DataFrame:
    """One row per (method, point, repeat), in that order; every repeat is kept.

    Columns: label, method, the swept parameters, repeat, the metrics, noise_std, bytes_sent_per_hospital,
    seconds, notes, failed (the reason, or empty) and the fingerprint of what the row depends on. All but
    the seconds are the same bits on every executor; None runs here and now.

    progress: told after every task. cancel: asked between tasks; once true, at most two seconds later the
    finished rows are returned (a serial run first ends its task, as a rule half a second), and processes end
    before their next cell. out: a CSV that
    grows with every task; what it already holds is not run again, also for a recipe with more methods,
    values or repeats. A cell whose worker died is a failed row, but not in the file: it is tried again.
    known: rows of another sweep, as `Progress` tells them; what this recipe would measure too is taken over.
    Raises ValueError for a file of another recipe, or one that another sweep writes, and OSError for one that
    cannot be written and for a cluster that answers no more.
    """
    file = store.Store(out, recipe) if out is not None else None
    with file.alone() if file else nullcontext():
        return _swept(recipe, executor, progress, cancel, file, known)


def _swept(
    recipe: Recipe,
    executor: Executor | None,
    progress: Callable[[Progress], None] | None,
    cancel: Callable[[], bool] | None,
    file: store.Store | None,
    known: Iterable[Row],
) -> pd.DataFrame:
    wanted = recipe.cells()
    held = file.read() if file else {}
    prints = {chosen.label: fingerprint(recipe, chosen) for chosen in recipe.methods}
    ours = [row for row in known if row["recipe"] == prints.get(row["label"])]
    added = {key: row for row in ours if (key := store.key_of(recipe, row)) not in held}
    if file:
        file.append(added.values())
    held |= added
    rows = {key: held[key] for key in wanted if key in held}
    here = executor is None or isinstance(executor, Serial)
    longest = run_cells.TASK_SECONDS * (_PART_HERE if here else 1.0)
    tasks = list(run_cells.grouped(recipe, [key for key in wanted if key not in rows], longest))
    clock = _Clock(sum(seconds for seconds, _ in tasks))
    tell = progress or (lambda _: None)
    tell(Progress(len(rows), len(wanted), None if tasks else 0.0, tuple(rows.values())))
    with one_thread() if here else nullcontext():
        for ended in _finished(recipe, tasks, executor or Serial(), here, cancel or (lambda: False)):
            found = run_cells.died(recipe, ended.keys, ended.reason) if ended.rows is None else ended.rows
            marked = [row | {"recipe": prints[row["label"]]} for row in found]
            if file and ended.rows is not None:
                file.append(marked)
            rows |= dict(zip(ended.keys, marked, strict=True))
            left = clock.left(ended.seconds) if len(rows) < len(wanted) else 0.0
            tell(Progress(len(rows), len(wanted), left, tuple(marked)))
    return store.table(recipe, rows)


class _Clock:
    """Time left: what is left of the rough seconds, at the pace so far."""

    def __init__(self, rough: float) -> None:
        self._rough, self._done, self._started = rough, 0.0, time.monotonic()

    def left(self, seconds: float) -> float:
        """After a task of so many rough seconds."""
        self._done += seconds
        pace = (time.monotonic() - self._started) / self._done
        return pace * max(self._rough - self._done, 0.0)


_Task = tuple[float, tuple[Key, ...]]


class _Ended(NamedTuple):
    """A finished task; its rows are None where its worker died."""

    seconds: float
    keys: tuple[Key, ...]
    rows: list[Row] | None
    reason: str = ""


def _finished(
    recipe: Recipe, tasks: list[_Task], executor: Executor, here: bool, cancel: Callable[[], bool]
) -> Iterator[_Ended]:
    """Each task as it finishes. Those whose worker died run once more, cell by cell, one at a time."""
    again: list[_Task] = []
    ahead: int = getattr(executor, "ahead", _AHEAD)
    for ended in _pass(recipe, tasks, executor, 1 if here else ahead, here, cancel):
        if ended.rows is None:
            again += [(ended.seconds / len(ended.keys), (key,)) for key in ended.keys]
        else:
            yield ended
    yield from _pass(recipe, again, executor, 1, here, cancel)


def _pass(
    recipe: Recipe, tasks: list[_Task], executor: Executor, ahead: int, here: bool, cancel: Callable[[], bool]
) -> Iterator[_Ended]:
    work = run_cells.run if here else run_cells.run_in_worker
    mark = Mark() if isinstance(executor, Cores) else None
    waiting = deque(tasks)
    running: dict[Future[list[Row]], _Task] = {}

    def collect(seconds: float, asked: bool = False) -> Iterator[_Ended]:
        """What is done. asked: whether we cancelled; else nobody but a cluster that is lost did."""
        ended = wait(running, seconds, FIRST_COMPLETED).done
        lost = [future for future in ended if future.cancelled()]
        for future in ended:
            rough, keys = running.pop(future)
            if future not in lost:
                yield _ended(future, rough, keys)
        if lost and not asked:
            raise LostError

    try:
        while (waiting or running) and not cancel():
            while waiting and len(running) < ahead:
                given = (recipe, waiting[0][1], *((mark.path,) if mark else ()))
                running[executor.submit(work, *given)] = waiting.popleft()
            yield from collect(_POLL_SECONDS)
        for future in running:
            future.cancel()
        until = time.monotonic() + _GRACE_SECONDS
        while running and time.monotonic() < until:
            yield from collect(_POLL_SECONDS, asked=True)
    finally:
        for future in running:
            future.cancel()
        if mark:  # what its processes have taken over ends before its next cell
            mark.remove()


def _ended(future: Future[list[Row]], seconds: float, keys: tuple[Key, ...]) -> _Ended:
    try:
        return _Ended(seconds, keys, future.result())
    except Exception as reason:  # cells keep their own failures: this one is the worker's
        return _Ended(seconds, keys, None, f"the worker died: {type(reason).__name__}: {reason}")
