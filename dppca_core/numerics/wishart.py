"""Exact Wishart matrices at a cost that does not depend on n, and their exact split over hospitals.

A Wishart matrix of n rows is the sum of x x^T over n independent standard normal rows x: it lets the second
moment of n patients be drawn without drawing the patients.
"""

from collections.abc import Sequence
from threading import Lock

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular

from dppca_core.arrays import Array


def wishart_factor(n: int, d: int, rng: np.random.Generator) -> Array:
    """Draw a factor A, (d, min(n, d)) lower trapezoidal, of a Wishart matrix A A^T ~ Wishart_d(n, I).

    It is column-major, as BLAS takes it.
    Bartlett: A_jj^2 ~ chi2_{n-j} (j from 0), N(0, 1) below the diagonal. For n < d the matrix is
    singular and the same columns j < n suffice (Srivastava 2003). O(d^2), any n up to 1e15.
    """
    columns = min(n, d)
    factor = np.asfortranarray(np.tril(rng.standard_normal((d, columns)), -1))
    diagonal = np.arange(columns)
    factor[diagonal, diagonal] = np.sqrt(rng.chisquare(float(n) - diagonal))
    return factor


class Split:
    """Draw hospitals' second moments S_i given the pooled one, S = F F^T: n_i S_i = n F B_i F^T.

    They are drawn all together, when one is first asked for, and kept. factor: F, (d, min(n, d)). sizes: n_i.
    The B_i, summing to I, are what remains of independent Wisharts W_i of n_i rows when their sum
    C C^T is divided out, B_i = C^-1 W_i C^-T, and are independent of that sum (Olkin & Rubin 1964).
    For n < d they come from a random orthogonal n x n matrix divided by columns: B_i = O_i O_i^T.
    """

    def __init__(self, factor: Array, sizes: Sequence[int], rng: np.random.Generator) -> None:
        self.factor = factor
        self.sizes = tuple(sizes)
        self._rng = rng
        self._parts: list[Array] | None = None
        self._lock = Lock()  # threads share the split, and a second draw would give other hospitals

    def part(self, index: int) -> Array:
        with self._lock:
            if self._parts is None:
                self._parts = self._draw()
        return self._parts[index]

    def _draw(self) -> list[Array]:
        """Return every hospital's second moment, (d, d), read-only."""
        d, rank = self.factor.shape
        total = sum(self.sizes)
        if total < d:
            orthogonal, upper = qr(self._rng.standard_normal((total, total)))
            orthogonal *= np.sign(upper.diagonal())
            roots = np.split(orthogonal, np.cumsum(self.sizes)[:-1], axis=1)
        else:
            drawn = [wishart_factor(size, rank, self._rng) for size in self.sizes]
            whole = cholesky(np.sum([w @ w.T for w in drawn], axis=0), lower=True)
            roots = [solve_triangular(whole, w, lower=True) for w in drawn]
        parts = []
        for size, root in zip(self.sizes, roots, strict=True):
            half = self.factor @ root  # B_i is root root^T
            part = (half @ half.T) * (total / size)
            part.flags.writeable = False
            parts.append(part)
        return parts
