"""Fit the constant that a bound leaves unspecified, so that the bound matches measured errors.

A bound's total is  fixed + moving C^power  in the constant C that its rule names in `fits`. The fitted C is
where the total matches the medians over repeats in least squares of their logarithms; its interval is the
percentile bootstrap over repeats, resampled within each setting. It describes the settings that it was fitted
to: an upper bound fitted to medians bounds nothing, and nothing else in the core uses a fitted value.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.bounds.rule import BoundRule
from dppca_core.records import Setting

_GRID = np.linspace(np.log(1e-12), np.log(1e12), 2001)  # of log C, searched if a part of the total is fixed
# Where C moves every total by a smaller share than this, the measured errors do not determine C.
_SMALLEST_EFFECT = 1e-3


class Fitted(NamedTuple):
    """Hold the fitted constant C, the ends of its bootstrap interval, and the number of settings used."""

    value: float
    low: float
    high: float
    settings: int


def fit_constant(
    rule: BoundRule,
    settings: Sequence[Setting],
    measured: Sequence[ArrayLike],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    **others: float,
) -> Fitted:
    """Return the constant `rule.fits` that best matches the measured errors.

    Args:
        rule: The bound whose constant is fitted.
        settings: Where it is evaluated; settings where it is void, or whose median error is zero, are left
            out.
        measured: One array of repeated errors for each setting, without unit.
        rng: Source of the bootstrap's resamples.
        level: Coverage of the interval.
        resamples: Number of bootstrap resamples.
        others: The rule's other constants, held.

    Returns:
        The constant with its interval, which may start near 0.

    Raises:
        ValueError: For a rule without a free constant, or where the numbers of settings and arrays differ.
            Also for an empty array, one that is not finite and >= 0, or a bound that is void at every
            setting. Also where no constant brings the bound near, because of the part that the constant does
            not scale.
    """
    checks.inside_unit_interval(level=level)
    checks.whole(1, resamples=resamples)
    if not rule.fits:
        raise ValueError(f"rule must have a free constant that scales it, got {rule.name}")
    if rule.fits in others:
        raise ValueError(f"{rule.fits} is what is fitted, so it must not be given")
    repeats = [_repeats(values) for values in measured]
    parts, kept = [], []
    for setting, values in zip(settings, repeats, strict=True):
        part = _parts(rule, setting, others)
        if part is not None and np.median(values) > 0:
            parts.append(part)
            kept.append(values)
    if not kept:
        raise ValueError(f"{rule.name} is void, or nothing was measured, at every setting")
    medians = np.array([[np.median(values)] for values in kept])
    drawn = np.array([np.median(rng.choice(values, (resamples, len(values))), axis=1) for values in kept])
    # Fit the medians of all repeats; below, those of each resample.
    (value,) = _best(np.array(parts), rule.power, medians)
    fixed, moving = np.array(parts).T
    if (moving * value**rule.power <= _SMALLEST_EFFECT * fixed).all():
        raise ValueError(
            f"no constant {rule.symbols[rule.fits]} makes {rule.name} match: its other terms decide"
        )
    ends = np.quantile(_best(np.array(parts), rule.power, drawn), [(1 - level) / 2, (1 + level) / 2])
    return Fitted(float(value), float(ends[0]), float(ends[1]), len(kept))


def _repeats(values: ArrayLike) -> Array:
    """Return the repeated errors of one setting, (repeats,). Raises ValueError where they are no errors."""
    array = np.asarray(values, dtype=np.float64).ravel()
    if not len(array) or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"measured must hold finite errors of at least 0, got {checks.shown(values)}")
    return array


def _parts(rule: BoundRule, setting: Setting, others: dict[str, float]) -> tuple[float, float] | None:
    """Return `fixed` and `moving` of the rule's total, fixed + moving C^power, at the method's output.

    Two values of C tell both. None: the bound is void there, or its total does not grow with C. others: the
    rule's other constants, held.
    """
    at_one, at_four = (rule(setting, **{**others, rule.fits: c}).final for c in (1.0, 4.0))
    moving = (at_four - at_one) / (4**rule.power - 1)
    if not 0 < moving < np.inf:
        return None
    fixed = at_one - moving
    # What rounding leaves of a difference is no fixed part.
    return (fixed if fixed > 1e-9 * at_one else 0.0), moving


def _best(parts: Array, power: float, targets: Array) -> Array:
    """Return the best C for each column of `targets` by least squares of logarithms: shape (m,).

    Without a fixed part log C is a mean. With one, C is sought on the grid and refined by the parabola
    through the least loss and its two neighbours. parts: `fixed` and `moving` of every setting, (settings,
    2). power: that of C in the total. targets: errors to be matched, a column for each fit, (settings, m).
    """
    fixed, moving = parts[:, :1], parts[:, 1:]
    log_targets = np.log(np.maximum(targets, np.finfo(float).tiny))  # a resample's median may be 0
    if not fixed.any():
        mean: Array = np.exp((log_targets - np.log(moving)).mean(axis=0) / power)
        return mean
    curves = np.log(fixed + moving * np.exp(power * _GRID))
    # The squares of the targets are the same at every C, so they are left out.
    loss = (curves**2).sum(axis=0) - 2 * log_targets.T @ curves
    least = loss.argmin(axis=1).clip(1, len(_GRID) - 2)  # its index, with a neighbour on either side
    left, middle, right = (np.take_along_axis(loss, (least + i)[:, None], axis=1)[:, 0] for i in (-1, 0, 1))
    bend = left - 2 * middle + right  # curvature of the parabola through the least three
    shift = np.divide(left - right, 2 * bend, out=np.zeros_like(bend), where=bend > 0).clip(-1, 1)
    refined: Array = np.exp(_GRID[least] + shift * (_GRID[1] - _GRID[0]))
    return refined
