"""Spent events as plain JSON, for accounts: checked when they are read.

An event (`dppca_core.privacy`) is a `Release`, Gaussian, by its noise multiplier, or a `Guarantee`, of which
only (epsilon, delta) is known.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dppca_core import checks
from dppca_core.privacy import Event, Guarantee, Release

# From the noise of the largest epsilon to far more than anybody takes.
MULTIPLIERS = (1e-7, 1e12)
MOST_STEPS = 10**6
MOST_EPSILON = 1e6


def to_plain(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return each event's fields as a JSON object, NumPy's numbers as Python's; `from_plain` reads them."""
    return [{name: checks.plain(value) for name, value in vars(event).items()} for event in events]


def from_plain(json_value: object) -> tuple[Event, ...]:
    """Return the events that `to_plain` wrote. Raises ValueError for anything else, or for no events."""
    if not isinstance(json_value, list) or not json_value:
        raise ValueError("events must be a list of what was spent")
    return tuple(_event(event) for event in json_value)


def _event(json_value: Mapping[str, Any]) -> Event:
    """Return the event with these fields, whose names tell its kind. Raises ValueError for others."""
    if not isinstance(json_value, dict):
        raise ValueError("an event must be an object")
    names = set(json_value)
    if names == {"noise_multiplier", "steps"}:
        release = Release(**json_value)
        checks.within(*MULTIPLIERS, noise_multiplier=release.noise_multiplier)
        checks.whole(1, MOST_STEPS, steps=release.steps)
        return release
    if names == {"epsilon", "delta"}:
        stated = Guarantee(**json_value)
        checks.within(0.0, MOST_EPSILON, epsilon=stated.epsilon)
        checks.within(0.0, 1.0, delta=stated.delta)
        return stated
    raise ValueError("an event must have noise_multiplier and steps, or epsilon and delta")
