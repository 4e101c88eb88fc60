"""What several releases cost together, in closed form: fast enough for a slider.

Gaussian releases compose exactly: std/sensitivity z_i are one release with 1/z^2 = sum 1/z_i^2 (Dong, Roth
& Su, JRSS-B 2022, Corollary 3.3). What is known only by its (epsilon, delta) is added by basic composition,
which is never too small.
"""

import math
from collections.abc import Iterable

from dppca_core import checks, gaussian
from dppca_core.types import Event, Release


def multiplier_of(events: Iterable[Event]) -> float:
    """std / sensitivity of the Gaussian releases among the events as one; infinite when there are none."""
    precision = sum(e.steps / e.noise_multiplier**2 for e in events if isinstance(e, Release))
    return 1 / math.sqrt(precision) if precision else math.inf


def epsilon_of(events: Iterable[Event], delta: float) -> float:
    """An epsilon such that all events together are (epsilon, delta)-private; exact for Gaussians alone.

    Infinite when the events' own deltas use up `delta`. Raises ValueError for a delta outside (0, 1).
    """
    checks.inside_unit_interval(delta=delta)
    events = tuple(events)
    stated = [event for event in events if not isinstance(event, Release)]
    epsilon = sum(event.epsilon for event in stated)
    left = delta - sum(event.delta for event in stated)
    multiplier = multiplier_of(events)
    if math.isinf(multiplier):
        return epsilon if left >= -1e-12 * delta else math.inf
    return epsilon + gaussian.epsilon_of(multiplier, left) if left > 0 else math.inf
