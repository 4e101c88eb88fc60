"""Rows with heavy tails, those of Student's t, whose directions are those of Gaussian rows.

A row is x = sqrt(w) L z with w = (nu - 2)/chi2_nu, z standard normal and L L^T = Sigma: nu > 2 degrees of
freedom, and covariance Sigma, since E w = 1. Its direction v = x/|x| does not depend on w, so that rows of
length 1 are those of Gaussian patients. Given v,

    |x|^2 = w chi2_r/(v^T Sigma^+ v),  r the rank of Sigma and w independent of chi2_r,

since a Gaussian row L z = rho v has a density along v of rho^(r - 1) exp(-rho^2 v^T Sigma^+ v/2).

A bound that no row exceeds would grow with n as n^(1/nu), so rows are clipped to CLIP_IN_RMS root mean square
lengths, public for a public covariance. The second moment of rows clipped to B and divided by it is

    (1/n) sum_i t_i v_i v_i^T,  t_i = min(|x_i|^2/B^2, 1),

a mean over rows of length 1, which `gaussian_patients` draws. Up to 2,000 patients, and up to 10 d, these are
the patients themselves, and the moment is exact in law. Of more, m rows stand in for all, and their mean is
brought back towards the population's, E + sqrt(m/n) (mean - E), which is right in mean and covariance. As
t_i <= 1, the terms are bounded, and both this and the true moment become Gaussian as m grows. A mean between
E and a moment, it has no negative eigenvalue. `tests/core/populations/test_heavy_tails.py` compares moments
and errors with those of rows drawn one by one.

E has the eigenvectors of Sigma, by the symmetry of every z_j, and the order of its eigenvalues:

    E[lambda_j z_j^2 g(q)]/B^2,  q = sum_i lambda_i z_i^2,
    g(q) = E min(w, B^2/q) = (B^2/q) F_nu(a) + 1 - F_(nu-2)(a),  a = (nu - 2) q/B^2,

F_nu the distribution function of chi2_nu. The mean over z is simulated: only the part g(q) - g(E q) is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import gammainc

from dppca_core.arrays import Array, Indices, Moment
from dppca_core.numerics.moments import DelegatesToHeldRows, DenseMoment
from dppca_core.populations.gaussian_patients import DrawnMoment, DrawnPart, FreshMoment, PatientsGiven

CLIP_IN_RMS = 3.0  # the public bound, in root mean square lengths of a row
_DRAWS, _BLOCKS = 20_000, 10  # rows that give the eigenvalues of clipped rows
_ABSENT = 1e-14  # times the largest length: an eigenvalue's root below it counts as zero


def mixing_factors(n: int, tails: float, rng: np.random.Generator) -> Array:
    """Return what multiplies squared lengths of n Gaussian rows, (n,), of mean 1."""
    return np.asarray((tails - 2) / rng.chisquare(tails, n))


def clipped_eigenvalues(eigenvalues: Array, bound: float, tails: float) -> Array:
    """Return the second moment's eigenvalues of rows with these tails, clipped to `bound` and divided by it.

    By the module's formula, from a fixed seed. eigenvalues: of the rows' covariance, (d,), descending.
    """

    def kept(squares: Array | float) -> Array:
        """Return g at squared lengths of Gaussian rows."""
        ratio = np.maximum(squares, 1e-300) / bound**2
        edge = (tails - 2) * ratio
        return np.asarray(gammainc(tails / 2, edge / 2) / ratio + 1 - gammainc(tails / 2 - 1, edge / 2))

    at_mean = float(kept(float(eigenvalues.sum())))
    rng, total = np.random.default_rng(0), np.zeros(len(eigenvalues))
    for _ in range(_BLOCKS):
        squares = eigenvalues * rng.standard_normal((_DRAWS // _BLOCKS, len(eigenvalues))) ** 2
        total += (kept(squares.sum(axis=1)) - at_mean) @ squares
    # The order is that of the covariance's eigenvalues, which simulated ones may miss where two are close.
    values = np.sort(np.maximum(at_mean * eigenvalues + total / _DRAWS, 0.0))[::-1] / bound**2
    values.flags.writeable = False
    return values


class GaussianMoment(Protocol):
    """Hold the moment of Gaussian patients, of whose directions those with heavy tails are."""

    @property
    def features(self) -> int: ...

    def held_rows(self) -> PatientsGiven: ...


class HeavyTails(NamedTuple):
    """Hold what makes rows heavier than Gaussian ones.

    degrees: of freedom. expected: the eigenvalues of the clipped rows' second moment, divided by the squared
    bound, in the order of the covariance's, (d,).
    """

    degrees: float
    expected: Array

    def moment(self, base: DrawnMoment | DrawnPart) -> Moment:
        """Return the moment of patients with the directions of those of `base`, and with these tails."""
        return DivisibleHeavyMoment(base, self) if isinstance(base, DrawnMoment) else HeavyMoment(base, self)


@dataclass(frozen=True, eq=False)
class HeavyMoment(DelegatesToHeldRows):
    """Hold the moment of patients with heavy tails, formed from their clipped rows when first asked for.

    Rows of length 1 are those of `base`, whose Gaussian lengths play no part.
    """

    base: GaussianMoment
    tails: HeavyTails

    @property
    def features(self) -> int:
        return self.base.features

    @property
    def exact(self) -> bool:
        return self._moment.exact

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        return self._moment.apply(block, rows)

    def dense(self) -> Array:
        return self._moment.dense()

    def held_rows(self) -> PatientsGiven:
        return self.base.held_rows()

    @cached_property
    def _moment(self) -> DenseMoment:
        given = self.held_rows()
        patients, units = given.patients, given.patients.rows(given.matrix)
        present = patients.lengths > _ABSENT * patients.lengths.max()
        lengths = patients.lengths[present]
        axes = patients.root()[:, present] / lengths
        forms = (((units @ axes) / lengths) ** 2).sum(axis=1)  # v^T Sigma^+ v
        seed = patients.seed
        rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 1)))
        squares = rng.chisquare(len(lengths), len(units)) / forms
        squares *= mixing_factors(len(units), self.tails.degrees, rng)
        kept = np.minimum(squares / patients.bound**2, 1.0)
        matrix = (units.T * (kept / len(units))) @ units
        whole = len(units) == patients.n
        if not whole:  # the rows stand in for more: bring their mean back
            factor = patients.deviation_factor(units)
            matrix *= factor
            matrix += (1 - factor) * ((axes * self.tails.expected[present]) @ axes.T)
        return DenseMoment((matrix + matrix.T) / 2, exact=whole)


@dataclass(frozen=True, eq=False)
class DivisibleHeavyMoment(HeavyMoment):
    """Hold such a moment of patients of whom fresh ones can be drawn as well."""

    base: DrawnMoment

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        """Return moments of fresh patients, one for each of these sizes, as `DrawnMoment.batches` does."""
        patients, sources = self.base.patients, rng.spawn(len(sizes))  # else all would have the same tails
        return (
            HeavyMoment(FreshMoment(patients.root(), patients.bound, size, source), self.tails)
            for size, source in zip(sizes, sources, strict=True)
        )
