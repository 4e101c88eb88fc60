"""Judge whether joining errs less than staying alone, from the spread of the runs. No Streamlit here.

A hospital that only wants to know needs no protection alone, and one that publishes does; so joining is
compared with both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Gain = Literal["less", "more", "level", "neither"]
_HOPELESS = 0.9  # of a random guess: above it an answer is hardly better than none


def gain(joined: Sequence[float], alone: Sequence[float], guess: float) -> Gain:
    """Return whether joining errs "less" or "more" than staying alone, or neither is of use.

    Args:
        joined, alone: the error's 10, 50 and 90 % over runs. "level": these ranges overlap.
        guess: what a random guess errs.
    """
    if min(joined[1], alone[1]) > _HOPELESS * guess:
        return "neither"
    if joined[2] < alone[0]:
        return "less"
    return "more" if alone[2] < joined[0] else "level"
