"""Say what released variances are in the units of the data, and the Gaussian law of rows that they make up.

PCA is of scaled rows z = (x - mean)/scale: components v_j, (d,), and variances l_j of z along them are in
their units. So is the rest r, the variance in all d - k directions outside of the components. In the units of
the data a component is the direction S v_j, S = diag(scale). A row is mean + sum_j t_j S v_j + ..., t_j its
scores, so that what component j adds to it has the variance

    l_j |S v_j|^2,

summed over the features in the squares of their units. With one scale s for all features that is s^2 l_j, as
scikit-learn's PCA of the unscaled rows has it. With a scale for each feature it is still what those rows vary
by along S v_j; but these directions are not orthogonal, and the variances need not fall.

The law is that of probabilistic PCA (Tipping & Bishop, JRSS-B 1999, section 3.2), as in scikit-learn: the
rest is spread evenly, s2 = r/(d - k) in each direction of scaled rows, and

    cov x = S (V diag(max(l_j, s2)) V^T + s2 (I - V V^T)) S.

The directions outside have in the mean the variance s2 (tr S^2 - sum_j |S v_j|^2)/(d - k) in the units of the
data, likewise.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dppca_core.arrays import Array
from dppca_core.mechanisms.eigenvalues import AxisVariances


@dataclass(frozen=True, eq=False)
class RowModel:
    """Hold the law of rows. components: (k, d), orthonormal rows. mean, scale: (d,). variances: l_j and r."""

    components: Array
    mean: Array
    scale: Array
    variances: AxisVariances

    @cached_property
    def _squares(self) -> Array:
        """Return |S v_j|^2, (k,)."""
        squares: Array = np.square(self.components * self.scale).sum(axis=1)
        return squares

    @property
    def _outside(self) -> int:
        d, k = len(self.scale), len(self.components)
        return d - k

    @property
    def _noise(self) -> float:
        """Return s2."""
        return self.variances.rest / self._outside

    @property
    def explained(self) -> Array:
        """Return the variances of the components in the units of the data, (k,)."""
        return self.variances.along * self._squares

    @property
    def ratio(self) -> Array:
        """Return the components' shares of all variance of the scaled rows, (k,)."""
        shares: Array = self.variances.along / (self.variances.along.sum() + self.variances.rest)
        return shares

    @property
    def noise_variance(self) -> float:
        """Return the mean variance of the directions outside of the components, in the units of the data."""
        squares = float(np.square(self.scale).sum() - self._squares.sum())
        return self._noise * squares / self._outside

    def covariance(self) -> Array:
        """Return the covariance of rows, (d, d)."""
        return self._spread(np.maximum(self.variances.along, self._noise), self._noise, self.scale)

    def precision(self) -> Array:
        """Return the inverse of the covariance, (d, d). There is none where the rest is 0."""
        return self._spread(
            1 / np.maximum(self.variances.along, self._noise), 1 / self._noise, 1 / self.scale
        )

    def _spread(self, along: Array, outside: float, scale: Array) -> Array:
        matrix = (self.components.T * (along - outside)) @ self.components
        np.fill_diagonal(matrix, matrix.diagonal() + outside)
        spread: Array = matrix * np.outer(scale, scale)
        return spread

    def log_likelihoods(self, rows: Array) -> Array:
        """Return the log density of each row, (n,), read without noise. There is none where the rest is 0."""
        scaled = (rows - self.mean) / self.scale
        scores = scaled @ self.components.T
        along, noise = np.maximum(self.variances.along, self._noise), self._noise
        outside = np.square(scaled).sum(axis=1) - np.square(scores).sum(axis=1)
        squares = (np.square(scores) / along).sum(axis=1) + np.maximum(outside, 0.0) / noise
        log_volume = np.log(along).sum() + self._outside * math.log(noise) + 2 * np.log(self.scale).sum()
        logs: Array = -(squares + log_volume + rows.shape[1] * math.log(2 * math.pi)) / 2
        return logs
