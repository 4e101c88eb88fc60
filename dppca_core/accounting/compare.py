"""Compare five accountings of one budget spent on T Gaussian rounds.

    basic     T rounds of (epsilon/T, delta/T), each calibrated exactly (Dwork & Roth 2014, Theorem 3.16)
    advanced  T rounds of (e, delta/2T), sqrt(2T ln(2/delta)) e + T e (e^e - 1) = epsilon: half of delta is
              for the rounds, half for the theorem (Dwork & Roth 2014, Theorem 3.20)
    zcdp      rho = T / (2 z^2) (Bun & Steinke 2016), turned into (epsilon, delta) by Canonne, Kamath &
              Steinke (NeurIPS 2020, Corollary 13)
    exact     T rounds are one Gaussian release with z / sqrt T (Dong, Roth & Su 2022, Corollary 3.3)
    printed   Ge, Wang, Wang & Liu (AISTATS 2018), Algorithm 1 with the logarithm of its Lemma A.1, at their
              sensitivity 2: sigma = (2T/epsilon) sqrt(2 ln(2T/delta))

Each gives the noise that a budget needs, and the epsilon that it charges for given noise. The exact one is
the true epsilon; no valid accounting charges less.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from scipy.optimize import brentq, minimize_scalar

from dppca_core import checks
from dppca_core.accounting import gaussian, printed
from dppca_core.privacy import AccountingKind, Budget


class Accounting(NamedTuple):
    """Hold one accounting: its title, and functions for the noise of a budget and the epsilon of given noise.

    noise(budget, sensitivity, steps) is the std of every round, cost(std, delta, sensitivity, steps) the
    epsilon of all rounds together. Their formulas stand in the module's text, by the keys of ACCOUNTINGS.
    """

    title: str
    noise: Callable[[Budget, float, int], float]
    cost: Callable[[float, float, float, int], float]


# `noise` and `cost` of each accounting, as `Accounting` says, by the formulas in the module's text.


def _basic_noise(budget: Budget, sensitivity: float, steps: int) -> float:
    """Return the std of each round that spends (epsilon/T, delta/T), for T = `steps`."""
    return sensitivity * gaussian.noise_multiplier(Budget(budget.epsilon / steps, budget.delta / steps))


def _basic_cost(std: float, delta: float, sensitivity: float, steps: int) -> float:
    """Return the epsilon of all rounds: T times that of one round at delta/T, for T = `steps`."""
    return steps * gaussian.epsilon_of(std / sensitivity, delta / steps)


def advanced(epsilon: float, slack: float, steps: int) -> float:
    """Return the total epsilon of `steps` rounds of `epsilon` each, by advanced composition (Theorem 3.20).

    slack: the delta that the theorem itself takes, beside those of the rounds.
    """
    if epsilon > 700:  # e^epsilon would overflow
        return math.inf
    return epsilon * math.sqrt(2 * steps * math.log(1 / slack)) + steps * epsilon * math.expm1(epsilon)


def _advanced_noise(budget: Budget, sensitivity: float, steps: int) -> float:
    """Return the std of each round where advanced composition adds rounds up to the budget."""
    half_delta = budget.delta / 2  # one half is for the theorem, the other for all rounds
    # Find the epsilon of one round at which all rounds together cost the budget's.
    each = float(
        brentq(lambda e: advanced(e, half_delta, steps) - budget.epsilon, 0.0, budget.epsilon, xtol=1e-15)
    )
    return sensitivity * gaussian.noise_multiplier(Budget(each, half_delta / steps))


def _advanced_cost(std: float, delta: float, sensitivity: float, steps: int) -> float:
    """Return the epsilon of all rounds by advanced composition; half of delta is for the theorem."""
    each = gaussian.epsilon_of(std / sensitivity, delta / 2 / steps)
    return advanced(each, delta / 2, steps)


def _composed_noise(accounting: AccountingKind) -> Callable[[Budget, float, int], float]:
    """Return the `noise` of an accounting that `gaussian.composed_std` knows."""

    def noise(budget: Budget, sensitivity: float, steps: int) -> float:
        converted = Budget(budget.epsilon, budget.delta, accounting=accounting)
        return gaussian.composed_std(converted, sensitivity, steps)

    return noise


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the smallest epsilon that rho-zCDP (zero-concentrated privacy) implies at `delta`.

    By Corollary 13 of Canonne, Kamath & Steinke (the module's text), solved for epsilon, it is

    min over a > 1 of  a rho + (ln(1/delta) + a ln(1 - 1/a) - ln(a - 1)) / (a - 1), and at least 0.

    Raises ValueError for a rho that is not positive or a delta outside (0, 1).
    """
    checks.positive(rho=rho)
    checks.inside_unit_interval(delta=delta)
    loss = -math.log(delta)

    def objective(log_a1: float) -> float:
        a1 = math.exp(log_a1)  # a - 1
        rest = loss - (1 + a1) * math.log1p(math.exp(-log_a1)) - log_a1
        return (1 + a1) * rho + rest / a1

    # a - 1 = sqrt(loss/rho) balances the two large terms; the rest moves it by little.
    centre = 0.5 * math.log((loss + 1) / rho)
    minimum = minimize_scalar(
        objective, bounds=(centre - 12, centre + 6), method="bounded", options={"xatol": 1e-10}
    )
    return max(float(minimum.fun), 0.0)


def _zcdp_cost(std: float, delta: float, sensitivity: float, steps: int) -> float:
    """Return the epsilon that the rounds' rho, T / (2 z^2), implies at delta."""
    return zcdp_epsilon(steps * sensitivity**2 / (2 * std**2), delta)


def _exact_cost(std: float, delta: float, sensitivity: float, steps: int) -> float:
    """Return the true epsilon of all rounds, which are one release with z / sqrt T."""
    return gaussian.epsilon_of(std / sensitivity / math.sqrt(steps), delta)


def _printed_noise(budget: Budget, sensitivity: float, steps: int) -> float:
    """Return the printed noise, at the paper's sensitivity whatever is given."""
    return _composed_noise("as-printed")(budget, printed.GE_SENSITIVITY, steps)


def _printed_cost(std: float, delta: float, sensitivity: float, steps: int) -> float:
    """Return the epsilon at which the paper prints this noise, at its own sensitivity."""
    return _printed_noise(Budget(1.0, delta), sensitivity, steps) / std  # the noise goes as 1/epsilon


ACCOUNTINGS: dict[str, Accounting] = {
    "printed": Accounting("As printed by Ge et al.", _printed_noise, _printed_cost),
    "basic": Accounting("Basic composition", _basic_noise, _basic_cost),
    "advanced": Accounting("Advanced composition", _advanced_noise, _advanced_cost),
    "zcdp": Accounting("zCDP", _composed_noise("zcdp"), _zcdp_cost),
    "exact": Accounting("Exact (T-fold Gaussian)", _composed_noise("exact"), _exact_cost),
}


def noise(name: str, budget: Budget, sensitivity: float, steps: int) -> float:
    """Return the std of each of `steps` rounds of l2 sensitivity `sensitivity` that spend `budget` together.

    name: of ACCOUNTINGS; the accounting of the budget is ignored. Raises ValueError for an unknown name, a
    sensitivity that is not positive or steps that are not a whole number of at least 1.
    """
    _check(name, sensitivity, steps)
    return ACCOUNTINGS[name].noise(budget, sensitivity, steps)


def cost(name: str, std: float, delta: float, sensitivity: float, steps: int) -> float:
    """Return the epsilon at `delta` that this accounting charges for `steps` rounds with noise `std`.

    std and l2 sensitivity in the same unit. Raises ValueError for an unknown accounting, or a number out of
    range, by its name.
    """
    _check(name, sensitivity, steps)
    checks.positive(std=std)
    checks.inside_unit_interval(delta=delta)
    return ACCOUNTINGS[name].cost(std, delta, sensitivity, steps)


def _check(name: str, sensitivity: float, steps: int) -> None:
    checks.one_of(ACCOUNTINGS, name=name)
    checks.positive(sensitivity=sensitivity)
    checks.whole(1, steps=steps)
