"""Hold drawn second moments and the patients behind them, whose rows tell what a moment does not.

A simulation draws hospitals' second moments directly, at a cost without n. Some methods also need the same
patients' rows, scaled to length 1 for example. Such rows are drawn here afterwards, given the moment.

Up to 2,000 patients, and up to 10 d, they are the patients themselves: rows with exactly the drawn moment, of
the law of the patients given it. Of more patients m = max(10 d, 1000) stand in for all: their moment deviates
from the population's in the same direction by sqrt(n/m) times as much, and every mean over them is brought
back,

    E + sqrt(m/n) (mean over the m rows - E),

E being the population's (`dppca_core.numerics.unit_rows`). That is right in mean and covariance, for all
that is asked of the same patients together, and costs nothing that grows with n. It is not exact in law.
`benchmarks.patients` compares the sin^2 of what methods find with rows drawn one by one. At n d^2 = 2e8 it
saw no difference for errors from .01 to .16 (ratios .98 to 1.03, 95 % intervals of 3 to 8 %). At d = 400 and
d = 1000, up to n d^2 = 1e11, fewer runs leave intervals of 5 to 20 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from dppca_core.arrays import Array, Indices, Moment
from dppca_core.byte_cache import ByteCache
from dppca_core.numerics import linalg, unit_rows, wishart
from dppca_core.numerics.moments import DelegatesToHeldRows, DenseMoment

# Rows of patients, of one draw at d = 1000; the newest is kept also where it is larger, as at d = 2000.
SAMPLES = ByteCache(96 * 2**20, largest=320 * 2**20)
_EXACT = 2000  # patients up to which each has a row: fewer rows would be quicker, but for the integral of E


def rows_drawn(n: int, d: int) -> int:
    """Return how many rows are drawn for n patients with d features; fewer than n stand in for all."""
    return n if n <= _EXACT else min(n, max(10 * d, 1000))


@dataclass(frozen=True, eq=False)
class GaussianPatients:
    """Hold the recipe of some patients' rows, of a Gaussian population, given their second moment.

    Attributes:
        root: Returns U diag(sqrt lambda) of their population, (d, d), which is too large to be held here.
        n: How many patients they are.
        bound: The public bound that their rows are divided by.
        seed: Seed of the rows given the moment, so that whatever is asked for is of the same rows.
    """

    root: Callable[[], Array]
    n: int
    bound: float
    seed: np.random.SeedSequence

    def part(self, n: int, seed: np.random.SeedSequence) -> GaussianPatients:
        """Return the recipe for n patients of the same population, as one hospital has them."""
        return replace(self, n=n, seed=seed)

    @cached_property
    def lengths(self) -> Array:
        """Return the square roots of the population's eigenvalues, (d,), in the units of the data."""
        # The columns of the root are the eigenvectors times the square roots of the eigenvalues.
        lengths: Array = np.linalg.norm(self.root(), axis=0)
        return lengths

    @property
    def inverse_lengths(self) -> Array:
        """Return 1 over `lengths`, (d,), 0 where an eigenvalue is 0."""
        return np.divide(1.0, self.lengths, out=np.zeros_like(self.lengths), where=self.lengths > 0)

    def rows(self, moment: Array) -> Array:
        """Return the patients' rows scaled to length 1, (m, d) with m = `rows_drawn`.

        moment: their second moment, (d, d), divided by bound^2.
        """
        count = rows_drawn(self.n, len(moment))
        return SAMPLES.get(self, lambda: self._draw(moment, count), size=8 * count * len(moment))

    def _draw(self, moment: Array, count: int) -> Array:
        """Draw `count` rows given the moment, and scale them to length 1; fewer than n stand in for all."""
        axes = self.root() * self.inverse_lengths
        turned = (axes.T @ moment @ axes) * self.bound**2  # in the eigenbasis, in the units of the data
        # Fewer patients deviate more from their population, by sqrt(n/count).
        if count < self.n:
            turned -= np.diag(self.lengths**2)
            turned *= math.sqrt(self.n / count)
            turned += np.diag(self.lengths**2)
        rng = np.random.default_rng(self.seed)
        rows = unit_rows.draw_rows_given_moment(turned, count, rng, axes)
        return unit_rows.unit_rows(rows, out=rows)

    def deviation_factor(self, rows: Array) -> float:
        """Return sqrt(m/n), by which deviations of m rows from the population become those of n."""
        return math.sqrt(len(rows) / self.n)


class PatientsGiven(NamedTuple):
    """Hold patients together with their own second moment, (d, d), so that their rows can be drawn.

    It gives what is asked of rows scaled to length 1. Where m rows stand in for n, means over them are
    brought back towards the population's by the module's formula.
    """

    patients: GaussianPatients
    matrix: Array

    @property
    def rows(self) -> Array:
        """Return the patients' rows scaled to length 1, (m, d), as `GaussianPatients.rows` does."""
        return self.patients.rows(self.matrix)

    def unit(self) -> DenseMoment:
        rows = self.rows
        mean = (rows.T @ rows) / len(rows)
        if len(rows) < self.patients.n:  # the rows stand in for more: bring their mean back
            mean *= self.patients.deviation_factor(rows)
            axes = self.patients.root() * self.patients.inverse_lengths
            expected = unit_rows.expected_unit_eigenvalues(self.patients.lengths**2)
            mean += (1 - self.patients.deviation_factor(rows)) * ((axes * expected) @ axes.T)
        return self._moment(mean, rows)

    def restricted_unit(self, columns: Indices) -> DenseMoment:
        rows = self.rows
        part = rows[:, columns]  # scaled in place, since choosing columns has copied them
        part = unit_rows.unit_rows(part, out=part)
        mean = (part.T @ part) / len(part)
        if len(rows) < self.patients.n:  # the rows stand in for more: bring their mean back
            root = self.patients.root()[columns]
            part_values, part_axes = np.linalg.eigh(root @ root.T)
            expected = unit_rows.expected_unit_eigenvalues(np.maximum(part_values, 0.0))
            mean *= self.patients.deviation_factor(rows)
            mean += (1 - self.patients.deviation_factor(rows)) * ((part_axes * expected) @ part_axes.T)
        return self._moment(mean, rows)

    def normalised_product(self, block: Array, runs: int = 1) -> Array:
        """Return the mean of v q^T, (d, k), over their rows: v = x/|x|, q = Q^T x/|Q^T x|, Q the block."""
        rows = self.rows
        mean = unit_rows.normalised_product(rows, block, runs)
        if len(rows) < self.patients.n:  # the rows stand in for more: bring their mean back
            mean *= self.patients.deviation_factor(rows)
            root, inverse = self.patients.root(), self.patients.inverse_lengths[:, None]
            in_eigenbasis = inverse * (root.T @ block)
            expected = unit_rows.expected_normalised_product(self.patients.lengths**2, in_eigenbasis, runs)
            mean += (1 - self.patients.deviation_factor(rows)) * (root @ (inverse * expected))
        return mean

    def _moment(self, matrix: Array, rows: Array) -> DenseMoment:
        """Return the matrix as a symmetric moment, which is exact where no row stands in for others."""
        return DenseMoment((matrix + matrix.T) / 2, exact=len(rows) == self.patients.n)


@dataclass(frozen=True, eq=False)
class DrawnMoment(DenseMoment):
    """Hold the moment of patients drawn from a population, of whom fresh ones can be drawn as well."""

    patients: GaussianPatients = field(kw_only=True)

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        """Return moments of fresh patients, one for each of these sizes, instead of dividing the n patients.

        These are other patients than those of the matrix. For a method that uses every patient once this has
        exactly the same law over draws of patients, and a product costs d^2 k, whatever the size.
        """
        return (FreshMoment(self.patients.root(), self.patients.bound, size, rng) for size in sizes)

    def held_rows(self) -> PatientsGiven:
        return PatientsGiven(self.patients, self.matrix)


@dataclass(frozen=True, eq=False)
class DrawnPart(DelegatesToHeldRows):
    """Hold the second moment of one hospital's part of drawn patients.

    split: draws all hospitals' moments when first asked for. index: the hospital in it. patients: the recipe
    of the hospital's rows.
    """

    split: wishart.Split
    index: int
    patients: GaussianPatients
    exact: ClassVar[bool] = True

    @property
    def features(self) -> int:
        return len(self.split.factor)

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        matrix = self.dense()  # symmetric: its rows, transposed, are its columns
        return matrix @ block if rows is None else matrix[rows].T @ block

    def dense(self) -> Array:
        return self.split.part(self.index)

    def held_rows(self) -> PatientsGiven:
        return PatientsGiven(self.patients, self.dense())


@dataclass(frozen=True, eq=False)
class FreshMoment(DelegatesToHeldRows):
    """Hold the recipe of the second moment of n fresh patients, good for one product.

    Each call of `apply` or `dense` draws other patients. bound: what their rows are divided by.
    """

    root: Array  # any R with R R^T the population's covariance, (d, d)
    bound: float
    n: int
    rng: np.random.Generator
    exact: ClassVar[bool] = True

    @property
    def features(self) -> int:
        return len(self.root)

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        """Return S Q with n S ~ Wishart(n, root root^T)/bound^2, exactly, for a fixed Q (see Moment).

        It is S Q = root Y R / (n bound^2), where root^T Q = P R with P orthonormal, and
        Y = P L L^T + (I - P P^T) N L^T, where L L^T ~ Wishart_k(n, I) by Bartlett and N is i.i.d. standard
        normal, (d, k).
        """
        across = self.root if rows is None else self.root[rows]
        directions, upper = np.linalg.qr(linalg.narrow_product(across.T, block))
        factor = wishart.wishart_factor(self.n, directions.shape[1], self.rng)
        normal = self.rng.standard_normal((self.features, factor.shape[1]))
        # What is left of N is orthogonal to P: (I - P P^T) N.
        normal -= directions @ (directions.T @ normal)
        mixed = (directions @ factor + normal) @ (factor.T @ upper)
        product = linalg.narrow_product(self.root, mixed)
        product /= self.n * self.bound**2
        return product

    def dense(self) -> Array:
        """Return the (d, d) matrix of yet other patients."""
        half = self.root @ wishart.wishart_factor(self.n, self.features, self.rng)
        return np.asarray(half @ half.T / (self.n * self.bound**2))

    def held_rows(self) -> PatientsGiven:
        """Return fresh patients with a moment of their own, whose rows are drawn when they are needed."""
        patients = GaussianPatients(lambda: self.root, self.n, self.bound, seed_of(self.rng, 0))
        return PatientsGiven(patients, self.dense())


def seed_of(rng: np.random.Generator, index: int) -> np.random.SeedSequence:
    """Return a seed that depends on how a generator was seeded and on `index` alone.

    It stays the same however many numbers were drawn from the generator, so that what is drawn later still
    belongs to the same patients.
    """
    sequence = rng.bit_generator.seed_seq
    assert isinstance(sequence, np.random.SeedSequence)
    return np.random.SeedSequence(sequence.entropy, spawn_key=(*sequence.spawn_key, index))
