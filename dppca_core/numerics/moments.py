"""Second moments of a provider's rows, and the clipping that bounds them.

A provider is a hospital, a row x is a patient, d is the number of features, and the second moment of n rows X
is X^T X / n, (d, d). The classes differ in what they hold (the matrix, the rows, or other moments) and answer
alike: they are `dppca_core.arrays.Moment`s. A block is a few columns, (d, k), that a moment is multiplied by;
where it has few rows that are not zero, callers hand over just those and say which they are.

Rows are bounded by a public constant: each row x becomes x min(1, bound/|x|) / bound, so |x| <= 1
and replacing or adding one row moves the sum of x x^T by at most the sensitivities that each method
states.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from dppca_core import checks
from dppca_core.arrays import MATRIX_LIMIT, Array, Divisible, Indices, Moment, Provider, UnitMoments
from dppca_core.numerics import linalg
from dppca_core.numerics.unit_rows import normalised_product, unit_rows

# Rows are clipped in blocks of this many numbers, so that a wide table costs one copy of it and not four.
_BLOCK = 2**20
_FEW_NUMBERS = 2**17  # in a table up to which its rows scaled to length 1 are kept beside it, 1 MB
_NO_ROWS = (
    "moment must hold rows, or be drawn from a population, to be scaled to length 1: here is only its matrix"
)

_NO_BATCHES = "cohort must hold rows, or be drawn from a population, to be divided into batches"


def clip_rows(rows: Array, bound: float) -> Array:
    """Return every row scaled to norm at most `bound` and divided by `bound`, (n, d).

    No row leaves longer than 1, rounding included. Raises ValueError for a bound that is not positive,
    or rows that are empty or not finite.
    """
    checks.positive(bound=bound)
    checks.finite_matrix(rows=rows)
    clipped = np.empty(rows.shape)
    step = max(1, _BLOCK // rows.shape[1])
    for begin in range(0, len(rows), step):
        _clip(rows[begin : begin + step], bound, clipped[begin : begin + step])
    return clipped


def _clip(rows: Array, bound: float, clipped: Array) -> None:
    """Write the rows, (m, d), each shortened to norm `bound` and divided by it, into `clipped`."""
    # Divide by the largest entry first: squares of entries near 1e308 overflow, near 0 they vanish.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    np.divide(rows, np.where(largest > 0, largest, 1.0), out=clipped)
    length = np.linalg.norm(clipped, axis=1, keepdims=True)
    rounding = 1 + (rows.shape[1] + 4) * np.finfo(float).eps  # of a norm over d entries
    with np.errstate(over="ignore"):
        ratio = (largest / bound) * length * rounding
    clipped /= np.where(length > 0, length, 1.0) * rounding  # length 1, which only long rows keep
    np.divide(rows, bound, out=clipped, where=ratio <= 1)


class DelegatesToHeldRows:
    """Give a moment the methods that need rows scaled to length 1, by passing them on to `held_rows`.

    A second moment does not tell the rows behind it, so another object that holds them has to answer.
    """

    def held_rows(self) -> UnitMoments:
        """Return what holds the rows of the same patients. Raises ValueError where nothing does."""
        raise ValueError(_NO_ROWS)

    def unit(self) -> Moment:
        return self.held_rows().unit()

    def restricted_unit(self, columns: Indices) -> Moment:
        return self.held_rows().restricted_unit(columns)

    def normalised_product(self, block: Array, runs: int = 1) -> Array:
        return self.held_rows().normalised_product(block, runs)


@dataclass(frozen=True, eq=False)
class DenseMoment(DelegatesToHeldRows):
    """Hold a second moment as its (d, d) matrix, made read-only.

    The matrix is not checked: it must be finite, symmetric, and of rows of norm at most 1. exact: whether it
    is the moment of rows, and does not only come close to its law.
    """

    matrix: Array
    exact: bool = True

    def __post_init__(self) -> None:
        self.matrix.flags.writeable = False

    @property
    def features(self) -> int:
        return len(self.matrix)

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        if rows is None:
            return linalg.narrow_product(self.matrix.T, block)  # symmetric: best read in its own order
        product: Array = self.matrix.take(rows, axis=0).T.dot(block)  # rows are contiguous, columns are not
        return product

    def dense(self) -> Array:
        return self.matrix


@dataclass(frozen=True, eq=False)
class RowMoment:
    """Hold a second moment as its rows, (n, d), already clipped to norm 1.

    The d x d matrix is formed, once, only where products with it are cheaper, or where it is asked for.
    """

    rows: Array
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.rows.flags.writeable = False

    @property
    def features(self) -> int:
        return int(self.rows.shape[1])

    @property
    def tall(self) -> bool:
        """Return True where there are so many rows that products use the d x d matrix."""
        return _tall(len(self.rows), self.features)

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        """Return X^T X block / n, by the matrix where X is tall, else in 4ndk operations (see Moment).

        rows: the features, columns of X, that the rows of `block` are of; None where it has all.
        """
        if self.tall:
            return self._matrix.apply(block, rows)
        if rows is None:
            parts = (self.rows[piece] for piece in linalg.pieces(*self.rows.shape))
            product = linalg.gram_product(parts, block)
        else:
            part = self.rows.take(rows, axis=1)
            product = linalg.narrow_product(self.rows.T, linalg.narrow_product(part, block))
        product /= len(self.rows)
        return product

    def dense(self) -> Array:
        return self._matrix.dense()

    @cached_property
    def _matrix(self) -> DenseMoment:
        return DenseMoment((self.rows.T @ self.rows) / len(self.rows))

    def unit(self) -> Moment:
        return RowMoment(unit_rows(self.rows))

    def restricted_unit(self, columns: Indices) -> Moment:
        return RowMoment(unit_rows(self.rows[:, columns]))

    def normalised_product(self, block: Array, runs: int = 1) -> Array:
        units = self._few_units if self.rows.size <= _FEW_NUMBERS else unit_rows(self.rows)
        return normalised_product(units, block, runs)

    @cached_property
    def _few_units(self) -> Array:
        # Iterative methods ask in every round, so the scaled rows of a small table are kept. A large table is
        # scaled anew each time, as a second one would fill the memory.
        return unit_rows(self.rows)

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        return SumMoment((Provider(len(self.rows), self),)).batches(sizes, rng)


@dataclass(frozen=True, eq=False)
class ChosenRows(DelegatesToHeldRows):
    """Hold the second moment of some rows of several hospitals' tables, for one product.

    The rows are gathered from the tables piece by piece, and no d x d matrix is formed.
    """

    tables: tuple[Array, ...]
    chosen: tuple[Indices, ...]  # the indices of the rows, for each table
    exact: ClassVar[bool] = True

    @property
    def features(self) -> int:
        return int(self.tables[0].shape[1])

    @property
    def rows(self) -> Array:
        return np.concatenate(
            [table[indices] for table, indices in zip(self.tables, self.chosen, strict=True)]
        )

    def _parts(self) -> Iterator[Array]:
        """Yield the chosen rows in pieces, (m, d), each valid only until the next, which uses its memory."""
        buffer = np.empty((0, self.features))
        for table, indices in zip(self.tables, self.chosen, strict=True):
            for piece in linalg.pieces(len(indices), self.features):
                part = indices[piece]
                if len(buffer) < len(part):
                    buffer = np.empty((len(part), self.features))
                # The default mode, "raise", would copy the rows once more.
                yield table.take(part, axis=0, out=buffer[: len(part)], mode="clip")

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        full = block if rows is None else linalg.scatter_rows(block, rows, self.features)
        product = linalg.gram_product(self._parts(), full)
        product /= sum(map(len, self.chosen))
        return product

    def dense(self) -> Array:
        return RowMoment(self.rows).dense()

    def held_rows(self) -> UnitMoments:
        return RowMoment(self.rows)


@dataclass(frozen=True, eq=False)
class UnitMoment(DelegatesToHeldRows):
    """Hold the moment of the rows of `base` scaled to length 1, formed when first asked for.

    Methods that never ask for it do not pay for it.
    """

    base: Moment

    @property
    def features(self) -> int:
        return self.base.features

    @property
    def exact(self) -> bool:
        return self._moment.exact

    @cached_property
    def _moment(self) -> Moment:
        return self.base.unit()

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        return self._moment.apply(block, rows)

    def dense(self) -> Array:
        return self._moment.dense()

    def unit(self) -> Moment:
        """Return itself: its rows have length 1."""
        return self

    def held_rows(self) -> UnitMoments:
        """Return the moment of the unscaled rows: scaling them again changes nothing."""
        return self.base

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        if not isinstance(self.base, Divisible):
            raise ValueError(_NO_BATCHES)
        return map(UnitMoment, self.base.batches(sizes, rng))


@dataclass(frozen=True, eq=False)
class SumMoment:
    """Hold the moment of several providers' rows together: their mean, weighted by n_i or by `weights`."""

    providers: tuple[Provider, ...]
    weights: tuple[float, ...] | None = None

    @property
    def features(self) -> int:
        return self.providers[0].moment.features

    @property
    def exact(self) -> bool:
        return all(provider.moment.exact for provider in self.providers)

    def unit(self) -> Moment:
        members = (Provider(provider.n, provider.moment.unit()) for provider in self.providers)
        return SumMoment(tuple(members), self.weights)

    def restricted_unit(self, columns: Indices) -> Moment:
        members = (
            Provider(provider.n, provider.moment.restricted_unit(columns)) for provider in self.providers
        )
        return SumMoment(tuple(members), self.weights)

    def normalised_product(self, block: Array, runs: int = 1) -> Array:
        return self._mean(provider.moment.normalised_product(block, runs) for provider in self.providers)

    def _mean(self, parts: Iterable[Array]) -> Array:
        weights = self.weights or tuple(provider.n for provider in self.providers)
        total = np.zeros(())
        for weight, part in zip(weights, parts, strict=True):
            total = total + weight * part
        return total / sum(weights)

    @cached_property
    def tall(self) -> bool:
        """Return True where products use the pooled d x d matrix: for many rows, as in one table of all.

        It is also so where some hospital holds no rows, so that its matrix is there already.
        """
        tables = [provider.moment for provider in self.providers if isinstance(provider.moment, RowMoment)]
        return len(tables) < len(self.providers) or _tall(
            sum(len(table.rows) for table in tables), self.features
        )

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        if self.tall:
            return self._matrix.apply(block, rows)
        return self._mean(provider.moment.apply(block, rows) for provider in self.providers)

    def dense(self) -> Array:
        return self._matrix.dense()

    @cached_property
    def _matrix(self) -> DenseMoment:
        return DenseMoment(self._mean(map(_transient_matrix, self.providers)))

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        """Give moments, each for one product, of disjoint random rows, as many as `sizes` say, in turn.

        Raises ValueError where a provider has no rows to choose from, only their moment.
        """
        tables = [
            provider.moment.rows for provider in self.providers if isinstance(provider.moment, RowMoment)
        ]
        if len(tables) < len(self.providers):
            raise ValueError(_NO_BATCHES)
        # Assign all rows at random, numbered through the tables, and turn each group's numbers into indices
        # of the tables. Once a group is sorted, the rows of each table follow one another in it.
        ends = np.cumsum([len(table) for table in tables])
        order = rng.permutation(int(ends[-1]))
        for group in np.split(order, np.cumsum(sizes)[:-1]):
            batch = np.sort(group)
            borders = (0, *np.searchsorted(batch, ends))
            yield ChosenRows(
                tuple(tables),
                tuple(
                    batch[first:last] - begin
                    for begin, (first, last) in zip((0, *ends[:-1]), pairwise(borders), strict=True)
                ),
            )


def trace(moment: Moment) -> float:
    """Return the trace of a moment, the mean squared length of its rows; of rows without their matrix."""
    if isinstance(moment, RowMoment):
        return float(np.vdot(moment.rows, moment.rows)) / len(moment.rows)
    if isinstance(moment, SumMoment) and not moment.tall:
        weights = moment.weights or tuple(provider.n for provider in moment.providers)
        return float(np.average([trace(each.moment) for each in moment.providers], weights=weights))
    return float(moment.dense().trace())


def _tall(rows: int, features: int) -> bool:
    """Return True for n > d/2, where a product with the d x d matrix costs less than two with the n rows.

    Above MATRIX_LIMIT features no method forms the matrix, so it is False there.
    """
    return features <= MATRIX_LIMIT and 2 * rows > features


def _transient_matrix(provider: Provider) -> Array:
    """Return the provider's matrix, (d, d), for one use.

    A provider of few rows would keep that matrix in memory, and there may be many such providers: so a copy
    of its moment forms it, and is dropped afterwards.
    """
    moment = provider.moment
    if isinstance(moment, RowMoment) and not moment.tall:
        return RowMoment(moment.rows).dense()
    return moment.dense()
