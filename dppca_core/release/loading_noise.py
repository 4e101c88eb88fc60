"""Tell from a release alone what its noise adds to each loading and to each eigenvalue.

Of loadings it is the standard deviation in the first order of the noise, (d, k), at most 1. All of it is
post-processing: no rows are read. Each function has the formula for one kind of release. Divisors have tiny
lower limits, so that equal eigenvalues or a signal below the noise give 1 and not an error.
"""

import math
from collections.abc import Callable

import numpy as np

from dppca_core.arrays import Array
from dppca_core.mechanisms import normalised_product, stacked
from dppca_core.numerics import linalg

_DRAWS = 200  # of noise whose columns are divided


def of_moment(moment: Array, k: int, std: float, roots: Array | None = None) -> Array:
    """Return the std of each loading of the top k eigenvectors of a noisy second moment, (d, k).

    std: of an off-diagonal entry of the moment's symmetric noise E. In the first order v_i moves by
    sum_j w_j (w_j^T E v_i)/(l_i - l_j) over the other eigenvectors w_j, l the eigenvalues, and each
    w_j^T E v_i has this std. All is computed from the noisy moment itself. roots: by what columns, and so
    rows and columns of the noise, were divided afterwards, (d,). Then w^T E v is (w/r)^T E (v/r), of variance
    std^2 (|w/r|^2 |v/r|^2 + ((w/r).(v/r))^2).
    """
    values, vectors = linalg.top_eigenpairs(moment, len(moment))
    pairs = 1.0 if roots is None else pair_variances(vectors, k, roots)
    noise: Array = std * np.sqrt(np.square(vectors) @ (_inverse_square_gaps(values, k) * pairs))
    return np.minimum(noise, 1.0)


def of_pairs(moment: Array, k: int, variances: Callable[[Array], Array]) -> Array:
    """Return the std of each loading as `of_moment` does, for noise of any law, (d, k).

    variances: takes all eigenvectors w, (d, d), and returns the variance of w_j^T E v_i, (d, k).
    """
    values, vectors = linalg.top_eigenpairs(moment, len(moment))
    squares = np.square(vectors) @ (_inverse_square_gaps(values, k) * variances(vectors))
    return np.minimum(np.sqrt(squares), 1.0)


def pair_variances(vectors: Array, k: int, roots: Array) -> Array:
    """Return the variance of w_j^T E v_i, (d, k), for noise E of off-diagonal std 1 divided by roots.

    vectors: all eigenvectors w, (d, d), of which the first k are v. roots: as for `of_moment`.
    """
    divided = vectors / roots[:, None]
    inner = divided.T @ divided
    lengths = inner.diagonal()
    variances: Array = np.outer(lengths, lengths[:k]) + np.square(inner[:, :k])
    return variances


def _inverse_square_gaps(values: Array, k: int) -> Array:
    """Return 1/(l_j - l_i)^2 of all eigenvalues and the first k, (d, k), and 0 of one with itself."""
    gaps = values[:, None] - values[None, :k]
    np.fill_diagonal(gaps, np.inf)  # an eigenvector does not move along itself
    # The least gap is so tiny that equal eigenvalues give a std of 1, and its inverse square is a float.
    gaps = np.maximum(np.abs(gaps), np.finfo(float).tiny ** 0.25)
    inverse: Array = 1 / np.square(gaps)
    return inverse


def of_eigenvalues(std: float, d: int, roots: Array | None = None) -> float:
    """Return how far noise moves any eigenvalue of a second moment of d features, in 95 of 100 draws.

    std: of an off-diagonal entry of the moment's symmetric noise E, whose diagonal has sqrt 2 times that. The
    eigenvalues of B^T (S + E) B are within |E|_2 of those of B^T S B, for any orthonormal B (Weyl 1912). The
    ends of E's spectrum lie about std d^(-1/6) times a Tracy-Widom variable (beta = 1; Commun. Math. Phys.
    1996) beyond 2 std sqrt d. Both are within 1.45 of these in 95 of 100 draws, and of few features in 96 to
    98. So the noise alone, on S = 0, gives no eigenvalue that is larger. roots: as for `of_moment`; the
    spectrum of divided noise has no such law, and 200 draws of it, always the same, tell its largest.
    """
    if roots is not None and np.ptp(roots):
        rng, unit = np.random.default_rng(0), np.outer(roots, roots)
        norms = [
            np.abs(np.linalg.eigvalsh(linalg.isotropic_noise(d, math.sqrt(2), rng) / unit)[[0, -1]]).max()
            for _ in range(_DRAWS)
        ]
        return std * float(np.quantile(norms, 0.95))
    return std * (2 * math.sqrt(d) + 1.45 / math.pow(d, 1 / 6))


def where_it_holds(loading_std: Array, eigenvalues: Array | None = None, error: float | None = None) -> Array:
    """Return the noise of each loading, (d, k), with 1 for components that may be axes of noise.

    The first order holds while a component is turned little, sin theta = sqrt(sum of squares) <= 1/2: there
    this std is within a fifth of the error of releases of the breast cancer table. Beyond, nothing is known.
    Nor is it where the component's eigenvalue, (k,), is within its error (`of_eigenvalues`): of noise alone
    in 5 features one in seven seems to be turned little, as its eigenvalues lie far apart.
    """
    may_be_noise = np.sqrt(np.square(loading_std).sum(axis=0)) > 0.5
    if eigenvalues is not None and error is not None:
        may_be_noise |= eigenvalues <= error
    return np.where(may_be_noise, 1.0, loading_std)


def of_rounds(basis: Array, squares: Array, std: float) -> Array:
    """Return the std of each loading of the answer of m stacked rounds (`mechanisms.stacked`), (d, k).

    basis: the components u_i, (d, k). squares: squared singular values of the stacked noisy rounds, (k,).
    std: of the noise in each entry of every round.

    l_i is the eigenvalue along u_i of the second moment of rows of length 1, and b that of the bulk, of all
    other directions. A round carries a share b/l_i of the former round's error into the next, so that the
    error along u_i is 1/(1 - b/l_i) times what it would be without. s_i^2 is `squares` less
    k m std^2 of noise. A round has a singular value of about mean_length(k) sqrt(l_i), so l_i is s_i^2/m over
    mean_length(k)^2. The trace is 1, so b is what the l_i leave of it, spread over d - k directions.
    """
    (d, k), rounds = basis.shape, stacked.ROUNDS - stacked.LEFT_OUT  # m
    squares = np.maximum(squares - k * rounds * std**2, np.finfo(float).tiny ** 0.25)
    spikes = squares / rounds / normalised_product.mean_length(k) ** 2
    carried = max(1 - float(spikes.sum()), 0.0) / (d - k) / spikes  # b/l_i
    return _product_std(basis, squares, std, 1 / np.maximum(1 - carried, 1e-9))


def _product_std(basis: Array, squares: Array, std: float, carried: Array) -> Array:
    """Return the std of each loading of a noisy product's left singular vectors u_i = basis[:, i], (d, k).

    std: of each entry of the noise N. squares: s_i^2, squared singular values without noise, (k,). carried:
    how many times larger the errors of former rounds make the first part below, (k,).

    In the first order N moves u_i out of the span by (I - U U^T) N v_i/s_i, and towards u_j by
    sqrt(s_i^2 + s_j^2)/(s_i^2 - s_j^2) stds.
    """
    outside = std / np.sqrt(squares) * carried
    gaps = squares[:, None] - squares[None, :]
    np.fill_diagonal(gaps, np.inf)  # a singular vector does not move along itself
    between = std**2 * (squares[:, None] + squares[None, :]) / np.maximum(np.square(gaps), 1e-300)
    # A feature's loadings err by the noise outside of the span, as far as the feature lies there, and by that
    # along the other u_j.
    shares = np.square(basis)
    noise: Array = np.sqrt(np.maximum(1 - shares.sum(axis=1), 0.0)[:, None] * outside**2 + shares @ between)
    return np.minimum(noise, 1.0)
