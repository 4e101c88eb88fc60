"""Hold what hospitals' rows are released from: rows, patients with several, or exact sums of rows."""

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
    """Hold rows of n patients who can have several, (m, d), and what each is multiplied by, (m, 1).

    The squares of one patient's weights add up to 1 at most: 1/sqrt(the patient's rows) where rows are
    averaged, 1/sqrt(M) where at most M rows of each are kept. of_mean: 1/sqrt(the patient's rows) there too,
    for the mean, which patients with fewer rows would pull to 0.
    """

    rows: Array
    weights: Array
    n: int
    of_mean: Array | None = None


Part = Array | IntegerSum | PatientRows


def is_averaged(part: Part) -> bool:
    """Return whether patients count and not rows."""
    return isinstance(part, PatientRows) or (isinstance(part, IntegerSum) and part.averaged)


def patients(part: Part) -> int:
    """Return how many rows a hospital has."""
    return len(part) if isinstance(part, np.ndarray) else part.n


def columns(part: Part) -> int:
    """Return how many columns they have. Raises ValueError for what is no matrix."""
    matrix = part.total if isinstance(part, IntegerSum) else matrix_of(part)
    if matrix.ndim != 2:
        raise ValueError(f"rows must be a matrix, got shape {matrix.shape}")
    return int(matrix.shape[1])


def sum_rows(parts: Sequence[Part], d: int) -> IntegerSum:
    """Return the exact sum of all rows of these hospitals. Reads private rows."""
    adder = discrete_gaussian.Adder(d, bits_of(parts))
    for part in parts:
        if isinstance(part, PatientRows):
            adder.add(part.rows, part.weights)
        else:
            adder.add(part)
    return adder.sum._replace(n=sum(map(patients, parts)))


def matrix_of(part: Array | PatientRows) -> Array:
    """Return a hospital's rows, (m, d)."""
    return part.rows if isinstance(part, PatientRows) else part


def check(parts: Sequence[Part], averaged: bool) -> None:
    """Raise ValueError for rows that are longer than 1, or whose patients do not count as it is said."""
    for part in parts:
        if not isinstance(part, IntegerSum):
            discrete_gaussian.check_clipped(matrix_of(part))
        if is_averaged(part) != averaged:
            raise ValueError("rows must come with their patients exactly where these are averaged")


def bits_of(parts: Sequence[Part]) -> int:
    """Return the bits of rounding that leave room for all patients: their rows, whose number is not public,
    count as one each (`Adder.add`).
    """
    first = parts[0]
    return (
        first.bits if isinstance(first, IntegerSum) else discrete_gaussian.bits_for(sum(map(patients, parts)))
    )


def reader(rows: Sequence[Part]) -> Reader:
    """Return what hands over rows that are held."""

    def read(use: Use, progress: Progress, of_mean: bool = False) -> None:
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


def changed(
    rows: Sequence[Part], read: Reader | None, change: Callable[[Array], Array]
) -> tuple[Sequence[Part], Reader | None]:
    """Return rows changed one by one, or what hands them over; a row that was left out stays zero."""

    def about(part: Array) -> Array:
        return paid_centre.empty_rows_kept(change(part), part)

    if read is None:
        held = (part for part in rows if not isinstance(part, IntegerSum))
        return [
            part._replace(rows=about(part.rows)) if isinstance(part, PatientRows) else about(part)
            for part in held
        ], None

    def read_about(use: Use, progress: Progress, of_mean: bool = False) -> None:
        read(lambda i, part, weights: use(i, about(part), weights), progress, of_mean)

    return rows, read_about


def moment_of(part: Part) -> Moment:
    """Return the mean of x x^T over a hospital's patients, (d, d). Reads private rows."""
    if isinstance(part, IntegerSum):
        return moments.DenseMoment(part.total / (4.0**part.bits * part.n))
    if isinstance(part, PatientRows):  # the mean over patients, not over rows
        return moments.RowMoment(part.rows * part.weights * math.sqrt(len(part.rows) / part.n))
    return moments.RowMoment(part.copy())
