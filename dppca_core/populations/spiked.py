"""The synthetic population: k sparse spikes over a random bulk (Ge et al. 2018, section 5).

Covariance U diag(lambda) U^T: lambda_1..k = spike, the others uniform on `bulk`. The first k columns
of U are an orthonormalised Gaussian s x k block on s random coordinates; the rest is a random
orthonormal complement, dense. Patients are Gaussian rows with that covariance and mean zero.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import qr
from scipy.linalg.blas import dtrmm
from scipy.optimize import brentq
from scipy.special import erfcx

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.byte_cache import ByteCache
from dppca_core.cohort import Cohort
from dppca_core.numerics.wishart import Split, wishart_factor
from dppca_core.populations.gaussian_patients import DrawnMoment, DrawnPart, GaussianPatients, seed_of

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


# Each holds four populations at d = 2000. Two caches, so that vectors never evict their own root.
VECTORS = ByteCache(128 * 2**20)
ROOTS = ByteCache(128 * 2**20)


def _eigenvectors(d: int, k: int, s: int, seed: int) -> Array:
    """Return a population's eigenvectors U, (d, d) orthogonal, drawn from its seed and then kept.

    The k spikes come first, each on the same s of the d features; then a uniformly random orthonormal
    complement.
    """
    return VECTORS.get((d, k, s, seed), lambda: _new_eigenvectors(d, k, s, seed), size=8 * d**2)


def _new_eigenvectors(d: int, k: int, s: int, seed: int) -> Array:
    """Draw the eigenvectors that `_eigenvectors` keeps, (d, d), read-only."""
    rng = np.random.default_rng([seed, d, k, s])
    support = np.sort(rng.permutation(d)[:s])  # not the first s: ties in sorting would favour those
    vectors = rng.standard_normal((d, d))
    vectors[:, :k] = 0.0
    vectors[support, :k] = rng.standard_normal((s, k))
    # Orthonormalising from left to right keeps the first k columns in the span of the sparse ones.
    full, _ = qr(vectors, overwrite_a=True, check_finite=False)
    orthogonal: Array = np.ascontiguousarray(full)
    # The reflections of the QR decomposition leave rounding where the spikes are exactly zero.
    outside = np.setdiff1d(np.arange(d), support)
    orthogonal[outside, :k] = 0.0
    orthogonal.flags.writeable = False
    return orthogonal


def _root(model: SpikedModel) -> Array:
    """Return a root U diag(sqrt lambda) of the covariance, (d, d), column-major for BLAS, and keep it."""
    return ROOTS.get(model, lambda: _new_root(model), size=8 * model.d**2)


def _new_root(model: SpikedModel) -> Array:
    """Build the root that `_root` keeps, (d, d), read-only."""
    vectors = _eigenvectors(model.d, model.k, model.s, model.seed)
    root = np.asfortranarray(vectors * np.sqrt(model.eigenvalues))
    root.flags.writeable = False
    return root


def clear_caches() -> None:
    """Drop the populations that are kept, so that they are built anew.

    With another number of BLAS threads their last digits differ, and kept ones would not match new ones.
    """
    VECTORS.clear()
    ROOTS.clear()


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

    def assign(self, sizes: Sequence[int]) -> Cohort:
        """Return the cohort with hospitals of these sizes; the pooled moment is the same for all of them.

        Hospitals' own moments are drawn, exactly, when first asked for. Raises ValueError for sizes
        that do not add up to n.
        """
        if sum(sizes) != self.n:
            raise ValueError(f"providers must add up to n = {self.n}, got {sum(sizes)}")
        if len(sizes) == 1:  # a single hospital has the pooled moment itself
            return Cohort((Provider(self.n, self.moment),), self.moment, self.bound)
        # A copy of the generator, so that every division of these patients is drawn from the same numbers.
        split = Split(self.factor, sizes, copy.deepcopy(self.rng))
        members = (
            Provider(size, DrawnPart(split, i, self.moment.patients.part(size, seed_of(self.rng, i))))
            for i, size in enumerate(sizes)
        )
        return Cohort(tuple(members), self.moment, self.bound)


@dataclass(frozen=True)
class SpikedModel:
    """Hold the recipe of a spiked population; the same recipe is the same population.

    Attributes:
        d: Number of features.
        k: Number of spikes.
        s: Number of coordinates on which the spikes are supported.
        spike: Eigenvalue of all spikes, or k of them, descending, in the units of the data squared.
        bulk: Limits (low, high) of the other eigenvalues, which are uniform between them.
        seed: Seed of the basis and of the bulk eigenvalues.

    Raises:
        ValueError: Unless 1 <= k <= s <= d, k < d, and 0 <= low <= high < the weakest spike.

    References:
        Johnstone, Annals of Statistics 2001 (the spiked covariance model).
    """

    d: int
    k: int
    s: int
    spike: float | tuple[float, ...] = 100.0
    bulk: tuple[float, float] = (0.0, 10.0)
    seed: int = 0

    def __post_init__(self) -> None:
        checks.whole(2, d=self.d)
        checks.whole(1, self.d - 1, k=self.k)
        checks.whole(self.k, self.d, s=self.s)
        checks.whole(0, seed=self.seed)
        for spike in self.spikes:
            checks.positive(spike=spike)
            checks.within(1e-100, 1e100, spike=spike)  # squares of eigenvalues neither vanish nor overflow
        if len(self.spikes) != self.k or list(self.spikes) != sorted(self.spikes, reverse=True):
            raise ValueError(
                f"spike must be one number or k = {self.k} descending, got {checks.shown(self.spike)}"
            )
        if not isinstance(self.bulk, tuple) or len(self.bulk) != 2:
            raise ValueError(f"bulk must be a pair (low, high), got {checks.shown(self.bulk)}")
        low, high = self.bulk
        checks.within(0.0, 1e100, bulk=low)
        checks.within(0.0, 1e100, bulk=high)
        if not low <= high < self.spikes[-1]:
            raise ValueError(f"bulk must satisfy 0 <= low <= high < spike, got {checks.shown(self.bulk)}")

    @property
    def spikes(self) -> tuple[float, ...]:
        """Return the k largest eigenvalues, in the units of the data squared."""
        return self.spike if isinstance(self.spike, tuple) else (self.spike,) * self.k

    @property
    def eigenvalues(self) -> Array:
        """Return all d eigenvalues of the covariance, descending, in the units of the data squared."""
        rng = np.random.default_rng([self.seed, 1])  # not the stream that the basis is drawn from
        bulk = np.sort(rng.uniform(*self.bulk, self.d - self.k))[::-1]
        return np.concatenate([np.array(self.spikes, dtype=np.float64), bulk])

    @property
    def basis(self) -> Array:
        """Return the true basis, (d, k); its rows outside the support are exactly zero."""
        return _eigenvectors(self.d, self.k, self.s, self.seed)[:, : self.k]

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
        """Return a public row bound for n patients, in the units of the data (see the function `norm_bound`).

        Args:
            n: Number of patients.
            failure: Chance that some row is longer.

        Returns:
            The bound.
        """
        return norm_bound(self.eigenvalues, n, failure)

    def draw(
        self,
        n: int,
        providers: int | Sequence[int],
        rng: np.random.Generator,
        *,
        failure: float = 0.01,
    ) -> Cohort:
        """Draw the moments of n patients at hospitals, at a cost that does not depend on n.

        n S ~ Wishart(n, covariance) by Bartlett's factor (exact for every n >= 1, also n < d), divided
        by the square of `norm_bound(n, failure)`. Hospitals' own moments are exact too, drawn given
        their sum when first asked for.

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
            ValueError: For a bound below `norm_bound(n, failure)`: rows beyond it would be clipped, which
                this law leaves out.
        """
        checks.whole(1, MOST_PATIENTS, n=n)
        longest = self.norm_bound(n, failure)
        if bound is None:
            bound = longest
        elif not bound >= longest:
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
        return PooledDraw(n, bound, factor, DrawnMoment(factor @ factor.T, patients=patients), shares)

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
            yield rng.standard_normal((min(chunk, n - begin), self.d)) @ root.T
