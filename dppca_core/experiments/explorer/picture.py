"""The plane in which a run's answer is furthest from the truth, and how patients lie in it.

With orthonormal bases U of the answer and V of the truth, both (d, k), C = V^T U, R = U - V C, and x the
right singular vector of R with the largest singular value,

    tan theta = |R x| / |C x|,  v = V C x / |C x|,  w = R x / |R x|,  u = U x = cos(theta) v + sin(theta) w.

theta is the largest principal angle, v and u are its principal vectors, w = (u - (u.v) v) / |u - (u.v) v|.
V spans eigenvectors of the patients' second moment Sigma and w is orthogonal to V, so v^T Sigma w = 0: the
Cholesky factor of [v w]^T Sigma [v w] is diagonal, and the coordinates of Gaussian patients in the plane are
(sqrt(v^T Sigma v) z_1, sqrt(w^T Sigma w) z_2) with z standard normal, exactly and for any number of patients.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array

PATIENTS, SEED = 300, 0  # patients that a picture shows, the same in all pictures
NOISES = 20  # runs whose directions a picture shows beside each other
COMPONENTS = 4  # at most so many components of a table are kept for its picture


class AnglePlane(NamedTuple):
    """Hold the plane of the largest principal angle."""

    # Largest principal angle in degrees, from -90 to 90. Its sign is the run's own: positive where the
    # entries of v and of w that are largest in magnitude have the same sign.
    angle: float
    along: float  # standard deviation of the scaled rows along v
    across: float  # standard deviation along w; 0 where the answer spans the truth


def plane(basis: Array, truth: Array, variances: Callable[[Array], Array]) -> AnglePlane:
    """Return the plane of the largest principal angle; the module's text has the formulas.

    basis, truth: U and V, orthonormal columns, (d, k); V spans eigenvectors of the second moment Sigma.
    variances: returns the diagonal of B^T Sigma B, shape (m,), for a block B, (d, m).
    """
    cosines = truth.T @ basis
    residual = basis - truth @ cosines
    _, right_vectors = np.linalg.eigh(residual.T @ residual)  # of R, the largest singular value's last
    rotation = right_vectors[:, -1]  # x of the module's text
    onto, off = cosines @ rotation, residual @ rotation
    cosine, sine = float(np.linalg.norm(onto)), float(np.linalg.norm(off))
    if cosine < 1e-8:  # at a right angle v is any direction in the span of V that is orthogonal to U
        onto = np.linalg.svd(cosines)[0][:, -1]  # the left singular vector of the smallest singular value
    v = truth @ (onto / np.linalg.norm(onto))
    w = off / sine if sine > 0 else off
    along, across = np.sqrt(variances(np.column_stack([v, w])))
    same_sign = v[np.argmax(np.abs(v))] * w[np.argmax(np.abs(w))] >= 0
    angle = math.degrees(math.atan2(sine, cosine))
    return AnglePlane(angle if same_sign else -angle, float(along), float(across))


def aligned_with(basis: Array, truth: Array) -> Array:
    """Return the basis turned within its span as near to the truth as possible (orthogonal Procrustes)."""
    left, _, right = np.linalg.svd(basis.T @ truth)
    onto: Array = basis @ (left @ right)
    return onto


def patients() -> Array:
    """Return the standard normals z of the module's text that make a picture's patients, (PATIENTS, 2)."""
    return np.random.default_rng(SEED).standard_normal((PATIENTS, 2))
