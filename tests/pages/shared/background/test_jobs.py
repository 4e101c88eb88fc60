"""Test sweeps beside the page: found again, stopped, taken over, and separate for each visitor."""

import os
import signal
import threading
import time
from concurrent.futures import Future
from dataclasses import replace

import pandas as pd
import pytest
from distributed import LocalCluster

from dppca_core import SpikedModel
from dppca_core.byte_cache import ByteCache
from dppca_core.experiments import Axis, Progress, Recipe, sweep, variant
from dppca_core.experiments.sweeps import blas, executors, run_cells
from dppca_core.experiments.sweeps.executors import UnwantedError
from pages.shared.background import sessions, sweep_jobs, sweep_status
from pages.shared.background.engine import Engine
from pages.shared.background.sweep_jobs import Jobs
from tests.waiting import PATIENCE_SECONDS, Clock, eventually

MODEL = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.0, 5.0), seed=2)
RECIPE = Recipe(MODEL, (variant("pca"), variant("dps_pca")), (Axis("epsilon", (0.1, 1.0)),), n=2000, s_hat=6)


def fresh(sweeps_at_once: int | None = None) -> Jobs:
    return Jobs(Engine(sweeps_at_once), ByteCache(sweep_jobs.KEPT_BYTES))


def ended(job: sweep_jobs.Job) -> sweep_jobs.Job:
    job.wait(PATIENCE_SECONDS)
    assert not job.running
    return job


@pytest.fixture
def gate(monkeypatch):
    opened = threading.Event()
    measured = run_cells.measured_columns

    def slow(recipe, cell):
        assert opened.wait(PATIENCE_SECONDS)
        return measured(recipe, cell)

    monkeypatch.setattr(run_cells, "measured_columns", slow)
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.0)
    yield opened
    opened.set()


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="seconds")


def test_a_job_gives_the_sweeps_table():
    job = ended(fresh().start("ann", "here", RECIPE))
    assert job.state == "complete" and job.progress.completed == job.progress.total
    pd.testing.assert_frame_equal(numbers(job.table()), numbers(sweep(RECIPE)), check_exact=True)


def test_it_is_found_again_running_or_done(gate):
    board = fresh()
    job = board.start("ann", "here", RECIPE)
    assert job.running and board.start("ann", "here", RECIPE) is job and board.at("ann", "here") is job
    gate.set()
    assert board.start("ann", "here", RECIPE) is ended(job)


def test_stopping_keeps_what_is_finished_and_going_on_measures_the_rest(gate, monkeypatch):
    board = fresh()
    noted = sweep_jobs.Job._note
    monkeypatch.setattr(
        sweep_jobs.Job, "_note", lambda job, at: (noted(job, at), at.completed and job.stop())
    )
    gate.set()
    job = ended(board.start("ann", "here", RECIPE))
    assert job.state == "stopped" and 0 < len(job.table()) < job.progress.total
    monkeypatch.setattr(sweep_jobs.Job, "_note", noted)
    seen = []
    measured = run_cells.measured_columns
    monkeypatch.setattr(
        run_cells, "measured_columns", lambda recipe, cell: (seen.append(cell), measured(recipe, cell))[1]
    )
    assert board.start("ann", "here", RECIPE) is job
    job.continue_at_next_start()
    rest = ended(board.start("ann", "here", RECIPE))
    assert rest.state == "complete" and len(seen) < rest.progress.total
    pd.testing.assert_frame_equal(numbers(rest.table()), numbers(sweep(RECIPE)), check_exact=True)


def test_another_recipe_stops_the_former_and_takes_over_its_rows(gate):
    board = fresh()
    first = board.start("ann", "here", RECIPE)
    second = board.start("ann", "here", replace(RECIPE, seed=1))
    gate.set()
    assert ended(first).state == "stopped" and ended(second).state == "complete"
    more = board.start("ann", "here", replace(RECIPE, seed=1, repeats=12))
    assert len(ended(more).table()) == 2 * 2 * 12


def test_visitors_neither_see_nor_block_each_other(gate):
    board = fresh()
    ann = board.start("ann", "here", RECIPE)
    bob = board.start("bob", "here", RECIPE)
    assert ann is not bob and board.at("bob", "there") is None
    ann.stop()
    gate.set()
    assert ended(bob).state == "complete" and ended(ann).state in ("stopped", "complete")


def test_a_complete_table_is_there_at_once_for_everybody():
    board = fresh()
    table = ended(board.start("ann", "here", RECIPE)).table()
    job = board.start("bob", "elsewhere", RECIPE)
    assert not job.running and job.table() is table


def test_a_visitor_who_has_gone_is_not_worked_for_until_they_come_back(gate, monkeypatch):
    gone: set[str] = set()
    monkeypatch.setattr(sessions, "is_connected", lambda visitor: visitor not in gone)
    board = fresh()
    job = board.start("ann", "here", RECIPE)
    gone.add("ann")
    gate.set()
    assert ended(job).progress.completed < job.progress.total
    gone.clear()
    again = board.start("ann", "here", RECIPE)
    assert again is not job and ended(again).state == "complete"


def waits_behind(job: sweep_jobs.Job, others: int, same_visitor: int = 0) -> bool:
    return eventually(lambda: job.state == "waiting" and job.position == (others, same_visitor))


def started(board: Jobs, visitor: str, recipe: Recipe) -> sweep_jobs.Job:
    """Return a running job, so that later ones come after it."""
    job = board.start(visitor, "here", recipe)
    assert eventually(lambda: job.state == "running")
    return job


def test_a_job_beyond_the_limit_waits_for_its_turn_and_may_leave_the_queue(gate):
    board = fresh(1)
    started(board, "ann", RECIPE)
    second, third = (board.start(who, "here", replace(RECIPE, seed=4)) for who in ("bob", "eve"))
    assert waits_behind(second, 1) or waits_behind(third, 1)
    first, last = (second, third) if second.position < third.position else (third, second)
    assert waits_behind(last, 2)
    assert sweep_status.progress(last) == "In the queue behind 2 sweeps of other visitors"
    first.stop()
    assert ended(first).state == "stopped" and first.progress.completed == 0
    assert waits_behind(last, 1)
    gate.set()
    assert ended(last).state == "complete"


def test_what_was_measured_is_there_for_a_while_for_who_comes_back(monkeypatch):
    gone: set[str] = set()
    monkeypatch.setattr(sessions, "is_connected", lambda visitor: visitor not in gone)
    clock = Clock()
    monkeypatch.setattr(sessions, "time", clock)
    board = fresh()
    job = ended(board.start("ann", "here", RECIPE))
    gone.add("ann")
    ended(board.start("bob", "here", replace(RECIPE, seed=4)))
    assert board.at("ann", "here") is job
    clock.now += sessions.KEPT_SECONDS
    ended(board.start("bob", "here", replace(RECIPE, seed=5)))
    assert board.at("ann", "here") is None


def test_a_visitors_second_sweep_waits_for_the_first_and_says_so(gate):
    board = fresh(2)
    started(board, "ann", RECIPE)
    mine = board.start("ann", "there", replace(RECIPE, seed=4))
    assert waits_behind(mine, 0, 1)
    assert sweep_status.progress(mine) == "In the queue behind 1 sweep of your own"
    gate.set()
    assert ended(mine).state == "complete"


def test_the_queue_moves_on_when_visitors_vanish(gate, monkeypatch):
    """One runs and one waits: both free their places."""
    gone: set[str] = set()
    monkeypatch.setattr(sessions, "is_connected", lambda visitor: visitor not in gone)
    board = fresh(1)
    here = [started(board, "ann", RECIPE)]
    for i, who in enumerate(("bob", "eve")):
        here.append(board.start(who, "here", replace(RECIPE, seed=4 + i)))
        assert waits_behind(here[-1], 1 + i)
    gone |= {"ann", "bob"}
    assert waits_behind(here[2], 1)
    assert (here[1].state, here[1].progress.completed) == ("again", 0) and not here[1].running
    gate.set()
    assert ended(here[0]).state == "again" and ended(here[2]).state == "complete"


def test_what_ends_a_sweep_is_said(monkeypatch):
    for reason, message in (
        (ConnectionError(executors.LOST), "The cluster stopped answering; what was measured before is kept."),
        (KeyError("x"), "The program failed with KeyError."),
        (SystemExit("x"), "The program failed with SystemExit."),
    ):

        def broken(*_: object, reason: BaseException = reason, **__: object):
            raise reason

        monkeypatch.setattr(sweep_jobs, "sweep", broken)
        job = ended(fresh().start("ann", "here", RECIPE))
        assert (job.state, job.reason) == ("failed", message)


def test_without_a_thread_a_sweep_has_ended_and_can_be_asked_for_again(monkeypatch):
    started = threading.Thread.start

    def none_left(thread):
        if thread.name == "sweep":
            raise RuntimeError("can't start new thread")
        started(thread)

    monkeypatch.setattr(threading.Thread, "start", none_left)
    sweeps = fresh()
    job = sweeps.start("ann", "here", RECIPE)
    assert (job.state, job.running, job.reason) == ("failed", False, "The program failed with RuntimeError.")
    monkeypatch.undo()
    job.continue_at_next_start()
    assert ended(sweeps.start("ann", "here", RECIPE)).state == "complete"


def test_long_sweeps_go_on_in_processes(monkeypatch):
    """It begins in the server while the processes start; together they measure the whole table."""
    long, clock = replace(RECIPE, repeats=50), Clock()
    monkeypatch.setattr(sweep_jobs, "HERE_SECONDS", 0.9 * sweep_jobs._missing(long, ())[0])
    monkeypatch.setattr(sweep_jobs, "time", clock)
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.0)
    went, noted = [], sweep_jobs.Job._note

    def here_for_one_task(job: sweep_jobs.Job, at: Progress) -> None:
        noted(job, at)
        if at.completed:
            clock.now += 2 * sweep_jobs.HERE_SECONDS

    monkeypatch.setattr(sweep_jobs.Job, "_note", here_for_one_task)

    class Watched(executors.Cores):
        def submit(self, fn, /, *args, **kwargs):
            went.append(fn)
            return super().submit(fn, *args, **kwargs)

    monkeypatch.setattr(executors, "Cores", Watched)
    job = ended(fresh().start("ann", "here", long))
    assert job.state == "complete" and blas.use_one_thread in went and run_cells.run_in_worker in went
    assert went.count(run_cells.run_in_worker) < len(long.cells())
    pd.testing.assert_frame_equal(numbers(job.table()), numbers(sweep(long)), check_exact=True)


def test_a_run_that_takes_long_leaves_the_server_free(monkeypatch):
    monkeypatch.setattr(sweep_jobs, "CELL_SECONDS", 0.0)
    here = []
    run = run_cells.run
    monkeypatch.setattr(run_cells, "run", lambda *task: (here.append(task), run(*task))[1])
    assert ended(fresh().start("ann", "here", RECIPE)).state == "complete" and here == []


def test_a_cluster_that_is_gone_midway_loses_no_run(monkeypatch):
    """Its scheduler closes after the first task: the page says so, and the sweep continues elsewhere."""
    monkeypatch.setattr(sweep_jobs, "CELL_SECONDS", 0.0)
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.0)
    workers = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "protocol": "tcp"}
    board, noted, measured = fresh(), sweep_jobs.Job._note, run_cells.measured_columns
    long = replace(RECIPE, repeats=40)
    again: list[object] = []
    with LocalCluster(**workers, dashboard_address="127.0.0.1:0", host="127.0.0.1") as cluster:
        monkeypatch.setenv(executors.ADDRESS, cluster.scheduler_address)
        closing = threading.Thread(target=cluster.close)

        def close(job: sweep_jobs.Job, at: Progress) -> None:
            noted(job, at)
            if at.completed and closing.ident is None:
                closing.start()

        monkeypatch.setattr(sweep_jobs.Job, "_note", close)
        monkeypatch.setattr(
            run_cells, "measured_columns", lambda *arguments: (time.sleep(0.02), measured(*arguments))[1]
        )
        job = ended(board.start("ann", "here", long))
        closing.join(PATIENCE_SECONDS)
    assert (job.state, job.reason) == ("failed", f"{executors.LOST}.")
    assert 0 < job.progress.completed < job.progress.total == len(long.cells())
    monkeypatch.delenv(executors.ADDRESS)
    monkeypatch.setattr(sweep_jobs.Job, "_note", noted)
    monkeypatch.setattr(sweep_jobs, "CELL_SECONDS", 0.5)
    monkeypatch.setattr(
        run_cells,
        "measured_columns",
        lambda *arguments: (again.append(arguments[1]), measured(*arguments))[1],
    )
    job.continue_at_next_start()
    rest = ended(board.start("ann", "here", long))
    assert rest.state == "complete" and len(again) <= job.progress.total - job.progress.completed
    pd.testing.assert_frame_equal(numbers(rest.table()), numbers(sweep(long)), check_exact=True)


def test_a_cluster_that_was_never_there_is_said(monkeypatch):
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 0.2)
    with pytest.raises(ConnectionError, match=r"No cluster answers at tcp://127\.0\.0\.1:9$"):
        executors.dask("tcp://127.0.0.1:9").__enter__()


def test_a_worker_that_is_killed_costs_no_run(monkeypatch):
    monkeypatch.setattr(sweep_jobs, "CELL_SECONDS", 0.0)
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.01)
    noted, killed = sweep_jobs.Job._note, []
    long = replace(RECIPE, population=replace(MODEL, d=60), repeats=20)

    def kill(job: sweep_jobs.Job, at: Progress) -> None:
        noted(job, at)
        if at.completed and not killed:
            killed.append(next(iter(executors.Cores().pool()._processes)))
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(sweep_jobs.Job, "_note", kill)
    job = ended(fresh().start("ann", "here", long))
    assert job.state == "complete" and killed and job.progress.completed == job.progress.total
    pd.testing.assert_frame_equal(numbers(job.table()), numbers(sweep(long)), check_exact=True)


def test_a_visitor_who_vanishes_frees_the_processes_too(monkeypatch):
    """Tasks that the pool has begun end before their next cell; left alone each would return its rows."""
    gone: set[str] = set()
    monkeypatch.setattr(sessions, "is_connected", lambda visitor: visitor not in gone)
    monkeypatch.setattr(sweep_jobs, "CELL_SECONDS", 0.0)
    handed: list[Future[object]] = []
    submit = executors.Cores.submit

    def noted(pool: executors.Cores, *given: object) -> Future[object]:
        future = submit(pool, *given)
        if given[0] is run_cells.run_in_worker:
            handed.append(future)
        return future

    monkeypatch.setattr(executors.Cores, "submit", noted)
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 60.0)  # many cells a task
    many = replace(
        RECIPE, population=replace(MODEL, d=200), methods=(variant("ldp_sparse_pca"),), repeats=400
    )
    job = fresh().start("ann", "here", many)
    assert eventually(lambda: any(future.running() for future in handed))
    gone.add("ann")
    assert ended(job).state == "again"
    assert eventually(lambda: all(future.done() for future in handed))
    unwanted = [not future.cancelled() and isinstance(future.exception(), UnwantedError) for future in handed]
    assert any(unwanted)


def test_what_is_known_is_not_expected_to_take_time():
    rows = tuple(sweep(RECIPE).to_dict("records"))
    more = replace(RECIPE, repeats=12)
    assert sweep_jobs._missing(RECIPE, rows) == (0, 0)
    assert 0 < sweep_jobs._missing(more, rows)[0] < sweep_jobs._missing(more, ())[0]
