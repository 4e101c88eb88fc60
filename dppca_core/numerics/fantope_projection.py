"""The Fantope {0 <= X <= I, tr X = k}, the convex hull of rank-k projectors, and projection onto it.

Vu, Cho, Lei & Rohe (NeurIPS 2013; as recalled): the nearest point keeps the eigenvectors and clips the
eigenvalues, g -> min(max(g - theta, 0), 1), with theta such that they sum to k. theta is found exactly, from
the knots of that sum, as in the authors' R package (github.com/vqv/fps).
"""

from bisect import bisect_right

import numpy as np
from scipy.linalg import eigh

from dppca_core import checks
from dppca_core.arrays import Array


def clip_spectrum(eigenvalues: Array, k: float) -> Array:
    """Return the eigenvalues of a matrix's projection on the Fantope, in the order of `eigenvalues`, g.

    They are min(max(g - theta, 0), 1) with theta such that they sum to k.

    f(theta) = sum of the clipped values falls and is linear between the knots {g} and {g - 1}; the
    first knot with f < k ends the piece that holds theta. Exact, any real k in (0, d], ties included.
    Raises ValueError for any other k.
    """
    if not 0 < k <= len(eigenvalues):
        raise ValueError(f"k must lie in (0, {len(eigenvalues)}], got {checks.shown(k)}")

    def excess(knot: float) -> float:
        """Return k - f at a knot, which grows with the knot, as a bisection needs it."""
        return k - float(np.clip(eigenvalues - knot, 0.0, 1.0).sum())

    knots = np.unique(np.concatenate([eigenvalues, eigenvalues - 1.0]))
    right = bisect_right(knots, 0.0, lo=1, key=excess)  # at the first knot f = d, but for rounding
    before, after = excess(knots[right - 1]), excess(knots[right])
    share = before / (before - after) if before < 0 else 0.0
    theta = knots[right - 1] + (knots[right] - knots[right - 1]) * share
    clipped: Array = np.clip(eigenvalues - theta, 0.0, 1.0)
    return clipped


def project(symmetric: Array, k: float, guess: int = 0) -> tuple[Array, int]:
    """Return the nearest point of the Fantope to a matrix in Frobenius norm, (d, d), and its rank.

    It keeps the eigenvectors and clips the eigenvalues. `guess`, a number of eigenvalues, only saves time: so
    many of the largest are computed first, and where the smallest of them is clipped to zero, all others are.
    0 makes no guess.
    Raises ValueError unless 0 < k <= d.
    """
    d = len(symmetric)
    if k < guess <= d // 8:  # LAPACK's subset is slower than all of them for a larger guess
        values, vectors = eigh(symmetric, subset_by_index=(d - guess, d - 1), check_finite=False)
        clipped = clip_spectrum(values, k)
        if clipped[0] == 0:
            return _compose(vectors, clipped)
    values, vectors = eigh(symmetric, check_finite=False)
    return _compose(vectors, clip_spectrum(values, k))


def _compose(vectors: Array, clipped: Array) -> tuple[Array, int]:
    """Return the matrix with these eigenvectors and clipped eigenvalues, (d, d), and its rank."""
    kept = clipped > 0
    half = vectors[:, kept] * np.sqrt(clipped[kept])
    return half @ half.T, int(kept.sum())
