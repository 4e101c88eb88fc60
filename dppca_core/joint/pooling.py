"""Pool moments that hospitals released, each of its own table: what is done, and why it is unbiased.

Hospital i has released, of its own rows x with true mean mu_i and covariance C_i: a mean m_i = mu_i + e_i,
e_i ~ N(0, t_i^2 I), and a moment of rows about m_i, with symmetric noise E_i of independent entries. In units
of the encoded rows (its scales and its bound follow from its file, so they can be multiplied back)

    S_i = C_i + e_i e_i^T + E_i.

Wanted is the covariance of a patient who is of hospital i with chance p_i, and so is about the common mean:

    T = sum p_i C_i + sum p_i (mu_i - mu)(mu_i - mu)^T,    mu = sum p_i mu_i.

With m = sum p_i m_i and e = sum p_i e_i, and sum p_i = 1,

    sum p_i S_i                  has the expectation  sum p_i C_i + (sum p_i t_i^2) I,
    sum p_i (m_i - m)(m_i - m)^T has  sum p_i (mu_i - mu)(mu_i - mu)^T + E[sum p_i e_i e_i^T - e e^T]
                                 =    sum p_i (mu_i - mu)(mu_i - mu)^T + (sum p_i (1 - p_i) t_i^2) I.

So their sum less (sum p_i (2 - p_i) t_i^2) I is unbiased for T. The weights must not depend on any e_i or
E_i: they follow from sizes and guarantees, which are public. t_i depends on squares that were released before
e_i was drawn, so it is a constant there. Two things bias the pool: rows are shortened, in the mean and in the
moment, and where patients are left out all is divided by a released share of them.

The noise of w^T T v, w and v orthogonal, has three uncorrelated parts, which `loading_noise` turns into the
std of loadings. With d_i = m_i - m for mu_i - mu, and A = 2 diag(p) - p p^T:

    sum p_i E_i                        that of one moment for each hospital, by its own scales
    sum p_i (d_i e_i^T + e_i d_i^T)    variance sum p_i^2 t_i^2 ((w.d_i)^2 |v|^2 + (v.d_i)^2 |w|^2
                                                                 + 2 (w.d_i)(v.d_i) w.v)
    sum_ij A_ij e_i e_j^T              that of one moment with s^2 = sum_ij A_ij^2 t_i^2 t_j^2

(e drops out of the second, as sum p_i d_i = 0.) Where columns are divided by c, so are w, v and d_i.

Weights are those of `mechanisms.hospital_budgets`, by precision: p_i ~ 1/(z_i^2/n_i^2 + r/n_i).
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.mechanisms import hospital_budgets, paid_lengths, paid_scale
from dppca_core.numerics import linalg
from dppca_core.release import loading_noise

_DRAWS, _FEWER_DRAWS, _MANY_FEATURES = 200, 50, 100  # of noise, for the error of eigenvalues
_NINETY_FIVE = 0.95


class HospitalMoment(NamedTuple):
    """Hold what one hospital's file says of its rows, in units of the encoded rows.

    moment: S_i, about its own mean, (d, d). mean: m_i, (d,). mean_std: t_i. noise_std: of E_i off the
    diagonal, per unit of scales. scales: s, (d,): E_i's entry (a, b) has the std noise_std s_a s_b.
    variances, stds: of its columns as its squares and mean tell, and of the noise in these, (d,).
    """

    moment: Array
    mean: Array
    mean_std: float
    noise_std: float
    scales: Array
    variances: Array
    stds: Array


class PooledMoment(NamedTuple):
    """Hold the moment of all hospitals together, and what its noise follows from.

    moment: after all that is free, (d, d): over `divisors`, without empty directions. mean: m, (d,).
    divisors: c, (d,), 1 for rows that are not standardised. hospitals, p: what was pooled, and the weights.
    variances: of the moment's own noise in each entry off the diagonal, (d, d), over divisors.
    """

    moment: Array
    mean: Array
    divisors: Array
    hospitals: Sequence[HospitalMoment]
    p: Array
    variances: Array

    @property
    def mean_stds(self) -> Array:
        """Return t_i, (N,)."""
        return np.array([hospital.mean_std for hospital in self.hospitals])

    @property
    def apart(self) -> Array:
        """Return d_i, (N, d), over divisors."""
        means = np.stack([hospital.mean for hospital in self.hospitals])
        return np.asarray((means - self.mean) / self.divisors)

    @property
    def quadratic(self) -> Array:
        """Return A, (N, N)."""
        return np.asarray(2 * np.diag(self.p) - np.outer(self.p, self.p))

    def loading_stds(self, k: int) -> Array:
        """Return the std of each loading of the top k eigenvectors, (d, k), in the first order."""
        return loading_noise.of_pairs(self.moment, k, partial(self._pair_variances, k=k))

    def _pair_variances(self, vectors: Array, k: int) -> Array:
        """Return the variance of w_j^T (noise) v_i, (d, k), for all eigenvectors w and the first k, v."""
        squares = np.square(self.mean_stds)
        of_means = float(squares @ np.square(self.quadratic) @ squares)
        result = of_means * loading_noise.pair_variances(vectors, k, self.divisors)
        divided = vectors / self.divisors[:, None]
        inner = divided.T @ divided
        lengths = inner.diagonal()
        for w, hospital, away in zip(self.p, self.hospitals, self.apart, strict=True):
            roots = self.divisors / hospital.scales
            result = result + (w * hospital.noise_std) ** 2 * loading_noise.pair_variances(vectors, k, roots)
            along = vectors.T @ away
            linear = np.outer(np.square(along), lengths[:k]) + np.outer(lengths, np.square(along[:k]))
            linear += 2 * np.outer(along, along[:k]) * inner[:, :k]
            result = result + (w * hospital.mean_std) ** 2 * linear
        return np.asarray(result)

    def eigenvalue_error(self) -> float:
        """Return what the noise's largest |eigenvalue| exceeds in 5 of 100 draws, always the same draws."""
        d, rng = len(self.divisors), np.random.default_rng(0)
        upper, roots, quadratic = np.triu_indices(d, 1), np.sqrt(self.variances), self.quadratic
        stds = self.mean_stds
        weighted = self.apart * self.p[:, None]
        removed = np.diag(float(quadratic.diagonal() @ np.square(stds)) / np.square(self.divisors))
        norms = []
        for _ in range(_DRAWS if d <= _MANY_FEATURES else _FEWER_DRAWS):
            noise = np.zeros((d, d))
            noise[upper] = roots[upper] * rng.standard_normal(len(upper[0]))
            noise += noise.T + np.diag(roots.diagonal() * math.sqrt(2) * rng.standard_normal(d))
            e = stds[:, None] * rng.standard_normal(weighted.shape) / self.divisors
            linear = weighted.T @ e
            noise += linear + linear.T + e.T @ quadratic @ e - removed
            norms.append(np.abs(np.linalg.eigvalsh(noise)[[0, -1]]).max())
        return float(np.quantile(norms, _NINETY_FIVE))


def weights(multipliers: Sequence[float], sizes: Sequence[int], d: int, k: int, kept: int | None) -> Array:
    """Return p, (N,), which follow from public numbers alone.

    multipliers: z of each hospital's moment. kept: measurements that the sparse step keeps; None for all.
    """
    sampling = hospital_budgets.sampling_ratio(d, k, kept)
    return hospital_budgets.weights(
        np.array(multipliers), np.array(sizes, dtype=float), sampling, sealed=False
    )


def pooled(
    hospitals: Sequence[HospitalMoment],
    p: Array,
    *,
    layout: paid_lengths.Layout | None,
    standardised: bool = False,
) -> PooledMoment:
    """Return the pooled moment of rows about their common mean, by the module's text. No row is read.

    p: weights, (N,). layout: of rows about their mean, of which it tells the directions in which none lies;
    None for rows about public middles. standardised: whether columns are divided by their pooled scales.
    """
    means = np.stack([hospital.mean for hospital in hospitals])
    mean = p @ means
    apart = means - mean  # d_i, (N, d)
    squares = np.square([hospital.mean_std for hospital in hospitals])
    between = (apart * p[:, None]).T @ apart
    total = sum((w * hospital.moment for w, hospital in zip(p, hospitals, strict=True)), between)
    total = total - float(p @ ((2 - p) * squares)) * np.eye(len(mean))
    variances = _entry_variances(hospitals, p)
    divisors = np.ones(len(mean))
    if standardised:
        total, divisors = _standardised(hospitals, p, total, between, variances, squares)
        variances = variances / np.square(np.outer(divisors, divisors))
    if layout is not None:
        total = linalg.without_directions(total, layout.empty_directions(divisors))
    return PooledMoment(total, mean, divisors, hospitals, p, variances)


def _entry_variances(hospitals: Sequence[HospitalMoment], p: Array) -> Array:
    """Return the variance of each entry of sum p_i E_i off the diagonal, (d, d); on it it is twice that."""
    total = np.zeros_like(hospitals[0].moment)
    for w, hospital in zip(p, hospitals, strict=True):
        squares = np.square(hospital.scales)
        total += (w * hospital.noise_std) ** 2 * np.outer(squares, squares)
    return total


def _standardised(
    hospitals: Sequence[HospitalMoment],
    p: Array,
    total: Array,
    between: Array,
    variances: Array,
    squares: Array,
) -> tuple[Array, Array]:
    """Return the moment over its columns' variances, and their roots, (d,), as the rule of one table does.

    variances: of the moment's noise off the diagonal, (d, d). squares: t_i^2, (N,). The columns' variances
    are released twice: by squares and means, and on the moment's diagonal.
    """
    within = p @ np.stack([hospital.variances for hospital in hospitals])
    first = within + between.diagonal() - float(p @ ((1 - p) * squares))
    apart = np.stack([hospital.mean for hospital in hospitals])
    apart = apart - p @ apart
    noise = np.square(p[:, None] * np.stack([hospital.stds for hospital in hospitals]))
    of_means = 4 * squares[:, None] * np.square(apart) + 2 * squares[:, None] ** 2
    noise = noise + np.square(p)[:, None] * of_means
    stds = np.sqrt(noise.sum(axis=0))
    common = paid_lengths.scales(first, stds)
    moment, roots = paid_scale.rescaled(
        total / np.outer(common, common),
        np.sqrt(2 * variances.diagonal()) / common**2,
        first / common**2,
        stds / common**2,
    )
    return moment, common * roots
