"""Spent events as an event of dp-accounting, whose accountants then compose them with events of others.

Compose with the accountants' default relation, to add or remove a row, whatever the events' own is: their
noise multipliers are for their own relation already. An accountant for replace-one would double the
sensitivity of a Gaussian release once more, which is never too small, but not exact.
"""

import math
from collections.abc import Iterable
from typing import Any

from dppca_core.privacy import Event, Release


def to_dp_event(events: Iterable[Event]) -> Any:
    """Return events as one `dp_accounting.DpEvent`; dp-accounting is loaded by this call.

    A `Release` is a `GaussianDpEvent` with its multiplier, self-composed where it has several steps. A purely
    private `Guarantee` is randomized response over two answers, the most that a release with that epsilon can
    tell: with p/2 the chance of the false answer, (1 - p/2)/(p/2) = e^epsilon. dp-accounting composes that
    for replace-one alone.

    Raises ValueError for a `Guarantee` with a delta, for which dp-accounting has no event.
    """
    import dp_accounting  # imported here: it is slow to load

    def one_event(event: Event) -> Any:
        if isinstance(event, Release):
            gaussian = dp_accounting.GaussianDpEvent(event.noise_multiplier)
            return gaussian if event.steps == 1 else dp_accounting.SelfComposedDpEvent(gaussian, event.steps)
        if event.delta:
            raise ValueError(
                f"dp-accounting has no event for a release of which only epsilon = {event.epsilon:g} and "
                f"delta = {event.delta:g} are known"
            )
        false = math.exp(-event.epsilon)
        return dp_accounting.dp_event.RandomizedResponseDpEvent(2 * false / (1 + false), 2)

    return dp_accounting.ComposedDpEvent([one_event(event) for event in events])
