"""Sweeps beside the page: found again, stopped, taken over, and each visitor's own."""

import threading
import time
from dataclasses import replace

import pandas as pd
import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import Axis, Recipe, executors, one_thread, sweep, task, variant
from pages.shared import jobs
from pages.shared.jobs import Jobs

MODEL = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.0, 5.0), seed=2)
RECIPE = Recipe(MODEL, (variant("pca"), variant("dps_pca")), (Axis("epsilon", (0.1, 1.0)),), n=2000, s_hat=6)


def ended(job: jobs.Job) -> jobs.Job:
    job.wait(30)
    assert not job.running
    return job


@pytest.fixture
def gate(monkeypatch):
    """Cells wait until it is opened."""
    opened = threading.Event()
    measured = task.measured

    def slow(recipe, cell):
        assert opened.wait(30)
        return measured(recipe, cell)

    monkeypatch.setattr(task, "measured", slow)
    monkeypatch.setattr(task, "TASK_SECONDS", 0.0)
    yield opened
    opened.set()


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="seconds")


def test_a_job_gives_the_sweeps_table():
    job = ended(Jobs().start("ann", "here", RECIPE))
    assert job.state == "complete" and job.progress.completed == job.progress.total
    pd.testing.assert_frame_equal(numbers(job.table()), numbers(sweep(RECIPE)), check_exact=True)


def test_it_is_found_again_running_or_done(gate):
    board = Jobs()
    job = board.start("ann", "here", RECIPE)
    assert job.running and board.start("ann", "here", RECIPE) is job and board.at("ann", "here") is job
    gate.set()
    assert board.start("ann", "here", RECIPE) is ended(job)


def test_stopping_keeps_what_is_finished_and_going_on_measures_the_rest(gate, monkeypatch):
    board = Jobs()
    told = jobs.Job._tell
    monkeypatch.setattr(jobs.Job, "_tell", lambda job, at: (told(job, at), at.completed and job.stop()))
    gate.set()
    job = ended(board.start("ann", "here", RECIPE))
    assert job.state == "stopped" and 0 < len(job.table()) < job.progress.total
    monkeypatch.setattr(jobs.Job, "_tell", told)
    seen = []
    measured = task.measured
    monkeypatch.setattr(task, "measured", lambda recipe, cell: (seen.append(cell), measured(recipe, cell))[1])
    assert board.start("ann", "here", RECIPE) is job
    job.again()
    rest = ended(board.start("ann", "here", RECIPE))
    assert rest.state == "complete" and len(seen) < rest.progress.total
    pd.testing.assert_frame_equal(numbers(rest.table()), numbers(sweep(RECIPE)), check_exact=True)


def test_another_recipe_stops_the_former_and_takes_over_its_rows(gate):
    board = Jobs()
    first = board.start("ann", "here", RECIPE)
    second = board.start("ann", "here", replace(RECIPE, seed=1))
    gate.set()
    assert ended(first).state == "stopped" and ended(second).state == "complete"
    more = board.start("ann", "here", replace(RECIPE, seed=1, repeats=12))
    assert len(ended(more).table()) == 2 * 2 * 12


def test_visitors_neither_see_nor_block_each_other(gate):
    board = Jobs()
    ann = board.start("ann", "here", RECIPE)
    bob = board.start("bob", "here", RECIPE)
    assert ann is not bob and board.at("bob", "there") is None
    ann.stop()
    gate.set()
    assert ended(bob).state == "complete" and ended(ann).state in ("stopped", "complete")


def test_a_complete_table_is_there_at_once_for_everybody():
    board = Jobs()
    table = ended(board.start("ann", "here", RECIPE)).table()
    for _ in range(100):
        if board._tables:
            break
        time.sleep(0.01)
    found = board.start("bob", "elsewhere", RECIPE)
    assert not found.running and found.table() is table


def test_a_visitor_who_has_gone_is_not_worked_for(gate, monkeypatch):
    monkeypatch.setattr(jobs, "present", lambda visitor: visitor != "gone")
    job = Jobs().start("gone", "here", RECIPE)
    gate.set()
    assert ended(job).state == "stopped"


def test_a_job_beyond_the_limit_waits_for_its_turn(gate, monkeypatch):
    monkeypatch.setattr(jobs, "AT_ONCE", 1)
    board = Jobs()
    board.start("ann", "here", RECIPE)
    second = board.start("bob", "here", replace(RECIPE, seed=4))
    time.sleep(0.05)
    assert second.state == "waiting"
    gate.set()
    assert ended(second).state == "complete"


def test_what_ends_a_sweep_is_said(monkeypatch):
    def broken(*_: object, **__: object):
        raise OSError("nobody answers")

    monkeypatch.setattr(jobs, "sweep", broken)
    job = ended(Jobs().start("ann", "here", RECIPE))
    assert (job.state, job.reason) == ("failed", "OSError: nobody answers")


def test_long_sweeps_go_on_in_processes(monkeypatch):
    """Begun here while the processes start; together they give the whole table."""
    monkeypatch.setattr(jobs, "HERE_SECONDS", 0.05)
    monkeypatch.setattr(task, "TASK_SECONDS", 0.0)
    went = []

    class Watched(executors.Cores):
        def submit(self, fn, /, *args, **kwargs):
            went.append(fn)
            return super().submit(fn, *args, **kwargs)

    monkeypatch.setattr(executors, "Cores", Watched)
    long = replace(RECIPE, repeats=150)
    job = ended(Jobs().start("ann", "here", long))
    assert job.state == "complete" and one_thread.for_good in went and task.run_in_worker in went
    assert went.count(task.run_in_worker) < len(long.cells())
    pd.testing.assert_frame_equal(numbers(job.table()), numbers(sweep(long)), check_exact=True)


def test_a_run_that_takes_long_leaves_the_server_free(monkeypatch):
    """No part of it is run here."""
    monkeypatch.setattr(jobs, "CELL_SECONDS", 0.0)
    here = []
    run = task.run
    monkeypatch.setattr(task, "run", lambda recipe, keys: (here.append(keys), run(recipe, keys))[1])
    assert ended(Jobs().start("ann", "here", RECIPE)).state == "complete" and here == []


def test_what_is_known_is_not_expected_to_take_time():
    rows = tuple(sweep(RECIPE).to_dict("records"))
    more = replace(RECIPE, repeats=12)
    assert jobs._missing(RECIPE, rows) == (0, 0)
    assert 0 < jobs._missing(more, rows)[0] < jobs._missing(more, ())[0]


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "1 s"), (89, "89 s"), (600, "10 min"), (7200, "2.0 h")], ids=str
)
def test_times_are_said_as_people_say_them(seconds, said):
    assert jobs.said_seconds(seconds) == said
