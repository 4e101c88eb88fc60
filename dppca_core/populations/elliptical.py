"""Populations with a public covariance, whose rows are Gaussian or have the heavy tails of Student's t.

Patients are rows L z, z standard normal and L L^T the covariance, of mean zero; with heavy tails each is
multiplied by a random number of its own (`dppca_core.populations.heavy_tails`), which leaves the covariance
and its eigenvectors as they are. The k components are the leading eigenvectors. `spiked` and `stated` say
which covariances there are.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.optimize import brentq
from scipy.special import erfcx

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.byte_cache import ByteCache
from dppca_core.cohort import Cohort
from dppca_core.numerics.wishart import Split, wishart_factor
from dppca_core.populations.gaussian_patients import DrawnMoment, DrawnPart, GaussianPatients, seed_of
from dppca_core.populations.heavy_tails import CLIP_IN_RMS, HeavyTails, clipped_eigenvalues, mixing_factors

MOST_PATIENTS = 10**15  # beyond it a chi-square of n - j degrees of freedom loses j to rounding


def norm_tail(eigenvalues: Array, tilt: float) -> tuple[float, float]:
    """Return (x, log P(|row|^2 > x)) at the saddlepoint `tilt`, for a Gaussian row with these eigenvalues.

    A saddlepoint t stands for a length: each gives a squared length x and the chance that a row is longer. So
    a caller who wants the length of a given chance searches over t. eigenvalues: of the row's covariance.

    |row|^2 = sum lambda_j chi2_1 has K(t) = -1/2 sum log(1 - 2 lambda_j t); x = K'(t), and
    P(> x) = Q(w) + phi(w) (1/u - 1/w), w = sqrt(2 (t x - K)), u = t sqrt(K'')
    (Lugannani & Rice 1980), w with the sign of t. tilt lies below 1/(2 max lambda).
    """
    log_factors = np.log1p(-2 * eigenvalues * tilt)  # log(1 - 2 lambda_j t)
    tilted = eigenvalues * np.exp(-log_factors)
    x = float(tilted.sum())  # K'(t)
    variance = 2 * float(tilted @ tilted)  # K''(t)
    # Near the mean u and w agree, so that 1/u - 1/w would lose all its digits to rounding.
    w = u = tilt * math.sqrt(variance)
    if abs(u) > 1e-3:
        w = math.copysign(math.sqrt(2 * (tilt * x + 0.5 * float(log_factors.sum()))), tilt)
        poles = 1 / u - 1 / w
    else:  # their limit at the mean: minus a sixth of the skewness
        poles = -8 * float((tilted**3).sum()) / (6 * variance**1.5)
    # Q(w) and phi(w) share e^(-w^2/2): erfcx keeps their sum exact far out in the tail.
    scaled = 0.5 * float(erfcx(w / math.sqrt(2))) + poles / math.sqrt(2 * math.pi)
    return x, math.log(scaled) - w * w / 2


def norm_bound(eigenvalues: Array, n: int, failure: float = 0.01) -> float:
    """Return a length B such that the longest of n independent Gaussian rows exceeds it with P = `failure`.

    It serves as the public bound of a simulated population's rows. eigenvalues: of the rows' covariance.

    Solves P(|row|^2 > B^2) = 1 - (1 - failure)^(1/n) by the saddlepoint tail (relative error below
    1 % there). Clipping at B then changes the simulation's law by at most `failure` in total
    variation. failure = 1/2 gives the median of the largest row, which stands in for "divide by the
    largest row" of the published experiments.
    Raises ValueError for n < 1 or a failure outside (0, 1).
    """
    checks.whole(1, n=n)
    checks.inside_unit_interval(failure=failure)
    chance = -math.expm1(math.log1p(-failure) / n)  # that a single row is longer
    edge = 0.5 / float(eigenvalues.max())  # every tilt lies below it

    def tail_at(depth: float) -> tuple[float, float]:
        """Return (x, log P(|row|^2 > x)) at the tilt edge (1 - exp(-depth)): depth may be any number."""
        return norm_tail(eigenvalues, edge * -math.expm1(-depth))

    # depth runs over all tilts below the edge: 0 is the mean, -5 leaves the tail at 1, and 30 is beyond
    # any tail that double precision holds.
    depth = brentq(lambda depth: tail_at(depth)[1] - math.log(chance), -5.0, 30.0, xtol=1e-12)
    return math.sqrt(tail_at(float(depth))[0])


def hospital_sizes(n: int, providers: int, largest_share: float = 0.0) -> tuple[int, ...]:
    """Return the sizes of `providers` hospitals for n patients, at least one each, as equal as possible.

    With `largest_share` above 1/providers, the first hospital has that share of all and the others
    split the rest. Raises ValueError when there are fewer patients than hospitals.
    """
    checks.whole(1, providers=providers)
    checks.whole(providers, n=n)
    checks.within(0.0, 1.0, largest_share=largest_share)
    if providers == 1 or largest_share <= 1 / providers:
        small, extra = divmod(n, providers)
        return tuple(small + (i < extra) for i in range(providers))
    # Every other hospital gets one patient at least.
    first = min(max(round(n * largest_share), 1), n - (providers - 1))
    return (first, *hospital_sizes(n - first, providers - 1))


# Each holds two populations at d = 2000. Two caches, so that vectors never evict their own root.
VECTORS = ByteCache(64 * 2**20)
ROOTS = ByteCache(64 * 2**20)
CLIPPED = ByteCache(2**20)  # eigenvalues of clipped rows, (d,) each


def _root(model: EllipticalModel) -> Array:
    """Return a root U diag(sqrt lambda) of the covariance, (d, d), column-major for BLAS, and keep it."""
    return ROOTS.get(model, lambda: _new_root(model), size=8 * model.d**2)


def _new_root(model: EllipticalModel) -> Array:
    """Build the root that `_root` keeps, (d, d), read-only."""
    root = np.asfortranarray(model.vectors * np.sqrt(model.eigenvalues))
    root.flags.writeable = False
    return root


def clear_caches() -> None:
    """Drop the populations that are kept, so that they are built anew.

    With another number of BLAS threads their last digits differ, and kept ones would not match new ones.
    """
    VECTORS.clear()
    ROOTS.clear()
    CLIPPED.clear()


@dataclass(frozen=True, eq=False)
class PooledDraw:
    """Hold n drawn patients as their pooled second moment, before they are divided among hospitals.

    bound: the public bound that their rows are divided by. factor: F, (d, min(n, d)), with the moment F F^T.
    moment: that moment, with the recipe of the patients' rows. rng: draws the division.
    """

    n: int
    bound: float
    factor: Array
    moment: DrawnMoment
    rng: np.random.Generator
    tails: HeavyTails | None = None

    def assign(self, sizes: Sequence[int]) -> Cohort:
        """Return the cohort with hospitals of these sizes; the pooled moment is the same for all of them.

        Hospitals' own moments are drawn, exactly, when first asked for. Raises ValueError for sizes
        that do not add up to n.
        """
        if sum(sizes) != self.n:
            raise ValueError(f"providers must add up to n = {self.n}, got {sum(sizes)}")
        pooled = self.moment if self.tails is None else self.tails.moment(self.moment)
        if len(sizes) == 1:  # a single hospital has the pooled moment itself
            return Cohort((Provider(self.n, pooled),), pooled, self.bound)
        # A copy of the generator, so that every division of these patients is drawn from the same numbers.
        split = Split(self.factor, sizes, copy.deepcopy(self.rng))
        parts = (
            DrawnPart(split, i, self.moment.patients.part(size, seed_of(self.rng, i)))
            for i, size in enumerate(sizes)
        )
        moments = parts if self.tails is None else map(self.tails.moment, parts)
        members = (Provider(size, moment) for size, moment in zip(sizes, moments, strict=True))
        return Cohort(tuple(members), pooled, self.bound)


class EllipticalModel(ABC):
    """Share what every population with a public covariance gives; a subclass holds the recipe.

    Attributes:
        d: Number of features.
        k: Number of components.
        s: Number of features that the components use.
        seed: Seed of what the recipe leaves to chance.
        tails: Degrees of freedom of Student's t, above 2, of which all rows have the tails; None for Gaussian
            rows.
    """

    d: int
    k: int
    s: int
    seed: int
    tails: float | None

    def _check_tails(self) -> None:
        if self.tails is not None:
            checks.positive(tails=self.tails)
            if not self.tails > 2:
                raise ValueError(
                    f"tails must be above 2, where a covariance exists, got {checks.shown(self.tails)}"
                )

    @property
    @abstractmethod
    def eigenvalues(self) -> Array:
        """Return all d eigenvalues of the covariance, descending, in the units of the data squared."""

    @property
    @abstractmethod
    def vectors(self) -> Array:
        """Return its eigenvectors as columns, (d, d), read-only, in the order of `eigenvalues`."""

    @property
    def spikes(self) -> tuple[float, ...]:
        """Return the k largest eigenvalues, in the units of the data squared."""
        return tuple(self.eigenvalues[: self.k].tolist())

    @property
    def basis(self) -> Array:
        """Return the true basis, (d, k); of features that it does not use the rows are exactly zero."""
        return self.vectors[:, : self.k]

    def covariance(self) -> Array:
        """Return the covariance, (d, d), in the units of the data squared."""
        root = _root(self)
        return np.asarray(root @ root.T)

    def variances(self, block: Array) -> Array:
        """Return the variance of patients along directions, in the units of the data squared.

        Args:
            block: Directions of length 1, (d, m); rows of zeros cost nothing.

        Returns:
            The diagonal of block^T covariance block, (m,).
        """
        nonzero = np.flatnonzero(block.any(axis=1))
        # block^T covariance block = projected projected^T, of which only the diagonal is computed.
        projected = block[nonzero].T @ _root(self)[nonzero]
        result: Array = np.einsum("ij,ij->i", projected, projected)
        return result

    def norm_bound(self, n: int, failure: float = 0.01) -> float:
        """Return a public row bound for n patients, in the units of the data.

        Of Gaussian rows it is one that hardly any exceeds (see the function `norm_bound`). With heavy tails
        such a bound would grow with n without end, so it is three root mean square lengths of a row, whatever
        n and `failure`, and longer rows are clipped to it.

        Args:
            n: Number of patients.
            failure: Chance that some Gaussian row is longer.

        Returns:
            The bound.
        """
        if self.tails is None:
            return norm_bound(self.eigenvalues, n, failure)
        return CLIP_IN_RMS * math.sqrt(float(self.eigenvalues.sum()))

    def scaled_eigenvalues(self, bound: float) -> Array:
        """Return the eigenvalues of the second moment of rows within `bound` and divided by it, (d,).

        With heavy tails longer rows are clipped, which changes the eigenvalues and not their eigenvectors;
        they are then simulated from a fixed seed, to about 1 %.

        Args:
            bound: Public row bound, in the units of the data.

        Returns:
            The eigenvalues, descending, without unit.
        """
        if self.tails is None:
            return self.eigenvalues / bound**2
        tails = self.tails
        return CLIPPED.get(
            (self, bound), lambda: clipped_eigenvalues(self.eigenvalues, bound, tails), size=8 * self.d
        )

    def second_moment(self, bound: float) -> Array:
        """Return the second moment of rows within `bound` and divided by it, (d, d), without unit.

        Args:
            bound: Public row bound, in the units of the data.

        Returns:
            The matrix, with the eigenvectors of the covariance.
        """
        if self.tails is None:
            return self.covariance() / bound**2
        return (self.vectors * self.scaled_eigenvalues(bound)) @ self.vectors.T

    def draw(
        self,
        n: int,
        providers: int | Sequence[int],
        rng: np.random.Generator,
        *,
        failure: float = 0.01,
    ) -> Cohort:
        """Draw the moments of n patients at hospitals, at a cost that does not depend on n.

        Of Gaussian rows n S ~ Wishart(n, covariance) by Bartlett's factor (exact for every n >= 1, also
        n < d), divided by the square of `norm_bound(n, failure)`. Hospitals' own moments are exact too, drawn
        given their sum when first asked for. Rows with heavy tails are clipped to that bound: their moments
        are exact up to 2,000 patients, and beyond right in mean and covariance
        (`dppca_core.populations.heavy_tails`).

        Args:
            n: Number of patients.
            providers: Number of hospitals, or their sizes.
            rng: Source of the draws.
            failure: Chance that some row is longer than the public bound.

        Returns:
            The cohort of the hospitals.

        Raises:
            ValueError: For n < 1, fewer patients than hospitals, or sizes that do not add up to n.

        References:
            Bartlett 1933 (the Wishart factor); Johnstone, Annals of Statistics 2001 (the model).
        """
        checks.whole(1, n=n)
        if isinstance(providers, Sequence) and not isinstance(providers, str):
            sizes = tuple(providers)
        else:
            checks.whole(1, providers=providers)
            sizes = hospital_sizes(int(n), int(providers))
        return self.draw_pooled(n, rng, failure=failure).assign(sizes)

    @property
    def signal(self) -> float:
        """Return k lambda_k/tr Sigma, about the share of all variance that the k spikes carry.

        Rules that recommend settings take it as publicly declared.
        """
        return self.k * self.spikes[-1] / float(self.eigenvalues.sum())

    def draw_pooled(
        self, n: int, rng: np.random.Generator, *, failure: float = 0.01, bound: float | None = None
    ) -> PooledDraw:
        """Draw the same patients before they are assigned to hospitals; `draw` says how they are drawn.

        Args:
            n: Number of patients.
            rng: Source of the draws.
            failure: Chance that some row is longer than the public bound.
            bound: Public row bound, in the units of the data; default `norm_bound(n, failure)`.

        Returns:
            The pooled draw, whose patients `assign` assigns to hospitals.

        Raises:
            ValueError: For a bound of Gaussian rows below `norm_bound(n, failure)`: rows beyond it would be
                clipped, which this law leaves out.
        """
        checks.whole(1, MOST_PATIENTS, n=n)
        longest = self.norm_bound(n, failure)
        if bound is None:
            bound = longest
        elif self.tails is None and not bound >= longest:
            raise ValueError(
                f"bound must be at least {longest:.4g}, the length that rows reach, got {checks.shown(bound)}"
            )
        # Hospitals' shares have a generator of their own, so that the patients do not depend on the division.
        main, shares = rng.spawn(2)
        factor = wishart_factor(n, self.d, main)
        # Now factor is A with A A^T ~ Wishart(n, I), and it becomes root A/(bound sqrt n). dtrmm multiplies
        # by a triangular A in half the time.
        if n >= self.d:
            factor = dtrmm(1 / (bound * math.sqrt(n)), factor, _root(self), side=1, lower=1)
        else:
            factor = _root(self) @ factor
            factor /= bound * math.sqrt(n)
        patients = GaussianPatients(partial(_root, self), n, bound, seed_of(main, 0))
        moment = DrawnMoment(factor @ factor.T, patients=patients)
        tails = None if self.tails is None else HeavyTails(self.tails, self.scaled_eigenvalues(bound))
        return PooledDraw(n, bound, factor, moment, shares, tails)

    def rows(self, n: int, rng: np.random.Generator, *, chunk: int = 10_000) -> Iterator[Array]:
        """Yield the n patients themselves, in blocks, (m, d), in the units of the data.

        Args:
            n: Number of patients.
            rng: Source of the draws.
            chunk: Most rows of a block.

        Yields:
            Blocks of rows, (m, d).

        Raises:
            ValueError: Unless n and chunk are whole numbers from 1 on.
        """
        checks.whole(1, n=n, chunk=chunk)
        root = _root(self)
        for begin in range(0, n, chunk):
            rows = rng.standard_normal((min(chunk, n - begin), self.d)) @ root.T
            if self.tails is not None:
                rows *= np.sqrt(mixing_factors(len(rows), self.tails, rng))[:, None]
            yield rows
