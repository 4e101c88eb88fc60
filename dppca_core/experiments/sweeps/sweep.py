"""Run every cell of a recipe, on any executor, to a tidy table.

A sweep reports its progress, can be cancelled, and continues from a file.
"""

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
from dppca_core.experiments.sweeps.cancellation import CancellationFile
from dppca_core.experiments.sweeps.executors import Cores, LostError, Serial
from dppca_core.experiments.sweeps.recipe import Key, Recipe
from dppca_core.experiments.sweeps.recipe_file import fingerprint
from dppca_core.experiments.sweeps.run_cells import Row

_AHEAD = 512  # tasks submitted at a time to an executor without a number of its own, as a large cluster
_PART_HERE = 0.25  # of a task's usual length in this thread, where nothing is sent and rows are shown sooner
_POLL_SECONDS = 0.1
_GRACE_SECONDS = 1.0  # in which running tasks may finish when a sweep is cancelled


@dataclass(frozen=True)
class Progress:
    """Hold how many cells are finished, and the seconds left; None until something has been measured.

    rows: those that were added since the last report, from a file or measured.
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
    """Run a recipe and return a row per (method, point, repeat), in that order; every repeat is kept.

    Args:
        recipe: The population, the methods and the swept parameters.
        executor: The executor of the cells; None runs them in this thread. The numbers, but for the seconds,
            are the same bits on every executor.
        progress: A function called after every task.
        cancel: A function called between tasks. Once it returns true, the finished rows are returned within
            two seconds (a serial run first ends its task, which as a rule takes half a second), and
            processes stop before their next cell.
        out: A CSV that grows with every task. What it already holds is not run again, also for a recipe with
            more methods, values or repeats. A cell whose worker died is a failed row of the table but not in
            the file, so that it is tried again.
        known: Rows of another sweep, as `Progress` has them; those that this recipe would measure are used.

    Returns:
        The columns label, method, the swept parameters, repeat, the metrics, noise_std (of the scaled rows),
        bytes_sent_per_hospital, seconds, notes, failed (the reason, or empty) and recipe, the fingerprint of
        all that the row depends on.

    Raises:
        ValueError: For a file of another recipe, or one that another sweep writes.
        OSError: For a file that cannot be written, and for a cluster that stopped answering.
    """
    wanted = recipe.cells()
    prints = {chosen.label: fingerprint(recipe, chosen) for chosen in recipe.methods}
    report = progress or (lambda _: None)
    here = executor is None or isinstance(executor, Serial)
    longest = run_cells.TASK_SECONDS * (_PART_HERE if here else 1.0)
    file = store.Store(out, recipe) if out is not None else None
    with file.alone() if file else nullcontext(), one_thread() if here else nullcontext():
        stored = file.read() if file else {}
        usable = [row for row in known if row["recipe"] == prints.get(row["label"])]
        added = {key: row for row in usable if (key := store.key_of(recipe, row)) not in stored}
        if file:
            file.append(added.values())
        stored |= added
        rows = {key: stored[key] for key in wanted if key in stored}
        tasks = list(run_cells.grouped(recipe, [key for key in wanted if key not in rows], longest))
        report(Progress(len(rows), len(wanted), None if tasks else 0.0, tuple(rows.values())))
        rough, done, started = sum(seconds for seconds, _ in tasks), 0.0, time.monotonic()
        for ended in _finished(recipe, tasks, executor or Serial(), here, cancel or (lambda: False)):
            new = run_cells.died(recipe, ended.keys, ended.reason) if ended.rows is None else ended.rows
            marked = [row | {"recipe": prints[row["label"]]} for row in new]
            if file and ended.rows is not None:
                file.append(marked)
            rows |= dict(zip(ended.keys, marked, strict=True))
            done += ended.seconds
            left = (time.monotonic() - started) / done * max(rough - done, 0.0)
            report(Progress(len(rows), len(wanted), left if len(rows) < len(wanted) else 0.0, tuple(marked)))
    return store.table(recipe, rows)


_Task = tuple[float, tuple[Key, ...]]


class _Ended(NamedTuple):
    """Hold a finished task; its rows are None where its worker died."""

    seconds: float
    keys: tuple[Key, ...]
    rows: list[Row] | None
    reason: str = ""


def _finished(
    recipe: Recipe, tasks: list[_Task], executor: Executor, here: bool, cancel: Callable[[], bool]
) -> Iterator[_Ended]:
    """Yield each task as it finishes. Those whose worker died run once more, cell by cell, one at a time."""
    retried: list[_Task] = []
    ahead: int = getattr(executor, "ahead", _AHEAD)
    for ended in _pass(recipe, tasks, executor, 1 if here else ahead, here, cancel):
        if ended.rows is None:
            retried += [(ended.seconds / len(ended.keys), (key,)) for key in ended.keys]
        else:
            yield ended
    yield from _pass(recipe, retried, executor, 1, here, cancel)


def _pass(
    recipe: Recipe, tasks: list[_Task], executor: Executor, ahead: int, here: bool, cancel: Callable[[], bool]
) -> Iterator[_Ended]:
    work = run_cells.run if here else run_cells.run_in_worker
    cancellation_file = CancellationFile() if isinstance(executor, Cores) else None
    waiting = deque(tasks)
    running: dict[Future[list[Row]], _Task] = {}

    def collect(seconds: float, cancelled: bool = False) -> Iterator[_Ended]:
        """Yield what is done. A future that is cancelled, but not by us, means a lost cluster."""
        ended = wait(running, seconds, FIRST_COMPLETED).done
        lost = [future for future in ended if future.cancelled()]
        for future in ended:
            rough, keys = running.pop(future)
            if future not in lost:
                yield _ended(future, rough, keys)
        if lost and not cancelled:
            raise LostError

    try:
        while (waiting or running) and not cancel():
            while waiting and len(running) < ahead:
                arguments = (recipe, waiting[0][1], *((cancellation_file.path,) if cancellation_file else ()))
                running[executor.submit(work, *arguments)] = waiting.popleft()
            yield from collect(_POLL_SECONDS)
        for future in running:
            future.cancel()
        until = time.monotonic() + _GRACE_SECONDS
        while running and time.monotonic() < until:
            yield from collect(_POLL_SECONDS, cancelled=True)
    finally:
        for future in running:
            future.cancel()
        if cancellation_file:  # so that tasks that processes have started end before their next cell
            cancellation_file.remove()


def _ended(future: Future[list[Row]], seconds: float, keys: tuple[Key, ...]) -> _Ended:
    try:
        return _Ended(seconds, keys, future.result())
    except Exception as reason:  # of the worker: a cell that fails is a row with its reason
        return _Ended(seconds, keys, None, f"the worker died: {type(reason).__name__}: {reason}")
