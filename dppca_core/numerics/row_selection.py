"""Choose how many rows of a noisy block to keep, from what was released alone: post-processing.

x_r = |row r|^2/c of a row of noise alone has the law of chi2_k; c takes in what the bulk adds to every row. A
row that matters has a normal part of variance g besides, so that x_r ~ (1 - p) chi2_k + p (1 + g) chi2_k; p
and g maximise the likelihood (Dempster, Laird & Rubin 1977), c is from the median of the rows of noise. The
posterior then says how much of the components each row carries, |U_r|^2 = w_r k/(p d k g),

    w_r = P(row r matters | x_r) [(g/(1 + g))^2 x_r + k g/(1 + g)].

Keeping the m heaviest rows is predicted to cost what the others carry, and the error of a second stage on m
rows (`dppca_core.bounds.two_stage_prediction`, with a flat bulk), which grows with m as their trace does. The
m with the least sum is taken; what the others carry counts half as much again: a missing row stays lost.

A row is a feature; the block, (d, k), holds k noisy directions. A row that matters is one on which the true
directions have entries that are not zero; the others hold noise alone.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, expit

from dppca_core.arrays import Array, Indices
from dppca_core.numerics import linalg, row_shrinkage

_STEPS = 100  # of expectation and maximisation, at one scale
_MOST_SHARE = 0.9  # of the rows, that may matter
_ROUNDS = 3  # of scale and mixture in turn
_CAUTION = 1.5  # the weight of what a missing row costs


class Mixture(NamedTuple):
    """Hold the fitted mixture of the module's text.

    scale: c. share: p, of the rows that matter. signal: g. chances: the posterior probability of every row
    that it matters, (d,).
    """

    scale: float
    share: float
    signal: float
    chances: Array


def mixture(block: Array) -> Mixture:
    """Return the mixture that fits the rows of a block, (d, k), whose noise is the same in every entry."""
    d, k = block.shape
    weights = np.square(block).sum(axis=1)
    tiny = np.finfo(float).tiny
    # The scale is first that of all rows, then that of the rows of noise: their median, weighted by the
    # chance that a row is noise, over the median of chi2_k.
    order, chi2_median = np.argsort(weights), float(chdtri(k, 0.5))
    fitted = Mixture(max(float(np.median(weights)) / chi2_median, tiny), 0.0, 0.0, np.zeros(d))
    for _ in range(_ROUNDS):
        fitted = _fit(weights / fitted.scale, k, fitted.scale)
        noise = np.cumsum(1 - fitted.chances[order])
        median = float(weights[order[np.searchsorted(noise, noise[-1] / 2)]])
        fitted = fitted._replace(scale=max(median / chi2_median, tiny))
    return fitted


def _fit(x: Array, k: int, scale: float) -> Mixture:
    """Return the mixture of greatest likelihood for scaled rows x, (d,), by expectation and maximisation.

    `scale` is passed on. Limits keep p and g off the ends, where the steps would stay for ever.
    """
    d = len(x)
    # Start from the rows above the level that one of d rows of noise exceeds on average.
    above = x > chdtri(k, 1 / d)
    share = min(max(float(above.mean()), 1 / d), _MOST_SHARE)
    signal = max(float(x[above].mean()) / k - 1, 1.0) if above.any() else 1.0
    chances = np.zeros(d)
    for _ in range(_STEPS):
        # The log of the odds that a row of this x matters, then p and g as these chances weigh the rows.
        odds = math.log(share / (1 - share)) - k / 2 * math.log1p(signal) + x / 2 * signal / (1 + signal)
        chances = expit(odds)
        total = float(chances.sum())
        share = min(max(total / d, 0.5 / d), _MOST_SHARE)
        signal = max(float(chances @ x) / max(total, 1e-300) / k - 1, 0.01)
    return Mixture(scale, share, signal, chances)


def rows_worth_keeping(block: Array, fitted: Mixture, part: float, std: float, n: float) -> Indices:
    """Return the rows, ascending, whose moment is worth releasing: at least k of them.

    Args:
        block: The block whose rows were fitted, (d, k).
        fitted: Its mixture.
        part: k lambda_k/tr Sigma, estimated from what was released.
        std: Off-diagonal noise of a moment of rows of length 1, restricted or not.
        n: Patients behind that moment; infinite where their number is protected.
    """
    # `carried`, `missed` and `error` are indexed by rows from heavy to light: what each row carries of the
    # components, what those after it carry, and the second stage's sin^2 where it is the last one kept.
    d, k = block.shape
    x = np.sort(np.square(block).sum(axis=1))[::-1] / fitted.scale
    chances = np.sort(fitted.chances)[::-1]
    stays = fitted.signal / (1 + fitted.signal)
    carried = chances * (stays**2 * x + k * stays) / (fitted.share * d * fitted.signal)
    missed = np.append(np.cumsum(carried[::-1])[::-1][1:], 0.0)
    kept = np.arange(1.0, d + 1)
    trace = part + (1 - part) * kept / d
    spike, bulk = part / k / trace, (1 - part) / d / trace
    gap = np.maximum(spike - bulk, np.finfo(float).eps)
    matter = fitted.share * d
    # `rows` is how many of the rows kept add to the error: those of noise count by what shrinking leaves.
    rows = np.maximum(matter - k, 0.5) + np.maximum(kept - matter, 0.0) * row_shrinkage.noise_left(k)
    error = k * np.minimum(rows, kept) * (std**2 + spike * bulk / n) / gap**2
    count = int(np.argmin((error + _CAUTION * missed)[k - 1 :])) + k  # at least k rows
    return linalg.largest_rows(block, count)
