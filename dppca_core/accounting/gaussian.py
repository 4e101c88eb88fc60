"""Calibration of Gaussian noise: public, deterministic, cheap.

One release of f with l2 sensitivity D and noise N(0, s^2 I) is (epsilon, delta)-private exactly when
(Balle & Wang, ICML 2018, Theorem 8), with z = s/D,

    delta >= Phi(1/(2z) - epsilon z) - e^epsilon Phi(-1/(2z) - epsilon z).

T adaptive releases with the same z are exactly one release with z / sqrt(T): their dominating pair is
again a pair of unit Gaussians, at distance sqrt(T)/z (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3).
z is called the noise multiplier.
"""

import math
from dataclasses import replace
from functools import lru_cache

from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr

from dppca_core import checks
from dppca_core.privacy import Budget


def delta_of(multiplier: float, epsilon: float) -> float:
    """Return the smallest delta of a Gaussian release with std/sensitivity `multiplier` at `epsilon` >= 0.

    Balle & Wang, Theorem 8, in logarithms: a - b = a (1 - e^(log b - log a)) loses nothing.
    Raises ValueError for a multiplier outside [1e-18, 1e300] or an epsilon outside [0, 1e300].
    """
    checks.within(1e-18, 1e300, multiplier=multiplier)
    checks.within(0.0, 1e300, epsilon=epsilon)
    # a and b are the two terms of the theorem; exp(epsilon) alone would overflow.
    log_a = float(log_ndtr(0.5 / multiplier - epsilon * multiplier))
    log_b = epsilon + float(log_ndtr(-0.5 / multiplier - epsilon * multiplier))
    return math.exp(log_a) * -math.expm1(min(log_b - log_a, 0.0))


@lru_cache(maxsize=4096)
def epsilon_of(multiplier: float, delta: float) -> float:
    """Return the smallest epsilon >= 0 of a Gaussian release with std/sensitivity `multiplier` at `delta`.

    Inverts `delta_of`, which decreases in epsilon. Zero when delta covers total variation.
    Raises ValueError for a multiplier outside [1e-18, 1e300] or a delta outside (0, 1).
    """
    checks.inside_unit_interval(delta=delta)
    if delta_of(multiplier, 0.0) <= delta:
        return 0.0
    # mu^2/2 + mu sqrt(2 ln 1/delta) is the Chernoff bound on the privacy loss, mu = 1/multiplier.
    mu = 1.0 / multiplier
    high = mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta)) + 1e-9
    close = 1e-12 * min(high, 1.0)
    return float(brentq(lambda e: delta_of(multiplier, e) - delta, 0.0, high, xtol=close, maxiter=500))


@lru_cache(maxsize=4096)
def _exact(budget: Budget) -> float:
    """Return the smallest noise multiplier z with delta_of(z, epsilon) <= delta, rounded up.

    Only the budget's epsilon and delta count here, not its accounting.
    """

    def excess(log_z: float) -> float:
        attained = delta_of(math.exp(log_z), budget.epsilon)
        return math.log(max(attained, 1e-320)) - math.log(budget.delta)

    # The classical sqrt(2 ln(1.25/delta))/epsilon is private for epsilon < 1. Since z falls with epsilon,
    # adding 1 to 1/epsilon covers larger ones too; 2.5 for 1.25 leaves a margin. At the lower bound,
    # z = 1e-9/sqrt(1 + epsilon), delta is 1.
    high = math.log(math.sqrt(2 * math.log(2.5 / budget.delta)) * (1 / budget.epsilon + 1))
    low = math.log(1e-9 / math.sqrt(1 + budget.epsilon))
    z = math.exp(float(brentq(excess, low, high, xtol=1e-13, rtol=1e-14)))
    while delta_of(z, budget.epsilon) > budget.delta:  # the root may lie a rounding error below
        z *= 1 + 1e-13
    return z


def remaining(budget: Budget, share: float) -> Budget:
    """Return the budget that is left after a Gaussian release that takes `share` of a budget.

    Shares are of 1/z^2, z the budget's noise multiplier: what is left has z/sqrt(1 - share), and both
    together are one release at z, by exact composition. It is stated as less epsilon at the same delta; or as
    less delta at the same epsilon, where so little is left that the old delta covers it with no epsilon at
    all. Either is rounded down. Raises ValueError for a share outside (0, 1) and for other accounting than
    exact.
    """
    checks.inside_unit_interval(share=share)
    checks.one_of(("exact",), accounting=budget.accounting)
    rest = noise_multiplier(budget) / math.sqrt(1 - share)
    epsilon = epsilon_of(rest, budget.delta)
    # The old delta covers what is left with next to no epsilon.
    if epsilon < 1e-6:
        return replace(budget, delta=delta_of(rest, budget.epsilon) * (1 - 1e-9))
    return replace(budget, epsilon=epsilon * (1 - 1e-9))


@lru_cache(maxsize=4096)
def rho_of(budget: Budget) -> float:
    """Return the largest rho such that rho-zCDP (zero-concentrated privacy) implies the budget's guarantee.

    It solves delta = min over a > 1 of e^((a-1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)
    (Canonne, Kamath & Steinke, NeurIPS 2020, Corollary 13).
    """

    def log_delta(rho: float) -> float:
        """Return the log of the smallest delta that rho implies at the budget's epsilon."""

        def at(log_a1: float) -> float:
            a1 = math.exp(log_a1)  # a - 1
            return a1 * ((1 + a1) * rho - budget.epsilon) - (1 + a1) * math.log1p(math.exp(-log_a1)) - log_a1

        # The first term alone is smallest at a - 1 = (epsilon - rho)/(2 rho), far out for a tiny rho.
        far = math.log(max((budget.epsilon - rho) / (2 * rho), 1.0)) + 10.0
        limits = (-12.0, max(25.0, far))
        minimum = minimize_scalar(at, bounds=limits, method="bounded", options={"xatol": 1e-10})
        return min(float(minimum.fun), 0.0)

    target = math.log(budget.delta)
    # rho + 2 sqrt(rho L) = epsilon (Bun & Steinke 2016) is looser, so it starts below the answer.
    loss = math.log(1 / budget.delta)
    start = 2 * math.log(budget.epsilon / (math.sqrt(loss + budget.epsilon) + math.sqrt(loss)))
    # The end of the bracket is moved up until its rho is too large for the budget.
    stop = start + 1
    while log_delta(math.exp(stop)) < target:
        stop += 1
    log_root = brentq(lambda log_rho: log_delta(math.exp(log_rho)) - target, start - 1, stop, xtol=1e-13)
    return math.exp(float(log_root))


def noise_multiplier(budget: Budget) -> float:
    """Return std / sensitivity of one Gaussian release that spends the budget.

    exact: Balle-Wang. zcdp: 1/sqrt(2 rho) (Bun & Steinke 2016, Proposition 1.6). as-printed:
    sqrt(2 ln(1.25/delta))/epsilon (Dwork & Roth 2014, Theorem A.1), which is proved for epsilon < 1
    only and is not private for large epsilon; `epsilon_of` returns its true epsilon.
    """
    if budget.accounting == "as-printed":
        return math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon
    if budget.accounting == "zcdp":
        return 1 / math.sqrt(2 * rho_of(budget))
    return _exact(budget)


def composed_std(budget: Budget, sensitivity: float, steps: int) -> float:
    """Return the std of each of `steps` adaptive Gaussian releases of l2 sensitivity `sensitivity`.

    exact and zcdp: sqrt(steps) * sensitivity * noise_multiplier(budget).
    as-printed: Ge, Wang, Wang & Liu (AISTATS 2018), Lemma A.1 at (epsilon/T, delta/T), that is
    sensitivity * (T/epsilon) sqrt(2 ln(2T/delta)); Algorithm 1 prints it without the logarithm,
    which the lemma has. Raises ValueError for a sensitivity or a number of steps that is not positive.
    """
    checks.positive(sensitivity=sensitivity)
    checks.whole(1, steps=steps)
    if budget.accounting == "as-printed":
        scale = math.sqrt(2 * math.log(2 * steps / budget.delta))
        return sensitivity * steps / budget.epsilon * scale
    return math.sqrt(steps) * sensitivity * noise_multiplier(budget)
