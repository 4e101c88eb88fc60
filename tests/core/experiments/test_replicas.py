"""Test that a cell is the same run in a process of its own, and that what fails there costs no other."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dppca_core.experiments import failures, replicas
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.decision.cells import VERDICT, JoiningCells
from dppca_core.experiments.decision.hospitals import JoiningExperiment, JoiningHospital
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.populations.spiked import SpikedModel

MODEL = SpikedModel(d=20, k=2, s=5)
EXPERIMENT = ExplorerExperiment(MODEL, n=5_000, k=2, s_hat=10, delta=1e-6, repeats=3, providers=3)
JOINING = JoiningExperiment(
    tuple(JoiningHospital(f"hospital {i}", 400, 2.0) for i in range(3)),
    ours=0,
    population=MODEL,
    k=2,
    repeats=8,
)


@pytest.fixture(scope="module")
def process() -> Iterator[replicas.Process]:
    started = replicas.Process()
    yield started
    started.end_unused(0.0)


class Deadly(CellStore[tuple[str], int]):
    """Kill the process that measures "kill", and give "large" no memory."""

    def __init__(self, here: int) -> None:
        super().__init__()
        self.here = here

    def measure(self, cell: tuple[str]) -> int:
        if cell == ("kill",) and os.getpid() != self.here:
            os.kill(os.getpid(), signal.SIGKILL)
        if cell == ("large",):
            raise MemoryError
        if cell == ("wrong",):
            raise ValueError("k must be at most 5")
        return os.getpid()

    def wanted(self, *view: Any) -> list[tuple[str]]:
        return [("kill",), ("large",), ("wrong",), ("sound",)]


def test_a_view_measured_elsewhere_is_the_same_view(process):
    here, there = Results(EXPERIMENT), Results(EXPERIMENT)
    wanted = [*here.first(1.0), *here.rest(1.0)][:60]
    while (cell := here.first_missing(wanted)) is not None:
        here.try_cell(*cell)
    while (cell := there.first_missing(wanted)) is not None:
        process.try_cell(there, cell)
    assert set(there.cells) >= set(here.cells)
    for key in here.cells:
        np.testing.assert_array_equal(there.cells[key].sin, here.cells[key].sin)
        assert there.cells[key].bytes_sent == here.cells[key].bytes_sent
    assert there.took and not there.failed


def test_runs_that_one_call_makes_here_are_made_in_one_call_there(process):
    """Also where the first were made here: a view that moves needs them at once."""
    others = replace(EXPERIMENT, seed=9)  # of which the process holds nothing yet
    here, there = Results(others), Results(others)
    for store in (here, there):
        store.try_cell(EXPERIMENT.method, 1.0, 0)
    for cell in [(EXPERIMENT.method, 1.0, 1), (EXPERIMENT.method, 1.0, EXPERIMENT.repeats)]:
        here.try_cell(*cell)
        process.try_cell(there, cell)
        assert set(there.cells) == set(here.cells)
    assert len(here.cells) > 20


def test_a_verdict_rests_on_the_runs_that_were_measured_here(process):
    here, both = JoiningCells(JOINING), JoiningCells(JOINING)
    turn = 0
    while (cell := both.next_missing(True)) is not None:
        if turn % 2:
            both.try_cell(*cell)
        else:
            process.try_cell(both, cell)
        turn += 1
    while (cell := here.next_missing(True)) is not None:
        here.try_cell(*cell)
    assert both.cells[(VERDICT,)].answer == here.cells[(VERDICT,)].answer
    assert both.runs.known.keys() == here.runs.known.keys()
    assert {key: both.cells[key] for key in both.cells if len(key) == 3} == {
        key: here.cells[key] for key in here.cells if len(key) == 3
    }


def test_what_is_here_already_is_not_measured_again(process):
    store = Results(EXPERIMENT)
    store.try_cell("analyze_gauss", 1.0, 0)
    before = dict(store.cells)
    process.try_cell(store, ("analyze_gauss", 1.0, 1))
    assert all(store.cells[key] is cell for key, cell in before.items())
    assert ("analyze_gauss", 1.0, 1) in store.cells


def test_that_a_cell_is_here_already_says_nothing_of_how_long_the_next_one_takes(process):
    store = Deadly(os.getpid())
    process.try_cell(store, ("sound",))
    store.took["sound"] = 3.0
    process.try_cell(store, ("sound",))
    assert store.seconds("sound") == 3.0


def test_a_process_that_is_killed_costs_its_cell_a_second_try_and_no_other(process):
    store = Deadly(os.getpid())
    for _ in range(2):
        process.try_cell(store, ("kill",))
        assert store.failed == {("kill",): failures.NO_MEMORY}
    assert store.next_missing() == ("large",)
    process.try_cell(store, ("sound",))
    assert store.cells[("sound",)] != os.getpid()


def test_a_cell_without_memory_is_tried_once_more_and_a_refusal_is_not(process):
    store = Deadly(os.getpid())
    process.try_cell(store, ("kill",))
    tried = []
    while (cell := store.next_missing()) is not None:
        tried.append(cell)
        process.try_cell(store, cell)
    assert tried.count(("large",)) == 2 and tried.count(("wrong",)) == tried.count(("sound",)) == 1
    assert store.failed[("wrong",)] == "k must be at most 5"


def test_a_process_that_nobody_uses_ends_and_the_next_cell_starts_another():
    process, store = replicas.Process(), Deadly(os.getpid())
    process.try_cell(store, ("sound",))
    first = store.cells[("sound",)]
    process.end_unused(3600.0)
    os.kill(first, 0)  # it still runs
    process.end_unused(0.0)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    another = Deadly(os.getpid())
    process.try_cell(another, ("sound",))
    assert another.cells[("sound",)] not in (first, os.getpid())
    process.end_unused(0.0)
