"""Judge from the spread of the runs whether joining errs less than staying alone, and whether privacy costs.

A hospital that keeps its result to itself needs no protection, and one that publishes does; so joining is
compared with both. A spread has the 10, 50 and 90 % quantiles over runs.
"""

import math
from collections.abc import Sequence
from typing import Literal

from dppca_core.arrays import Array

Gain = Literal["less", "more", "level", "neither"]
_HOPELESS = 0.9  # an error above this share of a random guess's is no answer
_NO_GAIN = 0.1  # a difference below this share of the larger median error is no gain
A_BOARD_CARES = 0.001  # share of the pattern from which on a difference matters to a board


def costs_nothing(private: float, free: Sequence[float] | Array, more_is_better: bool = True) -> bool:
    """Return whether a median with privacy is within 8 of 10 runs without it (`free`), or better."""
    return private >= free[0] if more_is_better else private <= free[2]


def gain(joined: Sequence[float] | Array, alone: Sequence[float] | Array, guess: float, k: int) -> Gain:
    """Return whether joining errs "less" or "more" than staying alone, from spreads of shares in %.

    It is "neither" where neither is of use, and "level" where spreads overlap, where median errors differ by
    less than a tenth, and where what is recovered differs by too little to matter to a board.
    """
    if abs(joined[1] - alone[1]) < 100 * A_BOARD_CARES:
        return "level"
    ours, theirs = (sorted(_error(share, k) for share in shares) for shares in (joined, alone))
    if min(ours[1], theirs[1]) > _HOPELESS * _error(guess, k):
        return "neither"
    if abs(ours[1] - theirs[1]) < _NO_GAIN * max(ours[1], theirs[1]):
        return "level"
    if ours[2] < theirs[0]:
        return "less"
    return "more" if theirs[2] < ours[0] else "level"


def _error(share: float, k: int) -> float:
    return math.sqrt(k * max(1 - share / 100, 0.0))
