"""Release a moment with a fitted bound in floating point, to measure what it errs.

The steps, their proof and their rules are those of `dppca_core.mechanisms.paid_lengths`. Noise in floating
point is for simulations only.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments import draws
from dppca_core.mechanisms import paid_scale
from dppca_core.mechanisms.paid_lengths import FittedBound, RowFrame
from dppca_core.numerics import linalg
from dppca_core.populations.dictionary_twin import DictionaryTwin
from dppca_core.privacy import Release

_MOST_NUMBERS = 6 * 10**5  # of a twin's rows, which one run reads four times: a fifth of a second


@dataclass(frozen=True)
class FittedTwin:
    """Hold what a rehearsed release with a fitted bound is asked for, beside method and budget.

    n: patients who count, of whom a twin has rows of the usable ones. standardised, averaged: as in
    `FittedBound`.
    """

    n: int
    standardised: bool
    averaged: bool = False


class FittedMoment(NamedTuple):
    """Hold what a release with a fitted bound gives out, and what paid for it.

    squares, mean, tails: as released. frame: where they say rows lie. bound: b. released: the noisy moment of
    rows y shortened to b, (d, d). moment: the same after what costs nothing. spent: one event a step.
    """

    squares: Array
    mean: Array
    tails: Array
    frame: RowFrame
    bound: float
    released: Array
    moment: Array
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

    def released(step: str, added: Array, bound: float = 0.0) -> Array:
        """Return the noisy mean over patients of what rows add, (m, j)."""
        total = added.sum(axis=0) if weights is None else weights @ added
        noisy: Array = total / rule.n + rule.mean_std(step, bound) * rng.standard_normal(added.shape[1])
        return noisy

    squares = released("squares", rule.squares(rows))
    mean_bound = rule.mean_bound(squares)
    mean = released("mean", rule.mean(rows, mean_bound), mean_bound)
    frame = rule.frame(squares, mean)
    tails = released("tails", rule.tails(rows, frame))
    bound = rule.bound(tails, frame)
    shortened = rule.fitted(rows, frame, bound) * bound
    weighted = shortened if weights is None else shortened * weights[:, None]
    noise = linalg.isotropic_noise(rule.layout.d, rule.mean_std("moment", bound), rng)
    moment = weighted.T @ shortened / rule.n + noise
    steps = tuple(step for step in ("squares", "mean", "tails", "moment") if rule.shares[step])
    spent = tuple(rule.price(step) for step in steps)
    return FittedMoment(squares, mean, tails, frame, bound, moment, after(moment, rule, frame, bound), spent)


def after(moment: Array, rule: FittedBound, frame: RowFrame, bound: float) -> Array:
    """Return a released moment, (d, d), after what costs nothing: rescaled, without empty directions."""
    divisors = frame.divisors
    if rule.standardised:
        moment, scales = paid_scale.rescaled(
            moment, rule.mean_std("moment", bound), frame.variances, frame.stds
        )
        divisors = divisors * scales
    return linalg.without_directions(moment, rule.layout.empty_directions(divisors))
