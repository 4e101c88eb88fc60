"""Tell from a release alone what its noise adds to each loading, in the first order of the noise."""

import numpy as np

from dppca_core.arrays import Array
from dppca_core.mechanisms import normalised_product, stacked
from dppca_core.numerics import linalg


def of_moment(moment: Array, k: int, std: float) -> Array:
    """Return what symmetric noise of this std adds to each loading of the top k eigenvectors, (d, k).

    In the first order v_i moves by sum_j w_j (w_j^T E v_i)/(l_i - l_j) over the other eigenvectors w_j, and
    each w_j^T E v_i has the std of an off-diagonal entry. All is computed from the noisy moment itself.
    """
    values, vectors = linalg.top_eigenpairs(moment, len(moment))
    gaps = values[:, None] - values[None, :k]
    np.fill_diagonal(gaps, np.inf)
    gaps = np.maximum(np.abs(gaps), np.finfo(float).tiny ** 0.25)
    noise: Array = std * np.sqrt(np.square(vectors) @ (1 / np.square(gaps)))
    return np.minimum(noise, 1.0)


def where_it_holds(loading_std: Array) -> Array:
    """Return the noise of each loading, (d, k), with 1 for components of which more than half is noise.

    The first order holds while a component is turned little, sin theta = sqrt(sum of squares) <= 1/2: there
    it is within a fifth of what releases of the breast cancer table err by. Beyond, nothing can be told.
    """
    turned = np.sqrt(np.square(loading_std).sum(axis=0))
    return np.where(turned > 0.5, 1.0, loading_std)


def of_rounds(basis: Array, squares: Array, std: float) -> Array:
    """Return what noise of this std in every entry of m stacked rounds adds to each loading, (d, k).

    A round carries a share b/l_i of the former's error into the next, b and l_i eigenvalues of rows of length
    1: in all 1/(1 - b/l_i) times as much. s_i^2 = `squares` less k m std^2 of noise, l_i is s_i^2/m over the
    squared mean length of q, and b what is left of 1.
    """
    (d, k), many = basis.shape, stacked.ROUNDS - stacked.LEFT_OUT
    squares = np.maximum(squares - k * many * std**2, np.finfo(float).tiny ** 0.25)
    spikes = squares / many / normalised_product.mean_length(k) ** 2
    carried = max(1 - float(spikes.sum()), 0.0) / (d - k) / spikes
    return _product_std(basis, squares, std, 1 / np.maximum(1 - carried, 1e-9))


def _product_std(basis: Array, squares: Array, std: float, carried: Array) -> Array:
    """Return the noise of the left singular vectors u_i = basis[:, i] of a product with such noise, (d, k).

    In the first order noise N moves u_i by (I - U U^T) N v_i/s_i, `carried` times as much with what former
    rounds leave, and towards u_j by sqrt(s_i^2 + s_j^2)/(s_i^2 - s_j^2) stds, s_i^2 = `squares`.
    """
    outside = std / np.sqrt(squares) * carried
    gaps = squares[:, None] - squares[None, :]
    np.fill_diagonal(gaps, np.inf)
    between = std**2 * (squares[:, None] + squares[None, :]) / np.maximum(np.square(gaps), 1e-300)
    shares = np.square(basis)
    noise: Array = np.sqrt(np.maximum(1 - shares.sum(axis=1), 0.0)[:, None] * outside**2 + shares @ between)
    return np.minimum(noise, 1.0)


def of_powers(basis: Array, squares: Array, std: float, rounds: int, start: Array, first: Array) -> Array:
    """Return the noise of each loading after T rounds K = M Q + N, N of this std, (d, k).

    l_i^2 is the last K's i-th of `squares` within its r rows that are kept, less the r std^2 of noise. With
    X_t = (I - U U^T) Q_t (U^T Q_t)^-1 a round is X_t = M X_{t-1} L^-1 + N_t W_t L^-1, in the first order,
    L = diag(l_i) and W_t orthogonal from former rounds: N_t W_t are independent with the law of N_t. Each
    variance is the sum over t < T of (b/l_i)^2t std^2/l_i^2, where the noise of stacked rounds, which all
    count alike, adds up in length. The first product sees b = E^T M E/E^T E, E the random start outside of U;
    what is left of that start, X_0 (b/l_i)^T, is not noise. Rows that are cut are released as 0.
    """
    kept = np.any(basis, axis=1)
    squares = np.maximum(squares - kept.sum() * std**2, np.finfo(float).tiny ** 0.25)
    outside = start - basis @ (basis.T @ start)
    bulk = max(float(np.sum(outside * first) / np.sum(outside**2)), 0.0)
    ratios = np.minimum(bulk**2 / squares, 1 - 1e-9)
    noise = _product_std(basis, squares, std, np.sqrt((1 - ratios**rounds) / (1 - ratios)))
    noise[~kept] = 0.0
    return noise
