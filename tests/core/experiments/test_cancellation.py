"""A task in another process ends once its sweep has cancelled it, and with the program that asked for it."""

import os
import subprocess
import sys

import psutil
import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import Axis, Recipe, variant
from dppca_core.experiments.sweeps import executors, run_cells
from tests.waiting import PATIENCE_SECONDS, eventually

MODEL = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.0, 5.0), seed=2)
RECIPE = Recipe(MODEL, (variant("pca"),), (Axis("n", (100, 200, 300)),), epsilon=1.0, repeats=1)

# An hour of work in a process, whose id is printed; the program then ends.
ENDING = """
import os, signal, time
from dppca_core.experiments.sweeps import executors
cores = executors.Cores(1)
print(cores.submit(os.getpid).result(), flush=True)
cores.submit(time.sleep, 3600)
"""


@pytest.mark.parametrize("ends", ["os.kill(os.getpid(), signal.SIGKILL)", "cores.kill()"])
def test_no_process_stays_when_its_program_has_ended(ends):
    words = [sys.executable, "-c", ENDING + ends]
    program = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS, check=False)
    worker = int(program.stdout)

    def gone() -> bool:
        return not psutil.pid_exists(worker) or psutil.Process(worker).status() == psutil.STATUS_ZOMBIE

    assert eventually(gone)


def test_a_task_ends_before_the_cell_at_which_its_file_is_gone(monkeypatch):
    measured = []
    with executors.cancellation_file() as path:

        def removing(recipe, cell):
            measured.append(cell)
            if len(measured) == 2:
                os.unlink(path)
            return {}

        monkeypatch.setattr(run_cells, "measured_columns", removing)
        with pytest.raises(executors.UnwantedError):
            run_cells.run_in_worker(RECIPE, RECIPE.cells(), path)
        assert len(measured) == 2
    with pytest.raises(executors.UnwantedError):
        run_cells.run_in_worker(RECIPE, RECIPE.cells(), path)
    assert len(measured) == 2


def test_the_file_is_gone_after_the_sweep():
    with executors.cancellation_file() as path:
        assert os.path.exists(path)
    assert not os.path.exists(path)


def test_where_no_file_can_be_written_a_task_runs_to_its_end(monkeypatch):
    def refuses(*_: object, **__: object):
        raise OSError("read-only")

    monkeypatch.setattr("tempfile.mkstemp", refuses)
    with executors.cancellation_file() as path:
        assert path == ""
    assert len(run_cells.run_in_worker(RECIPE, RECIPE.cells(), path)) == 3
