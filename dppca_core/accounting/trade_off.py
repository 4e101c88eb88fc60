"""What all events together let an attacker do: at every share of false alarms, and at every delta.

The attacker sees what was released, and says which of two neighbouring data sets it is of. A test has two
error rates: false alarms a, P(says "with" | without), and misses, P(says "without" | with). The trade-off
function f(a) is a lower bound on the misses of every test with a false alarms.

**Gaussian events alone.** Telling the data sets apart is as hard as telling N(0, 1) from N(mu, 1), with mu =
sqrt(sum 1/z_i^2), z_i the noise multipliers (Dong, Roth & Su, JRSS-B 2022, Theorem 2.7, Corollary 3.3). So

    f(a) = G_mu(a) = Phi(Phi^-1(1 - a) - mu)

exactly: the likelihood ratio is monotone in the coordinate along the move. (epsilon, delta) follows at every
delta (Balle & Wang, ICML 2018, Theorem 8), and rho = mu^2/2 of zero-concentrated privacy. That mu and this
curve say what one (epsilon, delta) does not is argued by Gomez et al. (arXiv 2503.10945, of which only the
abstract was read) and by Kulynych & Honkela (arXiv 2606.09582, recalled, not read).

**With events of which only (epsilon, delta) is known.** These are added up, to (e, d), by basic composition.
With delta_mu(x) of the Gaussian events, all together are (e + x, d + delta_mu(x))-private for every x >= 0.
(epsilon, delta) allows the tests on or above (Wasserman & Zhou, JASA 2010)

    max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)),

and f is the largest of these lower bounds over all x. The second lines are, with b = e^e a, the tangents of
G_mu of slopes -e^x <= -1, less d. Their envelope is G_mu up to a = c = Phi(-mu/2), where its slope is -1, and
from there its tangent 2c - b. The third lines mirror the second. So

    f(a) = max(0, left(e^e a) - d, e^-e right(a + d)),

where left is the curve up to c and the tangent beyond, and right the tangent up to c and the curve beyond.
Without Gaussian events it is the formula above it, without others G_mu. Replacing a patient or adding one
changes mu, through the sensitivity, and nothing else here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.privacy import Event, Guarantee, Release

if TYPE_CHECKING:
    import pandas as pd

FALSE_ALARMS = (0.0, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
"""Shares of false alarms at which records state a curve. A curve lies below its chords between them."""


_NOTHING = Guarantee(0.0)


@dataclass(frozen=True)
class TradeOff:
    """Hold what events together let an attacker do, by the module's formulas.

    Without any event nothing was released: mu is 0, and f(a) = 1 - a.

    Attributes:
        multiplier: The noise multiplier of all Gaussian events together as one release, 1/mu; infinite
            without one.
        stated: The sum of all events of which only (epsilon, delta) is known.

    Raises:
        ValueError: For a multiplier outside [1e-15, 1e150] that is not infinite, or a negative guarantee.

    References:
        Dong, Roth & Su, JRSS-B 2022; Balle & Wang, ICML 2018, Theorem 8; Wasserman & Zhou, JASA 2010.
    """

    multiplier: float = math.inf
    stated: Guarantee = _NOTHING

    def __post_init__(self) -> None:
        if self.multiplier != math.inf:
            checks.within(1e-15, 1e150, multiplier=self.multiplier)
        checks.within(0.0, math.inf, epsilon=self.stated.epsilon, delta=self.stated.delta)

    @staticmethod
    def from_events(events: Iterable[Event]) -> TradeOff:
        """Return the trade-off of all these events together.

        Args:
            events: What was spent, as accounts and `Estimate.spent` have it.

        Raises:
            ValueError: For a noise multiplier outside [1e-150, 1e150], or as the class does.
        """
        events = tuple(events)
        releases = [event for event in events if isinstance(event, Release)]
        stated = [event for event in events if not isinstance(event, Release)]
        for event in releases:
            checks.within(1e-150, 1e150, noise_multiplier=event.noise_multiplier)
        precision = sum(event.steps / event.noise_multiplier**2 for event in releases)
        return TradeOff(
            1 / math.sqrt(precision) if precision else math.inf,
            Guarantee(
                sum((event.epsilon for event in stated), 0.0), sum((event.delta for event in stated), 0.0)
            ),
        )

    @staticmethod
    def gaussian(mu: float) -> TradeOff:
        """Return the trade-off of a Gaussian release that moves by mu standard deviations of its noise."""
        checks.not_negative(mu=mu)
        return TradeOff(1 / mu if mu else math.inf)

    @staticmethod
    def allowed(epsilon: float, delta: float) -> TradeOff:
        """Return the trade-off of the worst release that is (epsilon, delta)-private."""
        return TradeOff(stated=Guarantee(epsilon, delta))

    @property
    def mu(self) -> float | None:
        """Return the mu of Gaussian differential privacy, or None where `why_no_mu` says why it has none."""
        return None if self.why_no_mu else 1 / self.multiplier

    @property
    def why_no_mu(self) -> str:
        """Return in a sentence why there is no mu, or "" where there is one."""
        if self.stated == _NOTHING:
            return ""
        known = f"({self.stated.epsilon:.4g}, {self.stated.delta:.4g})"
        return f"Only (ε, δ) = {known} is known of a part of what was spent, so that no μ is stated."

    def misses(self, false_alarms: ArrayLike) -> Array:
        """Return the least share of misses of any test, f(a).

        Args:
            false_alarms: Shares a from 0 to 1, of any shape.

        Returns:
            f(a), of the same shape: exact for Gaussian events alone, else a lower bound.

        Raises:
            ValueError: For a share outside [0, 1].
        """
        a = np.asarray(false_alarms, dtype=float)
        if not ((a >= 0) & (a <= 1)).all():
            raise ValueError(f"false_alarms must lie between 0 and 1, got {checks.shown(false_alarms)}")
        epsilon, delta = self.stated.epsilon, min(self.stated.delta, 1.0)
        mu = 1 / self.multiplier
        half = ndtr(-mu / 2)

        def curve(shares: Array) -> Array:
            return np.asarray(ndtr(-ndtri(shares) - mu))  # Phi^-1(1 - a) = -Phi^-1(a), exact for small a

        # From b = 1 on the left part is negative, so that b need not be larger. 0 times infinity is 0 here.
        growth = math.exp(epsilon) if epsilon < 700 else math.inf
        with np.errstate(invalid="ignore"):
            b = np.where(a > 0, np.minimum(growth * a, 1.0), 0.0)
        left = np.where(b <= half, curve(b), 2 * half - b) - delta
        v = np.minimum(a + delta, 1.0)
        right = math.exp(-epsilon) * np.where(v >= half, curve(v), 2 * half - v)
        return np.maximum(np.maximum(left, right), 0.0)

    def epsilon(self, delta: float) -> float:
        """Return an epsilon such that all events together are (epsilon, delta)-private.

        Args:
            delta: Chance of failure.

        Returns:
            The smallest epsilon for Gaussian events alone; infinite when the events' own deltas use up
            `delta`.

        Raises:
            ValueError: For a delta outside (0, 1).
        """
        checks.inside_unit_interval(delta=delta)
        # Guarantees are added up. What they leave of delta is for the Gaussian releases.
        left = delta - self.stated.delta
        if math.isinf(self.multiplier):  # no Gaussian needs a part of delta; the sum may err by rounding
            return self.stated.epsilon if left >= -1e-12 * delta else math.inf
        return self.stated.epsilon + gaussian.epsilon_of(self.multiplier, left) if left > 0 else math.inf

    def delta(self, epsilon: float) -> float:
        """Return a delta such that all events together are (epsilon, delta)-private: the privacy profile.

        From the stated e on it is d + delta_mu(epsilon - e). Below e it is what (e, d + delta_mu(0)) allows:
        that curve has its corner at false alarms and misses (1 - delta)/(1 + e^e) both.

        Args:
            epsilon: Privacy loss.

        Returns:
            The smallest delta for Gaussian events alone, and for one event of which only (e, d) is known.

        Raises:
            ValueError: For an epsilon outside [0, 1e300].
        """
        checks.within(0.0, 1e300, epsilon=epsilon)
        beyond, delta = epsilon - self.stated.epsilon, self.stated.delta
        if not math.isinf(self.multiplier):
            delta += gaussian.delta_of(self.multiplier, max(beyond, 0.0))
        delta = min(delta, 1.0)
        if beyond >= 0:
            return delta
        return delta + (1 - delta) * -math.expm1(beyond) / (1 + math.exp(-self.stated.epsilon))

    def best_guess(self, prior: float = 0.5) -> float:
        """Return the largest chance to guess right which of two neighbouring data sets was used.

        With the odds e^t >= 1 of the likelier one it is p + (1 - p) delta(t), p its chance: the attacker who
        sees nothing says p, and gains (1 - p) (1 - f(a) - e^t a) at the best a. From 50:50 it is Phi(mu/2)
        for Gaussian events, and (e^epsilon + delta)/(1 + e^epsilon) for one (epsilon, delta) (Kairouz, Oh &
        Viswanath, IEEE Trans. Inf. Theory 2017, Theorem 3.3 and its region).

        Args:
            prior: The chance of either data set, to an attacker who knows all but the release.

        Raises:
            ValueError: For a prior outside (0, 1).
        """
        checks.inside_unit_interval(prior=prior)
        likelier = max(prior, 1 - prior)
        return likelier + (1 - likelier) * self.delta(math.log(likelier / (1 - likelier)))

    def posterior(self, false_alarms: float, prior: float = 0.5) -> float:
        """Return the largest chance that a patient was there, given that a test says so.

        Args:
            false_alarms: Of the test, above 0.
            prior: The chance that the patient was there, before.

        Returns:
            p r/(p r + 1 - p), where r = (1 - f(a))/a is the largest likelihood ratio of such a test's "with".

        Raises:
            ValueError: For a share or a prior outside (0, 1).
        """
        checks.inside_unit_interval(false_alarms=false_alarms, prior=prior)
        right = prior * (1 - float(self.misses(false_alarms)))
        return right / (right + (1 - prior) * false_alarms)

    def touching(self, epsilon: float) -> tuple[float, float]:
        """Return (false alarms, misses) where G_mu touches the (epsilon, delta(epsilon)) that it just keeps.

        The slope is -e^epsilon there. False alarms are Phi(-mu/2 - epsilon/mu), misses Phi(-mu/2 +
        epsilon/mu): the event of Balle & Wang, Theorem 8.

        Args:
            epsilon: Privacy loss, at least 0.

        Raises:
            ValueError: For a negative epsilon, and where mu is None or 0.
        """
        checks.not_negative(epsilon=epsilon)
        if not self.mu:
            raise ValueError(self.why_no_mu or "mu must be positive, got 0.0")
        low, high = (-self.mu / 2 + sign * epsilon / self.mu for sign in (-1, 1))
        return float(ndtr(low)), float(ndtr(high))

    def to_json(self) -> dict[str, Any]:
        """Return it for records: mu, or why there is none, and the curve at FALSE_ALARMS, as plain values."""
        return {
            "mu": self.mu,
            "why no mu": self.why_no_mu,
            "false alarms": list(FALSE_ALARMS),
            "misses": self.misses(FALSE_ALARMS).tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the curve at FALSE_ALARMS as a table with the columns "false alarms" and "misses"."""
        import pandas as pd  # imported here: scripts that ask for no table need not wait for it

        return pd.DataFrame({"false alarms": FALSE_ALARMS, "misses": self.misses(FALSE_ALARMS)})
