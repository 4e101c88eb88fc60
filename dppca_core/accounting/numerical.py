"""The cost of several releases together, by dp-accounting: independent of the closed forms of `accounting`.

Privacy loss distributions (Koskela et al. 2020; Doroshenko et al. 2022) are composed numerically, rounded to
the pessimistic side, so that their epsilon is an upper bound: within about a ten-thousandth per release of
the exact one for Gaussians. A release of which only (epsilon, delta) is known counts as the worst mechanism
with that guarantee. Simple composition, the sum of what each release costs alone, is computed as well.

An event (`dppca_core.privacy`) is a `Release`, Gaussian, by its noise multiplier, or a `Guarantee`, of which
only (epsilon, delta) is known.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dppca_core import checks
from dppca_core.accounting import closed_form
from dppca_core.privacy import Event, Guarantee, Release

# Beyond these limits composing distributions takes minutes: simple composition counts alone.
_MOST_EPSILON = 1_000.0
_MOST_STATED = 50  # different guarantees, each of which takes a distribution of its own
# Points of the discretised privacy loss: more cost time and change no digit that matters.
_POINTS = 50_000


class Total(NamedTuple):
    """Hold what several releases cost together at a delta.

    epsilon: the least of all upper bounds that were computed. simple: by simple composition, for comparison.
    """

    epsilon: float
    simple: float


def total(events: Sequence[Event], delta: float) -> Total:
    """Return the cost of all events together at `delta`; zero for none, infinite if their deltas use it up.

    Three upper bounds are computed, and the least of them counts: simple composition; the closed form, which
    is exact for Gaussians alone; and privacy loss distributions, which round up. The last is left out where
    it would take minutes. Raises ValueError for a delta outside (0, 1).
    """
    checks.inside_unit_interval(delta=delta)
    if not events:
        return Total(0.0, 0.0)
    simple = _added(events, delta)
    bounds = [simple, closed_form.epsilon_of(events, delta)]
    stated = Counter(event for event in events if not isinstance(event, Release))
    if simple < _MOST_EPSILON and len(stated) <= _MOST_STATED:
        # Several Gaussians are exactly one.
        bounds.append(_composed(closed_form.multiplier_of(events), tuple(stated.items()), delta))
    return Total(min(bounds), simple)


def within(spent: float, limit: float) -> bool:
    """Return whether an epsilon is within a limit, up to rounding.

    Noise that is calibrated to the whole limit spends it exactly, and must not be refused for a last digit.
    """
    return spent <= limit * (1 + 1e-9)


def epsilon_left(spent: float, limit: float) -> float:
    """Return the epsilon that is left of a limit; zero where only rounding is left."""
    left = limit - spent
    return left if left > 1e-9 * limit else 0.0


def _added(events: Sequence[Event], delta: float) -> float:
    """Return the epsilon of all events by simple composition: the sum of what each costs alone.

    What the guarantees leave of delta is shared equally by the Gaussian events.
    """
    stated = [event for event in events if not isinstance(event, Release)]
    releases = [event for event in events if isinstance(event, Release)]
    epsilon, left = sum(event.epsilon for event in stated), delta - sum(event.delta for event in stated)
    if left < 0 or (releases and left <= 0):
        return math.inf
    return epsilon + sum(closed_form.epsilon_of((event,), left / len(releases)) for event in releases)


@lru_cache(maxsize=1024)  # keeps multipliers and guarantees only, nothing of a table
def _composed(gaussian: float, stated: Sequence[tuple[Guarantee, int]], delta: float) -> float:
    """Return the epsilon at `delta` by privacy loss distributions, rounded up.

    gaussian: the noise multiplier of all Gaussian events as one; infinite for none. stated: each different
    guarantee, with how often it was given.
    """
    from dp_accounting.pld import common  # imported here: it is slow to load
    from dp_accounting.pld import privacy_loss_distribution as pld

    # The privacy loss of a Gaussian release is normal, with this mean and twice it as variance. A grid of
    # _POINTS covers it up to 12 stds above the mean.
    mean = 0.5 / gaussian**2
    interval = max(1e-4, (mean + 12 * math.sqrt(2 * mean)) / _POINTS)
    losses = []
    if mean > 0:
        losses.append(pld.from_gaussian_mechanism(gaussian, value_discretization_interval=interval))
    for event, times in stated:
        alone = pld.from_privacy_parameters(
            common.DifferentialPrivacyParameters(event.epsilon, event.delta),
            value_discretization_interval=interval,
        )
        losses.append(alone.self_compose(times) if times > 1 else alone)
    total_loss = losses[0]
    for loss in losses[1:]:
        total_loss = total_loss.compose(loss)
    return float(total_loss.get_epsilon_for_delta(delta))
