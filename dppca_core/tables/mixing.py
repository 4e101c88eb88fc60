"""A public hash of 64-bit words, for sums that tell sets of cells apart."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def mix(words: Words) -> Words:
    """Hash each word in place, by the finaliser of the generator splitmix64, and return the words.

    It is one to one, and turning one bit of a word turns about half the bits of its hash.
    """
    shifted = np.empty_like(words)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= np.right_shift(words, np.uint64(shift), out=shifted)
        words *= np.uint64(factor)
    words ^= np.right_shift(words, np.uint64(31), out=shifted)
    return words
