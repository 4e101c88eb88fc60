"""Populations that somebody states: by a list of eigenvalues, or by a table of correlations.

Both are public, from a paper or a guess, and never computed here from anybody's patients. `stated_text`
reads either from text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics import linalg
from dppca_core.populations.elliptical import VECTORS, EllipticalModel
from dppca_core.populations.spiked import eigenvectors, uniform_bulk

MOST_CORRELATED = 200  # features of a table of correlations
ROUNDING = 0.01  # sqrt(d) times this may an eigenvalue be below 0: entries rounded to two decimals
_GAP = 1e-9  # times the largest eigenvalue: what is closer counts as equal


@dataclass(frozen=True)
class StatedEigenvalues(EllipticalModel):
    """Hold the recipe of a population with stated eigenvalues; the same recipe is the same population.

    The eigenvectors are those of a `SpikedModel`: the first k on s random features, the others dense.

    Attributes:
        d: Number of features.
        k: Number of components.
        s: Number of features that the components use.
        values: The leading eigenvalues, descending, at least k and at most d, in the units of the data
            squared.
        bulk: Limits (low, high) of the others, which are uniform between them.
        seed: Seed of the eigenvectors and of the eigenvalues that are not stated.
        tails: Degrees of freedom of Student's t, above 2, of which all rows have the tails; None for Gaussian
            rows.

    Raises:
        ValueError: For numbers out of range, or where the k-th and the next eigenvalue are equal.
    """

    d: int
    k: int
    s: int
    values: tuple[float, ...]
    bulk: tuple[float, float] = (0.0, 0.0)
    seed: int = 0
    tails: float | None = None

    def __post_init__(self) -> None:
        checks.whole(2, d=self.d)
        checks.whole(1, self.d - 1, k=self.k)
        checks.whole(self.k, self.d, s=self.s)
        checks.whole(0, seed=self.seed)
        if not isinstance(self.values, tuple) or not self.k <= len(self.values) <= self.d:
            raise ValueError(f"values must be a tuple of k = {self.k} to d = {self.d} numbers")
        for value in self.values:
            checks.within(0.0, 1e100, value=value)
        checks.within(1e-100, 1e100, **{"value k": self.values[self.k - 1]})
        if list(self.values) != sorted(self.values, reverse=True):
            raise ValueError("values must be descending")
        if not isinstance(self.bulk, tuple) or len(self.bulk) != 2:
            raise ValueError(f"bulk must be a pair (low, high), got {checks.shown(self.bulk)}")
        if not 0 <= self.bulk[0] <= self.bulk[1] <= self.values[-1]:
            raise ValueError(
                f"bulk must satisfy 0 <= low <= high <= the last value, got {checks.shown(self.bulk)}"
            )
        _check_gap(self.eigenvalues, self.k)
        self._check_tails()

    @property
    def eigenvalues(self) -> Array:
        """Return all d eigenvalues of the covariance, descending, in the units of the data squared."""
        rest = uniform_bulk(self.bulk, self.d - len(self.values), self.seed)
        return np.concatenate([np.array(self.values, dtype=np.float64), rest])

    @property
    def vectors(self) -> Array:
        """Return the covariance's eigenvectors as columns, (d, d), read-only."""
        return eigenvectors(self.d, self.k, self.s, self.seed)


@dataclass(frozen=True)
class StatedCorrelations(EllipticalModel):
    """Hold the recipe of a population whose features have mean 0, variance 1 and stated correlations.

    Where a table that was rounded has eigenvalues below 0, these count as 0, and its variances may be a
    little off 1. The components are the leading eigenvectors, by an eigendecomposition.

    Attributes:
        correlations: Those below the diagonal, row by row: of features 2 and 1, 3 and 1, 3 and 2, ...
        k: Number of components.
        seed: Seed that a recipe carries for its draws; the population does not depend on it.
        tails: Degrees of freedom of Student's t, above 2, of which all rows have the tails; None for Gaussian
            rows.
        d: Number of features, which follows from the correlations.
        s: Number of features that the components use: all.

    Raises:
        ValueError: For correlations that no table has, or where the k-th and the next eigenvalue are equal.
    """

    correlations: tuple[float, ...]
    k: int
    seed: int = 0
    tails: float | None = None
    d: int = field(init=False)
    s: int = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.correlations)
        d = (1 + math.isqrt(1 + 8 * count)) // 2
        if not isinstance(self.correlations, tuple) or d < 2 or d * (d - 1) // 2 != count:
            raise ValueError(f"correlations must be a tuple of d (d - 1)/2 numbers, got {count}")
        checks.whole(2, MOST_CORRELATED, d=d)
        # The only way to fill in fields of a frozen dataclass.
        object.__setattr__(self, "d", d)
        object.__setattr__(self, "s", d)
        for value in self.correlations:
            checks.within(-1.0, 1.0, correlation=value)
        checks.whole(1, d - 1, k=self.k)
        checks.whole(0, seed=self.seed)
        least = float(np.linalg.eigvalsh(self._table())[0])
        if least < -ROUNDING * math.sqrt(d):
            raise ValueError(
                f"correlations must have no negative eigenvalue, got {least:.3g} beyond rounding"
            )
        _check_gap(self.eigenvalues, self.k)
        self._check_tails()

    def __hash__(self) -> int:
        return self._hash

    @cached_property  # of thousands of numbers, and asked for by every cache
    def _hash(self) -> int:
        return hash((self.correlations, self.k, self.seed, self.tails))

    @property
    def eigenvalues(self) -> Array:
        """Return all d eigenvalues of the covariance, descending, without unit."""
        values: Array = self._decomposed[0]
        return values

    @property
    def vectors(self) -> Array:
        """Return the covariance's eigenvectors as columns, (d, d), read-only."""
        return self._decomposed[1:]

    @property
    def _decomposed(self) -> Array:
        """Return the eigenvalues above the eigenvectors, (1 + d, d), read-only, from a cache."""
        key = ("stated correlations", self.correlations)
        both: Array = VECTORS.get(key, self._new_decomposition, size=8 * self.d**2)
        return both

    def _new_decomposition(self) -> Array:
        values, vectors = np.linalg.eigh(self._table())
        both: Array = np.vstack([np.maximum(values, 0.0), linalg.oriented(vectors)])[:, ::-1].copy()
        both.flags.writeable = False
        return both

    def _table(self) -> Array:
        table = np.eye(self.d)
        table[np.tril_indices(self.d, -1)] = self.correlations
        lower = np.tril(table, -1)
        return np.asarray(np.eye(self.d) + lower + lower.T)


def _check_gap(eigenvalues: Array, k: int) -> None:
    if k not in components_with_gap(eigenvalues):
        raise ValueError(f"eigenvalues {k} and {k + 1} must differ, or the components are not determined")


def components_with_gap(eigenvalues: Array) -> tuple[int, ...]:
    """Return the numbers of components k, from 1 to d - 1, at which the next eigenvalue is smaller.

    Only there the leading k components span one space. eigenvalues: (d,), descending.
    """
    falls = eigenvalues[:-1] - eigenvalues[1:] > _GAP * eigenvalues[0]
    return tuple((np.flatnonzero(falls) + 1).tolist())
