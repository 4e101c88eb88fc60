"""Sketch a table by a few hundred keyed digests, by which another extract of the same patients is noticed.

Two extracts of the same patients must share one privacy budget, but have different keys (`content`).

A sketch is a bottom-k sketch of each of several sets: of all digests of a set, the `KEPT` lowest. Of two such
sets, all digests below the lower of the two ends are a sample of both, drawn at random by the key, and those
in both estimate what the sets share. The sets are

    patients    who the column of patients names, where one was named
    rows        the rows: the sum of mix'(cell), the second hash of `content`
    rows / i    the rows without the columns of group i, if three in four are left: one changed column, in
                other units or left out, changes all rows but these. Of up to `GROUPS` columns each is a
                group, of more they are put into so many by their names
    columns     the columns, each as the set of its cells
    names       the columns' names, in small letters

Two tables are alike where one named patient is in both samples; where 1 % of the smaller sample's rows are
shared; where half of the columns are, and two at least; or where their sizes are within 10 % and half of the
names agree. Rows count only where a fifth of them at least are different: a column of two words is alike
everywhere.

What it misses: of two tables of equal size that share 5 % of their patients the sample has 26 of these on
average, and none with a chance of 10^-11; too few equal rows, one in a million. Where 1 % are shared, names
miss 1 in 170, and rows half. Of a table and one ten times as large, where 5 % of the smaller are shared: 1 in
13. What alarms falsely: digests of 64 bits agree by chance for fewer than one pair of tables in 10^13, but
cells that are few and coarse agree, tables of one form and size are alike by their names, whoever the
patients are, and numbers such as 1, 2, 3 name the patients of any table.

A digest is SipHash-2-4 (Aumasson and Bernstein, 2012) under a key that follows from a secret of 256 bits. A
sketch is not private: who has the secret can try whether a patient is in it. Both stay with the ledgers.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.tables.mixing import Words

KEPT = 512
GROUPS = 16  # of columns, at most
_LEAST_DISTINCT = 0.2  # of all rows, which must differ from each other for rows to count
_SHARED_ROWS, _SHARED_COLUMNS, _FEWEST_COLUMNS = 0.01, 0.5, 2
_SIZE_TOLERANCE = 0.1  # of the larger number of rows
_MOST_LEFT_OUT = 0.25  # of the columns at most: rows of the few that are left agree by chance


class Likeness(NamedTuple):
    """Hold by what two tables are alike, and which share of the smaller one's set both have, from 0 to 1.

    kind: "patients", "rows" or "columns"; or "shape", for their column names and numbers of rows.
    """

    kind: str
    share: float


@dataclass(frozen=True, eq=False)
class Sketch:
    """Hold a table's number of rows, and of each set in the module's text its lowest digests, ascending.

    No noise protects it: it must stay with the ledgers.
    """

    rows: int
    sets: Mapping[str, Words] = field(repr=False)

    def to_plain(self) -> dict[str, Any]:
        """Return the sketch as a record that JSON can hold, each set as base64 of little-endian words."""
        sets = {
            name: base64.b64encode(words.astype("<u8").tobytes()).decode()
            for name, words in self.sets.items()
        }
        return {"rows": self.rows, "sets": sets}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Sketch":
        """Return the sketch of a record by `to_plain`; KeyError, TypeError or ValueError for another one."""
        sets = {
            str(name): np.frombuffer(base64.b64decode(text, validate=True), "<u8")
            for name, text in dict(plain["sets"]).items()
        }
        return cls(int(plain["rows"]), sets)

    def likeness(self, other: "Sketch") -> Likeness | None:
        """Return by what this table and another are alike, by the strongest reason; None if by nothing.

        The thresholds are those of the module's text.
        """
        patients, count = self._shared(other, "patients")
        if count:  # a single patient in both samples is enough
            return Likeness("patients", patients)
        if (rows := self._shared_rows(other)) >= _SHARED_ROWS:
            return Likeness("rows", rows)
        columns, count = self._shared(other, "columns")
        if columns >= _SHARED_COLUMNS and count >= _FEWEST_COLUMNS:
            return Likeness("columns", columns)
        shape, _ = self._shared(other, "names")
        near = abs(self.rows - other.rows) <= _SIZE_TOLERANCE * max(self.rows, other.rows)
        return Likeness("shape", shape) if near and shape >= _SHARED_COLUMNS else None

    def _shared_rows(self, other: "Sketch") -> float:
        """Return the largest share of rows that both tables have, over pairs of their sets of rows.

        Each table has a set of whole rows, and sets without one group of columns each. If a table lacks a
        column, its whole rows are the other's rows without that column; if one column is replaced by another,
        both tables' rows without it agree.
        """
        first, second = ([name for name in each.sets if name.startswith("rows")] for each in (self, other))
        if not first or not second:
            return 0.0
        mine, theirs = (
            np.concatenate([each.sets[name] for name in names])
            for each, names in ((self, first), (other, second))
        )
        # Nearly always no row is shared, and then up to 17 x 17 pairs of sets need not be compared.
        if not len(np.intersect1d(mine, theirs)):
            return 0.0
        return max(share for share, _ in (self._shared(other, *pair) for pair in product(first, second)))

    def _shared(self, other: "Sketch", name: str, other_name: str | None = None) -> tuple[float, int]:
        """Return the estimated share of the smaller set that both tables have, and how many digests tell it.

        These are the digests of the sample that both have. name: of this table's set. other_name: of the
        other table's set, where it has another name.
        """
        none: Words = np.empty(0, np.uint64)
        first, second = self.sets.get(name, none), other.sets.get(other_name or name, none)
        if not len(first) or not len(second):
            return 0.0, 0
        # A sketch with fewer digests than it may hold has the whole set, and its end is no limit.
        limits = [words[-1] for words in (first, second) if len(words) == KEPT]
        if limits:
            first, second = (words[words <= min(limits)] for words in (first, second))
        shared = len(np.intersect1d(first, second, assume_unique=True))
        return shared / max(min(len(first), len(second)), 1), shared


class Sketcher:
    """Make the sketch of a table whose cells come in batches, a column at a time.

    For each batch call `begin`; then for each column `note_patients` and, unless it says nothing of a
    patient, `add`; then `end_batch`. At last call `finish`, which sets `sketch`. The words of cells are those
    of `content`.

    secret: 256 bits, from which the keys of all digests follow. patient_column: the name of the column that
    names the patients; None where no column does.
    """

    sketch: Sketch

    def __init__(self, secret: bytes, patient_column: str | None = None) -> None:
        self._secret, self._patient_column = secret, patient_column
        self._lowest: dict[str, Words] = {}  # the lowest digests of each set, by its name
        self._sums: dict[str, Words] = {}  # of the rows of a batch, by group of columns
        self._members: Counter[str] = Counter()  # columns of a batch that were added, by group
        self._groups: dict[str, str] = {}  # of each column, by name

    def begin(self, names: Sequence[str]) -> None:
        """Begin a batch of columns with these names; the first batch assigns the columns to groups.

        Up to `GROUPS` columns are a group each, which has the digest of the column's name as its name. More
        columns are put into `GROUPS` groups by that digest, and so into the same group in every table.
        """
        if not self._groups:
            digests = [int(digest) for digest in self._digests("groups", _name_words(names))]
            more_than_groups = len(names) > GROUPS
            self._groups = {
                name: f"{digest % GROUPS}" if more_than_groups else f"{digest:016x}"
                for name, digest in zip(names, digests, strict=True)
            }

    def add(self, name: str, mixed: Words) -> None:
        """Add a column's cells to the rows of this batch. mixed: the hashed word of each cell, (n,)."""
        group = self._groups[name]
        self._sums[group] = self._sums[group] + mixed if group in self._sums else mixed
        self._members[group] += 1

    def note_patients(self, name: str, words: Words, values: Array, missing: np.uint64) -> None:
        """Keep the ids of patients, if this is the column that names them, also where `add` is not called.

        words: of the n cells, (n,). values: their numbers, NaN where there is none. missing: the word of a
        missing cell.
        """
        if name == self._patient_column:
            # Where an id is a number take all its digits: words have single precision, in which two ids may
            # be equal. Adding 0.0 makes -0 the same as 0.
            names = np.where(np.isnan(values), words, (values + 0.0).view(np.uint64))
            self._keep("patients", names[words != missing])

    def end_batch(self) -> None:
        """Keep digests of the batch's rows, whole and without each group, now that all columns were added."""
        if not self._sums:  # no column counts so far
            return
        whole: Words = np.sum(list(self._sums.values()), axis=0, dtype=np.uint64)
        self._keep("rows", whole)
        for group, part in self._sums.items():
            if self._members[group] <= _MOST_LEFT_OUT * sum(self._members.values()):
                self._keep(f"rows / {group}", whole - part)  # a row is the sum of its cells
        self._sums.clear()
        self._members.clear()

    def finish(self, rows: int, columns: Words) -> None:
        """Set `sketch`, now that all batches were added.

        rows: how many the table has. columns: a word for each column that counts, (d,). Sets of rows of which
        too many are alike are left out, since they would be alike in any table.
        """
        self._keep("columns", columns)
        self._keep("names", _name_words(list(self._groups)))
        coarse = {
            name
            for name, words in self._lowest.items()
            if name.startswith("rows") and _distinct(words) < _LEAST_DISTINCT * rows
        }
        sets = {name: words for name, words in self._lowest.items() if name not in coarse}
        self.sketch = Sketch(rows, sets)

    def _keep(self, name: str, words: Words) -> None:
        """Add these words to a set, of which only the `KEPT` lowest digests are kept."""
        # One key for all sets of rows, since those with and without a group are compared with each other.
        purpose = name.partition(" /")[0]  # "rows" of "rows / 3"
        digests = self._digests(purpose, words)
        kept = self._lowest.get(name, np.empty(0, np.uint64))
        if len(kept) == KEPT:  # the set is full: only lower digests can enter
            digests = digests[digests < kept[-1]]
        self._lowest[name] = np.unique(np.concatenate([kept, digests]))[:KEPT]

    def _digests(self, purpose: str, words: Words) -> Words:
        """Return the digest of each word, (n,), under a key that follows from the secret and the purpose."""
        return siphash(words, hashlib.blake2b(purpose.encode(), key=self._secret, digest_size=16).digest())


def _distinct(lowest: Words) -> float:
    """Return how many different digests a set has, estimated from the lowest of them, ascending.

    Digests are uniform on [0, 2^64), so that the k-th lowest of N lies at about k/N of that range.
    """
    return len(lowest) if len(lowest) < KEPT else (KEPT - 1) / (float(lowest[-1]) / 2.0**64)


def _name_words(names: Sequence[str]) -> Words:
    """Return a 64-bit hash of each name, (n,), in small letters."""
    digests = (hashlib.blake2b(name.casefold().encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def siphash(words: Words, key: bytes) -> Words:
    """Return SipHash-2-4 of each word, taken as a message of eight bytes, (n,), under a key of 16 bytes.

    All words are hashed at once; the rows of v are the four words of state that the paper calls v0 to v3.
    """
    halves = np.frombuffer(key, "<u8").astype(np.uint64)
    # The constants of the paper, "somepseudorandomlygeneratedbytes".
    starts = np.array(
        [0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573], dtype=np.uint64
    )
    v = np.repeat((np.tile(halves, 2) ^ starts)[:, None], len(words), axis=1)
    for block in (words, np.uint64(8 << 56)):  # the last block states the message's length, 8 bytes
        v[3] ^= block
        _mix_rounds(v, 2)
        v[0] ^= block
    v[2] ^= np.uint64(0xFF)
    _mix_rounds(v, 4)
    result: Words = np.bitwise_xor.reduce(v)
    return result


def _mix_rounds(v: Words, rounds: int) -> None:
    """Apply so many SipRounds to the state v, (4, n), in place."""
    high = np.empty_like(v[0])

    def rotate(words: Words, by: int) -> None:
        """Rotate the bits of each word to the left, in place."""
        np.left_shift(words, np.uint64(by), out=high)
        np.right_shift(words, np.uint64(64 - by), out=words)
        np.bitwise_or(words, high, out=words)

    for _ in range(rounds):
        # Each of the paper's four steps adds word `turned` to word `total`, rotates it by so many bits and
        # takes its exclusive or with the sum. After the two steps of word 1 the sum itself is rotated.
        for total, turned, by in ((0, 1, 13), (2, 3, 16), (0, 3, 21), (2, 1, 17)):
            v[total] += v[turned]
            rotate(v[turned], by)
            v[turned] ^= v[total]
            if turned == 1:
                rotate(v[total], 32)
