"""Additive Wishart noise (Sheffet, ALT 2019, Theorem 3): a noisy second moment that stays positive definite.

It releases X^T X + c W, W ~ Wishart_d(m, I), rows of norm at most 1. The mean c m I moves no eigenvector.

As printed: c = 1 and m = floor(d + (28/epsilon^2) ln(4/delta)) for epsilon < 1 and delta < 1/e; a larger
epsilon or delta is calibrated at that limit. (Jiang et al. 2016 and Imtiaz & Sarwate 2016 take m = d + 1 and
claim pure epsilon-privacy; Sheffet's footnote 4 disproves it, so that variant is not offered.)

The default is calibrated exactly, derived here. Adding a row x of norm r turns N = c W into N + x x^T, and
the ratio of the two densities depends on 1/(x^T N^-1 x) alone. For an x of norm 1 that is c times a
chi-square variable of v = m - d + 1 degrees of freedom. So the release is, to an attacker, that variable or
the same plus h = r^2/c. Its density is log-concave for v >= 2: likelihood ratios are monotone, half-lines are
the best tests, and h = 1/c is the worst. With a = v/2 - 1 the smallest delta is, when a row is

    removed: P(s + h > t) - e^epsilon P(s > t),    t = h / (1 - e^((epsilon - h/2)/a)), 0 if h <= 2 epsilon,
    added:   P(s <= t) - e^epsilon P(s + h <= t),  t = h / (1 - e^(-(epsilon + h/2)/a)),

and delta is the larger one. Replacing a row adds the new one, then removes the old one: for every e <=
epsilon, delta is at most added(epsilon - e) + e^(epsilon - e) removed(e), and removed(h/2) is nothing. (The
other order, through data with neither row, is valid too and up to 6 % worse.) The default takes v = d + 2.
Compare the noise off the diagonal with that of a mirrored Gaussian, at epsilon = 1 and delta = 1e-5. For d =
200 it is 1.3 (add-remove) and 1.5 (replace-one) times as large, for d = 8 it is 6 and 5 times. More degrees
of freedom would approach Analyze Gauss and lose the point. However large epsilon is, h stays below where s
may fall with chance delta: this noise does not vanish.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.numerics.wishart import wishart_factor
from dppca_core.privacy import Budget, Event, Guarantee
from dppca_core.records import Estimate, Method

# For a tiny epsilon the two terms of a delta nearly cancel, so the larger is rounded up by this.
_ROUNDING = 1e-13


def _scaled(epsilon: float, probability: float) -> float:
    """Return e^epsilon times a probability, also where the exponential alone overflows."""
    return math.exp(min(epsilon + math.log(probability), 700.0)) if probability > 0 else 0.0


def _beyond(degrees: float, shift: float, epsilon: float) -> float:
    """Return t - h of the module's text, for the added row; for the removed one at -epsilon.

    degrees: v, of the chi-square variable s. shift: h. With t - h = h/(e^x - 1), t is h/(1 - e^-x).
    """
    exponent = (shift / 2 + epsilon) / (degrees / 2 - 1)
    return shift / math.expm1(exponent) if exponent < 700 else 0.0


def _removed(degrees: float, shift: float, epsilon: float) -> float:
    """Return the smallest delta at epsilon when a row is removed, in the words of `_added`."""
    if shift <= 2 * epsilon:
        return 0.0
    over = _beyond(degrees, shift, -epsilon)
    with_row = float(gammaincc(degrees / 2, over / 2))  # P(s + h > t)
    without = _scaled(epsilon, float(gammaincc(degrees / 2, (shift + over) / 2)))  # e^epsilon P(s > t)
    return max(with_row * (1 + _ROUNDING) - without, 0.0)


def _added(degrees: float, shift: float, epsilon: float) -> float:
    """Return the smallest delta at epsilon when a row is added, rounded up, by the module's text.

    degrees: v, of the chi-square variable s. shift: h. `over` is t - h.
    """
    over = _beyond(degrees, shift, epsilon)
    without = float(gammainc(degrees / 2, (shift + over) / 2))  # P(s <= t)
    with_row = _scaled(epsilon, float(gammainc(degrees / 2, over / 2)))  # e^epsilon P(s + h <= t)
    return max(without * (1 + _ROUNDING) - with_row, 0.0)


def delta_of(degrees: float, shift: float, epsilon: float, neighbours: str) -> float:
    """Return delta at `epsilon` >= 0 for v = `degrees` > 2 and h = `shift`.

    The formulas are those of the module's text, rounded up. Exact for add-remove. Replace-one is a removal at
    e and an addition at epsilon - e: a bound, the best of 33 splits. Raises ValueError for a shift that is
    not positive, or degrees of 2 or fewer.
    """
    checks.positive(shift=shift, excess=degrees - 2)
    if neighbours == "add-remove":
        return max(_removed(degrees, shift, epsilon), _added(degrees, shift, epsilon))
    most = min(epsilon, shift / 2)  # of the removal's part e, beyond which its delta is 0
    return min(
        _added(degrees, shift, epsilon - e) + _scaled(epsilon - e, _removed(degrees, shift, e))
        for e in (most * i / 32 for i in range(33))
    )


def epsilon_of(degrees: float, shift: float, delta: float, neighbours: str) -> float:
    """Return the smallest epsilon >= 0 at `delta`, inverting `delta_of`, whose other arguments it takes.

    It is infinite if P(s <= h) > delta, s the chi-square variable of v degrees: no epsilon is enough then.
    """
    if delta_of(degrees, shift, 0.0, neighbours) <= delta:
        return 0.0
    high = 1.0
    while delta_of(degrees, shift, high, neighbours) > delta:
        high *= 2
        if high > 1e15:  # no epsilon is enough
            return math.inf
    return float(brentq(lambda e: delta_of(degrees, shift, e, neighbours) - delta, 0.0, high, xtol=1e-12))


@lru_cache(maxsize=1024)
def calibrate(budget: Budget, d: int) -> tuple[int, float]:
    """Return (m, c), the degrees of freedom and the scale of the noise c W that spend the budget.

    Accounting "zcdp" is "exact" here. For epsilon below 1e-6 together with delta below 1e-10, doubles hold
    the attained delta only roughly.
    """
    if budget.accounting == "as-printed":
        epsilon, delta = min(budget.epsilon, 1.0), min(budget.delta, 1 / math.e)
        return math.floor(d + 28 / epsilon**2 * math.log(4 / delta)), 1.0

    def excess(log_shift: float) -> float:
        """Return how far, in logarithms, the delta of noise with h = e^log_shift is above the budget's."""
        attained = delta_of(d + 2, math.exp(log_shift), budget.epsilon, budget.neighbours)
        return math.log(max(attained, 1e-320)) - math.log(budget.delta)

    # The search begins near the smallest double and ends far beyond the chi-square variable.
    log_shift = float(brentq(excess, -700.0, math.log(10 * (d + 2) + 1000.0), xtol=1e-12))
    # m = v + d - 1 with v = d + 2, and c = 1/h, rounded to the private side.
    return 2 * d + 1, math.exp(-log_shift) * (1 + 1e-9)


def release(cohort: Cohort, budget: Budget, rng: np.random.Generator) -> Array:
    """Return the pooled moment plus Wishart noise, (d, d). This is the only step that reads private rows."""
    d = cohort.features
    m, scale = calibrate(budget, d)
    factor = wishart_factor(m, d, rng)
    noisy: Array = factor @ factor.T
    noisy *= scale / cohort.n
    noisy += cohort.pooled.dense()
    return noisy


def fit(
    cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator, shrink: bool = False
) -> Estimate:
    """Return the top k eigenvectors of the noisy moment.

    Returns:
        The basis, (d, k); `noise_std` is off the diagonal, where the noise has variance c^2 m / n^2.
    """
    m, scale = calibrate(budget, cohort.features)
    std, spent = scale * math.sqrt(m) / cohort.n, spends(budget, d=cohort.features)
    return Estimate.from_moment(
        release(cohort, budget, rng),
        k,
        shrink_n=cohort.public_n(budget) if shrink else None,
        noise_std=std,
        spent=spent,
    )


def spends(budget: Budget, *, d: int, **_: object) -> tuple[Event, ...]:
    """Return the budget itself; as printed, what the derivation in the module's text gives for that noise."""
    if budget.accounting != "as-printed":
        return (Guarantee(budget.epsilon, budget.delta),)
    m, scale = calibrate(budget, d)
    return (Guarantee(epsilon_of(m - d + 1, 1 / scale, budget.delta, budget.neighbours), budget.delta),)


METHOD = Method(
    title="Wishart noise",
    reference="Sheffet, ALT 2019, Theorem 3",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    audit="wishart.cases",
)
