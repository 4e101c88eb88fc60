"""What makes two files the same table, for the ledger: what was spent stays spent when it comes back.

The same table is: equally many rows and columns, the same rows in any order, with the same cells in any
order of columns. File name, format, separator, quoting, encoding, column names, row numbers without a name
and digits beyond single precision (24 bits) do not matter, so that saving a table anew gives no new budget:

    row     = mix(sum over cells of mix(cell))                      a set of cells
    column  = sum over rows of mix'(cell)                           a set of cells
    key     = SHA-256(n, columns, sorted rows, sorted columns)

cell: the bits of the number in single precision, or a hash of the text; one value for all missing ones. What
it does not catch, and no digest could: a table of the same patients with a cell changed, a row more or a
column less is another table, with a ledger of its own. Whoever uses it has to add those up.

A key is not private: who has a table, or all of it but a cell that can be guessed, can tell whether it is the
one with this key. It belongs on the owner's disk and screen, and not in a release, a link or a log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dppca_core.tables import cells, files

Words = NDArray[np.uint64]
_MISSING = np.uint64(0x6D697373)
_TEXT = np.uint64(1) << np.uint64(40)  # numbers stay below it
_OTHER = np.uint64(0xA5A5A5A5A5A5A5A5)


def _mix(words: Words) -> Words:
    """The finaliser of splitmix64, in place: one bit in changes half of those out."""
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
    found = cells.numbers(column)
    return _numeric(found.values, found.missing)


def _numeric(values: Any, missing: Any) -> Words:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32) + np.float32(0)  # -0 is 0
    return np.where(missing, _MISSING, single.view(np.uint32).astype(np.uint64) + np.uint64(1) * (1 << 32))


def _words(text: Any) -> Words:
    found = cells.numbers(text, decimal_comma=True)
    words = _numeric(found.values, found.missing)
    for place in np.flatnonzero(found.unread):
        digest = hashlib.blake2b(text[int(place)].as_py().encode(), digest_size=8).digest()
        words[place] = np.uint64(int.from_bytes(digest, "big")) | _TEXT
    return words


class _Content:
    """The sums of a table, batch by batch."""

    def __init__(self) -> None:
        self._rows: list[Words] = []
        self._columns: Words = np.zeros(0, dtype=np.uint64)

    def add(self, batch: pa.Table | pa.RecordBatch) -> None:
        if not self._rows:
            self._columns = np.zeros(batch.num_columns, dtype=np.uint64)
        rows = np.zeros(batch.num_rows, dtype=np.uint64)
        for place, name in enumerate(batch.schema.names):  # which lists them all anew at each asking
            words = _cells(cells.plain(batch.column(place), name))
            self._columns[place : place + 1] += _mix(words ^ _OTHER).sum(keepdims=True)
            rows += _mix(words)
        self._rows.append(_mix(rows))

    def key(self) -> str:
        rows = np.sort(np.concatenate(self._rows))
        digest = hashlib.sha256(f"table 1 {len(rows)} {len(self._columns)} ".encode())
        for words in (rows, np.sort(self._columns)):
            digest.update(words.astype("<u8").tobytes())
        return digest.hexdigest()


def content_key(table: pa.Table | pd.DataFrame) -> str:
    """The key of a table in memory, 64 hexadecimal digits. Raises ValueError for cells that are not flat."""
    content = _Content()
    content.add(cells.from_frame(table) if isinstance(table, pd.DataFrame) else table)
    return content.key()


def content_key_of_file(
    source: files.Source, encoding: str = "utf-8", progress: Callable[[int, int | None], None] | None = None
) -> str:
    """The same from a file of any size, in bounded memory: 8 bytes a row.

    progress(rows done, rows in all or None) is called after each batch; what it raises stops the reading.
    Raises ValueError as `files.opened` does.
    """
    content, done = _Content(), 0
    with files.opened(source, encoding, batch_rows=8192) as layout:
        for batch in layout.batches():
            content.add(batch)
            done += batch.num_rows
            if progress is not None:
                progress(done, layout.rows)
    if not done:
        raise ValueError("The file has names but no rows.")
    return content.key()
