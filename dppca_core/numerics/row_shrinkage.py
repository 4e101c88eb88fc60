"""Rows of an estimated basis shrunk towards zero by how far each stands out of its noise: post-processing.

Row r of the top eigenvectors V of a noisy moment has error of variance (o^2 + l_i b/n)/l_i^2 in column i, o
the noise of an off-diagonal entry, b the mean of the other eigenvalues, n patients. With

    st_r = sum_i l_i^2 V_ri^2/(o^2 + l_i b/n)

row r is multiplied by max(0, 1 - 2 k/st_r), after James & Stein (1961), and all are orthonormalised. A row of
noise alone has st near k and vanishes; one that stands out stays.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.integrate import quad
from scipy.special import chdtri, chndtr, gammaln

from dppca_core.arrays import Array
from dppca_core.numerics import linalg

_WEIGHTS, _LENGTHS = 16, 200  # nodes of the integrals over |y|^2 and over x: they err by 1 %, and 4 % at most
_LONGEST = 200.0  # of x, in units of k, beyond which next to nothing lies


@lru_cache(maxsize=1024)
def noise_left(k: int, ratio: float = 1.0) -> float:
    """Return the share of its squared length that a row of noise alone keeps on average once it is shrunk.

    That is E[(1 - 2k/(r x))_+^2 x]/k for x ~ chi2_k. ratio: r, the variance of the row's entries over the one
    that `shrunk` is told. It is above 1 where n is protected, since `shrunk` then leaves sampling out.
    """
    level = 2 * k / ratio  # below which a row vanishes
    scale = k / 2 * math.log(2) + gammaln(k / 2)  # of the density of chi2_k

    def integrand(x: float) -> float:
        return (1 - level / x) ** 2 * x * math.exp((k / 2 - 1) * math.log(x) - x / 2 - scale)

    return float(quad(integrand, level, np.inf)[0]) / k


@lru_cache(maxsize=1024)
def chosen_noise_left(k: int, ratio: float, chosen: float, alike: float) -> float:
    """Return what `noise_left` does for rows that were chosen because they stood out before.

    x = |z|^2 for a row z of k standard normal numbers, given that another one, y, belongs to the heaviest:
    |y|^2 > q with P(chi2_k > q) = `chosen`. With c^2 = `alike` the squared correlation of z_i and y_i,
    x/(1 - c^2) given y is chi2'_k(c^2 |y|^2/(1 - c^2)). By parts, with L = 2k/r,

        E[(1 - L/x)_+^2 x] = int_L^inf (1 - (L/x)^2) P(x' > x) dx.

    Args:
        k: Columns.
        ratio: r, as that of `noise_left`.
        chosen: The share of all rows of noise that is kept, in (0, 1].
        alike: c^2, in [0, 1).
    """
    heaviest = chdtri(k, chosen * (np.arange(_WEIGHTS) + 0.5) / _WEIGHTS)[:, None]  # |y|^2, in equal shares
    level, spread = 2 * k / ratio, 1 - alike
    x = np.geomspace(level, max(_LONGEST * k, 2 * level), _LENGTHS)
    longer = 1 - chndtr(x / spread, k, alike * heaviest / spread).mean(axis=0)
    return float(np.trapezoid((1 - (level / x) ** 2) * longer, x)) / k


def shrunk(moment: Array, basis: Array, std: float, n: float) -> Array:
    """Return a basis with its rows shrunk, (d, k) orthonormal; as it was where fewer than k rows remain.

    Args:
        moment: The released moment, (d, d).
        basis: Leading directions of it, (d, k) orthonormal; only its rows that are not zero count.
        std: Standard deviation of the noise in one off-diagonal entry.
        n: Patients behind the moment, for the error of sampling; infinite leaves that out.
    """
    d, k = basis.shape
    rows = np.flatnonzero(basis.any(axis=1))
    block, part = moment[np.ix_(rows, rows)], basis[rows]
    # `standing_out` is st_r of the module's text, in the moment's own axes within the basis.
    turned, values = linalg.axes_within(part, block)
    others = (float(np.trace(block)) - float(values.sum())) / max(len(rows) - k, 1)  # b, their mean
    values = np.maximum(values, 0.0)
    variance = np.maximum(std**2 + values * max(others, 0.0) / n, np.finfo(float).tiny)
    standing_out = (turned**2 * (values**2 / variance)).sum(axis=1)
    factors = weights(standing_out, k)
    if factors.min() == 1.0:
        return basis
    return linalg.scatter_rows(linalg.orthonormalise(turned * factors[:, None]), rows, d)


def weights(standing_out: Array, k: int) -> Array:
    """Return what each row is multiplied by, (..., rows): 1 for all where fewer than k rows would remain.

    standing_out: st_r of the module's text, of every row of a basis with k columns, or of many bases.
    """
    stays = standing_out > 2 * k
    factors = np.where(stays, 1 - 2 * k / np.where(stays, standing_out, 1.0), 0.0)
    enough = np.count_nonzero(stays, axis=-1, keepdims=True) >= k
    return np.where(enough, factors, 1.0)
