"""Release a moment with a fitted bound in floating point, to measure what it errs.

The steps, their proof and their rules are those of `dppca_core.mechanisms.paid_lengths`. Noise in floating
point is for simulations only.
"""

import math
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.mechanisms.paid_lengths import FittedBound, RowFrame
from dppca_core.privacy import Release


class FittedMoment(NamedTuple):
    """Hold what a release with a fitted bound gives out, and what paid for it.

    squares, mean, tails: as released. frame: where they say rows lie. bound: b. released: the noisy moment of
    rows y shortened to b, (d, d). moment: the same after what costs nothing. divisors: what columns of
    encoded rows were divided by in all, (d,). spent: one event a step.
    """

    squares: Array
    mean: Array
    tails: Array
    frame: RowFrame
    bound: float
    released: Array
    moment: Array
    divisors: Array
    spent: tuple[Release, ...]


def fitted_moment(
    rows: Array, rule: FittedBound, rng: np.random.Generator, weights: Array | None = None
) -> FittedMoment:
    """Release the moment of encoded rows, (m, d), about their mean, by the four steps of `paid_lengths`.

    weights: of each row in its patient, (m,), 1/m for the m rows of one; None: each row is a patient.
    """
    released: dict[str, Array] = {"squares": np.zeros(0)}
    for step in rule.steps:
        part = math.sqrt(rule.hospitals)  # hospitals' noises add up to one so large
        total = rule.noisy_sum(step, rows, released, rng, part=part, weights=weights)
        released[step] = total / rule.n
    frame = rule.released_frame(released)
    bound = rule.bound(released["tails"], frame)
    moment = released["moment"] * bound**2
    squares, mean, tails = (released[step] for step in ("squares", "mean", "tails"))
    done = rule.after(moment, frame, bound)
    return FittedMoment(squares, mean, tails, frame, bound, moment, *done, rule.events)
