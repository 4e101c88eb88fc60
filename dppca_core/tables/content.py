"""Compute keys by which a table is known again in any file, so that its account is found when it comes back.

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

mix is a public hash of a 64-bit word (`dppca_core.tables.mixing`), mix' the same hash after some of the bits
were turned, and mix_1, ..., mix_4 hash the two words of a row, each with a factor of its own (`_FACTORS`).
cell: the bits of the number in single precision, or a hash of the text; one value for all missing ones. Sums
need the same memory for any number of rows. They are sums and not exclusive ors, so that a row that is there
twice does not cancel itself, and counts as often as it is there.

Columns that say nothing of a patient do not count, nor does their number (`uninformative`): those whose cells
all agree, as in an empty column, and those of consecutive whole numbers in any order, as row numbers are. If
no other column is left, all of them count. What they are is known at the end. Rows are added up by what the
first ones show; a file that turns out otherwise is read once more.

What this stands against: chance. Two tables that nobody made for this purpose share a key with a chance below
2^-60 (texts are hashed to 64 bits). What it does not stand against: somebody who makes two tables so that
their keys agree, for the mixing is public and is no cryptographic hash. That gains nothing: two tables of one
key share one budget. A table of the same patients with a cell changed, a row more or a column less has
another key: its owner is asked whether its patients are of one of their accounts.

The former keys, under which ledgers are still kept. Version 2 is as above, but all columns count. Version 1
hashed all sorted rows, 8 bytes each, so it is computed up to `FORMER_ROWS` only:

    key 1   = SHA-256("table 1", n, columns, sorted mix(first half of row), sorted second halves of columns)

A key is not private: who has a table, or all of it but a cell that can be guessed, can tell whether it is the
one with this key. It belongs on the owner's disk and screen, and not in a release, a link or a log.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dppca_core.arrays import Array
from dppca_core.tables import cells
from dppca_core.tables.mixing import Words, mix
from dppca_core.tables.uninformative import Uninformative

_MISSING = np.uint64(0x6D697373)  # stands for every missing cell
_TEXT_BIT = np.uint64(1) << np.uint64(40)  # set in the words of texts; those of numbers stay below it
_TURNED_BITS = np.uint64(0xA5A5A5A5A5A5A5A5)  # the bits that mix' turns first
# Odd, and apart in their low bits, so that two rows that agree in one sum differ in the others.
_FACTORS = tuple(
    np.uint64(factor)
    for factor in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82D, 0xA54FF53A5F1D36F7)
)
_BATCH_ROWS = 8192  # hashed while they are in the processor's cache
FORMER_ROWS = 2**24  # 128 MB of row hashes


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
    """Return the word of each text and its number: that of the number if it is one, else a 64-bit hash.

    So a number in a column of text has the same word as in a column of numbers.
    """
    read = cells.numbers(text, cells.EITHER)
    words = _numeric(read.values, read.missing)
    for i in np.flatnonzero(read.unread):
        digest = hashlib.blake2b(text[int(i)].as_py().encode(), digest_size=8).digest()
        words[i] = np.uint64(int.from_bytes(digest, "big")) | _TEXT_BIT
    return words, read.values


class Keys(NamedTuple):
    """Hold the key of a table, and those that former versions of this program gave it, oldest first.

    That of version 1 is not among them where the table has more rows than `FORMER_ROWS`.
    """

    key: str
    former: tuple[str, ...]


class _Sums:
    """Add up the rows and columns of a table, batch by batch, to the sums in the module's text.

    most_hashed: up to how many rows a hash of each is kept, for the key of version 1. left_out: positions of
    the columns that do not count; None decides by the first batch.

    columns: two sums of each column, (2, d), of mix and of mix'. rows: four sums over all rows, (4,), of the
    columns that count; former_rows: the same of all columns, for the key of version 2.
    """

    def __init__(self, most_hashed: int, left_out: set[int] | None = None) -> None:
        self.count = 0
        self.columns: Words = np.zeros((2, 0), dtype=np.uint64)
        self.rows, self.former_rows = (np.zeros(len(_FACTORS), dtype=np.uint64) for _ in range(2))
        # Memory is taken only where rows are written, so that a few rows take little.
        self.hashes: Words = np.empty(most_hashed, dtype=np.uint64)
        self.left_out, self.uninformative = left_out, Uninformative()

    def add(self, batch: Any) -> None:
        """Add some rows, a record batch of Arrow, to all sums."""
        if not self.columns.size:
            self.columns = np.zeros((2, batch.num_columns), dtype=np.uint64)
        if not batch.num_rows:
            return
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
            for row, mixed in ((1, mix(words ^ _TURNED_BITS)), (0, mix(words))):
                sums[row] += mixed
                # Arrays of one word each: NumPy would warn of a scalar that wraps around, as it is to here.
                self.columns[row, position : position + 1] += mixed.sum(keepdims=True)
                if position in left_out:
                    left_out_sums[row] += mixed
        self.uninformative.rows += batch.num_rows
        if len(left_out) == batch.num_columns:  # if no column is left, all count
            left_out.clear()
        self.left_out = left_out
        _add_rows(self.former_rows, sums)
        _add_rows(self.rows, sums - left_out_sums if left_out else sums)
        end = self.count + batch.num_rows
        if end <= len(self.hashes):
            self.hashes[self.count : end] = mix(sums[0])
        elif len(self.hashes):  # too many rows for the key of version 1: free the memory
            self.hashes = np.empty(0, dtype=np.uint64)
        self.count = end

    def to_leave_out(self) -> set[int]:
        """Return the positions of the columns that do not count, judged by all rows that were added.

        It is none where every column would be left out.
        """
        positions = self.uninformative.positions()
        return positions if len(positions) < self.columns.shape[1] else set()


def _add_rows(rows: Words, sums: Words) -> None:
    """Add mix_1, ..., mix_4 of each row to `rows`, (4,), in place: four hashes that differ by a factor.

    sums: two words of each row, (2, n).
    """
    # Arrays of one word each: NumPy would warn of a scalar that wraps around, as it is to here.
    for lane, factor in enumerate(_FACTORS):
        rows[lane : lane + 1] += mix(sums[0] * factor + sums[1]).sum(keepdims=True)


def _keys(batches: Callable[[], Iterable[Any]], former_rows: int) -> Keys:
    """Return all keys of a table. former_rows: as for `_Sums`.

    batches: returns the table's batches of rows from the first on. It is called a second time where the first
    batch misled about which columns count.
    """

    def sum_up(former_rows: int, left_out: set[int] | None = None) -> _Sums:
        """Return the sums over all batches."""
        sums = _Sums(former_rows, left_out)
        for batch in batches():
            sums.add(batch)
        return sums

    sums = sum_up(former_rows)
    columns, count = sums.columns, sums.count

    def digest(version: int, column_count: int, *parts: Words) -> str:
        """Return SHA-256 of a version, the numbers of rows and columns, and these sums, in hexadecimal."""
        result = hashlib.sha256(f"table {version} {count} {column_count} ".encode())
        for words in parts:
            result.update(np.ascontiguousarray(words.astype("<u8", copy=False)).data)
        return result.hexdigest()

    left_out = sums.to_leave_out()
    # The first batch misled where all rows say otherwise: then the rows are added up once more.
    rows = sums.rows if left_out == sums.left_out else sum_up(former_rows=0, left_out=left_out).rows
    counted = np.delete(columns, sorted(left_out), axis=1)
    # Columns are sorted by their sums, so that their order in the file does not matter.
    key = digest(3, counted.shape[1], rows, counted[:, np.lexsort(counted)])
    former: tuple[str, ...] = (
        digest(2, columns.shape[1], sums.former_rows, columns[:, np.lexsort(columns)]),
    )
    if count <= len(sums.hashes):
        hashes = sums.hashes[:count]
        hashes.sort()  # in place: a copy would double the memory
        former = (digest(1, columns.shape[1], hashes, np.sort(columns[1])), *former)
    return Keys(key, former)


def content_keys(table: pa.Table | pd.DataFrame) -> Keys:
    """Return the keys of a table in memory. Raises ValueError for cells that are lists, records or bytes."""
    whole = cells.from_frame(table) if isinstance(table, pd.DataFrame) else table
    if (blank := cells.blank_rows(whole.columns)).any():
        whole = whole.filter(pa.array(~blank))
    former_rows = min(whole.num_rows, FORMER_ROWS)
    return _keys(lambda: whole.to_batches(max_chunksize=_BATCH_ROWS), former_rows)


def content_key(table: pa.Table | pd.DataFrame) -> str:
    """Return the key of a table in memory, 64 hexadecimal digits. Raises as `content_keys` does."""
    return content_keys(table).key
