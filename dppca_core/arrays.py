"""Array types, and the form in which methods get a hospital's patients: as a second moment, not as rows.

A provider is a hospital. A moment is (1/n) sum x x^T over its n rows x. An object that holds one may hold the
rows too, or a recipe that drew them (a population and a seed), or neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dppca_core import checks

Array = NDArray[np.float64]

Indices = NDArray[np.intp]


class UnitMoments(Protocol):
    """Give means over a provider's rows x scaled to length 1, which its second moment alone does not tell."""

    def unit(self) -> Moment:
        """Return the moment of the same patients' rows scaled to length 1; zero rows stay zero.

        Raises ValueError where there is neither a row nor a recipe that drew the rows.
        """

    def restricted_unit(self, columns: Indices) -> Moment:
        """Return the moment, (j, j), of the same rows restricted to j columns and then scaled to length 1.

        Raises ValueError where there is neither a row nor a recipe that drew the rows.
        """

    def normalised_product(self, block: Array, runs: int = 1) -> Array:
        """Return the mean of v q^T over the same patients, (d, k): v = x/|x|, q = Q^T x/|Q^T x|, Q the block.

        It is a step of block power in which every patient counts the same, whatever the length of x. v is 0
        where x is 0, and q is 0 where Q^T x is 0. A simulation may ask for several `runs` at once, whose Q,
        and whose means, stand side by side. Raises ValueError where there is neither a row nor a recipe
        that drew the rows.
        """


class Moment(UnitMoments, Protocol):
    """Hold a provider's uncentred second moment, (1/n) sum x x^T with |x| <= 1, shape (d, d)."""

    @property
    def exact(self) -> bool:
        """True for the moment of rows, drawn or given; False if it was drawn from a law close to theirs."""

    @property
    def features(self) -> int:
        """Number of features, d."""

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        """Return the matrix times `block`, shape (d, k), as a fresh array.

        With `rows`, `block` holds just those rows, (len(rows), k), of an otherwise zero (d, k) matrix.
        """

    def dense(self) -> Array:
        """Return the (d, d) matrix, read-only."""


@runtime_checkable
class Divisible(Protocol):
    """Hold a moment whose patients can be divided into groups, for a method that reads each only once."""

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        """Yield the moments of disjoint random groups of these sizes, which add up to n, one by one."""


@dataclass(frozen=True)
class Provider:
    """Hold one hospital: its number of patients and the second moment of their scaled rows.

    Attributes:
        n: Number of patients, at least 1.
        moment: Uncentred second moment (1/n) sum x x^T of the rows, scaled to norm at most 1, (d, d).

    Raises:
        ValueError: Unless n is a whole number of at least 1.
    """

    n: int
    moment: Moment

    def __post_init__(self) -> None:
        checks.whole(1, n=self.n)


# Above this many features no method forms a d x d matrix: 800 MB each, and eigenproblems hold three.
MATRIX_LIMIT = 10_000


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


# What a hospital hands in: clipped rows, each of which counts as one, or patients with all their rows.
Part = Array | PatientRows
