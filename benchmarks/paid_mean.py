"""What a paid mean buys on tables: errors of real releases against PCA of centred rows.

    python -m benchmarks.paid_mean TABLE.csv|TABLE.arff ... [--runs 5] [--method analyze_gauss] [--k 2]

Of each table the numbers of columns that are nearly complete, each range the column's own rounded outwards
(a hospital takes ranges from a code book), rows clipped at the page's default bound. Three centres: the
middle of the ranges; a mean that is paid for, by the rule; and the mean itself, not private. Releases are
those of *Your data*: paid on a ledger, drawn by OpenDP.
"""

import argparse
import math
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import arff

from dppca_core import Budget, sin_theta
from dppca_core.arrays import Array
from dppca_core.mechanisms import paid_centre
from dppca_core.numerics import linalg, moments, subspace_metrics
from dppca_core.release import private_release
from dppca_core.release.ledger import SessionLedger
from dppca_core.release.ledger_records import Limit

DELTA = 1e-6
_COMPLETE = 0.8  # share of cells that a column needs


def encoded(path: Path) -> Array:
    """Return the table's rows in public units, (n, d): 0 is the middle of a range, 1 its end."""
    frame = pd.DataFrame(arff.loadarff(path)[0]) if path.suffix == ".arff" else pd.read_csv(path)
    frame = frame.map(lambda cell: cell.decode() if isinstance(cell, bytes) else cell)
    frame = frame.apply(pd.to_numeric, errors="coerce")
    frame = frame.dropna(axis=1, thresh=int(_COMPLETE * len(frame))).dropna()
    rows = frame.loc[:, frame.nunique() > 1].to_numpy(float)
    low, high = rows.min(axis=0), rows.max(axis=0)
    unit = 10.0 ** np.floor(np.log10(high - low))
    low, high = np.floor(low / unit) * unit, np.ceil(high / unit) * unit
    return np.asarray((rows - (low + high) / 2) / ((high - low) / 2))


def released(rows: Array, method: str, k: int, budget: Budget, mean_share: float) -> tuple[Array, float]:
    """Return the components of one release, (d, k), and its seconds."""
    ledger = SessionLedger()
    ledger.set_limit(Limit(budget.epsilon, budget.delta))
    d = rows.shape[1]
    request = private_release.Request(method, d, k, budget, mean_share=mean_share, iterations=10)
    began = time.perf_counter()
    result = private_release.make(request, [rows], ledger, features=[str(i) for i in range(d)], public={})
    return result.basis, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--method", default="analyze_gauss", choices=private_release.OFFERED)
    parser.add_argument("--k", type=int, default=2)
    asked = parser.parse_args()
    print("table, patients, columns, guess: errors with a public centre, a paid mean (its share), the mean")
    for path in asked.tables:
        units = encoded(path)
        n, d = units.shape
        rows = moments.clip_rows(units, math.sqrt(d / 3))
        truth = linalg.top_eigenspace(np.cov(units.T, bias=True), asked.k)
        known = moments.clip_rows(rows - rows.mean(axis=0), 1.0)
        print(f"{path.stem}, {n:,}, {d}, {subspace_metrics.random_guess(d, asked.k):.2f}:", end="")
        slowest = 0.0
        for epsilon in (1.0, 2.0):
            budget = Budget(epsilon, DELTA)
            share = paid_centre.share(budget, d=d, n=n)
            errors = []
            for given, part in ((rows, 0.0), (rows, share), (known, 0.0)):
                runs = [released(given, asked.method, asked.k, budget, part) for _ in range(asked.runs)]
                errors.append(float(np.median([sin_theta(basis, truth) for basis, _ in runs])))
                slowest = max(slowest, *(seconds for _, seconds in runs))
            public, paid, mean = errors
            print(f" epsilon = {epsilon:g}: {public:.2f}, {paid:.2f} ({share:.2f}), {mean:.2f};", end="")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f" {slowest:.2f} s, {peak:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
