"""An empirical audit: a lower confidence bound on the epsilon of a mechanism, from its outputs alone.

A mechanism is run many times on two neighbouring cohorts and each output is reduced to one number. Let
p = P(number > t) for the one cohort and q for the other. (epsilon, delta)-privacy demands p <= e^epsilon q +
delta of every event, so limits p_low and q_high, each from Clopper & Pearson (1934), give

    epsilon >= ln((p_low - delta)/q_high)                                  (`clopper_pearson`)

(Jagielski, Ullman & Oprea, NeurIPS 2020). Where the claim is that of a Gaussian release, mu = sensitivity /
std, it demands of every test Phi^-1(1 - fpr) - Phi^-1(fnr) <= mu (Dong, Roth & Su, JRSS-B 2022), so

    mu >= Phi^-1(1 - fpr_high) - Phi^-1(fnr_high)                          (`gaussian_tradeoff`)

whose epsilon at delta is far closer to the truth (Nasr et al., USENIX Security 2023, "Tight auditing").

Thresholds are quantiles of a tenth of the draws, which is then set aside: beside the rest they are fixed
beforehand. alpha is shared over thresholds x 2 cohorts x 2 limits; those limits serve all four events (above
or below t, either cohort first). So a bound is above the truth with probability alpha at most, whatever the
law of the output: a mechanism that keeps its claim is falsely accused in at most a share alpha of audits.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.auditing.clopper_pearson import limits
from dppca_core.cohort import Cohort

# Runs the mechanism under audit on a cohort, once or several times, and returns the number of each output.
Mechanism = Callable[[Cohort, np.random.Generator], float | Array]

# Quantiles of the pooled pilot draws: rare events show large ratios, the middle shows a shift.
_LEVELS = (0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99)
_PILOT = 0.1  # the share of the draws that choose the thresholds and are not counted


class LowerBound(NamedTuple):
    """Hold a lower bound on epsilon, which exceeds the truth with probability `alpha` at most.

    mu: the lower bound on sensitivity/std that epsilon was computed from, where it was, by
    `gaussian_tradeoff`; None by `clopper_pearson`.
    """

    epsilon: float
    alpha: float
    mu: float | None = None


def _limits(first: Array, second: Array, alpha: float) -> tuple[Array, Array]:
    """Return lower and upper confidence limits of P(draw > t), for thresholds t and both cohorts.

    first, second: draws of the statistic from either cohort. Both results are (thresholds, 2), and all limits
    hold at once with probability 1 - alpha. Raises ValueError for fewer than 20 draws, or NaN among them.
    """
    pilots, counted = [], []
    for draws in (first, second):
        checks.whole(20, draws=len(draws))
        if np.isnan(draws).any():
            raise ValueError("statistic must be a number in every draw, got NaN")
        pilot = math.ceil(_PILOT * len(draws))
        pilots.append(draws[:pilot])
        counted.append(draws[pilot:])
    # Take observed values as thresholds: draws may be infinite, and between infinities nothing can be
    # interpolated.
    thresholds = np.quantile(np.concatenate(pilots), _LEVELS, method="inverted_cdf")
    hits = np.array([(draws[:, None] > thresholds).sum(axis=0) for draws in counted], dtype=float).T
    trials = np.array([float(len(draws)) for draws in counted])
    # Each threshold has two cohorts and, for each, a limit below and one above.
    return limits(hits, trials, alpha / (len(thresholds) * 2 * 2))


def clopper_pearson(first: Array, second: Array, *, delta: float, alpha: float) -> LowerBound:
    """Return a lower bound on epsilon at `delta` in [0, 1), for any mechanism; 0 without evidence for more.

    first, second: independent draws of the statistic from the two neighbouring cohorts, (draws,) each,
    infinities allowed. The bound is loose: 10,000 draws show about .6 of a Gaussian release's epsilon, and n
    draws never more than about ln(n/20).
    Raises ValueError for fewer than 20 draws, NaN among them, or a delta or alpha out of range.
    """
    checks.within(0.0, 1.0, delta=delta)
    checks.inside_unit_interval(alpha=alpha)
    low, high = _limits(first, second, alpha)
    # The columns are above t in the first cohort and in the second, then below t in each: `least` is the
    # lower limit of such an event's probability, `most` the upper limit of the same event in the other
    # cohort.
    least = np.hstack([low, 1 - high])
    most = np.hstack([high[:, ::-1], 1 - low[:, ::-1]])
    with np.errstate(divide="ignore"):
        epsilons = np.log(np.maximum(least - delta, 0.0)) - np.log(most)
    return LowerBound(max(float(epsilons.max()), 0.0), alpha)


def gaussian_tradeoff(first: Array, second: Array, *, delta: float, alpha: float) -> LowerBound:
    """Return a lower bound on mu, and the epsilon that a Gaussian release with this mu has at `delta`.

    Valid as a bound on mu for every mechanism, and so against every claim of mu-GDP. Valid as a bound on
    epsilon only where the release is Gaussian, or T adaptive ones: an exponential mechanism or Wishart noise
    may keep its (epsilon, delta) and break the mu that goes with it; those need `clopper_pearson`.
    Arguments and errors are those of `clopper_pearson`, but for delta, which lies in (0, 1).
    """
    checks.inside_unit_interval(delta=delta, alpha=alpha)
    low, high = _limits(first, second, alpha)
    # For the test "above t" fpr is the other cohort's share and 1 - fnr its own; "below t" gives the same.
    # Reversed columns are the other cohort's.
    mu = max(float((ndtri(low) - ndtri(high[:, ::-1])).max()), 0.0)
    return LowerBound(gaussian.epsilon_of(1 / mu, delta) if mu else 0.0, alpha, mu)


def sample(mechanism: Mechanism, cohort: Cohort, draws: int, rng: np.random.Generator) -> Array:
    """Run the mechanism until it gave `draws` independent numbers, and return them, (draws,).

    A call may give one number or an array of them. Raises ValueError for a mechanism that gives none.
    """
    parts: list[Array] = []
    missing = draws
    while missing > 0:
        # The last call may give more numbers than are still missing.
        part = np.ravel(mechanism(cohort, rng))[:missing]
        if not part.size:
            raise ValueError("mechanism must give at least one number a call, got none")
        parts.append(part)
        missing -= part.size
    return np.concatenate(parts)


def audit(
    mechanism: Mechanism,
    pair: tuple[Cohort, Cohort],
    *,
    delta: float,
    draws: int,
    rng: np.random.Generator,
    bound: Callable[..., LowerBound] = clopper_pearson,
    alpha: float = 0.05,
) -> LowerBound:
    """Draw from `mechanism` on each of two neighbouring cohorts and bound its epsilon at `delta` from below.

    pair: the two cohorts, which differ in one patient. draws: how many numbers are drawn from each. bound:
    `clopper_pearson`, for any mechanism, or `gaussian_tradeoff`. alpha: the probability, at most, that the
    bound exceeds the truth. Raises ValueError for fewer than 20 draws, a mechanism that gives no number, and
    arguments that the bound refuses.
    """
    checks.whole(20, draws=draws)
    first, second = (sample(mechanism, cohort, draws, rng) for cohort in pair)
    return bound(first, second, delta=delta, alpha=alpha)
