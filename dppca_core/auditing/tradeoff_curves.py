"""An attacker's tradeoff under a guarantee: the least share of misses at each share of false alarms.

The attacker sees one release and says which of two neighbouring data sets it came from. A test has two error
rates: false alarms, P(says "with" | without), and misses, P(says "without" | with). (epsilon, delta)-privacy
allows the tests on or above (Wasserman & Zhou, JASA 2010; Dong, Roth & Su, JRSS-B 2022)

    f(a) = max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)),

and a Gaussian release that moves by mu = sensitivity / std between the two has as its best tests exactly
(Dong, Roth & Su; the likelihood ratio is monotone in the coordinate along the move)

    G_mu(a) = Phi(Phi^-1(1 - a) - mu).

Both are symmetric: which of the two data sets is called "with" makes no difference. Replacing a patient or
adding one changes mu, through the sensitivity, and nothing else here.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dppca_core import checks
from dppca_core.arrays import Array


def allowed(epsilon: float, delta: float, false_alarms: ArrayLike) -> Array:
    """Return f(a), the least misses that (epsilon, delta)-privacy allows, of the shape of `false_alarms`."""
    checks.not_negative(epsilon=epsilon)
    checks.within(0.0, 1.0, delta=delta)
    a = _shares(false_alarms)
    tail = math.exp(-epsilon)
    # Beyond 700 e^epsilon overflows, and infinity times a = 0 would not be a number.
    steep = 1 - delta - math.exp(min(epsilon, 700.0)) * a
    return np.maximum(np.maximum(steep, tail * (1 - delta - a)), 0.0)


def gaussian(mu: float, false_alarms: ArrayLike) -> Array:
    """Return G_mu(a), the misses of the best test against a Gaussian release, shaped as `false_alarms`."""
    checks.not_negative(mu=mu)
    return ndtr(-ndtri(_shares(false_alarms)) - mu)  # Phi^-1(1 - a) = -Phi^-1(a), exact for small a


def best_guess(epsilon: float, delta: float) -> float:
    """Return the largest chance to guess right, from 50:50, which of two neighbouring data sets was used.

    It is (e^epsilon + delta)/(1 + e^epsilon), for any mechanism that is (epsilon, delta)-private. The largest
    total variation that (epsilon, delta) allows is (e^eps - 1 + 2 delta)/(e^eps + 1) (Kairouz, Oh &
    Viswanath, IEEE Trans. Inf. Theory 2017, Theorem 3.3 and its region).
    """
    tail = math.exp(-epsilon)
    return (1 + delta * tail) / (1 + tail)


def gaussian_guess(mu: float) -> float:
    """Return the largest chance to guess right, from 50:50, against a Gaussian release: Phi(mu/2).

    mu: sensitivity/std. The best test is the one whose false alarms and misses are equal.
    """
    return float(ndtr(mu / 2))


def touching(mu: float, epsilon: float) -> tuple[float, float]:
    """Return (false alarms, misses) where G_mu touches f of the (epsilon, delta) that the release just keeps.

    The slope is -e^epsilon there. False alarms are Phi(-mu/2 - epsilon/mu), misses Phi(-mu/2 + epsilon/mu):
    the event of Balle & Wang (ICML 2018, Theorem 8). Raises ValueError for a mu that is not positive.
    """
    checks.positive(mu=mu)
    checks.not_negative(epsilon=epsilon)
    return float(ndtr(-mu / 2 - epsilon / mu)), float(ndtr(-mu / 2 + epsilon / mu))


def _shares(values: ArrayLike) -> Array:
    shares = np.asarray(values, dtype=float)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"false_alarms must lie between 0 and 1, got {checks.shown(values)}")
    return shares
