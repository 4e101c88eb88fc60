"""Limits of a probability from counts, which hold whatever the probability is."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from dppca_core import checks
from dppca_core.arrays import Array


def limits(hits: ArrayLike, trials: ArrayLike, tail: float) -> tuple[Array, Array]:
    """Lower and upper limit of P(hit) (Clopper & Pearson, 1934), each wrong with probability `tail` at most.

    hits of `trials` independent draws, arrays of one shape. Raises ValueError for a tail outside (0, 1) or
    hits that are not between 0 and their trials.
    """
    checks.inside_unit_interval(tail=tail)
    seen, drawn = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    if not ((seen >= 0) & (seen <= drawn) & (drawn > 0)).all():
        raise ValueError(f"hits must lie between 0 and their trials, got {hits!r} of {trials!r}")
    misses = drawn - seen
    low, high = np.zeros_like(seen), np.ones_like(seen)
    some, short = seen > 0, misses > 0
    low[some] = betaincinv(seen[some], misses[some] + 1, tail)
    high[short] = 1 - betaincinv(misses[short], seen[short] + 1, tail)
    return low, high
