"""The (truncated, noisy) block power iteration: the one loop that several methods share.

Ge, Wang, Wang & Liu (AISTATS 2018), Algorithm 1, lines 12 to 15, with the product as an argument:

    K <- product(Q, t);  V <- thin QR of K;  Q <- thin QR of the s_hat heaviest rows of V.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dppca_core import checks, linalg
from dppca_core.types import Array, Indices

MOST_STEPS = 100_000  # of T: beyond it the noise of all steps would not fit in memory


def random_start(d: int, k: int, rng: np.random.Generator) -> Array:
    """A uniformly random (d, k) basis."""
    return linalg.orthonormalise(rng.standard_normal((d, k)))


def begin(start: Array | None, d: int, k: int, rng: np.random.Generator) -> Array:
    """`start`, (d, k), checked: sensitivities hold for orthonormal blocks; a random one for None.

    Raises ValueError unless it is (d, k) with orthonormal columns.
    """
    if start is None:
        return random_start(d, k, rng)
    checks.orthonormal(d, k, start=start)
    return start


def start_near(truth: Array, error: float, rng: np.random.Generator) -> Array:
    """A (d, k) basis at sin_theta = `error` from `truth`, in a random direction: for simulation only.

    W = truth cos + U sin with U orthonormal and orthogonal to truth, so sin_theta = sqrt(k) sin.
    Raises ValueError unless 0 <= error <= sqrt(k) and d >= 2k.
    """
    d, k = truth.shape
    checks.whole(2 * k, d=d)
    sine = error / np.sqrt(k)
    if not 0 <= sine <= 1:
        raise ValueError(f"error must lie between 0 and sqrt(k) = {np.sqrt(k):.3g}, got {error!r}")
    away = rng.standard_normal((d, k))
    away -= truth @ (truth.T @ away)
    near: Array = truth * np.sqrt(1 - sine**2) + linalg.orthonormalise(away) * sine
    return near


class Place(NamedTuple):
    """Where the iteration stands: Q as (d, k), and the block of its rows that are not zero.

    `rows` None: none is known to be zero, and the block is Q.
    """

    full: Array
    block: Array
    rows: Indices | None


def kept(columns: Array, s_hat: int) -> Place:
    """Thin QR of the s_hat heaviest rows of `columns`, (d, k); the columns themselves where all are kept."""
    d = len(columns)
    if s_hat >= d:
        return Place(columns, columns, None)
    rows = linalg.largest_rows(columns, s_hat)
    block = linalg.orthonormalise(columns.take(rows, axis=0))
    return Place(linalg.scatter_rows(block, rows, d), block, rows)


def advance(product: Array, s_hat: int) -> Place:
    """Lines 13 to 15: from the noisy product K, (d, k), to the next Q. s_hat = d thresholds nothing."""
    return kept(linalg.orthonormalise(product), s_hat)


def iterate(
    product: Callable[[Array, Indices | None, int], Array],
    start: Array,
    *,
    s_hat: int,
    steps: int,
    burn_in: int,
    tolerance: float = 0.0,
) -> tuple[Array, ...]:
    """Bases Q(0), ..., Q(steps), each (d, k), from `start`, (d, k).

    The first `burn_in` steps keep all rows (0 is the paper, which thresholds the start as well):
    thresholding a random start loses the support for good in a share of runs. `product(block, rows,
    step)` is (d, k); with `rows`, the block holds just those rows of Q, the others being zero.
    With `tolerance` > 0 it stops once the basis moves less than that.
    """
    d = len(start)
    place = kept(start, d if burn_in > 0 else s_hat)
    iterates = [place.full]
    for step in range(steps):
        place = advance(product(place.block, place.rows, step), d if step < burn_in else s_hat)
        iterates.append(place.full)
        if tolerance > 0 and step >= burn_in:
            before = iterates[-2]
            if np.linalg.norm(place.full - before @ (before.T @ place.full)) < tolerance:
                break
    # Once more, so that what leaves is orthonormal to rounding and not to that of one Cholesky step.
    iterates[-1] = linalg.orthonormalise(place.full)
    return tuple(iterates)
