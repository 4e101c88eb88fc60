"""The synthetic population: k sparse spikes over a random bulk (Ge et al. 2018, section 5).

Covariance U diag(lambda) U^T: lambda_1..k = spike, the others uniform on `bulk`. The first k columns
of U are an orthonormalised Gaussian s x k block on s random coordinates; the rest is a random
orthonormal complement, dense. Patients are rows with that covariance and mean zero, Gaussian unless they have
heavy tails (`dppca_core.populations.elliptical`).

With a correlation rho the bulk is P (b R) P in place of a random one: R_ij = rho^|i - j| correlates every
feature with its neighbours (autoregression of order one), b is the mean of `bulk`, the bulk's variance of a
feature, and P projects the spikes away. So the spikes keep their eigenvalues and their sparse eigenvectors,
and the others are computed. R has eigenvalues below (1 + rho)/(1 - rho).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, toeplitz

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics import linalg
from dppca_core.populations.elliptical import VECTORS, EllipticalModel


def eigenvectors(d: int, k: int, s: int, seed: int) -> Array:
    """Return a population's eigenvectors U, (d, d) orthogonal, drawn from its seed and then kept.

    The k spikes come first, each on the same s of the d features; then a uniformly random orthonormal
    complement.
    """
    return VECTORS.get((d, k, s, seed), lambda: _new_eigenvectors(d, k, s, seed), size=8 * d**2)


def _new_eigenvectors(d: int, k: int, s: int, seed: int) -> Array:
    """Draw the eigenvectors that `eigenvectors` keeps, (d, d), read-only."""
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


def uniform_bulk(limits: tuple[float, float], count: int, seed: int) -> Array:
    """Return `count` eigenvalues of a bulk, descending, uniform between its limits."""
    rng = np.random.default_rng([seed, 1])  # not the stream that the basis is drawn from
    return np.sort(rng.uniform(*limits, count))[::-1]


def _correlated_bulk(model: SpikedModel) -> tuple[Array, Array]:
    """Return the eigenvalues, (d - k,), and eigenvectors, (d, d - k), of a correlated bulk, from a cache."""
    key = (model.d, model.k, model.s, model.seed, model.bulk, model.correlation)
    return VECTORS.get(key, lambda: _new_correlated_bulk(model), size=8 * model.d**2)


def _new_correlated_bulk(model: SpikedModel) -> tuple[Array, Array]:
    complement = eigenvectors(model.d, model.k, model.s, model.seed)[:, model.k :]
    correlations = toeplitz(model.correlation ** np.arange(model.d, dtype=np.float64))
    values, axes = np.linalg.eigh(complement.T @ correlations @ complement)
    turned = complement @ linalg.oriented(axes)[:, ::-1]
    return np.maximum(values[::-1], 0.0) * (sum(model.bulk) / 2), turned


@dataclass(frozen=True)
class SpikedModel(EllipticalModel):
    """Hold the recipe of a spiked population; the same recipe is the same population.

    Attributes:
        d: Number of features.
        k: Number of spikes.
        s: Number of coordinates on which the spikes are supported.
        spike: Eigenvalue of all spikes, or k of them, descending, in the units of the data squared.
        bulk: Limits (low, high) of the other eigenvalues, which are uniform between them.
        seed: Seed of the basis and of the bulk eigenvalues.
        fall: The weakest spike over the strongest, where `spike` is one number: spikes fall geometrically
            from it.
        correlation: rho of the bulk, from 0 to below 1, by which every feature is correlated with the next;
            0 for a random bulk.
        tails: Degrees of freedom of Student's t, above 2, of which all rows have the tails; None for Gaussian
            rows.

    Raises:
        ValueError: Unless 1 <= k <= s <= d, k < d, and 0 <= low <= high < the weakest spike; or for another
            number out of range.

    References:
        Johnstone, Annals of Statistics 2001 (the spiked covariance model).
    """

    d: int
    k: int
    s: int
    spike: float | tuple[float, ...] = 100.0
    bulk: tuple[float, float] = (0.0, 10.0)
    seed: int = 0
    fall: float = 1.0
    correlation: float = 0.0
    tails: float | None = None

    def __post_init__(self) -> None:
        checks.whole(2, d=self.d)
        checks.whole(1, self.d - 1, k=self.k)
        checks.whole(self.k, self.d, s=self.s)
        checks.whole(0, seed=self.seed)
        checks.within(1e-6, 1.0, fall=self.fall)
        if self.fall != 1 and isinstance(self.spike, tuple):
            raise ValueError(
                f"fall must be left out where every spike is given, got {checks.shown(self.fall)}"
            )
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
        checks.within(0.0, 0.999, correlation=self.correlation)
        most = largest_of_bulk(self.bulk, self.correlation)
        if self.correlation and not most < self.spikes[-1]:
            raise ValueError(
                f"correlation must leave the bulk below the weakest spike, {self.spikes[-1]:.4g}, got "
                f"{checks.shown(self.correlation)}, with which it may reach {most:.4g}"
            )
        self._check_tails()

    @property
    def spikes(self) -> tuple[float, ...]:
        """Return the k largest eigenvalues, in the units of the data squared."""
        if isinstance(self.spike, tuple):
            return self.spike
        if self.fall == 1 or self.k == 1:
            return (self.spike,) * self.k
        return tuple(self.spike * self.fall ** (j / (self.k - 1)) for j in range(self.k))

    @property
    def eigenvalues(self) -> Array:
        """Return all d eigenvalues of the covariance, descending, in the units of the data squared."""
        if self.correlation:
            bulk, _ = _correlated_bulk(self)
        else:
            bulk = uniform_bulk(self.bulk, self.d - self.k, self.seed)
        return np.concatenate([np.array(self.spikes, dtype=np.float64), bulk])

    @property
    def vectors(self) -> Array:
        """Return the covariance's eigenvectors as columns, (d, d), read-only; the spikes' come first."""
        vectors = eigenvectors(self.d, self.k, self.s, self.seed)
        if not self.correlation:
            return vectors
        _, bulk = _correlated_bulk(self)
        together = np.hstack([vectors[:, : self.k], bulk])
        together.flags.writeable = False
        return together

    @property
    def basis(self) -> Array:
        """Return the true basis, (d, k); its rows outside the support are exactly zero."""
        return eigenvectors(self.d, self.k, self.s, self.seed)[:, : self.k]


def largest_of_bulk(bulk: tuple[float, float], correlation: float) -> float:
    """Return what no eigenvalue of the bulk exceeds, in the units of its limits."""
    return sum(bulk) / 2 * (1 + correlation) / (1 - correlation) if correlation else bulk[1]
