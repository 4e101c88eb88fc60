"""Fit the bound of rows on exact sums: the steps of `mechanisms.paid_lengths` before the moment, each kept.

Rows are as they were encoded, not shortened and not divided by a public bound. Every entry of what a patient
adds to a step is rounded towards zero, which keeps squares and tails in [0, 1], and no row gets longer. So
sensitivities hold for the whole sums too, but for one: a mean of rows, each rounded by itself, stays in its
ball and may leave the set whose diameter is D. Where a patient has several rows the mean is of shortened ones
(`FittedBound.averaged`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array, Part
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout, RowFrame
from dppca_core.release import discrete_gaussian, stages
from dppca_core.release.request import Request, noisy_sums
from dppca_core.release.stages import Source

_ROUNDING = 1e-9


class Fit(NamedTuple):
    """Hold what the steps before the moment gave out.

    source: of rows about the released mean, scaled, shortened to `bound` and divided by it. frame: where rows
    lie. squares, tails: as released.
    """

    source: Source
    frame: RowFrame
    bound: float
    squares: Array
    tails: Array


def rule_of(
    request: Request, layout: Layout, n: int, hospitals: int, standardised: bool | None = None
) -> FittedBound:
    return FittedBound(
        layout,
        request.budget,
        n,
        standardised=request.standardised if standardised is None else standardised,
        hospitals=noisy_sums(request.method, hospitals),
        averaged=request.averaged,
    )


def requested(
    request: Request, layout: Layout, n: int, hospitals: int = 1, standardised: bool = False
) -> Request:
    """Return the request with the shares that the rule gives to the steps before the moment.

    request: without shares. n: patients of all hospitals. standardised: whether components are those of
    correlations.
    """
    shares = rule_of(request, layout, n, hospitals, standardised).shares
    return replace(
        request,
        squares_share=shares["squares"],
        mean_share=shares["mean"],
        tails_share=shares["tails"],
        standardised=standardised,
    )


def check(request: Request, rule: FittedBound, parts: Sequence[Part]) -> None:
    """Raise ValueError, before anything is paid, for what cannot be released with the stated guarantee.

    These are rows that are not as the layout says, shares that are not the rule's, components in directions
    that are empty, and noise that cannot be drawn.
    """
    layout = rule.layout
    if layout.d != request.d or request.k >= layout.rank:
        raise ValueError(f"layout must have {request.d} columns, in more than {request.k} directions")
    asked = {"squares": request.squares_share, "mean": request.mean_share, "tails": request.tails_share}
    if any(asked[step] != rule.shares[step] for step in asked):
        raise ValueError("shares of a fitted bound must be those of its rule")
    for part in parts:
        layout.check(stages.matrix_of(part))
    for step in ("squares", "mean", "tails"):
        if rule.shares[step]:
            _units(rule, step, stages.bits_of(parts), rule.mean_bound(np.zeros(layout.count)))


def _units(rule: FittedBound, step: str, bits: int, bound: float = 0.0) -> float:
    """Return the std of the noise in each entry of a step's sum, in units of 4^-bits."""
    return discrete_gaussian.check_std(rule.sum_std(step, bound) * 4.0**bits, rule.budget)


def fit(rule: FittedBound, source: Source) -> Fit:
    """Draw squares, mean and tails, and return rows that are shortened to the bound they give.

    Reads private rows once in each step; a step that was drawn before is taken from what was kept.
    """
    bits, once = source.bits, source.drawn.once

    def draw(step: str, change: Any, bound: float = 0.0) -> Array:
        return stages.mean(source.changed(change), _units(rule, step, bits, bound))

    squares = once("squares", partial(draw, "squares", rule.squares)) if rule.layout.count else np.empty(0)
    mean_bound = rule.mean_bound(squares)
    # No entry may be above 1, as sums would not be exact. So the mean is divided by a larger count weight.
    unit = max(rule.count_weight(mean_bound), 1.0)

    def draw_mean() -> Array:
        std = _units(rule, "mean", bits, mean_bound) / unit
        return stages.mean(source.changed(lambda rows: rule.mean(rows, mean_bound) / unit), std) * unit

    mean = once("mean", draw_mean)
    frame = rule.frame(squares, mean)
    tails = once("tails", partial(draw, "tails", partial(rule.tails, frame=frame)))
    bound = rule.bound(tails, frame)
    return Fit(source.changed(partial(rule.fitted, frame=frame, bound=bound)), frame, bound, squares, tails)
