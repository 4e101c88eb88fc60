"""Compare a release with the answer without privacy, on the same clipped rows: for the owner's eyes only.

The answer that people mean by PCA is the components of the covariance C, of rows centred at their own mean m.
What a release estimates is the second moment S = C + m m^T, of rows centred at the middle of their public
ranges: its first component is nearly m where m is large. Errors are stated against both, C first.

All of it is computed from private rows and none of it is paid for. No Streamlit here.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from dppca_core.arrays import Array
from dppca_core.numerics import linalg, subspace_metrics
from dppca_core.numerics.unit_rows import unit_rows
from dppca_core.tables import Raw
from dppca_core.tables.encode import PreparedTable, Rows

MOST_POINTS = 2_000  # rows of a biplot
MOST_LABELS = 10  # values of a column that can be a label
COVARIANCE, MOMENT = "centred at the mean", "centred at mid-range"


class TableTruth(NamedTuple):
    """Hold a matrix of all clipped rows, (d, d), and its eigenvalues, all d, largest first."""

    matrix: Array
    eigenvalues: Array


class TableTruths(NamedTuple):
    """Hold the covariance and the uncentred second moment of the same clipped rows, and their mean, (d,)."""

    covariance: TableTruth
    moment: TableTruth
    mean: Array


def truths(prepared: PreparedTable, clipped: bool = True) -> TableTruths:
    """Return both matrices of a table's rows, without privacy, and the mean by which they differ.

    clipped: whether rows are clipped to the public bound and divided by it; else they are as encoded.
    """
    held, used = prepared.held, prepared.used
    rows = held.rows if clipped else held.encoded
    weighted = rows if held.weights is None else rows * held.weights
    moment = weighted.T @ weighted / prepared.n
    # The moment is over all n patients, of whom those left out are rows of zeros; mean and covariance are
    # over the patients who are used.
    mean = (weighted if held.weights is None else weighted * held.weights).sum(axis=0) / used
    covariance = moment * (prepared.n / used) - np.outer(mean, mean)
    matrices = (TableTruth(matrix, np.linalg.eigvalsh(matrix)[::-1]) for matrix in (covariance, moment))
    return TableTruths(*matrices, mean)


def divide_columns(answers: TableTruths, lengths: Array) -> TableTruths:
    """Return matrices and mean of the same rows, once their columns are divided by `lengths`, (d,).

    A release with a fitted bound is of such rows.
    """
    matrices = (answer.matrix / np.outer(lengths, lengths) for answer in answers[:2])
    scaled = (TableTruth(matrix, np.linalg.eigvalsh(matrix)[::-1]) for matrix in matrices)
    return TableTruths(*scaled, answers.mean / lengths)


def mean_cosine(answers: TableTruths, basis: Array) -> float:
    """Return |cos| of the angle between the first released component and the patients' mean.

    0 for rows whose mean is 0 to rounding.
    """
    length = float(np.linalg.norm(answers.mean))
    return abs(float(basis[:, 0] @ answers.mean)) / length if length > 1e-12 else 0.0


class ReleaseVerdict(NamedTuple):
    """Hold how good components are against the best, without privacy.

    error: ||sin Theta|| between them. guess: that of random components. energy: what they capture of the
    matrix, as a share of what the best do.
    """

    error: float
    guess: float
    energy: float


def verdict(truth: TableTruth, basis: Array) -> ReleaseVerdict:
    """Return how far a release, (d, k), is from the components of one of the two matrices."""
    d, k = basis.shape
    error = subspace_metrics.sin_theta(basis, linalg.top_eigenspace(truth.matrix, k))
    best = float(truth.eigenvalues[:k].sum())
    energy = subspace_metrics.captured_energy(basis, truth.matrix, best) if best > 0 else 0.0
    return ReleaseVerdict(error, subspace_metrics.random_guess(d, k), energy)


def verdict_on_scaling(held: Rows, answers: TableTruths, k: int, centred: bool) -> ReleaseVerdict:
    """Return how far PCA of rows of length 1 is from PCA of the same rows, both without privacy.

    Args:
        held: Rows x, (n, d).
        answers: The matrices of the same rows, with their mean m.
        k: The number of components.
        centred: Whether rows become (x - m)/|x - m|, as after a paid mean, or x/|x|.
    """
    scaled = unit_rows(held.rows - answers.mean if centred else held.rows)
    if held.weights is not None:
        scaled *= held.weights
    return verdict(answers.covariance, linalg.top_eigenspace(scaled.T @ scaled, k))


def label_columns(prepared: PreparedTable) -> list[str]:
    """List the columns that can colour patients: no features, with two to ten values."""
    cells = prepared.raw.table
    used = {column.name for column in prepared.schema.columns}
    free = [name for name in cells.column_names if name not in used]  # of joined tables also the hospital
    return [name for name in free if 2 <= pc.count_distinct(cells[name].drop_null()).as_py() <= MOST_LABELS]


def labelled_rows(raw: Raw, held: Rows, name: str | None) -> "pd.Series[str]":
    """Return the labels of the rows in `held`, indexed by their positions there.

    name: the column of labels; rows without one are left out. None gives every row the label "". Of more than
    MOST_POINTS rows so many are chosen at random, the same each time.
    """
    labels = pd.Series("", range(len(held.rows)))
    if name is not None:
        known = raw.table[name].to_pandas()[held.kept].reset_index(drop=True).dropna()
        labels = known.map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
    if len(labels) > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(labels), MOST_POINTS, replace=False)
        labels = labels.iloc[np.sort(chosen)]
    return labels
