"""Release a moment with a fitted bound in floating point, to measure what it errs.

The steps, their proof and their rules are those of `dppca_core.mechanisms.paid_lengths`. Noise in floating
point is for simulations only.
"""

from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.mechanisms import paid_scale
from dppca_core.mechanisms.paid_lengths import FittedBound, RowFrame
from dppca_core.numerics import linalg
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
    done = after(moment, rule, frame, bound)
    return FittedMoment(squares, mean, tails, frame, bound, moment, *done, rule.events)


def after(moment: Array, rule: FittedBound, frame: RowFrame, bound: float) -> tuple[Array, Array]:
    """Return a released moment, (d, d), after what costs nothing: rescaled, without empty directions.

    Also returns what columns of encoded rows were divided by in all, (d,).
    """
    divisors = frame.divisors
    moment = moment / frame.usable
    if rule.standardised:
        std = rule.mean_std("moment", bound) / frame.usable
        moment, scales = paid_scale.rescaled(moment, std, frame.variances, frame.stds)
        divisors = divisors * scales
    return linalg.without_directions(moment, rule.layout.empty_directions(divisors)), divisors
