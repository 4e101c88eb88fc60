"""The (truncated, noisy) block power iteration: the one loop that several methods share.

Ge, Wang, Wang & Liu (AISTATS 2018), Algorithm 1, lines 12 to 15, with the product as an argument:

    K <- product(Q, t);  V <- thin QR of K;  Q <- thin QR of the s_hat heaviest rows of V.

The heaviest rows are those of largest Euclidean norm; the others become zero. The first steps, the burn-in,
keep all rows.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Indices, Moment
from dppca_core.numerics import linalg

_SPARSE_STEPS, _SPARSE_TOLERANCE = 60, 1e-6  # of `sparse_eigenspace`, which ends with the first of both
_TOLERANCE = 1e-9  # Frobenius norm of a step's movement at which an iteration without noise ends
MOST_STEPS = 100_000  # the noise of more steps T would not fit in memory


def random_start(d: int, k: int, rng: np.random.Generator) -> Array:
    return linalg.orthonormalise(rng.standard_normal((d, k)))


def begin(start: Array | None, d: int, k: int, rng: np.random.Generator) -> Array:
    """Return the start of an iteration, (d, k): `start` once it is checked, or a random basis for None.

    It is checked because the sensitivities that set the noise are proved for orthonormal columns.
    Raises ValueError unless it is (d, k) with orthonormal columns.
    """
    if start is None:
        return random_start(d, k, rng)
    checks.orthonormal(d, k, start=start)
    return start


def start_near(truth: Array, error: float, rng: np.random.Generator) -> Array:
    """Return a (d, k) basis at sin_theta = `error` from `truth`, in a random direction: for simulation only.

    W = truth cos + U sin with U orthonormal and orthogonal to truth, so sin_theta = sqrt(k) sin.
    Raises ValueError unless 0 <= error <= sqrt(k) and d >= 2k.
    """
    d, k = truth.shape
    checks.whole(2 * k, d=d)
    sine = error / np.sqrt(k)
    if not 0 <= sine <= 1:
        raise ValueError(
            f"error must lie between 0 and sqrt(k) = {np.sqrt(k):.3g}, got {checks.shown(error)}"
        )
    away = rng.standard_normal((d, k))
    away -= truth @ (truth.T @ away)
    near: Array = truth * np.sqrt(1 - sine**2) + linalg.orthonormalise(away) * sine
    return near


def checked_rows(d: int, k: int, s_hat: int | None, iterations: int, burn_in: int) -> int:
    """Return the number of rows that are kept: s_hat, or all d for None.

    It checks the options of an iteration on the way. Raises ValueError for one that is out of range.
    """
    kept = d if s_hat is None else s_hat
    checks.whole(k, d, s_hat=kept)
    checks.whole(1, MOST_STEPS, iterations=iterations)
    checks.whole(0, burn_in=burn_in)
    return kept


class SparseBasis(NamedTuple):
    """Hold a basis Q, `full`, (d, k), and the block of its rows that may not be zero.

    block: those rows, (s_hat, k), with which a product is cheaper. rows: their indices, ascending, (s_hat,);
    None where no row is known to be zero, so that the block is Q.
    """

    full: Array
    block: Array
    rows: Indices | None


def truncate(columns: Array, s_hat: int) -> SparseBasis:
    """Return the basis that keeps the s_hat heaviest rows of `columns`, (d, k), orthonormalised.

    For s_hat = d these are the columns as they were given.
    """
    d = len(columns)
    if s_hat >= d:
        return SparseBasis(columns, columns, None)
    rows = linalg.largest_rows(columns, s_hat)
    block = linalg.orthonormalise(columns.take(rows, axis=0))
    return SparseBasis(linalg.scatter_rows(block, rows, d), block, rows)


def advance(product: Array, s_hat: int) -> SparseBasis:
    """Return the next basis Q from the noisy product K, (d, k): lines 13 to 15 of the algorithm.

    s_hat: rows that are kept; d keeps all.
    """
    return truncate(linalg.orthonormalise(product), s_hat)


class PowerIteration:
    """Hold one run of the iteration from `start`, (d, k), which goes on with each product that it is given.

    The first `burn_in` steps keep all rows (0 is the paper, which thresholds the start as well):
    thresholding a random start loses the support for good in a share of runs.
    """

    def __init__(self, start: Array, *, s_hat: int, burn_in: int) -> None:
        self._kept = (len(start), s_hat)  # rows kept within the burn-in, and after it
        self._burn_in = int(burn_in)
        # A condition is the index: False, 0, is within the burn-in, and True, 1, after it.
        self.current = truncate(start, self._kept[self._burn_in == 0])
        self._iterates = [self.current.full]

    @property
    def step(self) -> int:
        return len(self._iterates) - 1

    def update(self, product: Array) -> None:
        # All rows are kept within the burn-in, s_hat after it.
        self.current = advance(product, self._kept[self.step >= self._burn_in])
        self._iterates.append(self.current.full)

    def finish(
        self, product: Callable[[Array, Indices | None, int], Array], steps: int, tolerance: float = 0.0
    ) -> tuple[Array, ...]:
        """Run on to `steps` steps, asking `product` for each, and return all bases; see `iterate`."""
        for step in range(self.step, steps):
            before = self.current.full
            self.update(product(self.current.block, self.current.rows, step))
            if tolerance > 0 and step >= self._burn_in:
                now = self.current.full
                if np.linalg.norm(now - before @ (before.T @ now)) < tolerance:
                    break
        # Orthonormalise again: one pass, by Cholesky's factor, leaves more than rounding.
        return (*self._iterates[:-1], linalg.orthonormalise(self.current.full))


def iterate(
    product: Callable[[Array, Indices | None, int], Array],
    start: Array,
    *,
    s_hat: int,
    steps: int,
    burn_in: int,
    tolerance: float = 0.0,
) -> tuple[Array, ...]:
    """Return the bases Q(0), ..., Q(steps), each (d, k), from `start`, (d, k).

    Args:
        product: Returns the noisy product with Q, (d, k): `product(block, rows, step)`. With `rows`, the
            block holds just those rows of Q, the others being zero; with None it is Q.
        start: Q(0), (d, k) orthonormal.
        s_hat: Rows that are kept.
        steps: Number of steps.
        burn_in: First steps that keep all rows.
        tolerance: Frobenius norm of the part of a new basis outside the one before, below which the iteration
            ends early; 0 never ends it early.
    """
    return PowerIteration(start, s_hat=s_hat, burn_in=burn_in).finish(product, steps, tolerance)


def converge(
    moment: Moment, start: Array, s_hat: int, steps: int = 300, burn_in: int = 5
) -> tuple[Array, ...]:
    """Return the bases, (d, k) each, of an iteration without noise until it moves by less than 1e-9.

    moment: the matrix that is multiplied by. steps: the most that are made. The others are as for `iterate`.
    """
    return iterate(
        lambda block, rows, _: moment.apply(block, rows),
        start,
        s_hat=s_hat,
        steps=steps,
        burn_in=burn_in,
        tolerance=_TOLERANCE,
    )


def sparse_eigenspace(moment: Array, k: int, s_hat: int) -> Array:
    """Return k sparse leading directions of a symmetric (d, d) matrix, s_hat rows kept, (d, k).

    Truncated power iteration from the matrix's own top eigenvectors, until it moves by less than 1e-6 or for
    60 steps. Of a released moment it is post-processing.
    """
    return iterate(
        lambda block, rows, _: moment @ block if rows is None else moment[rows].T @ block,
        linalg.top_eigenspace(moment, k),
        s_hat=s_hat,
        steps=_SPARSE_STEPS,
        burn_in=0,
        tolerance=_SPARSE_TOLERANCE,
    )[-1]
