"""How fast a trajectory of errors falls, and where it comes to stand: the rate and the plateau.

A power iteration multiplies the tangents of the angles, not their sines, which cannot exceed 1, so that a
rate read off sin Theta depends on where the trajectory starts. With e_t = sin Theta (Frobenius) of iterate t
the fit is to the tangent of the typical angle, noise and signal adding in squares:

    tau_t^2 = e_t^2 / (k - e_t^2),   tau_t^2 = tau_inf^2 + A^2 q^(2t)

plateau     the median of the last third of the rounds, at least `TAIL` of them, if log e falls there by less
            than a factor `STANDS` a round (least squares); else there is none, and tau_inf = 0.
geometric   the rounds in a row from the first that stays below `LEAVES` times a random guess, as long as
phase       tau_t >= `ABOVE` tau_inf.
rate        q, by least squares of log(tau_t^2 - tau_inf^2) on t over that phase, which needs two rounds.

Without noise, and with one eigenvalue below k equal ones, q = lambda_{k+1} / lambda_k exactly for k = 1.
"""

import math
from dataclasses import dataclass

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics.subspace_metrics import random_guess

LEAVES, ABOVE, STANDS, TAIL = 0.95, 2.0, 0.9, 3
NEAR = 1.1  # a plateau is reached within 10 %
_ROUNDING = 1e-14  # errors below are double precision's


@dataclass(frozen=True)
class Contraction:
    """What was read off one trajectory. None is what it does not show; `why` says so in a sentence.

    rate: factor of the tangent per round. plateau: sin Theta. phase: the rounds [first, last] of the fit.
    reached: first round within 10 % of the plateau. stuck: it stands, and never left the random guess.
    """

    rate: float | None
    plateau: float | None
    phase: tuple[int, int] | None
    reached: int | None
    stuck: bool
    why: str
    k: int
    scale: float = 0.0  # A

    def curve(self, rounds: Array) -> Array:
        """sin Theta by the fit at these rounds (any shape). Raises ValueError where there is no rate."""
        if self.rate is None:
            raise ValueError(f"rate must have been fitted, got none: {self.why}")
        floor = 0.0 if self.plateau is None else float(tangent(np.array(self.plateau), self.k))
        square = floor**2 + self.scale**2 * self.rate ** (2 * np.asarray(rounds, dtype=float))
        return np.sqrt(self.k * square / (1 + square))


def tangent(errors: Array, k: int) -> Array:
    """tau = e / sqrt(k - e^2), the tangent of the typical of k angles; any shape."""
    square = np.asarray(errors, dtype=float) ** 2
    tangents: Array = np.sqrt(square / np.maximum(k - square, _ROUNDING))
    return tangents


def contraction(errors: Array, *, d: int, k: int) -> Contraction:
    """Rate and plateau of sin Theta at rounds 0..T, shape (T + 1,), for k directions of d.

    Raises ValueError for errors that are not finite numbers from 0 to sqrt(k), or unless 1 <= k < d.
    """
    checks.whole(2, d=d)
    checks.whole(1, d - 1, k=k)
    seen = np.asarray(errors, dtype=float)
    if seen.ndim != 1 or len(seen) < 2:
        raise ValueError(f"errors must be of two rounds or more, got shape {seen.shape!r}")
    checks.within(0.0, math.sqrt(k) * (1 + 1e-9), **{"smallest error": seen.min(), "largest": seen.max()})
    seen = np.maximum(seen, _ROUNDING)
    plateau, unsettled = _plateau(seen)
    left = seen < LEAVES * random_guess(d, k)
    first = len(left) - int(np.argmin(np.append(left[::-1], False)))
    stuck = plateau is not None and first == len(left)
    if first == len(left):
        return Contraction(None, plateau, None, None, stuck, "no better than a random guess", k)
    reached = None if plateau is None else int(np.argmax(seen <= NEAR * plateau))
    floor = 0.0 if plateau is None else float(tangent(np.array(plateau), k))
    above = tangent(seen, k) >= max(ABOVE * floor, ABOVE * _ROUNDING)
    last = first + int(np.argmin(np.append(above[first:], False))) - 1
    if last <= first:
        found = max(last - first + 1, 0)
        why = f"too few rounds to fit: {found} between the random guess and the plateau, 2 are needed"
        return Contraction(None, plateau, None, reached, False, why, k)
    rounds = np.arange(first, last + 1)
    logs = np.log(tangent(seen[rounds], k) ** 2 - floor**2) / 2
    slope, start = np.polyfit(rounds, logs, 1)
    return Contraction(
        math.exp(slope), plateau, (first, last), reached, False, unsettled, k, scale=math.exp(start)
    )


def tail(length: int) -> int:
    """How many of the last of `length` errors a plateau is the median of."""
    return max(TAIL, math.ceil(length / 3))


def _plateau(errors: Array) -> tuple[float | None, str]:
    """Where the last third stands, or None and why."""
    if len(errors) < TAIL + 1:
        return None, f"too few rounds to see a plateau: {len(errors) - 1}, {TAIL} are needed"
    last = errors[-tail(len(errors)) :]
    slope = float(np.polyfit(np.arange(len(last)), np.log(last), 1)[0])
    if slope < math.log(STANDS):
        return None, f"still falling, by a factor {math.exp(slope):.2g} a round at the end"
    return float(np.median(last)), ""
