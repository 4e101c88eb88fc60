"""A public hash of 64-bit words, for sums that tell sets of cells apart."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def mix(words: Words) -> Words:
    """Apply the finaliser of splitmix64 in place: one bit in changes half of those out."""
    shifted = np.empty_like(words)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= np.right_shift(words, np.uint64(shift), out=shifted)
        words *= np.uint64(factor)
    words ^= np.right_shift(words, np.uint64(31), out=shifted)
    return words
