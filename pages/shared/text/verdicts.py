"""Judge whether joining errs less than staying alone, from the spread of the runs. No Streamlit here.

A hospital that keeps its result to itself needs no protection, and one that publishes does; so joining is
compared with both.
"""

import math
from collections.abc import Sequence
from typing import Literal

from pages.shared import text

Gain = Literal["less", "more", "level", "neither"]
_HOPELESS = 0.9  # an error above this share of a random guess's is no answer
_NO_GAIN = 0.1  # a difference below this share of the larger median error is no gain
A_BOARD_CARES = 0.001  # share of the pattern from which on a difference matters to a board
NO_COST = "Privacy has no measurable cost here."


def costs_nothing(private: float, free: Sequence[float], more_is_better: bool = True) -> bool:
    """Return whether a median with privacy is within 8 of 10 runs without it, or better.

    free: 10, 50 and 90 % over runs without privacy.
    """
    return private >= free[0] if more_is_better else private <= free[2]


def gain(joined: Sequence[float], alone: Sequence[float], guess: float) -> Gain:
    """Return whether joining errs "less" or "more" than staying alone, or neither is of use.

    Args:
        joined, alone: The error's 10, 50 and 90 % quantiles over runs.
        guess: The error of a random guess.

    Returns:
        "level" where these ranges overlap or the medians read alike or differ by less than a tenth.
    """
    medians = joined[1], alone[1]
    if min(medians) > _HOPELESS * guess:
        return "neither"
    if len(set(map(text.error, medians))) == 1 or abs(joined[1] - alone[1]) < _NO_GAIN * max(medians):
        return "level"
    if joined[2] < alone[0]:
        return "less"
    return "more" if alone[2] < joined[0] else "level"


def gain_of_shares(joined: Sequence[float], alone: Sequence[float], guess: float, k: int) -> Gain:
    """Return `gain` of shares recovered, the same on every page; too little to matter to a board is "level".

    joined, alone: 10, 50 and 90 % over runs of the share of k components recovered, in %, ascending. guess:
    what a random guess recovers.
    """
    if abs(joined[1] - alone[1]) < 100 * A_BOARD_CARES:
        return "level"

    def errors(shares: Sequence[float]) -> list[float]:
        """Return the sin Theta of each share, ascending."""
        return sorted(math.sqrt(k * max(1 - share / 100, 0.0)) for share in shares)

    return gain(errors(joined), errors(alone), errors([guess])[0])
