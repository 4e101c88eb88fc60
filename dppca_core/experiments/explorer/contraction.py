"""The rate at which a trajectory of errors falls, and the plateau that it reaches, by least squares.

A power iteration multiplies the tangents of the angles (the analysis of Hardt & Price, NeurIPS 2014), not
their sines, which cannot exceed 1; a rate of sin Theta would depend on where the trajectory starts. With
e_t = sin Theta (Frobenius) of iterate t, the model is the tangent of the typical angle, in which noise and
signal add in squares:

    tau_t^2 = e_t^2 / (k - e_t^2),   tau_t^2 = tau_inf^2 + A^2 q^(2t)

plateau     the median of the last third of the rounds, at least `FEWEST_AT_PLATEAU` of them, if the error
            falls there by less than a factor `FALLING` a round (least squares of log e); else none, and
            tau_inf = 0.
geometric   the successive rounds from the first that stays below `BETTER_THAN_GUESS` times a random guess's
phase       error, as long as tau_t >= `ABOVE_PLATEAU` tau_inf.
rate        q, by least squares of log(tau_t^2 - tau_inf^2) on t over that phase, which needs two rounds.

Without noise, and with one eigenvalue below k equal ones, q = lambda_{k+1} / lambda_k exactly for k = 1.
"""

import math
from dataclasses import dataclass

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics.subspace_metrics import random_guess

# The module's text has what these limit.
BETTER_THAN_GUESS, ABOVE_PLATEAU, FALLING, FEWEST_AT_PLATEAU = 0.95, 2.0, 0.9, 3
NEAR = 1.1  # a plateau is reached within 10 %
_ROUNDING = 1e-14  # errors below are double precision's


@dataclass(frozen=True)
class Contraction:
    """Hold what was fitted to one trajectory. None stands for what it does not show."""

    k: int
    why: str  # reason, in a sentence, for what is None
    plateau: float | None  # error at the plateau, sin Theta (Frobenius)
    stuck: bool = False  # whether the error stands at a plateau that is no better than a random guess
    reached: int | None = None  # first round within 10 % of the plateau
    rate: float | None = None
    phase: tuple[int, int] | None = None  # rounds [first, last] of the fit
    scale: float = 0.0  # A, the tangent that the fit has at round 0

    def curve(self, rounds: Array) -> Array:
        """Return the fitted sin Theta at these rounds, any shape. Raises ValueError without a rate."""
        if self.rate is None:
            raise ValueError(f"rate must have been fitted, got none: {self.why}")
        floor = 0.0 if self.plateau is None else float(tangent(np.array(self.plateau), self.k))
        square = floor**2 + self.scale**2 * self.rate ** (2 * np.asarray(rounds, dtype=float))
        return np.sqrt(self.k * square / (1 + square))


def tangent(errors: Array, k: int) -> Array:
    """Return tau = e / sqrt(k - e^2), the tangent of the typical of k angles; any shape."""
    square = np.asarray(errors, dtype=float) ** 2
    tangents: Array = np.sqrt(square / np.maximum(k - square, _ROUNDING))
    return tangents


def contraction(errors: Array, *, d: int, k: int) -> Contraction:
    """Fit the rate and the plateau of a trajectory of errors; the module's text has the model.

    errors: sin Theta (Frobenius) at rounds 0 ... T, shape (T + 1,), each from 0 to sqrt(k). Raises ValueError
    for other numbers, for fewer than two rounds, or unless 1 <= k < d.
    """
    checks.whole(2, d=d)
    checks.whole(1, d - 1, k=k)
    trajectory = np.asarray(errors, dtype=float)
    if trajectory.ndim != 1 or len(trajectory) < 2:
        raise ValueError(f"errors must be of two rounds or more, got shape {trajectory.shape!r}")
    ends = {"smallest error": trajectory.min(), "largest": trajectory.max()}
    checks.within(0.0, math.sqrt(k) * (1 + 1e-9), **ends)
    trajectory = np.maximum(trajectory, _ROUNDING)  # so that its logarithm is finite
    plateau, no_plateau = None, ""
    try:
        plateau = _plateau(trajectory)
    except _NoPlateauError as reason:
        no_plateau = str(reason)
    # The fit is over the rounds that are clearly better than a guess and still clearly above the plateau.
    better = trajectory < BETTER_THAN_GUESS * random_guess(d, k)
    # The round from which on all are better: counted from the end, up to the last that is not.
    first = len(better) - int(np.argmin(np.append(better[::-1], False)))
    if first == len(better):
        return Contraction(k, "no better than a random guess", plateau, stuck=plateau is not None)
    reached = None if plateau is None else int(np.argmax(trajectory <= NEAR * plateau))
    floor = 0.0 if plateau is None else float(tangent(np.array(plateau), k))
    above = tangent(trajectory, k) >= max(ABOVE_PLATEAU * floor, ABOVE_PLATEAU * _ROUNDING)
    last = first + int(np.argmin(np.append(above[first:], False))) - 1
    if last <= first:
        rounds_left = max(last - first + 1, 0)
        why = f"too few rounds to fit: {rounds_left} between the random guess and the plateau, 2 are needed"
        return Contraction(k, why, plateau, reached=reached)
    rounds = np.arange(first, last + 1)
    logs = np.log(tangent(trajectory[rounds], k) ** 2 - floor**2) / 2
    rate, scale = map(math.exp, np.polyfit(rounds, logs, 1))  # the line's slope ln q and height ln A
    return Contraction(k, no_plateau, plateau, reached=reached, rate=rate, phase=(first, last), scale=scale)


def tail(length: int) -> int:
    """Return how many errors at the end of a trajectory of this length a plateau is the median of."""
    return max(FEWEST_AT_PLATEAU, math.ceil(length / 3))


class _NoPlateauError(Exception): ...


def _plateau(errors: Array) -> float:
    """Return the median of the last third, or raise the reason why that is no plateau."""
    if len(errors) < FEWEST_AT_PLATEAU + 1:
        rounds = len(errors) - 1
        raise _NoPlateauError(f"too few rounds to see a plateau: {rounds}, {FEWEST_AT_PLATEAU} are needed")
    last = errors[-tail(len(errors)) :]
    slope, _ = np.polyfit(np.arange(len(last)), np.log(last), 1).tolist()  # a line; its height is not needed
    if slope < math.log(FALLING):
        raise _NoPlateauError(f"still falling, by a factor {math.exp(slope):.2g} a round at the end")
    return float(np.median(last))
