"""Rows scaled to length 1, and what such rows of a Gaussian population are on average.

v = x/|x| has |v v^T| = 1 for every patient, so that no bound of the norms has to be chosen. Rows restricted
to some coordinates are scaled again. With p(t) = prod_l (1 + 2 lambda_l t)^(-1/2), Gaussian rows of
eigenvalues lambda and v in the eigenbasis,

    E[v_i^2] = int_0^inf lambda_i/(1 + 2 lambda_i t) p(t) dt,

from 1/|x|^2 = int exp(-t |x|^2) dt. A round of block power sends v q^T with q = Q^T x/|Q^T x| besides;
1/|x| = pi^(-1/2) int s^(-1/2) exp(-s |x|^2) ds, once for |x| and once for |Q^T x|, gives

    E[v q^T] = (1/pi) int int (s t)^(-1/2) p(s) |I + 2 t G_s|^(-1/2) A_s Q (I + 2 t G_s)^(-1) ds dt

with A_s = (Lambda^(-1) + 2 s)^(-1) and G_s = Q^T A_s Q. Both integrals are over the logarithms of s and t by
the trapezoidal rule, whose error falls exponentially in the number of nodes. Near 0 an integrand is t^a but
for a share of order t: all nodes below the first are a geometric series, which is added to its weight.
"""

import math

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, qr, solve_triangular
from scipy.linalg.blas import dsyrk, dtrmm

from dppca_core.arrays import Array
from dppca_core.numerics import linalg

_ROUNDING = 1 + 1e-12  # above what the norm of a row is rounded by
# The squares of a row between it and its inverse neither vanish nor overflow.
_SAFE = 1e-100
_LONG = 1 / _SAFE
_BLOCK = 2**17  # numbers that are scaled at a time, so that they stay in the cache
# The step of log t between nodes. Integrands of many eigenvalues are analytic and tame in a strip of
# half-width pi/2, so a share exp(-pi^2/step) is lost.
_STEP = 0.25
# The same for integrands of k eigenvalues. They are tame almost up to pi: a share below 2^(k/2)
# exp(-1.6 pi^2/step) is lost.
_INNER_STEP = 0.4
_NEGLIGIBLE = 1e-14  # share of an integral that may be lost beyond the last node
_TURNED = 1024  # rows that are turned at a time
_TALL = 4  # rows for each column, from which on the Gram matrix of standard normal rows is well conditioned


def unit_rows(rows: Array, out: Array | None = None) -> Array:
    """Return every row x, (n, d), as x/|x|, no longer than 1 after rounding; 0 for 0, NaN, infinity.

    out: where they are written, which may be `rows`; by default a new array.
    """
    scaled = np.empty(rows.shape) if out is None else out
    step = max(1, _BLOCK // max(1, rows.shape[1]))
    for begin in range(0, len(rows), step):
        part = np.asarray(rows[begin : begin + step], dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            length = np.sqrt(np.add.reduce(part * part, axis=1, keepdims=True))
        if not (
            np.minimum.reduce(length, axis=None) > _SAFE and np.maximum.reduce(length, axis=None) < _LONG
        ):
            # Here some length is extreme, or not a number, for which all comparisons fail. These rows alone
            # are divided by their largest entry first: no row depends on another.
            extreme = ~((length > _SAFE) & (length < _LONG))[:, 0]
            part = part.copy()
            largest = np.abs(part[extreme]).max(axis=1, initial=0.0, keepdims=True)
            usable = np.isfinite(largest) & (largest > 0)
            part[extreme] = np.where(usable, part[extreme], 0.0) / np.where(usable, largest, 1.0)
            length[extreme] = np.where(usable, np.linalg.norm(part[extreme], axis=1, keepdims=True), 1.0)
        np.divide(part, length * _ROUNDING, out=scaled[begin : begin + step])
    return scaled


def normalised_product(units: Array, block: Array, runs: int = 1) -> Array:
    """Return the mean of v q^T over rows v of length 1, with q = Q^T v/|Q^T v|, or 0 where that is 0.

    Args:
        units: Rows of length 1 or 0, (n, d).
        block: Q with orthonormal columns, (d, k), or the Q of several runs side by side.
        runs: How many stand there.

    Returns:
        The mean, (d, k), of Frobenius norm at most 1, or those of all runs side by side.
    """
    total = np.zeros((block.shape[1], units.shape[1]))
    # Products with many columns are bound by arithmetic, and prefer more rows to rows that stay in the cache.
    step = max(1, _BLOCK * max(1, runs // 2) // units.shape[1])
    for begin in range(0, len(units), step):
        part = units[begin : begin + step]
        projected = part.dot(block)
        each = projected.reshape(-1, block.shape[1] // runs)  # a row for every row and run
        total += unit_rows(each).reshape(projected.shape).T.dot(part)
    return np.ascontiguousarray(total.T) / len(units)


def expected_unit_eigenvalues(eigenvalues: Array, counts: Array | float = 1.0) -> Array:
    """Return E[v_i^2], (d,), of Gaussian rows scaled to length 1.

    They are the eigenvalues of E[v v^T], in the order of `eigenvalues`, (d,), those of the rows' covariance.
    counts: how many directions each of these stands for.
    """
    times, weights = _nodes(eigenvalues, counts=counts)
    return (eigenvalues[:, None] / (1 + 2 * eigenvalues[:, None] * times)) @ (weights * times)


def expected_pair_moments(eigenvalues: Array, k: int, counts: Array | float = 1.0) -> Array:
    """Return E[v_i^2 v_j^2] of Gaussian rows scaled to length 1, for all i < k <= j, (k, d - k).

    eigenvalues: of the rows' covariance, (d,). counts: how many directions each of these stands for. Divided
    by n, such a number is the variance by sampling of an entry of the second moment of n rows, in the
    eigenbasis.
    From 1/|x|^4 = int t exp(-t |x|^2) dt it is int t l_i l_j/((1 + 2 l_i t)(1 + 2 l_j t)) p(t) dt, l the
    eigenvalues.
    """
    times, weights = _nodes(eigenvalues, counts=counts)
    shrunk = eigenvalues[:, None] / (1 + 2 * eigenvalues[:, None] * times)
    return (shrunk[:k] * (weights * times**2)) @ shrunk[k:].T


def expected_normalised_product(eigenvalues: Array, block: Array, runs: int = 1) -> Array:
    """Return E[v q^T], (d, k), the mean of a normalised round, by the double integral of the module's text.

    eigenvalues: of the rows' covariance, (d,). block: Q, (d, k), in its eigenbasis, or the Q of so many
    `runs` side by side, which gives their means side by side.
    """
    # The outer integral is over s. At each of its nodes, `inner` is G_s, on whose eigenvalues alone the inner
    # integral, over t, depends.
    outer, weights = _nodes(eigenvalues, power=0.5)
    shrunk = eigenvalues[:, None] / (1 + 2 * eigenvalues[:, None] * outer)  # the diagonal of A_s, (d, nodes)
    means = []
    for basis in np.split(block, runs, axis=1):
        pairs = (basis[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)
        inner = (shrunk.T @ pairs).reshape(len(outer), basis.shape[1], basis.shape[1])
        values, axes = np.linalg.eigh(inner)
        factors = _inner(values) * (weights * np.sqrt(outer))[:, None]
        turned = (axes * factors[:, None, :]) @ axes.transpose(0, 2, 1)  # (nodes, k, k)
        weighted = (shrunk @ turned.reshape(len(outer), -1)).reshape(len(basis), *turned.shape[1:])
        means.append(np.einsum("da,dac->dc", basis, weighted) / math.pi)
    return np.hstack(means)


def _inner(values: Array) -> Array:
    """Return int t^(-1/2) prod_l (1 + 2 t g_l)^(-1/2)/(1 + 2 t g_j) dt for each j and each row g, (nodes, k).

    values: the eigenvalues g of G_s at each node of the outer integral, ascending, (nodes, k).
    It is 0 in place of infinity for g_j = 0, along which no row has a part.
    """
    largest = values[:, -1:]
    ratios = values / largest
    present = ratios > np.finfo(float).eps  # others are zero but for rounding
    # Beyond the inverse of the smallest ratio the integrand falls as t^(-(m + 1)/2), of m that are present.
    fall = (int(present.sum(axis=1).min()) + 1) / 2
    end = -math.log(_NEGLIGIBLE) / fall - math.log(float(ratios[present].min()))
    # The integrand over log t begins as t^(1/2), so that 1.5 is the 1 + power of `_nodes`.
    times = np.exp(np.arange(math.log(_NEGLIGIBLE) / 1.5, end + _INNER_STEP, _INNER_STEP))
    factors = 1 + 2 * np.where(present, ratios, 0.0)[:, :, None] * times
    with np.errstate(over="ignore"):  # where the product is infinite, the weight is 0
        weights = np.sqrt(times) * _INNER_STEP / np.sqrt(factors.prod(axis=1))  # (nodes, times)
    weights[:, 0] /= 1 - math.exp(-_INNER_STEP / 2)  # the geometric series of all nodes below the first
    integrals = (1 / factors) @ weights[:, :, None]
    return np.where(present, integrals[:, :, 0], 0.0) / np.sqrt(largest)


def _nodes(values: Array, power: float = 1.0, counts: Array | float = 1.0) -> tuple[Array, Array]:
    """Return the nodes t of an integral over log t, (nodes,), and their weights p(t) d(log t), (nodes,).

    values: the eigenvalues lambda in p, (d,). counts: how often each enters p. The integrand over log t must
    begin as t^power near 0, and end below p(t): so the first and the last node are where what lies beyond is
    negligible.
    """
    times_in_p = np.broadcast_to(counts, values.shape)
    enters = (values > 0) & (times_in_p > 0)
    present, often = values[enters], times_in_p[enters]
    begin = math.log(_NEGLIGIBLE) / (1 + power) - math.log(float((often * present).sum()))
    end = -math.log(float(present.max()))
    while 0.5 * float((often * np.log1p(2 * present * math.exp(end))).sum()) < -math.log(_NEGLIGIBLE):
        end += 1.0
    times: Array = np.exp(np.arange(begin, end + _STEP, _STEP))
    logs = times_in_p[:, None] * np.log1p(2 * values[:, None] * times)
    weights: Array = np.exp(-0.5 * logs.sum(axis=0)) * _STEP
    weights[0] /= 1 - math.exp(-power * _STEP)  # the geometric series of all nodes below the first
    return times, weights


def draw_rows_given_moment(
    moment: Array, n: int, rng: np.random.Generator, axes: Array | None = None
) -> Array:
    """Return n rows, (n, d), whose second moment X^T X/n is this one, uniform among all such rows.

    They have the law of n Gaussian rows given their moment, whatever the covariance: X = sqrt(n) O F^T with
    F F^T the moment and O independent of it, uniform with orthonormal columns (Muirhead 1982, theorem 3.2.2).
    moment: (d, d), of rank min(n, d) at most. axes: where the moment is given in an eigenbasis, that basis,
    (d, d), as columns, and the rows are turned out of it.
    """
    d = len(moment)
    # O is what remains of standard normal rows when a factor of their Gram matrix is divided out: by Cholesky
    # where the rows are many, so that their Gram matrix is well conditioned, else by a QR decomposition.
    if n >= _TALL * d:
        normal: Array = rng.standard_normal((n, d))
        lower = cholesky(dsyrk(1.0, normal.T, lower=1), lower=True, overwrite_a=True)
        try:
            root = cholesky(moment, lower=True)
        except LinAlgError:  # where an eigenvalue of the population is zero: the one root that is symmetric
            values, vectors = eigh(moment)
            root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
            rotation = solve_triangular(lower, root, trans="T", lower=True)
            axes = np.eye(d) if axes is None else axes
        else:
            rotation = solve_triangular(lower, root.T, trans="T", lower=True)
        if axes is None:
            square = rotation.T.reshape(d, d)  # which it is: for its type, which is that of a vector
            return dtrmm(math.sqrt(n), square, normal.T, lower=1, overwrite_b=1).T
        turned = math.sqrt(n) * (rotation @ axes.T)
        for begin in range(0, n, _TURNED):  # in place: the rows are the largest array of a simulation
            normal[begin : begin + _TURNED] = normal[begin : begin + _TURNED] @ turned
        return normal
    rank = min(n, d)
    columns, upper = qr(rng.standard_normal((n, rank)), mode="economic", overwrite_a=True, check_finite=False)
    columns *= np.sign(upper.diagonal())
    directions = np.asarray(columns, dtype=float)
    values, vectors = eigh(moment)
    scaled = linalg.oriented(vectors) * np.sqrt(np.maximum(values, 0.0))
    root = scaled[:, d - rank :] if axes is None else axes @ scaled[:, d - rank :]  # others are zero
    return np.asarray(math.sqrt(n) * (directions @ root.T))
