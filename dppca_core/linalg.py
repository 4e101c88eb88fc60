"""Small dense linear algebra: thin orthogonalisation, row thresholding, eigenspaces, noise."""

import numpy as np
from scipy.linalg import eigh, qr
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf

from dppca_core.types import Array, Indices

# Cholesky-QR leaves columns orthonormal to about eps * cond^2; below this ratio of pivots we leave it
# for Householder reflections, so the loss stays near 2e-16 * 1e6.
_CHOLESKY_PIVOT_RATIO = 1e-3


def orthonormalise(columns: Array) -> Array:
    """Orthonormal basis of the columns' span, (d, k): the Q of the thin QR with positive diagonal.

    Cholesky-QR (R from the k x k Gram matrix) where it is safe, else Householder. Rank-deficient
    input still yields k orthonormal columns.
    """
    across = columns.T  # LAPACK is column-major: the transpose of our rows needs no copy
    factor, failed = dpotrf(dsyrk(1.0, across), overwrite_a=1)
    if failed == 0:
        pivots = factor.diagonal().tolist()
        if min(pivots) > _CHOLESKY_PIVOT_RATIO * max(pivots):
            solved: Array = dtrsm(1.0, factor, across, trans_a=1)
            return solved.T
    q, r = qr(columns, mode="economic", check_finite=False)
    q[:, r.diagonal() < 0] *= -1.0
    return np.asarray(q, dtype=np.float64)


def largest_rows(columns: Array, count: int) -> Indices:
    """Indices, ascending, of the `count` rows of largest Euclidean norm."""
    if count >= len(columns):
        return np.arange(len(columns))
    norms = np.einsum("ij,ij->i", columns, columns)
    rows: Indices = norms.argpartition(len(columns) - count)[-count:]
    rows.sort()
    return rows


def scatter_rows(block: Array, rows: Indices, features: int) -> Array:
    """The (d, k) matrix that holds `block` at `rows` and zero elsewhere."""
    full = np.zeros((features, block.shape[1]))
    full[rows] = block
    return full


def top_eigenspace(symmetric: Array, k: int) -> Array:
    """Eigenvectors of the k algebraically largest eigenvalues, (d, k), largest first.

    Never a singular value decomposition: that ranks by absolute value and returns large negative
    noise directions.
    """
    return top_eigenpairs(symmetric, k)[1]


def top_eigenpairs(symmetric: Array, k: int) -> tuple[Array, Array]:
    """The k algebraically largest eigenvalues, (k,), largest first, and their eigenvectors, (d, k)."""
    d = len(symmetric)
    values, vectors = eigh(symmetric, subset_by_index=(d - k, d - 1), check_finite=False)
    return values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])


def isotropic_noise(d: int, std: float, rng: np.random.Generator) -> Array:
    """(G + G^T)/2, G i.i.d. N(0, std^2): variance std^2 on the diagonal, std^2/2 off it.

    Isotropic in the Frobenius norm on symmetric matrices, so it goes with the Frobenius sensitivity.
    """
    noise = rng.standard_normal((d, d))
    noise += noise.T.copy()
    noise *= std / 2
    return noise


def mirrored_noise(d: int, std: float, rng: np.random.Generator) -> Array:
    """Upper triangle with diagonal i.i.d. N(0, std^2), mirrored: goes with the triangle's l2 norm."""
    noise = np.triu(rng.standard_normal((d, d)) * std)
    noise += np.triu(noise, 1).T
    return noise
