"""Find columns that say nothing of a patient: all cells agree, or they count rows. Constant memory a column.

Such columns do not count for the key of a table (`content`), since programs add row numbers and empty
columns. A cell is given as a 64-bit word, the same for equal cells. mix is the hash of
`dppca_core.tables.mixing`, sums are modulo 2^64.

A column counts rows where its cells are whole, the lowest and the highest are n - 1 apart, and the sum of
mix(cell) is that of all whole numbers between, in any order. Another column is taken for one with a chance of
2^-64; one whose numbers are below 2^53 is never overlooked.
"""

import math

import numpy as np

from dppca_core.arrays import Array
from dppca_core.tables.mixing import Words, mix

_PORTION = 2**13
_EXACT = 2.0**53  # whole numbers of double precision are apart below it


class Uninformative:
    """Find columns that say nothing of a patient, in rows that come in batches.

    For each batch call `add` for every column, and then raise `rows` by the number of rows in the batch.
    """

    def __init__(self) -> None:
        self.rows = 0  # before the batch of which columns are being added
        self._constant: dict[int, np.uint64] = {}  # the one word so far
        self._counting: dict[int, tuple[float, float, int]] = {}  # lowest, highest, sum of mixed numbers

    def add(self, position: int, words: Words, values: Array) -> bool:
        """Add a batch of one column, and return whether the column says nothing as far as rows were added.

        position: of the column. words: of its n cells, (n,). values: their numbers, NaN where there is none.
        Whether a column counts rows is judged by its lowest and highest number only, which is exact in the
        first batch, where `_may_count` saw that no two agree; `positions` is exact.
        """
        if self.rows == 0:
            self._constant[position] = words[0]
            self._counting[position] = math.inf, -math.inf, 0
        # A cell that differs from the first one shows that the column is not constant.
        if position in self._constant and (words != self._constant[position]).any():
            del self._constant[position]
        if position in self._counting:
            if not _may_count(values):
                del self._counting[position]
            else:
                low, high, total = self._counting[position]
                ends = min(low, float(values.min())), max(high, float(values.max()))
                self._counting[position] = *ends, (total + _mixed_sum(values)) % 2**64
        return position in self._constant or self._spans(position, self.rows + len(words))

    def positions(self) -> set[int]:
        """Return the positions of the columns that say nothing, judged by all rows that were added."""
        return set(self._constant) | {position for position in self._counting if self._counts(position)}

    def _spans(self, position: int, rows: int) -> bool:
        """Return whether a column's highest number less its lowest is what counting so many rows gives."""
        # By default take ends that fit no number of rows, for a column that cannot count rows.
        low, high, _ = self._counting.get(position, (0.0, -1.0, 0))
        return rows > 1 and high - low == rows - 1

    def _counts(self, position: int) -> bool:
        """Return whether a column holds each whole number between its lowest and its highest once.

        It compares the sums of their hashes, for which no cell has to be kept.
        """
        if not self._spans(position, self.rows):
            return False
        low, _, total = self._counting[position]
        expected = 0  # the sum of the hashes of the whole numbers from the lowest on, one a row
        for begin in range(0, self.rows, _PORTION):
            numbers: Array = low + np.arange(begin, min(begin + _PORTION, self.rows), dtype=np.float64)
            expected += _mixed_sum(numbers)
        return expected % 2**64 == total


def _may_count(values: Array) -> bool:
    """Return whether these cells may number rows: all are whole, below 2^53, and no two agree; NaN is not."""
    if not float(values[0]).is_integer():  # quickly, for most columns
        return False
    whole = bool((np.abs(values) < _EXACT).all()) and not (values % 1).any()
    return whole and len(np.unique(values)) == len(values)


def _mixed_sum(values: Array) -> int:
    """Return the sum of the hashes of whole numbers, modulo 2^64."""
    return int(mix(values.astype(np.int64).view(np.uint64)).sum())
