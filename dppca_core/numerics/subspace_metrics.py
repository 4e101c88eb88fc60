"""Distances between subspaces, each stable where the naive formula is not, and sizes of matrix errors.

Bases have orthonormal columns; nothing depends on signs or order of the columns.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics.linalg import largest_rows


def sin_theta(basis: Array, truth: Array) -> float:
    """Return || sin Theta ||_F = || (I - V V^T) W ||_F, the distance of two subspaces.

    The residual keeps 1e-15 where sqrt(k - |V^T W|^2) and arccos lose everything below 1e-8.

    Args:
        basis: W, orthonormal columns, (d, k).
        truth: V, orthonormal columns, (d, k).

    Returns:
        The distance, without unit: from 0 to sqrt(min(k, d - k)).

    Raises:
        ValueError: For a truth whose shape is not that of the basis, or columns that are not orthonormal.

    References:
        Ge, Wang, Wang & Liu 2018, Lemma B.5 of the supplement.
    """
    checks.orthonormal(*basis.shape, basis=basis, truth=truth)
    return float(np.linalg.norm(basis - truth @ (truth.T @ basis)))


def sin_thetas(bases: Array, truth: Array) -> Array:
    """Return `sin_theta` of each of m bases, (m, d, k), against one truth, (d, k): shape (m,), unchecked."""
    residual = bases - truth @ (truth.T @ bases)
    sines: Array = np.sqrt(np.einsum("mij,mij->m", residual, residual))
    return sines


def projector_distance(basis: Array, truth: Array) -> float:
    """Return || W W^T - V V^T ||_F = sqrt(2) sin_theta, from 0 to sqrt(2k)."""
    return float(np.sqrt(2.0)) * sin_theta(basis, truth)


def random_guess(d: int, k: int) -> float:
    """Return the root mean square of sin_theta of a uniformly random k-subspace of R^d: sqrt(k (1 - k/d))."""
    return float(np.sqrt(k * (1 - k / d)))


def share_recovered(sines: float | Array, k: float | Array) -> Array:
    """Return 1 - sin_theta^2 / k, the share of a k-dimensional subspace that an estimate recovers.

    sines: values of sin_theta.
    A uniformly random subspace recovers k/d of it in the mean; a void bound, beyond sqrt(k), recovers
    nothing.
    """
    return np.maximum(1 - np.asarray(sines, dtype=float) ** 2 / k, 0.0)


def in_unit(metric: str, sines: ArrayLike, k: ArrayLike) -> Array:
    """Return values of ||sin Theta||_F, of runs or of theory, in the unit that a screen shows.

    Args:
        metric: "sin", "projector" (times sqrt 2), "share" (recovered, in %) or "degrees".
        sines: The values.
        k: The number of directions, one for all or one for each.

    Returns:
        The values. Degrees are the largest angle's, which ||sin Theta||_F gives for k = 1 alone: nan for
        larger k.
    """
    values = np.asarray(sines, dtype=float)
    if metric == "share":
        return 100 * share_recovered(values, np.asarray(k))
    if metric == "degrees":
        return np.where(np.equal(k, 1), np.degrees(np.arcsin(np.minimum(values, 1.0))), np.nan)
    return values * (np.sqrt(2.0) if metric == "projector" else 1.0)


def runs_in_unit(metric: str, sines: ArrayLike, angles: ArrayLike, k: ArrayLike) -> Array:
    """Return runs' errors in a unit of `in_unit`, from their ||sin Theta||_F and largest angles in degrees.

    Of runs the angles are known, so degrees are not limited to k = 1.
    """
    return np.asarray(angles, dtype=float) if metric == "degrees" else in_unit(metric, sines, k)


def largest_angles(bases: Array, truth: Array) -> Array:
    """Return the largest principal angle of each of m bases, (m, d, k), to the truth, in degrees: shape (m,).

    truth: (d, k). Near 0 the angle is that of its sine, from the residual, and near 90 that of its cosine.
    """
    cosines = truth.T @ bases
    residual = bases - truth @ cosines
    squares = np.linalg.eigvalsh(residual.transpose(0, 2, 1) @ residual)[:, -1]
    cosine = np.linalg.svd(cosines, compute_uv=False)[:, -1]
    angles: Array = np.degrees(np.arctan2(np.sqrt(np.maximum(squares, 0.0)), cosine))
    return angles


@lru_cache(maxsize=256)
def random_angle(d: int, k: int) -> float:
    """Return the median largest angle, in degrees, of a uniformly random k-subspace of R^d to a fixed one.

    It is read off 1,001 draws of one seed, to about a tenth of a degree: the smallest singular value of the
    first k rows of a random basis, whose other rows enter by their Gram matrix alone.
    """
    # The first k rows are the basis's part in the fixed subspace, `rest` stands for all others.
    rng = np.random.default_rng(0)
    top = rng.standard_normal((1001, k, k))
    rest = np.zeros_like(top)  # R of the other rows' QR decomposition, by Bartlett
    for i in range(min(k, d - k)):
        rest[:, i, i] = np.sqrt(rng.chisquare(d - k - i, 1001))
        rest[:, i, i + 1 :] = rng.standard_normal((1001, k - i - 1))
    bases = np.linalg.qr(np.concatenate([top, rest], axis=1))[0]
    return float(np.median(largest_angles(bases, np.eye(2 * k, k))))


def random_energy(eigenvalues: Array, k: int) -> float:
    """Return the mean `captured_energy` of a uniformly random k-subspace: k tr A / (d best).

    A is given by its d eigenvalues, descending, of which the first k add up to `best`.
    """
    return k * float(eigenvalues.sum()) / (len(eigenvalues) * float(eigenvalues[:k].sum()))


def principal_angles(basis: Array, truth: Array) -> Array:
    """Return the k principal angles of two subspaces in radians, ascending.

    They are the arcsin of the singular values of the residual (I - V V^T) W.
    """
    sines = np.linalg.svd(basis - truth @ (truth.T @ basis), compute_uv=False)
    angles: Array = np.arcsin(np.clip(np.sort(sines), 0.0, 1.0))
    return angles


def captured_energy(basis: Array, second_moment: Array, best: float) -> float:
    """Return tr(W^T A W) / `best`, the share of the greatest energy that a basis W, (d, k), captures.

    second_moment: A, (d, d). best: the sum of its k largest eigenvalues.
    State with the number whether A is the population's or the sample's (`random_energy` is its floor).
    Imtiaz & Sarwate 2018, section 4.
    """
    rows = np.flatnonzero(basis.any(axis=1))
    if len(rows) < len(basis) / 2:  # a thresholded basis touches few rows
        basis, second_moment = basis[rows], second_moment[np.ix_(rows, rows)]
    return float(np.vdot(basis, second_moment @ basis)) / best


def support_found(basis: Array, truth: Array, size: int) -> float:
    """Return the share of the truth's `size` heaviest rows that are among the estimate's `size` heaviest.

    With `size` the true sparsity this is recall, precision and F1 at once.
    """
    estimated_rows = largest_rows(basis, size)
    return len(np.intersect1d(estimated_rows, largest_rows(truth, size))) / size
