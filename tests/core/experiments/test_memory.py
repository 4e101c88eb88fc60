"""Less memory than a run takes: the kernel refuses it, or kills its process, and every other run goes on."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import Axis, Recipe, failures, replicas, sweep, variant
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps import recipe_file
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[3]
WIDE = 1000  # features
MATRIX = 8 * WIDE**2  # bytes; a run takes several such
SMALL = SpikedModel(d=20, k=2, s=5, spike=100.0, bulk=(0.0, 5.0), seed=2)
EXPERIMENT = ExplorerExperiment(SMALL, n=5000, k=2, s_hat=8, delta=1e-5, providers=3, iterations=4, repeats=2)
RECIPE = Recipe(SMALL, (variant("pca"), variant("dps_pca")), (Axis("d", (20, WIDE)),), epsilon=1.0, n=2000)

# A sweep in a process that may hold so many bytes more than after the first sweep, which loads what it takes.
LIMITED = """
import resource, sys
from dataclasses import replace
from pathlib import Path
from dppca_core.experiments import Axis, sweep
from dppca_core.experiments import __main__ as headless
from dppca_core.experiments.sweeps import recipe_file
recipe, out, room = sys.argv[1:]
sweep(replace(recipe_file.read(recipe), swept=(Axis("d", (20,)),)))
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + int(room), resource.getrlimit(resource.RLIMIT_AS)[1]))
raise SystemExit(headless.main([recipe, "--out", out, "--executor", "serial"]))
"""


@pytest.fixture
def process() -> Iterator[replicas.Process]:
    made = replicas.Process()
    yield made
    made.end_unused(0.0)


def number(process: replicas.Process) -> int:
    assert process._running is not None
    return process._running[0].pid


def test_runs_that_lack_memory_are_tried_again_last_and_hold_up_no_smaller_one(process):
    """Their process may hold two matrices more than after a small run; then as much as there is."""
    wide, alone = (Results(replace(EXPERIMENT, population=replace(SMALL, d=WIDE))) for _ in range(2))
    small = Results(EXPERIMENT)
    runs = [("pca", 0.01, 0), ("analyze_gauss", 1.0, 0), ("two_stage", 1.0, 0)]  # the last with others
    process.try_cell(small, runs[0])
    victim, before = number(process), resource.prlimit(number(process), resource.RLIMIT_AS)
    held = psutil.Process(victim).memory_info().vms
    resource.prlimit(victim, resource.RLIMIT_AS, (held + 2 * MATRIX, before[1]))
    for run in runs:
        process.try_cell(wide, run)
    assert set(wide.failed) >= set(runs) and set(wide.failed.values()) == {failures.NO_MEMORY}
    assert not wide.cells and wide.once_more == set(wide.failed)
    for run in runs[1:]:
        process.try_cell(small, run)
    assert not small.failed and {*small.cells} >= {*runs} and number(process) == victim
    resource.prlimit(victim, resource.RLIMIT_AS, before)
    while (run := wide.first_missing(wide.once_more)) is not None:
        process.try_cell(wide, run)
    assert not wide.failed and {*wide.cells} >= {*runs}
    for run in runs:
        alone.try_cell(*run)
        np.testing.assert_allclose(wide.cells[run].sin, alone.cells[run].sin, atol=1e-10)


class Fatal(CellStore[tuple[str], str]):
    """The system kills the process that measures the first cell, as it does where memory has run out."""

    def measure(self, cell: tuple[str]) -> str:
        if cell == ("a",):
            os.kill(os.getpid(), signal.SIGKILL)
        return cell[0].upper()

    def wanted(self) -> list[tuple[str]]:
        return [("a",), ("b",)]


def test_a_process_that_is_killed_twice_costs_the_run_that_it_was_killed_for(process):
    store, order = Fatal(), []
    while (cell := store.next_missing()) is not None:
        order.append(cell)
        process.try_cell(store, cell)
    assert order == [("a",), ("b",), ("a",)]
    assert store.cells == {("b",): "B"} and store.failed == {("a",): failures.NO_MEMORY}


def test_a_sweep_that_lacks_memory_for_some_runs_measures_the_others(tmp_path):
    recipe, out = tmp_path / "recipe.json", tmp_path / "out.csv"
    recipe.write_text(json.dumps(recipe_file.to_dict(RECIPE)), encoding="utf-8")
    command = [sys.executable, "-c", LIMITED, str(recipe), str(out), f"{2 * MATRIX}"]
    ended = subprocess.run(
        command, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS, check=False, cwd=ROOT
    )
    table = pd.read_csv(out, keep_default_na=False)
    wide = table["d"] == WIDE
    assert ended.returncode == 0, ended.stderr
    assert (table.loc[wide, "failed"] == failures.NO_MEMORY).all() and wide.sum() == len(table) / 2
    whole = sweep(replace(RECIPE, swept=(Axis("d", (20,)),)))
    assert (table.loc[~wide, "failed"] == "").all()
    assert sorted(table.loc[~wide, "sin_theta"].astype(float)) == sorted(whole["sin_theta"])
