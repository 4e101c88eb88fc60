"""The worst case that delta allows: a mechanism that publishes each record in the clear with that chance.

Between neighbours the output differs only when the one record is published, so its law moves by delta in
total variation: it is (0, delta)-private, for replacing a patient as for removing one. Among n patients it
publishes Binomial(n, delta) of them. No method here does so; the guarantee does not exclude it.
"""

import math
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array


class Published(NamedTuple):
    """Hold how many patients are published: the expected number, and quantiles at 10, 50 and 90 %.

    chance_of_any: the chance that at least one is.
    """

    expected: float
    low: int
    middle: int
    high: int
    chance_of_any: float


def published(n: int, delta: float) -> Published:
    """Return how many of n patients are published where each is with probability delta."""
    checks.whole(1, n=n)
    checks.inside_unit_interval(delta=delta)
    low, middle, high = map(int, quantiles(n, delta))
    return Published(n * delta, low, middle, high, -math.expm1(n * math.log1p(-delta)))


def quantiles(n: int, delta: float | Array) -> Array:
    """Return the quantiles at 10, 50 and 90 % of how many are published, (3, ...), at each delta."""
    from scipy.stats import binom  # imported here: it loads a hundred other laws

    counts: Array = np.stack([binom.ppf(level, n, delta) for level in (0.1, 0.5, 0.9)])
    return counts
