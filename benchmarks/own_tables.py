"""Compare what *Your data* rehearses with what it releases, on clinical tables from other packages.

    python -m benchmarks.own_tables TABLE.csv|TABLE.arff ... [--patient COLUMN] [--most 4] [--runs 5]

Of each table the columns that are nearly complete and hold no dates or other texts: numbers, each range the
column's own rounded outwards (a hospital takes ranges from a code book); words or few values as categories.
Missing cells leave a row out.
For each epsilon: the method that the page recommends, its rehearsed error on the worst of the stated spectra,
and the errors of real releases (paid in a book, drawn by OpenDP), against PCA of the centred encoded rows,
which is private and shown here only.

--patient names a column whose rows count once together; --most keeps so many rows of each patient.
"""

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import arff

from dppca_core import sin_theta, tables
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, BookTable
from dppca_core.arrays import Array
from dppca_core.numerics import linalg, subspace_metrics
from dppca_core.release import private_release
from dppca_core.release.request import Request
from dppca_core.tables import Column, Raw, Schema, limits
from dppca_core.tables.encode import PreparedTable, prepare
from dppca_core.tables.layout import layout_of
from dppca_core.tables.patients import AVERAGED
from pages.hospitals.your_data import rehearsal, release_request
from pages.shared.settings import catalogue

_COMPLETE = 0.8  # share of cells that a column needs
_FEW_VALUES = 6  # of a column of categories written as numbers


def load(path: Path) -> pd.DataFrame:
    """Return a table's columns that are nearly complete and not constant."""
    frame = pd.DataFrame(arff.loadarff(path)[0]) if path.suffix == ".arff" else pd.read_csv(path)
    frame = frame.map(lambda cell: cell.decode() if isinstance(cell, bytes) else cell)
    frame = frame.loc[:, [not name.startswith("Unnamed") for name in frame.columns]].replace("?", None)
    frame = frame.map(lambda cell: int(cell) if isinstance(cell, bool | np.bool_) else cell)
    frame = frame.dropna(axis=1, thresh=int(_COMPLETE * len(frame)))
    texts = frame.apply(
        lambda column: pd.to_numeric(column, errors="coerce").isna().sum() > column.isna().sum()
    )
    return frame.loc[:, (frame.nunique() > 1) & ~(texts & (frame.nunique() > limits.MOST_CATEGORIES))]


def dictionary(frame: pd.DataFrame) -> Schema:
    """Return what a code book would give; ranges are read off the data, which a hospital must not do."""
    return Schema(tuple(_column(name, frame[name].dropna()) for name in frame.columns))


def _column(name: str, cells: "pd.Series[Any]") -> Column:
    """Return a column's entry: words or few values as categories, else the range, rounded outwards."""
    numbers = pd.to_numeric(cells, errors="coerce")
    values = sorted(cells.unique())
    if numbers.isna().any() or 2 < len(values) <= _FEW_VALUES:
        return Column(name, "category", categories=tuple(str(value) for value in values))
    unit = 10.0 ** np.floor(np.log10(numbers.max() - numbers.min()))
    low, high = np.floor(numbers.min() / unit) * unit, np.ceil(numbers.max() / unit) * unit
    return Column(name, "number", float(low), float(high))


def truth(table: PreparedTable, raw: Raw, k: int) -> Array:
    """Return the top k directions of the encoded rows about their mean, (d, k), from the private rows."""
    rows = tables.encode(table.schema, raw.table).rows
    weights = np.ones(len(rows))
    if table.held.weights is not None and table.counting == AVERAGED:
        weights = table.held.weights[:, 0] ** 2
    return linalg.top_eigenspace(np.cov(rows.T, bias=True, aweights=weights), k)


def released(table: PreparedTable, request: Request) -> Array:
    """Return the components, (d, k), of one release, paid in full in a book of its own."""
    payer = Book().payer(BookTable("a table", table.n, ()))
    budget = request.budget
    payer.set_limit(Limit(budget.epsilon, budget.delta))
    features, public = table.schema.features, table.public
    rows, layout = table.encoded_parts, layout_of(table.schema)
    return private_release.make(request, rows, payer, features=features, public=public, layout=layout).basis


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--patient")
    parser.add_argument("--most", type=int)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    for path in asked.tables:
        frame = load(path)
        raw = tables.from_frame(frame, path.name)
        schema = dictionary(frame.drop(columns=[asked.patient] if asked.patient else []))
        table = prepare(raw, schema, None, 1, asked.patient, asked.most or AVERAGED)
        defaults = catalogue.defaults() | {"view": "full"}
        k = defaults["own.k"]
        true = truth(table, raw, k)
        guess = subspace_metrics.random_guess(table.d, k)
        print(f"{path.stem}: {table.n:,} patients, {table.d} features, a guess {guess:.2f}")
        for epsilon in (1.0, 2.0):
            began, settings = time.perf_counter(), defaults | {"own.epsilon": epsilon}
            request = release_request.requested(settings, table, None, 1)
            error = float(np.median([sin_theta(released(table, request), true) for _ in range(asked.runs)]))
            seconds = time.perf_counter() - began
            twin = rehearsal.rehearse(request, schema, table.sizes, settings)
            shares = {title: share * guess for title, share in rehearsal.errors(twin)}
            listed = ", ".join(f"{title} {error:.2f}" for title, error in shares.items())
            print(
                f"  epsilon {epsilon:g}, {request.method}: released {error:.2f}; rehearsed {listed}; "
                f"{seconds / asked.runs:.2f} s a release"
            )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  {peak:.0f} MB at most", flush=True)


if __name__ == "__main__":
    main()
