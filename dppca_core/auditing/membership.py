"""A membership attack with known laws: its threshold, its measured error rates, and their true values.

The attacker knows both neighbouring data sets and the program, so reads the released number in units of its
noise, N(0, 1) without the patient and N(mu, 1) with, and says "with" above a threshold: the most powerful
test there is (Neyman & Pearson 1933). A false alarm is a "with" where the patient was not used, a miss a
"without" where the patient was, as in `dppca_core.accounting.trade_off`. mu is sensitivity/std.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, ndtri

from dppca_core import checks
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.arrays import Array
from dppca_core.auditing import clopper_pearson


class Rates(NamedTuple):
    """Hold an attack's measured shares of false alarms and misses, with a confidence interval of each.

    Spans are (lower, upper); all four limits hold at once at the level that `measured` was given.
    """

    false_alarms: float
    misses: float
    false_alarm_span: tuple[float, float]
    miss_span: tuple[float, float]

    @property
    def right(self) -> float:
        """Return the share of right answers if the patient was used in half of the cases."""
        return 1 - (self.false_alarms + self.misses) / 2


def threshold(false_alarms: float) -> float:
    """Return above which number a test with this share of false alarms says "with", in stds of the noise."""
    checks.inside_unit_interval(false_alarms=false_alarms)
    return -float(ndtri(false_alarms))


def measured(with_patient: Array, without_patient: Array, limit: float, level: float = 0.95) -> Rates:
    """Return the error rates of the test that says "with" above `limit`, as counted on draws.

    with_patient, without_patient: released numbers, in stds of the noise. Intervals are Clopper
    and Pearson's: each of the four limits may be wrong with probability (1 - level)/4, so that all hold at
    once with probability `level`. Raises ValueError for a level outside (0, 1) or no draws.
    """
    checks.inside_unit_interval(level=level)
    checks.whole(1, draws=min(len(with_patient), len(without_patient)))
    # False alarms are counted on draws without the patient, misses on draws with.
    hits = np.array(
        [np.count_nonzero(without_patient > limit), np.count_nonzero(with_patient <= limit)], dtype=float
    )
    trials = np.array([len(without_patient), len(with_patient)], dtype=float)
    low, high = clopper_pearson.limits(hits, trials, (1 - level) / 4)
    (alarms, misses), (alarm_span, miss_span) = hits / trials, np.stack([low, high], axis=1).tolist()
    return Rates(float(alarms), float(misses), tuple(alarm_span), tuple(miss_span))


def coin_span(tries: int, level: float = 0.95) -> tuple[int, int]:
    """Return between which numbers of right guesses a fair coin stays with probability `level`.

    Either tail beyond these two has a probability of at most (1 - level)/2, exactly, by the binomial law.

    Raises:
        ValueError: For no tries, or a level outside (0, 1).
    """
    checks.whole(1, tries=tries)
    checks.inside_unit_interval(level=level)
    # The least number such that a coin gives so many or fewer with at least the tail's probability.
    low = int(np.searchsorted(bdtr(np.arange(tries + 1), tries, 0.5), (1 - level) / 2))
    return low, tries - low


def on_curve(rates: Rates, mu: float) -> bool:
    """Return whether the exact tradeoff curve G_mu passes through the rectangle of the two intervals.

    If mu is the true sensitivity/std it fails to with probability 1 - level at most, for the level that
    `measured` was given.
    """
    # The curve falls, so within the span of false alarms its misses go from `most` down to `least`.
    most, least = TradeOff.gaussian(mu).misses(rates.false_alarm_span)
    low, high = rates.miss_span
    return bool(least <= high and most >= low)
