"""Rows scaled to length 1, and second moments of such rows where only a Gaussian moment was drawn.

v = x/|x| has |v v^T| = 1 for every patient, so that no bound of the norms has to be chosen. Rows restricted
to some coordinates are scaled again. For Gaussian rows with covariance U diag(lambda) U^T and v in the
eigenbasis,

    E[v_i^2]       = int_0^inf   lambda_i/(1 + 2 lambda_i t) p(t) dt,
    E[v_i^2 v_j^2] = int_0^inf t lambda_i lambda_j/((1 + 2 lambda_i t)(1 + 2 lambda_j t)) p(t) dt   (i != j),

three times that for i = j, with p(t) = prod_l (1 + 2 lambda_l t)^(-1/2): from 1/|x|^2 = int exp(-t |x|^2) dt
and 1/|x|^4 = int t exp(-t |x|^2) dt.

From a Gaussian moment S of n rows come, at a cost of n d^2, n rows with exactly that moment and the law of
the patients given it: X = sqrt(n) O F^T with S = F F^T and O uniform with orthonormal columns. Beyond
`EXACT_COST` the moment of scaled rows is E[v v^T] plus the fluctuation of the white moment, spread as that
of scaled rows is: right in mean and variance, not exact.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import cholesky, eigh, qr, solve_triangular

from dppca_core.arrays import Array

EXACT_COST = 5 * 10**8  # n d^2 up to which rows are drawn: a tenth of a second on one core
_ROUNDING = 1 + 1e-12  # exceeds the rounding of a row's norm
_BLOCK = 2**20  # numbers that are scaled at a time
_STEP = 0.25  # of the logarithm of t: the integrands are analytic in a strip of half-width pi
_NEGLIGIBLE = 1e-18
_TALL = 4


def unit_rows(rows: Array) -> Array:
    """Return every row x as x/|x|, no longer than 1 after rounding.

    A row of zeros, and one that is not finite, becomes a row of zeros.

    Args:
        rows: Rows, (n, d).

    Returns:
        Rows of length 1 or 0, (n, d).
    """
    scaled = np.empty(rows.shape)
    step = max(1, _BLOCK // max(1, rows.shape[1]))
    for begin in range(0, len(rows), step):
        part = np.asarray(rows[begin : begin + step], dtype=float)
        largest = np.abs(part).max(axis=1, initial=0.0, keepdims=True)
        usable = np.isfinite(largest) & (largest > 0)
        # Divide by the largest entry first: squares of entries near 1e200 overflow, near 1e-200 they vanish.
        part = np.where(usable, part, 0.0) / np.where(usable, largest, 1.0)
        length = np.linalg.norm(part, axis=1, keepdims=True)
        scaled[begin : begin + step] = part / (np.where(usable, length, 1.0) * _ROUNDING)
    return scaled


def unit_eigenvalues(eigenvalues: Array) -> Array:
    """Return E[v_i^2] of Gaussian rows scaled to length 1, (d,), for the eigenvalues of their covariance."""
    shrunk, weights = _nodes(eigenvalues)
    return shrunk @ weights


def unit_fourth_moments(eigenvalues: Array) -> Array:
    """Return E[v_i^2 v_j^2] of Gaussian rows scaled to length 1 in their eigenbasis, (d, d)."""
    shrunk, weights = _nodes(eigenvalues)
    fourth: Array = (shrunk * (_times(eigenvalues) * weights)) @ shrunk.T
    np.fill_diagonal(fourth, 3 * fourth.diagonal())
    return fourth


def _times(eigenvalues: Array) -> Array:
    """Return t at the nodes of the integrals, from where they begin to where they are negligible."""
    values = eigenvalues[eigenvalues > 0]
    low = math.log(_NEGLIGIBLE / float(values.sum()))
    high = -math.log(float(values.max()))
    while high - 0.5 * float(np.log1p(2 * values * math.exp(high)).sum()) > math.log(_NEGLIGIBLE) + high:
        high += 1.0
    times: Array = np.exp(np.arange(low, high + _STEP, _STEP))
    return times


def _nodes(eigenvalues: Array) -> tuple[Array, Array]:
    """Return lambda_i/(1 + 2 lambda_i t), (d, nodes), and the weights p(t) dt, (nodes,)."""
    times = _times(eigenvalues)
    doubled = 2 * eigenvalues[:, None] * times
    weights = np.exp(-0.5 * np.log1p(doubled).sum(axis=0)) * times * _STEP
    return eigenvalues[:, None] / (1 + doubled), weights


def draw_rows_given_moment(moment: Array, n: int, rng: np.random.Generator) -> Array:
    """Return n rows, (n, d), whose second moment X^T X/n is this one, uniform among all such rows.

    They have the law of n Gaussian rows given their moment, whatever the covariance: X = sqrt(n) O F^T, O
    independent of the moment and uniform with orthonormal columns (Muirhead 1982, theorem 3.2.2, and QR).
    """
    d = len(moment)
    rank = min(n, d)
    normal: Array = rng.standard_normal((n, rank))
    directions: Array
    if n > _TALL * d:  # well conditioned: by Cholesky, in half the time
        directions = solve_triangular(cholesky(normal.T @ normal, lower=True), normal.T, lower=True).T
    else:
        columns, upper = qr(normal, mode="economic", overwrite_a=True, check_finite=False)
        directions = np.asarray(columns * np.sign(upper.diagonal()), dtype=float)
    values, vectors = eigh(moment)
    kept = slice(d - rank, d)  # of fewer rows than columns the other eigenvalues are zero
    root = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0))
    return math.sqrt(n) * (directions @ root.T)


def unit_moment(moment: Array, covariance: tuple[Array, Array]) -> Array:
    """Return a second moment of length-1 rows that moves as the moment of the same Gaussian rows does.

    Args:
        moment: Second moment of Gaussian rows, (d, d), in the units of the covariance.
        covariance: Its eigenvalues, (d,), and eigenvectors, (d, d).

    Returns:
        In the eigenbasis the mean of every entry, the covariance of the diagonal and the variances of all
        others are those of the moment of the rows scaled to length 1; its trace is 1, (d, d).
    """
    values, vectors = covariance
    present = values > 0
    half = vectors * np.where(present, 1 / np.sqrt(np.where(present, values, 1.0)), 0.0)
    moved = half.T @ moment @ half - np.diag(present.astype(float))
    mean, fourth = unit_eigenvalues(values), unit_fourth_moments(values)
    scaled: Array = np.sqrt(fourth) * moved
    # A white moment's diagonal is independent and of twice the variance; that of rows of length 1 sums to 1.
    spread, axes = eigh(fourth - np.outer(mean, mean))
    root = (axes * np.sqrt(np.maximum(spread, 0.0))) @ axes.T
    np.fill_diagonal(scaled, mean + root @ moved.diagonal() / math.sqrt(2))
    unit: Array = vectors @ scaled @ vectors.T
    return (unit + unit.T) / 2
