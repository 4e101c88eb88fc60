"""Arrays, and what of a hospital's patients travels: moments and the providers that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dppca_core import checks

Array = NDArray[np.float64]

Indices = NDArray[np.intp]


class Moment(Protocol):
    """A provider's uncentred second moment, (1/n) sum x x^T with |x| <= 1, shape (d, d)."""

    @property
    def exact(self) -> bool:
        """True for the moment of rows, drawn or given; False where it only comes close to their law."""

    @property
    def features(self) -> int:
        """d."""

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        """The product with `block`, shape (d, k), as a fresh array.

        With `rows`, `block` holds just those rows of an otherwise zero (d, k) matrix.
        """

    def dense(self) -> Array:
        """The (d, d) matrix, read-only."""

    def unit(self) -> Moment:
        """Return the moment of the same patients' rows scaled to length 1; zero rows stay zero.

        Raises ValueError where there is neither a row nor a recipe that drew the rows.
        """

    def restricted_unit(self, columns: Indices) -> Moment:
        """Return the moment, (j, j), of the same rows restricted to these j columns and scaled to length 1.

        Raises ValueError where there is neither a row nor a recipe that drew the rows.
        """

    def normalised_product(self, block: Array) -> Array:
        """Return the mean of v q^T over the same patients, (d, k): v = x/|x|, q = Q^T x/|Q^T x|, Q the block.

        v is 0 for a zero row, and q where Q^T x is. Raises ValueError where there is neither a row nor a
        recipe that drew the rows.
        """


@runtime_checkable
class Divisible(Protocol):
    """A moment of which patients can be told apart."""

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        """Moments of disjoint random groups of these sizes, in turn; all sizes add up to n."""


@dataclass(frozen=True)
class Provider:
    """One hospital: n patients and the second moment of their rows (scaled to norm at most 1)."""

    n: int
    moment: Moment

    def __post_init__(self) -> None:
        checks.whole(1, n=self.n)


# Above this many features no method forms a d x d matrix: 800 MB each, and eigenproblems hold three.
MATRIX_LIMIT = 10_000
