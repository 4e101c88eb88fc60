"""Time sweeps on two cores: parallel efficiency, a Dask cluster beside them, memory over 10,000 cells.

    python -m benchmarks.sweeps [--json FILE] [--without-memory]

All in one run, each a ratio within its round. The floor of two processes is half of the serial time of the
same 200 cells, all warm: efficiency .9 is a ratio of 1.11. The Dask cluster has two workers of one thread
each, on this machine and warm as well, and its floor is the two processes. Memory is what this process and
its workers hold after the first and after the last thousand of 10,000 cells.
"""

import os
import time
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
from distributed import LocalCluster

from benchmarks import measure
from benchmarks.measure import Times
from dppca_core import SpikedModel
from dppca_core.experiments import Axis, Progress, Recipe, sweep, variant
from dppca_core.experiments.sweeps import executors

WORKERS = 2
ROUNDS = 5
MODEL = SpikedModel(d=800, k=3, s=10)
METHODS = tuple(variant(name) for name in ("pca", "dps_pca", "analyze_gauss", "analyze_gauss_sparse"))
# What is timed; what is run before, so that workers are there; and the many cells over which memory is read.
RECIPE = Recipe(
    MODEL, METHODS, (Axis("epsilon", (0.1, 0.5, 1.0, 2.0, 5.0)),), n=100_000, s_hat=20, repeats=10
)
WARM = Recipe(MODEL, METHODS[:1], (Axis("epsilon", (1.0,)),), n=100_000, repeats=8, seed=1)
MANY = Recipe(
    SpikedModel(d=20, k=2, s=5),
    METHODS,
    (Axis("epsilon", (0.1, 0.5, 1.0, 2.0, 5.0)),),
    n=10_000,
    s_hat=8,
    repeats=500,
)


def milliseconds(recipe: Recipe, executor: Executor) -> float:
    began = time.perf_counter()
    assert len(sweep(recipe, executor)) == len(recipe.cells())
    return 1e3 * (time.perf_counter() - began)


def in_turn(runs: dict[str, Executor], rounds: int) -> dict[str, Times]:
    """Return the milliseconds of RECIPE with each executor, in turn, once its workers have started."""
    for executor in runs.values():
        sweep(WARM, executor)
    took: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, executor in runs.items():
            took[name].append(milliseconds(RECIPE, executor))
    return {name: np.array(values) for name, values in took.items()}


def resident() -> float:
    """Return the megabytes that this process and its children hold."""
    me = os.getpid()
    total = 0
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if entry.name == str(me) or int(fields[1]) == me:
                total += int((entry / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):  # not a process, or one that has just ended
            continue
    return total / 1e6


def memory(executor: Executor) -> list[float]:
    """Return the megabytes after each thousand of MANY's cells."""
    held: list[float] = []

    def note(at: Progress) -> None:
        if at.completed >= 1000 * (len(held) + 1):
            held.append(resident())

    sweep(MANY, executor, progress=note)
    return held


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--without-memory", action="store_true", help="leave out the 10,000 cells")
    options = parser.parse_args()
    cores = executors.Cores(WORKERS)
    cluster = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(**cluster) as started, executors.opened(started.scheduler_address) as dask:
        runs = {"serial": None, "cores": cores, "dask": dask}
        took = in_turn(runs, 1 if options.quick else ROUNDS)
    rows = [
        measure.row("one process", took["serial"]),
        measure.row("two processes", took["cores"], "half of that", took["serial"] / WORKERS, 1 / 0.9),
        measure.row("Dask, two workers", took["dask"], "two processes", took["cores"], 1.1),
    ]
    measure.show(f"{len(RECIPE.cells())} cells", rows)
    figures: dict[str, object] = {"rows": rows}
    if not options.without_memory and not options.quick:
        held = memory(cores)
        figures["megabytes by thousand cells"] = held
        print(f"memory: {held[0]:.0f} MB after 1,000 cells, {held[-1]:.0f} MB after {len(MANY.cells()):,}")
    measure.keep(options.json, "sweeps", figures)


if __name__ == "__main__":
    main()
