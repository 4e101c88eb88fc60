"""The rule by which a verdict follows from intervals of the gain, whether these are measured or predicted.

The gain is the share of our pattern that is recovered together less that recovered alone, in percent points,
run by run on the same patients. The median of its law lies between the order statistics x_(r) and x_(n+1-r)
of n runs with probability 1 - 2 P(Bin(n, 1/2) < r), whatever the law (David & Nagaraja 2003, section 7.1; at
least that for a law with atoms). r is the largest with LEVEL: at 40 runs it is 12, and 99.4 %.

    join           nobody need be trusted: the lower end is above MARGIN, and in nine of ten runs together at
                   least USEFUL of the pattern is recovered
    join if        the same where sums are sealed or one place is trusted, which have one law
    stay alone     the upper end is below MARGIN under every trust
    undecided      none of these: `decision` tells whether more patients are predicted to change that
"""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.auditing.membership import coin_span
from dppca_core.experiments.explorer.results import quantiles

MARGIN = 2.0  # percent points of the pattern, below which a gain is not worth joining for
USEFUL = 80.0  # % of the pattern that nine of ten runs together must recover
LEVEL = 0.99


class Answer(StrEnum):
    JOIN = "join"
    JOIN_IF = "join if sums are sealed or one place is trusted"
    STAY = "stay alone"
    ASK_AGAIN = "ask again with more patients"
    TOO_CLOSE = "too close to tell"

    @property
    def decided(self) -> bool:
        return self.joins or self is Answer.STAY

    @property
    def joins(self) -> bool:
        """Return whether it is to join, under some trust at least."""
        return self in (Answer.JOIN, Answer.JOIN_IF)


class Evidence(NamedTuple):
    lower: float  # ends of the interval of the median gain, in percent points
    median: float
    upper: float
    tenth: float  # 10 % quantile of the share recovered together, in %

    @property
    def passes(self) -> bool:
        return self.lower > MARGIN and self.tenth >= USEFUL


def median_interval(values: Array, level: float = LEVEL) -> tuple[float, float]:
    """Return a distribution-free interval of the median of a law from independent draws of it.

    Args:
        values: The draws, (n,).
        level: The least probability with which the interval holds the median.

    Returns:
        Two order statistics; infinite ends where n is too small for the level.

    Raises:
        ValueError: For no values, or a level outside (0, 1).

    References:
        David & Nagaraja, Order Statistics, 2003, section 7.1.
    """
    # So few values, or fewer, lie on one side of the median with a probability of at least (1 - level)/2.
    rank, others = coin_span(len(values), level)
    if not rank:
        return -math.inf, math.inf
    ordered = np.sort(values)
    return float(ordered[rank - 1]), float(ordered[others])


def evidence(gain: Array, together: Array) -> Evidence:
    """Return what the rule looks at, from paired gains in percent points and shares together in %, (n,)."""
    lower, upper = median_interval(gain)
    return Evidence(lower, float(np.median(gain)), upper, float(quantiles(together)[0]))


def answer(by_trust: Mapping[str, Evidence]) -> Answer:
    """Return the verdict by the module's rule, TOO_CLOSE where it does not decide."""
    if by_trust["untrusted server"].passes:
        return Answer.JOIN
    if any(each.passes for each in by_trust.values()):
        return Answer.JOIN_IF
    return Answer.STAY if all(each.upper < MARGIN for each in by_trust.values()) else Answer.TOO_CLOSE
