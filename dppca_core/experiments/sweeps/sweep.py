"""Run every cell of a recipe, on any executor, to a tidy table.

A cell is one run, a row of the table; a task is a group of cells that an executor runs as one call. A sweep
reports its progress, can be cancelled, and continues from a file.
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

from dppca_core.experiments.sweeps import executors, run_cells, store
from dppca_core.experiments.sweeps.blas import one_thread
from dppca_core.experiments.sweeps.recipe import Key, Recipe
from dppca_core.experiments.sweeps.recipe_file import fingerprint
from dppca_core.experiments.sweeps.run_cells import Row, Task
from dppca_core.methods import METHODS

# Tasks submitted at a time to an executor without a number of its own, as a large cluster.
_MOST_SUBMITTED = 512
# The share of a task's usual length in this thread, where nothing is sent and rows are shown sooner.
_PART_IN_THIS_THREAD = 0.25
_POLL_SECONDS = 0.1
_GRACE_SECONDS = 1.0  # in which running tasks may finish when a sweep is cancelled


@dataclass(frozen=True)
class Progress:
    """Report how far a sweep has come, to its `progress` function.

    completed, total: cells. seconds_left: an estimate; None until something has been measured. rows: those
    of the table that were added since the last report, from a file or measured.
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
        ValueError: For a file of another recipe, or one that another sweep writes, and for an executor where
            a method was added by `methods.register`.
        OSError: For a file that cannot be written, and for a cluster that stopped answering.
    """
    wanted = recipe.cells()
    prints = {chosen.label: fingerprint(recipe, chosen) for chosen in recipe.methods}
    report = progress or (lambda _: None)
    in_this_thread = executor is None
    registered = [chosen.method for chosen in recipe.methods if chosen.method in METHODS.added]
    if registered and not in_this_thread:
        raise ValueError(f"executor must be left out: only this process knows {', '.join(registered)}")
    longest = run_cells.TASK_SECONDS * (_PART_IN_THIS_THREAD if in_this_thread else 1.0)
    file = store.Store(out, recipe) if out is not None else None
    with file.locked() if file else nullcontext(), one_thread() if in_this_thread else nullcontext():
        stored = file.read() if file else {}
        usable = [row for row in known if row["recipe"] == prints.get(row["label"])]
        added = {key: row for row in usable if (key := store.key_of(recipe, row)) not in stored}
        if file:
            file.append(added.values())
        stored |= added
        rows = {key: stored[key] for key in wanted if key in stored}
        tasks = list(run_cells.grouped(recipe, [key for key in wanted if key not in rows], longest))
        report(Progress(len(rows), len(wanted), None if tasks else 0.0, tuple(rows.values())))
        # Estimated seconds, of all tasks and of those that are done, give the time left in proportion.
        estimated, done, started = sum(seconds for seconds, _ in tasks), 0.0, time.monotonic()
        for ended in _finished(recipe, tasks, executor, cancel or (lambda: False)):
            marked = [row | {"recipe": prints[row["label"]]} for row in ended.rows]
            if file and not ended.died:  # cells whose worker died are tried again another time
                file.append(marked)
            rows |= dict(zip(ended.keys, marked, strict=True))
            done += ended.seconds
            left = (time.monotonic() - started) / done * max(estimated - done, 0.0)
            report(Progress(len(rows), len(wanted), left if len(rows) < len(wanted) else 0.0, tuple(marked)))
    return store.table(recipe, rows)


class _Ended(NamedTuple):
    seconds: float  # estimated before
    keys: tuple[Key, ...]
    rows: list[Row]  # which have the reason where the worker died
    died: bool = False


def _finished(
    recipe: Recipe, tasks: list[Task], executor: Executor | None, cancel: Callable[[], bool]
) -> Iterator[_Ended]:
    """Yield each task as it finishes; stop once `cancel` returns true.

    Tasks whose worker died run once more, cell by cell, one at a time: so only the cell that kills its
    worker, as by taking too much memory, fails.
    """
    if executor is None:
        for seconds, keys in tasks:
            if cancel():
                return
            yield _Ended(seconds, keys, run_cells.run(recipe, keys))
        return
    retried: list[Task] = []
    for ended in _run_on(recipe, tasks, executor, getattr(executor, "ahead", _MOST_SUBMITTED), cancel):
        if ended.died:
            retried += [(ended.seconds / len(ended.keys), (key,)) for key in ended.keys]
        else:
            yield ended
    yield from _run_on(recipe, retried, executor, ahead=1, cancel=cancel)


def _run_on(
    recipe: Recipe, tasks: list[Task], executor: Executor, ahead: int, cancel: Callable[[], bool]
) -> Iterator[_Ended]:
    """Yield the tasks as they end on an executor, with at most `ahead` of them submitted at a time.

    Once `cancel` returns true, tasks that are not running are dropped, and the others have _GRACE_SECONDS to
    end. Raises ConnectionError where the cluster is lost.
    """
    waiting = deque(tasks)
    running: dict[Future[list[Row]], Task] = {}

    def collect(cancelled: bool = False) -> Iterator[_Ended]:
        """Yield what ends within _POLL_SECONDS; a future that others cancelled means a lost cluster."""
        lost = False
        for future in wait(running, _POLL_SECONDS, FIRST_COMPLETED).done:
            seconds, keys = running.pop(future)
            if future.cancelled():
                lost = not cancelled
            elif (reason := future.exception()) is not None:  # a cell that fails is a row with its reason
                why = f"the worker died: {type(reason).__name__}: {reason}"
                yield _Ended(seconds, keys, run_cells.rows_of_dead_worker(recipe, keys, why), died=True)
            else:
                yield _Ended(seconds, keys, future.result())
        if lost:
            raise ConnectionError(executors.LOST)

    # Tasks that processes have started end before their next cell once the file is gone.
    with executors.cancellation_file() if isinstance(executor, executors.Cores) else nullcontext("") as path:
        try:
            while (waiting or running) and not cancel():
                while waiting and len(running) < ahead:
                    future = executor.submit(run_cells.run_in_worker, recipe, waiting[0][1], path)
                    running[future] = waiting.popleft()
                yield from collect()
            for future in running:
                future.cancel()
            until = time.monotonic() + _GRACE_SECONDS
            while running and time.monotonic() < until:
                yield from collect(cancelled=True)
        finally:
            for future in running:
                future.cancel()
