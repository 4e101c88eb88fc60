"""Second moments of a provider's rows, and the clipping that bounds them.

Rows are bounded by a public constant: each row x becomes x min(1, bound/|x|) / bound, so |x| <= 1
and replacing or adding one row moves the sum of x x^T by at most the sensitivities that each method
states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dppca_core import checks
from dppca_core.types import Array, Cohort, Indices, Moment, Provider


def clip_rows(rows: Array, bound: float) -> Array:
    """Every row scaled to norm at most `bound` and divided by `bound`, shape (n, d).

    No row leaves longer than 1, rounding included. Raises ValueError for a bound that is not positive,
    or rows that are empty or not finite.
    """
    checks.positive(bound=bound)
    checks.finite_matrix(rows=rows)
    # Norms through the largest entry, so that rows near 1e308, or near 0, neither overflow nor vanish.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    direction = rows / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(direction, axis=1, keepdims=True)
    rounding = 1 + (rows.shape[1] + 4) * np.finfo(float).eps  # of a norm over d entries
    with np.errstate(over="ignore"):
        ratio = (largest / bound) * length * rounding
    clipped: Array = direction / (np.where(length > 0, length, 1.0) * rounding)
    np.divide(rows, bound, out=clipped, where=ratio <= 1)
    return clipped


@dataclass(frozen=True, eq=False)
class DenseMoment:
    """A second moment held as its (d, d) matrix, made read-only."""

    matrix: Array

    def __post_init__(self) -> None:
        self.matrix.flags.writeable = False

    @property
    def features(self) -> int:
        """d."""
        return len(self.matrix)

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        """Product with `block` (see Moment); with `rows`, only those rows of the matrix are read."""
        if rows is None:
            return self.matrix @ block
        return self.matrix.take(rows, axis=0).T @ block  # symmetric: rows are contiguous, columns are not

    def dense(self) -> Array:
        """The (d, d) matrix, read-only."""
        return self.matrix


@dataclass(frozen=True, eq=False)
class RowMoment:
    """A second moment held as its rows, (n, d), already clipped: never forms d x d unless asked."""

    rows: Array

    def __post_init__(self) -> None:
        self.rows.flags.writeable = False

    @property
    def features(self) -> int:
        """d."""
        return int(self.rows.shape[1])

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        """X^T (X block) / n in 4ndk operations (see Moment)."""
        part = self.rows if rows is None else self.rows.take(rows, axis=1)
        return (self.rows.T @ (part @ block)) / len(self.rows)

    def dense(self) -> Array:
        """X^T X / n, (d, d)."""
        return (self.rows.T @ self.rows) / len(self.rows)


@dataclass(frozen=True, eq=False)
class SumMoment:
    """The moment of several providers' rows together: sum of n_i/n times each moment."""

    providers: tuple[Provider, ...]

    @property
    def features(self) -> int:
        """d."""
        return self.providers[0].moment.features

    def _mean(self, parts: Sequence[Array]) -> Array:
        weights = np.array([provider.n for provider in self.providers], dtype=float)
        total = parts[0] * weights[0]
        for weight, part in zip(weights[1:], parts[1:], strict=True):
            total += weight * part
        mean: Array = total / weights.sum()
        return mean

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        """Weighted mean of the providers' products (see Moment)."""
        return self._mean([provider.moment.apply(block, rows) for provider in self.providers])

    def dense(self) -> Array:
        """Weighted mean of the providers' matrices, (d, d)."""
        return self._mean([provider.moment.dense() for provider in self.providers])


def of_rows(rows: Array) -> Moment:
    """The cheaper of the two forms: a matrix when n > d/2, else the rows themselves."""
    n, d = rows.shape
    return DenseMoment((rows.T @ rows) / n) if n > d / 2 else RowMoment(rows)


def cohort_from_rows(rows: Sequence[Array], bound: float) -> Cohort:
    """See `Cohort.from_rows`."""
    if not rows:
        raise ValueError("rows must hold at least one provider, got none")
    clipped = [clip_rows(np.asarray(part, dtype=float), bound) for part in rows]
    widths = {part.shape[1] for part in clipped}
    if len(widths) > 1:
        raise ValueError(f"rows must share the same columns, got {sorted(widths)}")
    providers = tuple(Provider(len(part), of_rows(part)) for part in clipped)
    summed = SumMoment(providers)
    all_dense = all(isinstance(provider.moment, DenseMoment) for provider in providers)
    pooled: Moment = DenseMoment(summed.dense()) if all_dense else summed
    return Cohort(providers, pooled, bound)
