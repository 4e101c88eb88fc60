"""Release a moment with a fitted bound in floating point, to measure what it errs.

The steps, their proof and their rules are those of `dppca_core.mechanisms.paid_lengths`. Noise in floating
point is for simulations only.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments import draws
from dppca_core.mechanisms.paid_lengths import FittedBound, RowFrame
from dppca_core.populations.dictionary_twin import DictionaryTwin
from dppca_core.privacy import Release

_MOST_NUMBERS = 6 * 10**5  # of a twin's rows, which one run reads four times: a fifth of a second


@dataclass(frozen=True)
class FittedTwin:
    """Hold what a rehearsed release with a fitted bound is asked for, beside method and budget.

    n: patients who count, of whom a twin has rows of the usable ones. standardised, averaged: as in
    `FittedBound`. complete: as in `Layout`.
    """

    n: int
    standardised: bool
    averaged: bool = False
    complete: bool = True


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


def drawn(n: int, d: int) -> int:
    """Return how many rows of d features stand for those of n patients."""
    return min(n, max(2, _MOST_NUMBERS // d))


def encoded_rows(twin: DictionaryTwin, n: int, seed: int, draw: int) -> Array:
    """Return the encoded rows of a draw that stand for n patients, (`drawn`, d), from a cache."""
    m = drawn(n, twin.d)
    return draws.ASSIGNED.get(
        ("encoded", twin, m, seed, draw),
        lambda: np.concatenate(list(twin.encoded(m, draws.generator(seed, draw, "patients")))),
        8 * m * twin.d,
    )


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
    after, divisors = rule.after(moment, frame, bound)
    return FittedMoment(
        squares=squares,
        mean=mean,
        tails=tails,
        frame=frame,
        bound=bound,
        released=moment,
        moment=after,
        divisors=divisors,
        spent=rule.events,
    )
