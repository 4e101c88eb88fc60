"""Keys that tell the same table in any file, so that its ledger is found when it comes back.

The same table is: equally many rows and columns, the same rows in any order, with the same cells in any
order of columns. File name, format, separator, quoting, encoding, column names and row numbers without a name
do not matter. Numbers are compared in single precision (24 bits). So these save the same table anew: single
precision, the shortest text that reads back as the same number (what programs write by default), and any text
that keeps every digit a number came with, up to 15. Fewer digits than a number has are another number: where
rounding crosses a border between two numbers of single precision, the table is another one. Fifteen digits of
numbers that have more cross one about once in 10^8 cells.

    row     = (sum over cells of mix(cell), sum over cells of mix'(cell))       128 bits, a set of cells
    rows    = sum over rows of mix_1(row), ..., mix_4(row)                      256 bits, a set of rows
    column  = (sum over rows of mix(cell), sum over rows of mix'(cell))         128 bits, a set of cells
    key     = SHA-256("table 2", n, columns, rows, sorted columns)              sums modulo 2^64 a word

cell: the bits of the number in single precision, or a hash of the text; one value for all missing ones. Sums
need the same memory for any number of rows. They are sums and not exclusive ors, so that a row that is there
twice does not cancel itself, and counts as often as it is there.

What this stands against: chance. Two tables that nobody made for this purpose share a key with a chance below
2^-60 (texts are hashed to 64 bits). What it does not stand against: somebody who makes two tables so that
their keys agree, for the mixing is public and is no cryptographic hash. That gains nothing: two tables of one
key share one budget. A new budget is had more simply, and no digest could catch it: a table of the same
patients with a cell changed, a row more or a column less is another table, with a ledger of its own. Whoever
uses it has to add those up.

The former key, version 1, hashed all sorted rows, 8 bytes each:

    key 1   = SHA-256("table 1", n, columns, sorted mix(first half of row), sorted second halves of columns)

Ledgers are still kept under it, so it is computed along with the new one up to `FORMER_ROWS`.

A key is not private: who has a table, or all of it but a cell that can be guessed, can tell whether it is the
one with this key. It belongs on the owner's disk and screen, and not in a release, a link or a log.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dppca_core.tables import cells, files
from dppca_core.tables.layout import NO_ROWS

Words = NDArray[np.uint64]
_MISSING = np.uint64(0x6D697373)
_TEXT = np.uint64(1) << np.uint64(40)  # numbers stay below it
_OTHER = np.uint64(0xA5A5A5A5A5A5A5A5)
# Odd, and apart in their low bits, so that two rows that agree in one sum differ in the others.
_FACTORS = tuple(
    np.uint64(factor)
    for factor in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82D, 0xA54FF53A5F1D36F7)
)
_BATCH_ROWS = 8192  # hashed while they are in the processor's cache
FORMER_ROWS = 2**24  # 128 MB of row hashes


def _mix(words: Words) -> Words:
    """Apply the finaliser of splitmix64 in place: one bit in changes half of those out."""
    shifted = np.empty_like(words)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= np.right_shift(words, np.uint64(shift), out=shifted)
        words *= np.uint64(factor)
    words ^= np.right_shift(words, np.uint64(31), out=shifted)
    return words


def _cells(column: Any) -> Words:
    if not pa.types.is_floating(column.type):
        coded = pc.dictionary_encode(cells.texts(column), null_encoding="encode")
        return _words(coded.dictionary).take(np.asarray(coded.indices))
    read = cells.numbers(column)
    return _numeric(read.values, read.missing)


def _numeric(values: Any, missing: Any) -> Words:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32) + np.float32(0)  # -0 is 0
    return np.where(missing, _MISSING, single.view(np.uint32).astype(np.uint64) + np.uint64(1) * (1 << 32))


def _words(text: Any) -> Words:
    read = cells.numbers(text, decimal_comma=True)
    words = _numeric(read.values, read.missing)
    for i in np.flatnonzero(read.unread):
        digest = hashlib.blake2b(text[int(i)].as_py().encode(), digest_size=8).digest()
        words[i] = np.uint64(int.from_bytes(digest, "big")) | _TEXT
    return words


class Keys(NamedTuple):
    """Hold the key of a table, and its key of version 1; None where it has more rows than `FORMER_ROWS`."""

    key: str
    former: str | None


def _keys(batches: Iterable[Any], former_rows: int) -> Keys:
    """Return both keys of a table. former_rows: how many rows may be kept, at most, for the former key."""
    count = 0
    rows: Words = np.zeros(len(_FACTORS), dtype=np.uint64)
    columns: Words = np.zeros((2, 0), dtype=np.uint64)
    # Memory is taken only where rows are written, so that a few rows take little.
    former: Words = np.empty(former_rows, dtype=np.uint64)
    for batch in batches:
        if not count:
            columns = np.zeros((2, batch.num_columns), dtype=np.uint64)
        sums: Words = np.zeros((2, batch.num_rows), dtype=np.uint64)
        for position, name in enumerate(batch.schema.names):  # the schema builds a new list at each access
            words = _cells(cells.plain(batch.column(position), name))
            for half, mixed in enumerate((_mix(words ^ _OTHER), _mix(words))):
                sums[1 - half] += mixed
                columns[1 - half, position : position + 1] += mixed.sum(keepdims=True)
        for lane, factor in enumerate(_FACTORS):
            rows[lane : lane + 1] += _mix(sums[0] * factor + sums[1]).sum(keepdims=True)
        end = count + batch.num_rows
        if end <= len(former):
            former[count:end] = _mix(sums[0])
        elif len(former):
            former = np.empty(0, dtype=np.uint64)
        count = end

    def digest(version: int, *parts: Words) -> str:
        result = hashlib.sha256(f"table {version} {count} {columns.shape[1]} ".encode())
        for words in parts:
            result.update(words.astype("<u8", copy=False).data)
        return result.hexdigest()

    key = digest(2, rows, np.ascontiguousarray(columns[:, np.lexsort(columns)]))
    if count > len(former):
        return Keys(key, None)
    former[:count].sort()  # in place: a copy would double the memory
    return Keys(key, digest(1, former[:count], np.sort(columns[1])))


def content_keys(table: pa.Table | pd.DataFrame) -> Keys:
    """Return both keys of a table in memory. Raises ValueError for cells that are not flat."""
    whole = cells.from_frame(table) if isinstance(table, pd.DataFrame) else table
    return _keys(whole.to_batches(max_chunksize=_BATCH_ROWS), min(whole.num_rows, FORMER_ROWS))


def content_key(table: pa.Table | pd.DataFrame) -> str:
    """Return the key of a table in memory, 64 hexadecimal digits. Raises as `content_keys` does."""
    return content_keys(table).key


def content_keys_of_file(
    source: files.Source,
    encoding: str = "utf-8",
    progress: Callable[[int, int | None], None] | None = None,
    former_rows: int = FORMER_ROWS,
) -> Keys:
    """Return the same of a file of any size, in constant memory and 8 bytes a row up to `former_rows`.

    progress(rows done, rows in all or None) is called after each batch; what it raises stops the reading.
    Raises ValueError as `files.opened` does.
    """
    with files.opened(source, encoding, batch_rows=_BATCH_ROWS) as layout:

        def batches() -> Iterator[Any]:
            done = 0
            for batch in layout.batches():
                yield batch
                done += batch.num_rows
                if progress is not None:
                    progress(done, layout.rows)
            if not done:
                raise ValueError(NO_ROWS)

        tells = former_rows if layout.rows is None else layout.rows
        return _keys(batches(), tells if tells <= former_rows else 0)
