"""Hold what hospitals' rows are released from: rows, patients with several, or exact sums of rows.

Each hospital hands in one `Part`: a matrix of clipped rows, each of which counts as one; `PatientRows`, where
a column names the patients, so that all rows of one together count as one; or an `IntegerSum`, of a table
too large to hold.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array, Moment
from dppca_core.mechanisms import paid_centre
from dppca_core.numerics import linalg, moments
from dppca_core.release import discrete_gaussian
from dppca_core.release.discrete_gaussian import IntegerSum, Progress, StoppedError
from dppca_core.release.exact_stages import Reader, Use


class PatientRows(NamedTuple):
    """Hold one hospital's rows of n patients who can have several: rows, (m, d), and their weights, (m, 1).

    A row is multiplied by its weight, and the squares of one patient's weights add up to 1 at most:
    1/sqrt(the patient's rows) where rows are averaged, 1/sqrt(M) where at most M rows of each patient are
    kept. of_mean: weights for the mean in that second case, 1/sqrt(the patient's rows); with 1/sqrt(M)
    patients who have fewer than M rows would pull the mean to 0. None: the mean takes the same weights.
    """

    rows: Array
    weights: Array
    n: int
    of_mean: Array | None = None


Part = Array | IntegerSum | PatientRows


def is_averaged(part: Part) -> bool:
    """Return whether n counts patients, each with all their rows, and not rows."""
    return isinstance(part, PatientRows) or (isinstance(part, IntegerSum) and part.averaged)


def patients(part: Part) -> int:
    """Return a hospital's n: how many rows or, where rows are averaged, how many patients it has."""
    return len(part) if isinstance(part, np.ndarray) else part.n


def columns(part: Part) -> int:
    """Return how many columns a hospital's rows have. Raises ValueError for what is no matrix."""
    matrix = part.total if isinstance(part, IntegerSum) else matrix_of(part)
    if matrix.ndim != 2:
        raise ValueError(f"rows must be a matrix, got shape {matrix.shape}")
    return int(matrix.shape[1])


def sum_rows(parts: Sequence[Part], d: int) -> IntegerSum:
    """Return the exact sum of x x^T over all rows of these hospitals, (d, d). Reads private rows."""
    adder = discrete_gaussian.Adder(d, bits_of(parts))
    for part in parts:
        if isinstance(part, PatientRows):
            adder.add(part.rows, part.weights)
        else:
            adder.add(part)
    # The adder counts squared weights, of which a patient can have less than 1; n is the public number.
    return adder.sum._replace(n=sum(map(patients, parts)))


def matrix_of(part: Array | PatientRows) -> Array:
    """Return a hospital's rows, (m, d)."""
    return part.rows if isinstance(part, PatientRows) else part


def check(parts: Sequence[Part], averaged: bool) -> None:
    """Raise ValueError for rows longer than 1, and for parts that count patients where `averaged` is False.

    Parts that count rows where it is True are refused as well.
    """
    for part in parts:
        if not isinstance(part, IntegerSum):
            discrete_gaussian.check_clipped(matrix_of(part))
        if is_averaged(part) != averaged:
            raise ValueError("rows must come with their patients exactly where these are averaged")


def bits_of(parts: Sequence[Part]) -> int:
    """Return the number of bits to which entries are rounded, so that sums over all hospitals stay exact.

    It follows from the number of patients, and not from that of all their rows, which is not public: a
    patient's rows together take no more room than one (`Adder.add`).
    """
    first = parts[0]
    return (
        first.bits if isinstance(first, IntegerSum) else discrete_gaussian.bits_for(sum(map(patients, parts)))
    )


def reader(rows: Sequence[Part]) -> Reader:
    """Return a function that hands over rows that are held in memory, as `Reader` says."""

    def read(use: Use, progress: Progress, of_mean: bool = False) -> None:
        """Hand over each hospital's rows piece by piece, with their weights in a mean or a second moment."""
        for hospital, part in enumerate(rows):
            assert not isinstance(part, IntegerSum)  # `private_release.make` refuses it
            matrix, weights = matrix_of(part), None
            if isinstance(part, PatientRows):
                weights = part.of_mean if of_mean and part.of_mean is not None else part.weights
            for piece in linalg.pieces(*matrix.shape):
                use(hospital, matrix[piece], 1.0 if weights is None else weights[piece])
            if not progress((hospital + 1) / len(rows)):
                raise StoppedError

    return read


def with_changed_rows(
    rows: Sequence[Part], read: Reader | None, change: Callable[[Array], Array]
) -> tuple[Sequence[Part], Reader | None]:
    """Return the rows and their reader after each row was changed by itself, as by centring or scaling.

    change: takes rows, (m, d), and returns as many changed ones. Rows that are held are changed now. Where a
    reader is given, `rows` are sums and stay, and the reader that is returned changes what it hands over. A
    row of zeros stays one, since it stands for a patient who was left out for a missing cell.
    """

    def apply(part: Array) -> Array:
        """Return rows, (m, d), after `change`, but those of zeros as they were."""
        return paid_centre.empty_rows_kept(change(part), part)

    if read is None:
        held = (part for part in rows if not isinstance(part, IntegerSum))  # all: sums come with a reader
        return [
            part._replace(rows=apply(part.rows)) if isinstance(part, PatientRows) else apply(part)
            for part in held
        ], None

    def read_changed(use: Use, progress: Progress, of_mean: bool = False) -> None:
        """Hand over the rows that `read` does, after `change`."""
        read(lambda i, part, weights: use(i, apply(part), weights), progress, of_mean)

    return rows, read_changed


def moment_of(part: Part) -> Moment:
    """Return the mean of x x^T over a hospital's patients, (d, d). Reads private rows."""
    if isinstance(part, IntegerSum):
        return moments.DenseMoment(part.total / (4.0**part.bits * part.n))
    if isinstance(part, PatientRows):  # RowMoment divides by the m rows: scale for the mean over n patients
        return moments.RowMoment(part.rows * part.weights * math.sqrt(len(part.rows) / part.n))
    return moments.RowMoment(part.copy())  # a copy, since RowMoment makes its array read-only
