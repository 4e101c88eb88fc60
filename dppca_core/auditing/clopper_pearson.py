"""Confidence limits of a probability from counts, which hold whatever the probability is."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from dppca_core import checks
from dppca_core.arrays import Array


def limits(hits: ArrayLike, trials: ArrayLike, tail: float) -> tuple[Array, Array]:
    """Return lower and upper confidence limits of a probability, each wrong with probability `tail` at most.

    hits: how many of `trials` independent draws had the event; numbers or arrays, whose shape the limits have
    (Clopper & Pearson, 1934). Raises ValueError for a tail outside (0, 1) or hits that are not between 0 and
    their trials.
    """
    checks.inside_unit_interval(tail=tail)
    counts, drawn = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    if not ((counts >= 0) & (counts <= drawn) & (drawn > 0)).all():
        raise ValueError(
            f"hits must lie between 0 and their trials, got {checks.shown(hits)} of {checks.shown(trials)}"
        )
    misses = drawn - counts
    low = np.where(counts > 0, betaincinv(counts, misses + 1, tail), 0.0)
    high = np.where(misses > 0, 1 - betaincinv(misses, counts + 1, tail), 1.0)
    return low, high
