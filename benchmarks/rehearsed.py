"""How far a rehearsal is from the release: errors on the worst population, and of real releases of a table.

    python -m benchmarks.rehearsed [TABLE.csv ...] [--runs 7] [--method analyze_gauss]

Of the bundled clinical tables with their dictionaries, and of the tables given: there each range is the
column's own rounded outwards, and a column of at most six values is a category. Both errors are shares of a
guess's; a release is against PCA of the same clipped rows, about their mean where a mean is paid for.
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from dppca_core import sin_theta
from dppca_core.numerics import linalg, moments, subspace_metrics
from dppca_core.release import private_release
from dppca_core.release.ledger import SessionLedger
from dppca_core.release.ledger_records import Limit
from dppca_core.tables import Column, Raw, Schema, encode, examples, from_frame
from pages.hospitals.your_data import rehearsal, release_panel
from pages.shared.settings import catalogue

DELTA, _FEW_VALUES = 1e-6, 6


def dictionary(frame: pd.DataFrame) -> Schema:
    """Return ranges rounded outwards, and the values of columns that have few."""
    columns = []
    for name, values in frame.items():
        if values.nunique() <= _FEW_VALUES:
            words = tuple(f"{value:g}" for value in sorted(values.dropna().unique()))
            columns.append(Column(str(name), "category", categories=words, fill=""))
            continue
        low, high = float(values.min()), float(values.max())
        unit = 10.0 ** math.floor(math.log10(high - low))
        low, high = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
        columns.append(Column(str(name), "number", low, high, fill=(low + high) / 2))
    return Schema(tuple(columns))


def tables(paths: list[Path]) -> Iterator[tuple[str, Raw, Schema]]:
    """Yield each table with its name and its dictionary."""
    for name in examples.names():
        yield name, *examples.example(name)
    for path in paths:
        frame = pd.read_csv(path).select_dtypes("number")
        yield path.stem, from_frame(frame, path.name), dictionary(frame)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--method", default="analyze_gauss", choices=private_release.OFFERED)
    asked = parser.parse_args()
    for name, raw, schema in tables(asked.tables):
        rows = moments.clip_rows(encode(schema, raw.table).rows, schema.bound)
        n, d = rows.shape
        for k, epsilon in ((k, epsilon) for k in (1, 2, 3) for epsilon in (1.0, 2.0)):
            chosen = {"own.method": asked.method, "own.epsilon": epsilon, "own.delta": DELTA, "own.k": k}
            settings = catalogue.defaults() | chosen
            request = release_panel.requested(settings, d, None, 1, n)
            twin = rehearsal.rehearse(request, schema, (n,), settings)
            assert not isinstance(request, str)
            assert not isinstance(twin, str)
            centre = rows.mean(axis=0) * (request.mean_share > 0)
            truth = linalg.top_eigenspace(rows.T @ rows / n - np.outer(centre, centre), k)
            errors = []
            for _ in range(asked.runs):
                ledger = SessionLedger()
                ledger.set_limit(Limit(epsilon, DELTA))
                result = private_release.make(request, [rows], ledger, features=schema.features, public={})
                errors.append(sin_theta(result.basis, truth))
            share = float(np.median(errors)) / subspace_metrics.random_guess(d, k)
            print(
                f"{name}, {n:,} x {d}, k = {k}, epsilon = {epsilon:g}: rehearsed "
                f"{rehearsal.share_of_guess(twin):.2f} ({twin.pattern.title}), released {share:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
