"""Compute a key by which a table is known again in any file, so that its account is found when it comes back.

An account is the record of the privacy budget that was spent on the patients of its tables.

The same table is: equally many rows that are not blank (`read`), and the same columns that count, the same
rows in any order, with the same cells in any order of columns. File name, format, separator, quoting,
encoding, column names and row numbers without a name do not matter. Numbers are compared in single precision
(24 bits). So these save the same table anew: single precision, the shortest text that reads back as the same
number (what programs write by default), and any text that keeps every digit a number came with, up to 15.
Fewer digits than a number has are another number: where rounding crosses a border between two numbers of
single precision, the table is another one. Fifteen digits of numbers that have more cross one about once in
10^8 cells.

    row     = (sum over cells of mix(cell), sum over cells of mix'(cell))       128 bits, a set of cells
    rows    = sum over rows of mix_1(row), ..., mix_4(row)                      256 bits, a set of rows
    column  = (sum over rows of mix(cell), sum over rows of mix'(cell))         128 bits, a set of cells
    key     = SHA-256("table 3", n, columns, rows, sorted columns)              sums modulo 2^64 a word

mix is a public hash of a 64-bit word (`_mix`), mix' the same hash after some of the bits were turned, and
mix_1, ..., mix_4 hash the two words of a row, each with a factor of its own (`_FACTORS`). cell: the bits of
the number in single precision, or a hash of the text; one value for all missing ones. Sums need the same
memory for any number of rows. They are sums and not exclusive ors, so that a row that is there twice does not
cancel itself, and counts as often as it is there.

Columns that say nothing of a patient do not count, nor does their number, since programs add row numbers and
empty columns (`_Uninformative`): those whose cells all agree, as in an empty column, and those that count
rows. If no other column is left, all of them count. A column counts rows where its cells are whole, the
lowest and the highest are n - 1 apart, and the sum of mix(cell) is that of all whole numbers between, in any
order. Another column is taken for one with a chance of 2^-64; one whose numbers are below 2^53 is never
overlooked. What they are is known at the end. Rows are added up by what the first ones show; a table that
turns out otherwise is added up once more.

What this stands against: chance. Two tables that nobody made for this purpose share a key with a chance below
2^-60 (texts are hashed to 64 bits). What it does not stand against: somebody who makes two tables so that
their keys agree, for the mixing is public and is no cryptographic hash. That gains nothing: two tables of one
key share one budget. A table of the same patients with a cell changed, a row more or a column less has
another key: its owner is asked whether its patients are of one of their accounts.

A key is not private: who has a table, or all of it but a cell that can be guessed, can tell whether it is the
one with this key. It belongs on the owner's disk and screen, and not in a release, a link or a log.
"""

import hashlib
import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dppca_core.arrays import Array
from dppca_core.tables import cells

Words = NDArray[np.uint64]

_MISSING = np.uint64(0x6D697373)  # stands for every missing cell
_TEXT_BIT = np.uint64(1) << np.uint64(40)  # set in the words of texts; those of numbers stay below it
_TURNED_BITS = np.uint64(0xA5A5A5A5A5A5A5A5)  # the bits that mix' turns first
# Odd, and apart in their low bits, so that two rows that agree in one sum differ in the others.
_FACTORS = tuple(
    np.uint64(factor)
    for factor in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82D, 0xA54FF53A5F1D36F7)
)
_BATCH_ROWS = 8192  # hashed while they are in the processor's cache
_EXACT = 2.0**53  # whole numbers of double precision are apart below it


def content_key(table: pa.Table | pd.DataFrame) -> str:
    """Return the key of a table in memory, 64 hexadecimal digits."""
    whole = cells.from_frame(table) if isinstance(table, pd.DataFrame) else table
    if (blank := cells.blank_rows(whole.columns)).any():
        whole = whole.filter(pa.array(~blank))
    sums = _Sums(whole)
    left_out = sums.to_leave_out()
    # The first batch misled where all rows say otherwise: then the rows are added up once more.
    rows = sums.rows if left_out == sums.left_out else _Sums(whole, left_out).rows
    columns = np.delete(sums.columns, sorted(left_out), axis=1)
    digest = hashlib.sha256(f"table 3 {whole.num_rows} {columns.shape[1]} ".encode())
    # Columns are sorted by their sums, so that their order in the file does not matter.
    for words in (rows, columns[:, np.lexsort(columns)]):
        digest.update(np.ascontiguousarray(words.astype("<u8", copy=False)).data)
    return digest.hexdigest()


def _cells(column: Any) -> tuple[Words, Array]:
    """Return the 64-bit word that stands for each cell, (n,), and its number, (n,), NaN where it is none."""
    if not pa.types.is_floating(column.type):
        read = cells.numbers(column, cells.EITHER)
        if not read.unread.any():
            return _numeric(read.values, read.missing), read.values
        # Each different text is hashed once.
        coded = pc.dictionary_encode(cells.texts(column), null_encoding="encode")
        words, values = _words(coded.dictionary)
        indices = np.asarray(coded.indices)
        return words.take(indices), values.take(indices)
    read = cells.numbers(column)
    return _numeric(read.values, read.missing), read.values


def _numeric(values: Any, missing: Any) -> Words:
    """Return the word of each number: its bits in single precision, plus 2^32.

    The sum is larger than `_MISSING`, the word that stands for missing cells.
    """
    with np.errstate(over="ignore"):
        single = values.astype(np.float32) + np.float32(0)  # -0 is 0
    return np.where(missing, _MISSING, single.view(np.uint32).astype(np.uint64) + np.uint64(1) * (1 << 32))


def _words(text: Any) -> tuple[Words, Array]:
    """Return the word of each text and its number: that of the number if it is one, else a 64-bit hash."""
    read = cells.numbers(text, cells.EITHER)
    words = _numeric(read.values, read.missing)
    for i in np.flatnonzero(read.unread):
        digest = hashlib.blake2b(text[int(i)].as_py().encode(), digest_size=8).digest()
        words[i] = np.uint64(int.from_bytes(digest, "big")) | _TEXT_BIT
    return words, read.values


class _Sums:
    """Add up the rows and columns of a table, batch by batch, to the sums in the module's text.

    left_out: positions of the columns that do not count; None decides by the first batch.

    columns: two sums of each column, (2, d), of mix and of mix'. rows: four sums over all rows, (4,), of the
    columns that count.
    """

    def __init__(self, table: pa.Table, left_out: set[int] | None = None) -> None:
        self.columns: Words = np.zeros((2, table.num_columns), dtype=np.uint64)
        self.rows: Words = np.zeros(len(_FACTORS), dtype=np.uint64)
        self.left_out, self.uninformative = left_out, _Uninformative()
        for batch in table.to_batches(max_chunksize=_BATCH_ROWS):
            if batch.num_rows:
                self._add(batch)

    def _add(self, batch: Any) -> None:
        # Of each row of the batch: over all its cells, and over those of columns that do not count.
        sums, left_out_sums = (np.zeros((2, batch.num_rows), dtype=np.uint64) for _ in range(2))
        left_out = set()
        names = batch.schema.names  # the schema builds a new list at each access
        for position, name in enumerate(names):
            words, values = _cells(cells.as_numbers_or_text(batch.column(position), name))
            says_nothing = self.uninformative.add(position, words, values)
            # The first batch decides which columns do not count, where the caller did not.
            if says_nothing if self.left_out is None else position in self.left_out:
                left_out.add(position)
            # Sum 0 is of mix, sum 1 of mix'. mix' comes first, of a copy: mix overwrites the words.
            for row, mixed in ((1, _mix(words ^ _TURNED_BITS)), (0, _mix(words))):
                sums[row] += mixed
                # Arrays of one word each: NumPy would warn of a scalar that wraps around, as it is to here.
                self.columns[row, position : position + 1] += mixed.sum(keepdims=True)
                if position in left_out:
                    left_out_sums[row] += mixed
        self.uninformative.rows += batch.num_rows
        if len(left_out) == batch.num_columns:  # if no column is left, all count
            left_out.clear()
        self.left_out = left_out
        counted = sums - left_out_sums if left_out else sums
        # mix_1, ..., mix_4 of each row: four hashes that differ by a factor.
        for lane, factor in enumerate(_FACTORS):
            self.rows[lane : lane + 1] += _mix(counted[0] * factor + counted[1]).sum(keepdims=True)

    def to_leave_out(self) -> set[int]:
        """Return the positions of the columns that do not count, judged by all rows.

        It is none where every column would be left out.
        """
        positions = self.uninformative.positions()
        return positions if len(positions) < self.columns.shape[1] else set()


class _Uninformative:
    """Find columns that say nothing of a patient: all cells agree, or they count rows.

    Rows come in batches, and a column takes the same memory for any number of them.

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
        """Return whether a column holds each whole number between its lowest and its highest once."""
        if not self._spans(position, self.rows):
            return False
        low, _, total = self._counting[position]
        expected = 0  # the sum of the hashes of the whole numbers from the lowest on, one a row
        for begin in range(0, self.rows, _BATCH_ROWS):
            numbers: Array = low + np.arange(begin, min(begin + _BATCH_ROWS, self.rows), dtype=np.float64)
            expected += _mixed_sum(numbers)
        return expected % 2**64 == total


def _may_count(values: Array) -> bool:
    """Return whether these cells may number rows: all are whole, below 2^53, and no two agree; NaN is not."""
    if not float(values[0]).is_integer():  # quickly, for most columns
        return False
    whole = bool((np.abs(values) < _EXACT).all()) and not (values % 1).any()
    return whole and len(np.unique(values)) == len(values)


def _mixed_sum(values: Array) -> int:
    return int(_mix(values.astype(np.int64).view(np.uint64)).sum())


def _mix(words: Words) -> Words:
    """Hash each word in place, by the finaliser of the generator splitmix64, and return the words.

    It is one to one, and turning one bit of a word turns about half the bits of its hash.
    """
    shifted = np.empty_like(words)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= np.right_shift(words, np.uint64(shift), out=shifted)
        words *= np.uint64(factor)
    words ^= np.right_shift(words, np.uint64(31), out=shifted)
    return words
