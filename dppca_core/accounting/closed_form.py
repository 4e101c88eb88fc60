"""The cost of several releases together, in closed form: fast enough for a slider.

Gaussian releases compose exactly: std/sensitivity z_i are one release with 1/z^2 = sum 1/z_i^2 (Dong, Roth
& Su, JRSS-B 2022, Corollary 3.3). A release of which only (epsilon, delta) is known is added by basic
composition, which is never too small.

An event is one of the two (`dppca_core.privacy`): a `Release`, Gaussian, with its noise multiplier z =
std/sensitivity; or a `Guarantee`, of which only (epsilon, delta) is known.
"""

import math
from collections.abc import Iterable

from dppca_core import checks
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.privacy import Event, Guarantee, Release


def multiplier_of(events: Iterable[Event]) -> float:
    """Return the noise multiplier of all Gaussian events together, as one release; infinite for none.

    Events that are known only by (epsilon, delta) are not counted.
    """
    return TradeOff.from_events(events).multiplier


def epsilon_of(events: Iterable[Event], delta: float) -> float:
    """Return an epsilon such that all events together are (epsilon, delta)-private, by `TradeOff.epsilon`."""
    return TradeOff.from_events(events).epsilon(delta)


def grouped(events: Iterable[Event], rows: int) -> tuple[Event, ...]:
    """Return the events' cost to somebody who has `rows` rows: each event for so many rows changed at once.

    Between two tables that differ in m rows lie m - 1 others, each a single change from the last. So a sum
    moves by at most m times its sensitivity, and a Gaussian release with std/sensitivity z is one with z/m;
    these compose exactly, as above. A release known only by (epsilon, delta) becomes

        (m epsilon, delta (1 + e^epsilon + ... + e^((m-1) epsilon))),

    by applying its guarantee m times (group privacy: Vadhan 2017, "The Complexity of Differential Privacy",
    Lemma 2.2, which bounds the sum by m e^(m epsilon)). Raises ValueError unless rows is whole and positive.
    """
    checks.whole(1, rows=rows)
    return tuple(_of_group(event, rows) for event in events)


def _of_group(event: Event, rows: int) -> Event:
    """Return the cost of one event to somebody who has `rows` rows, by the formulas of `grouped`."""
    if isinstance(event, Release):
        return Release(event.noise_multiplier / rows, event.steps)
    if rows == 1 or not event.delta:
        return Guarantee(rows * event.epsilon, event.delta)
    if rows * event.epsilon > 700:  # e^700 times any delta above 1e-300 is above 1; larger powers overflow
        return Guarantee(rows * event.epsilon, 1.0)
    # The sum 1 + e^epsilon + ... of the formula, as a geometric series.
    ratio = math.expm1(rows * event.epsilon) / math.expm1(event.epsilon) if event.epsilon else rows
    return Guarantee(rows * event.epsilon, min(event.delta * ratio, 1.0))
