"""Time the reduction of a Parquet table to its second moment in pieces, beside X^T X of rows in memory.

    python -m benchmarks.chunks [--rows N] [--columns D] [--json FILE]

Each in a process of its own, for its peak memory: `reduce_file` (read, encode, clip, add up; the file has one
row group, the worst case), `content_keys_of_file` (its key for the ledger), reading alone, and X^T X alone,
one product; three rounds of them. The file is made in a temporary folder, is as large as its rows (1.6 GB by
default) and is gone afterwards.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import measure
from dppca_core import tables
from dppca_core.tables import files


def make(path: Path, rows: int, columns: int) -> float:
    """Write the table, standard normals in one row group. Return 0.0, since actions return seconds."""
    rng = np.random.default_rng(0)
    pq.write_table(
        pa.table({f"c{i}": rng.standard_normal(rows) for i in range(columns)}), path, row_group_size=rows
    )
    return 0.0


def reduce(path: Path, rows: int, columns: int) -> float:
    """Return the seconds of reducing the file to its second moment, with cells clipped to [-4, 4]."""
    schema = tables.Schema(tuple(tables.Column(f"c{i}", "number", -4, 4) for i in range(columns)))
    began = time.perf_counter()
    assert tables.reduce_file(path, schema).cohort.n == rows
    return time.perf_counter() - began


def key(path: Path, rows: int, columns: int) -> float:
    """Return the seconds of computing the keys by which a ledger knows the file again."""
    began = time.perf_counter()
    tables.content_keys_of_file(path, former_rows=0)
    return time.perf_counter() - began


def read(path: Path, rows: int, columns: int) -> float:
    """Return the seconds of reading the file in batches of rows, and nothing else."""
    began = time.perf_counter()
    with files.opened(path, batch_rows=5000) as layout:
        assert sum(batch.rows.num_rows for batch in layout.batches()) == rows
    return time.perf_counter() - began


def product(path: Path, rows: int, columns: int) -> float:
    """Return the seconds of X^T X with as many rows in memory, which are drawn before the clock starts."""
    x = np.random.default_rng(0).standard_normal((rows, columns))
    began = time.perf_counter()
    x.T @ x
    return time.perf_counter() - began


ACTIONS = {
    "make": make,
    "reduce_file": reduce,
    "content_keys_of_file": key,
    "reading alone": read,
    "X^T X in memory": product,
}


FLOOR, ROUNDS = "X^T X in memory", 3


def alone(action: str, path: Path, rows: int, columns: int) -> dict[str, float]:
    """Return the seconds of one of ACTIONS in a new process, and its peak memory as "GiB".

    The process runs this module with --action, which prints both as JSON.
    """
    command = [sys.executable, "-m", "benchmarks.chunks", "--action", action, "--path", str(path)]
    done = subprocess.run(
        [*command, "--rows", str(rows), "--columns", str(columns)], check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--action", choices=ACTIONS, help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = (options.rows // (10 if options.quick else 1), options.columns)
    if options.action:
        seconds = ACTIONS[options.action](options.path, *size)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # Linux gives it in KiB
        print(json.dumps({"seconds": seconds, "GiB": peak}))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        alone("make", path, *size)
        results = {
            name: [alone(name, path, *size) for _ in range(ROUNDS)] for name in ACTIONS if name != "make"
        }
    ms = {name: 1e3 * np.array([run["seconds"] for run in runs]) for name, runs in results.items()}
    rows = [measure.row(name, times, FLOOR, ms[FLOOR]) for name, times in ms.items()]
    measure.show(f"{size[0]:,} x {size[1]}", rows)
    peak = {name: max(run["GiB"] for run in runs) for name, runs in results.items()}
    print("  peak GiB: " + ", ".join(f"{name} {most:.2f}" for name, most in peak.items()))
    measure.keep(options.json, "chunks", {"rows": rows, "peak GiB": peak})


if __name__ == "__main__":
    main()
