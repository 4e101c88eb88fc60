"""The summary statistics of one hospital that standardisation needs: means, and moments about constants.

Rows are in public units: 0 is the centre and 1 the scale of one public reference range for all hospitals. A
site is one hospital. It holds rows, clipped where they leave it, or, in simulation, moments drawn from their
exact law. Both answer alike: `means` and `moment` are all that standardisation reads of private rows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar

from dppca_core.arrays import Array, Moment
from dppca_core.byte_cache import ByteCache
from dppca_core.numerics import unit_rows
from dppca_core.numerics.moments import DenseMoment, RowMoment, clip_rows

MOST_ROWS = 100_000  # of a drawn hospital's patients that are drawn one by one, unless it says otherwise
ROWS = ByteCache(128 * 2**20)  # rows of drawn hospitals' patients, by hospital


@dataclass(frozen=True, eq=False)
class RowSite:
    """Hold one hospital's real rows, (n, d), and the public bound, `longest`, to which they are clipped."""

    rows: Array
    longest: float

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def features(self) -> int:
        return int(self.rows.shape[1])

    def bound(self, centre: Array, scale: Array, tail: float) -> float:
        """Return the public bound on standardised rows, beyond which they are clipped.

        It is the stored one. The arguments are there because `DrawnSite.bound`, which stands in for this
        method in simulations, needs them.
        """
        return self.longest

    def means(self, bound: float) -> tuple[Array, Array]:
        """Return the means over patients of u and of u^2, (d,) each, u = x/bound, |u| <= 1."""
        clipped = clip_rows(self.rows, bound)
        return clipped.mean(axis=0), (clipped**2).mean(axis=0)

    def moment(self, centre: Array, scale: Array, bound: float) -> Moment:
        """Return the second moment of the rows ((x - centre)/scale)/bound, shortened to length 1."""
        return RowMoment(clip_rows((self.rows - centre) / scale, bound))


@dataclass(frozen=True, eq=False)
class DrawnSite:
    """Hold n drawn patients of one hospital as their sample mean and covariance, without their rows.

    Attributes:
        n: Number of patients.
        own_mean: Their sample mean, (d,).
        own_covariance: Their sample covariance about it, divided by n, (d, d).
        mean: Mean of the population N(mean, covariance) that they were drawn from, (d,).
        covariance: Its covariance, (d, d).
        seed: Seed of their rows given the sample mean and covariance.
        most_rows: How many rows are drawn at most, which stand in for all patients.
    """

    n: int
    own_mean: Array
    own_covariance: Array
    mean: Array
    covariance: Array
    seed: np.random.SeedSequence
    most_rows: int = MOST_ROWS

    @property
    def features(self) -> int:
        return len(self.mean)

    def bound(self, centre: Array, scale: Array, tail: float) -> float:
        """Return a length that a row (x - centre)/scale exceeds with probability `tail` at most.

        The population decides it, not the patients. No row is clipped to it.
        """
        return gaussian_length((self.mean - centre) / scale, self.covariance / np.outer(scale, scale), tail)

    def means(self, bound: float) -> tuple[Array, Array]:
        """Return the means over patients of u and of u^2, (d,) each, for u = x/bound."""
        return self.own_mean / bound, (self.own_covariance.diagonal() + self.own_mean**2) / bound**2

    def moment(self, centre: Array, scale: Array, bound: float) -> Moment:
        offset = self.own_mean - centre
        moment = self.own_covariance + np.outer(offset, offset)  # the second moment of x - centre
        return SiteMoment(
            moment / (np.outer(scale, scale) * bound**2),
            rows=lambda: (self.rows() - centre) / (scale * bound),
        )

    def rows(self) -> Array:
        """Return the patients' rows x, the same each time, (min(n, most_rows), d)."""
        return ROWS.get(self, self._draw_rows, size=8 * min(self.n, self.most_rows) * self.features)

    def _draw_rows(self) -> Array:
        """Draw rows with exactly the patients' mean and scatter.

        Given both, the scatter's part is uniformly random: Y with Y^T Y = n scatter, n - 1 rows, turned by a
        reflection that takes the first axis to (1, ..., 1)/sqrt n, which leaves the mean alone. Of more than
        `most_rows` patients so many stand in for all, with the mean and scatter of all.
        """
        count = min(self.n, self.most_rows)
        if count == 1:
            return self.own_mean[np.newaxis]
        spread = self.own_covariance * (count / (count - 1))  # the moment of count - 1 rows Y
        rng = np.random.default_rng(self.seed)
        deviations = np.zeros((count, self.features))
        # The first row stays zero: it is the axis that the reflection turns to the mean.
        deviations[1:] = unit_rows.draw_rows_given_moment(spread, count - 1, rng)
        mirror = np.full(count, -1 / math.sqrt(count))
        mirror[0] += 1  # the normal of the reflection's plane: first axis less (1, ..., 1)/sqrt n
        mirror /= np.linalg.norm(mirror)
        deviations -= 2 * np.outer(mirror, mirror @ deviations)
        return self.own_mean + deviations


@dataclass(frozen=True, eq=False)
class SiteMoment(DenseMoment):
    """Hold the moment of drawn patients, whose rows are drawn only when rows of length 1 are asked for."""

    rows: Callable[[], Array] = field(kw_only=True)

    @cached_property
    def _patients(self) -> RowMoment:
        return RowMoment(self.rows())

    def held_rows(self) -> RowMoment:
        return self._patients


Site = RowSite | DrawnSite


def gaussian_length(mean: Array, covariance: Array, tail: float) -> float:
    """Return a length B with P(|x| > B) <= `tail` for x ~ N(mean, covariance).

    It is Chernoff's bound, so never too short:
    B^2 = min over t of (K(t) + log(1/tail))/t, 0 < t < 1/(2 max lambda), with
    K(t) = sum_j -log(1 - 2 lambda_j t)/2 + m_j^2 t/(1 - 2 lambda_j t), m the mean along eigenvector j.
    """
    values, vectors = np.linalg.eigh(covariance)
    mean_squares = (vectors.T @ mean) ** 2
    edge = 0.5 / float(values[-1])  # t lies below it

    def squared_length(share: float) -> float:
        """Return the bound on B^2 at t, given as a share of its upper limit, 1/(2 max lambda)."""
        t = edge * share
        factors = 1 - 2 * values * t
        k = float((mean_squares * t / factors).sum() - 0.5 * np.log(factors).sum())  # K(t)
        return (k - math.log(tail)) / t

    # Every t gives a bound that holds, so that a search that stops early only makes it longer.
    return math.sqrt(float(minimize_scalar(squared_length, bounds=(1e-3, 0.999), method="bounded").fun))
