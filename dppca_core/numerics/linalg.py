"""Small dense linear algebra: thin orthogonalisation, row thresholding, eigenspaces, noise."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from threading import local

import numpy as np
from scipy.linalg import LinAlgError, qr
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dsyevr, dsyevr_lwork, dtrtri

from dppca_core.arrays import Array, Indices

# Cholesky-QR leaves columns orthonormal to about eps * cond^2; below this ratio of pivots we leave it
# for Householder reflections, so the loss stays near 2e-16 * 1e6.
_CHOLESKY_PIVOT_RATIO = 1e-3
_BLOCK = 64  # side of the blocks in which noise is made symmetric
_BELOW = np.tri(_BLOCK, k=-1, dtype=bool)  # True below the diagonal of such a block
# A matrix of so many numbers does not fit in the fast cache.
_LARGE = 2**18
_MOST_HELD = 1024  # side of the largest matrix whose memory is kept for the next eigenproblem, 8 MB
_PIECE, _LEAST_PIECE = 2**17, 16  # numbers, 1 MB; fewer rows than that make no product of two matrices
_WORKSPACE = local()  # the memory that each thread keeps for its eigenproblems


def orthonormalise(columns: Array) -> Array:
    """Return an orthonormal basis of the columns' span, (d, k): the thin QR's Q with positive diagonal.

    Cholesky-QR (R from the k x k Gram matrix) where it is safe, else Householder. Rank-deficient
    input still yields k orthonormal columns.
    """
    # LAPACK is column-major: the transpose of our rows needs no copy.
    factor, failed = dpotrf(dsyrk(1.0, columns.T), overwrite_a=1)
    if failed == 0:
        pivots = factor.diagonal().tolist()
        if min(pivots) > _CHOLESKY_PIVOT_RATIO * max(pivots):
            # A product with the small inverse is as accurate here and several times as fast as a solve.
            solved: Array = columns.dot(np.ascontiguousarray(dtrtri(factor, overwrite_c=1)[0]))
            return solved
    q, r = qr(columns, mode="economic", check_finite=False)
    q[:, r.diagonal() < 0] *= -1.0
    return np.asarray(q, dtype=np.float64)


def narrow_product(matrix: Array, block: Array) -> Array:
    """Return matrix @ block, (m, k), for a `block`, (d, k), of few columns; row-major if the block is.

    BLAS reads a large matrix in half the time from the other side of such a product.
    """
    if matrix.size < _LARGE:
        product: Array = matrix.dot(block)
        return product
    product = block.T.dot(matrix.T).T
    return np.ascontiguousarray(product) if block.flags.c_contiguous else product


def pieces(count: int, features: int) -> Iterator[slice]:
    """Return slices that cut `count` rows of `features` numbers each into pieces that stay in the cache."""
    step = max(_LEAST_PIECE, _PIECE // features)
    return (slice(begin, min(begin + step, count)) for begin in range(0, count, step))


def gram(parts: Iterable[Array], features: int) -> Array:
    """Return the sum of X^T X over `parts`, blocks X of a table's rows, (m, d) each: (d, d)."""
    total = np.zeros((features, features))
    for part in parts:
        total += part.T @ part
    return total


def gram_product(parts: Iterable[Array], block: Array) -> Array:
    """Return the sum of X^T (X block) over `parts`, blocks X of a table's rows, (m, d) each.

    block: (d, k). The sum is (d, k) and row-major.
    Each part is used twice while it is in the cache, where two products with all rows read them twice from
    memory.
    """
    thin = np.ascontiguousarray(block.T)
    total = np.zeros(thin.shape)
    for part in parts:
        total += thin.dot(part.T).dot(part)
    return np.ascontiguousarray(total.T)


def largest_rows(columns: Array, count: int) -> Indices:
    """Return the indices, ascending, of the `count` rows of largest Euclidean norm."""
    if count >= len(columns):
        return np.arange(len(columns))
    norms = np.square(columns).dot(np.ones(columns.shape[1]))
    rows: Indices = norms.argpartition(len(columns) - count)[-count:]
    rows.sort()
    return rows


def scatter_rows(block: Array, rows: Indices, features: int) -> Array:
    """Return the (d, k) matrix that holds `block` at `rows` and zero elsewhere."""
    full = np.zeros((features, block.shape[1]))
    full[rows] = block
    return full


def top_eigenspace(symmetric: Array, k: int) -> Array:
    """Return the eigenvectors of the k algebraically largest eigenvalues, (d, k), largest first.

    Never a singular value decomposition: that ranks by absolute value and returns large negative
    noise directions.
    """
    return top_eigenpairs(symmetric, k)[1]


def top_eigenpairs(symmetric: Array, k: int) -> tuple[Array, Array]:
    """Return the k algebraically largest eigenvalues, (k,), largest first, and their eigenvectors, (d, k)."""
    values, vectors = _last_eigenpairs(_workspace_copy(symmetric), k)
    return values[::-1].copy(), oriented(np.ascontiguousarray(vectors[:, ::-1]))


def axes_within(basis: Array, symmetric: Array) -> tuple[Array, Array]:
    """Return the principal axes of a symmetric matrix within a subspace, and the matrix's values on them.

    basis: orthonormal columns that span the subspace, (d, k). symmetric: (d, d). The axes are a rotation of
    the basis that makes the matrix diagonal there, (d, k); the values are that diagonal, largest first, (k,).
    """
    values, turn = top_eigenpairs(basis.T @ symmetric @ basis, basis.shape[1])
    return basis @ turn, values


def _last_eigenpairs(workspace: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues, ascending, and their eigenvectors; the workspace is overwritten.

    This is `scipy.linalg.eigh` with `subset_by_index`, without its checks, which take several times as long
    as the eigenproblem of a tiny matrix.
    """
    d = len(workspace)
    if not 1 <= k <= d:
        raise ValueError(f"k must be between 1 and {d}, got {k}")
    lwork, liwork = _eigenproblem_memory(d)
    values, vectors, count, _, info = dsyevr(
        workspace,
        compute_v=1,
        range="I",  # il to iu, counted from 1
        il=d - k + 1,
        iu=d,
        lower=1,
        lwork=lwork,
        liwork=liwork,
        overwrite_a=1,
    )
    if info != 0:
        raise LinAlgError(f"the eigenproblem of a {d} x {d} matrix failed: LAPACK's dsyevr returned {info}")
    return values[:count], vectors[:, :count]


@lru_cache(maxsize=256)
def _eigenproblem_memory(d: int) -> tuple[int, int]:
    """Return the lengths of the float and integer work arrays that LAPACK asks for at this size.

    They are kept for each size, so that LAPACK is not asked again.
    """
    lwork, liwork, _ = dsyevr_lwork(d, lower=1)
    return int(lwork), int(liwork)


def oriented(vectors: Array) -> Array:
    """Return eigenvectors, (..., d, k), each with its sign chosen so that its largest entry is positive.

    The signs are changed in place.
    Noise that meets them later adds up differently for either sign, and the sign that LAPACK leaves differs
    from one processor to another: the same seed would give other results there.
    """
    if vectors.ndim == 2:
        # Plain indexing is several times as quick as take_along_axis where there are few vectors.
        rows = np.abs(vectors).argmax(axis=0)
        vectors *= np.sign(vectors[rows, np.arange(len(rows))])
        return vectors
    largest = np.abs(vectors).argmax(axis=-2, keepdims=True)
    vectors *= np.sign(np.take_along_axis(vectors, largest, axis=-2))
    return vectors


def _workspace_copy(symmetric: Array) -> Array:
    """Return a column-major copy of a symmetric matrix, which LAPACK may overwrite."""
    # Reuse this thread's memory, as fresh pages cost a tenth of the eigenproblem; keep the last size only,
    # and no large matrix.
    d = len(symmetric)
    if d > _MOST_HELD:
        return symmetric.T.copy(order="K")
    held: Array | None = getattr(_WORKSPACE, "matrix", None)
    if held is None or len(held) != d:
        held = _WORKSPACE.matrix = np.empty((d, d), order="F")
    np.copyto(held, symmetric.T)
    return held


def isotropic_noise(d: int, std: float, rng: np.random.Generator) -> Array:
    """Draw (G + G^T)/2, G i.i.d. N(0, std^2): variance std^2 on the diagonal, std^2/2 off it, (d, d).

    It is isotropic in the Frobenius norm on symmetric matrices, so `std` is to be calibrated to the
    sensitivity in that norm.
    """
    noise = rng.standard_normal((d, d))
    for block in _blocks(d):
        across, down = noise[block, block.start :], noise[block.start :, block].T
        total = (across + down) * (std / 2)
        across[:] = total
        down[:] = total
    return noise


def mirrored_noise(d: int, std: float, rng: np.random.Generator) -> Array:
    """Draw an upper triangle, diagonal included, i.i.d. N(0, std^2), and mirror it, (d, d).

    `std` is to be calibrated to the sensitivity in the l2 norm of the upper triangle.
    """
    noise = rng.standard_normal((d, d))
    noise *= std
    for block in _blocks(d):
        noise[block.stop :, block] = noise[block, block.stop :].T
        corner = noise[block, block]
        below = _BELOW[: len(corner), : len(corner)]
        np.copyto(corner, corner.T.copy(), where=below)
    return noise


def _blocks(d: int) -> Iterator[slice]:
    """Return slices that cut d rows or columns into blocks, the last perhaps smaller."""
    # Work in place and by blocks: page faults of a second d x d matrix cost more than the sums.
    return (slice(begin, min(begin + _BLOCK, d)) for begin in range(0, d, _BLOCK))


def without_directions(symmetric: Array, directions: Array) -> Array:
    """Return P A P, A symmetric, (d, d), P the projection that takes away orthonormal directions, (d, j)."""
    half = symmetric - directions @ (directions.T @ symmetric)
    whole: Array = half - (half @ directions) @ directions.T
    return whole
