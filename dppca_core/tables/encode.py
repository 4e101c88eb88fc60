"""Encode a table by its public dictionary as the rows that a release takes: one pass, cell by cell.

The formulas of a cell are in `dppca_core.tables.dictionary`. They make d numbers of a row of the table, about
0 and in units of the public ranges. Rows are then shortened to the dictionary's bound and divided by it, so
that none is longer than 1. Without a column that names the patients each row is a patient of its own. With
one, all rows of a patient count as one row at most, as the owner states:

- averaged: each of the patient's m usable rows counts 1/m;
- at most M: the first M usable rows of the table count, 1/M each;
- merged: one row counts. Each of its columns is the mean over the patient's own present cells, each encoded
  before. A column without any is filled, and then the row is shortened.

Proof that a patient moves a release by no more than a row can. Let S be the sum of x x^T over all rows x, s
that of x, and q that of their squared entries, each row by its weight. The table is a list of n patients in
the order of their first rows. In its neighbour another patient, with any number of rows, stands at one place
of the list (replace-one), or one patient has no usable row in one of both (add-remove).

1. All other patients hand in the same bits. A cell is encoded from itself and the dictionary, an id is read
   by itself, a row's place and weight follow from the rows of its patient, and a mean is over the patient's
   cells (`patients.means`). A hospital is that of the first row, or follows from the place in the list and n.
2. Merged: a patient adds one row of length 1 at most, by weight 1. Replaced by another, S moves by
   |xx^T - yy^T| <= sqrt 2, s by |x - y| <= 2, and q by sqrt 2 (`mechanisms.paid_scale`). Emptied, each of
   them moves by 1 at most.
3. Averaged: a patient adds A to S, the mean of m matrices xx^T. A is positive semidefinite with a trace of 1
   at most, so |A| <= 1. With the B of another, <A, B> >= 0, so |A - B|^2 = |A|^2 + |B|^2 - 2<A, B> <= 2. A
   mean of rows is no longer than 1. A mean of squared entries is at least 0 and adds up to 1 at most. So s
   and q move no more than in 2.
4. At most M: the weights of one patient add up to 1 at most, so that A has a trace of 1 at most again, and
   S moves no more than in 3. In s and q the rows that count have the weights of 3.
5. What is left out is a row of zeros, and n counts all patients, also those without a usable row. So neither
   n nor a hospital's number tells of a cell, and emptying a patient takes out what that patient had added.

Exact sums round each entry towards zero, which makes it no larger: 2 to 4 hold for them too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dppca_core import checks
from dppca_core.arrays import Array, Indices, Part, PatientRows
from dppca_core.numerics import moments
from dppca_core.tables import cells, patients
from dppca_core.tables.dictionary import Column, Schema
from dppca_core.tables.patients import AVERAGED, MERGED, Counting
from dppca_core.tables.read import Raw

TOO_FEW = "Fewer than two patients are left: every other row has a missing cell. Fill them in."
OR_MERGED = " Or let the rows of each patient be merged."


@dataclass(frozen=True)
class OwnerCounts:
    """Count one table's rows and cells. No noise protects these counts: for its owner, never for a release.

    rows: all that were read but blank ones. dropped: rows left out for a missing cell. filled: missing cells
    of kept rows in whose place a constant stands. outside: for each chosen column, cells of kept rows beyond
    their range or none of their categories. missing: for each chosen column, missing cells of all rows, those
    that a missing code marks included. clipped: kept rows whose norm is above the bound. blank: blank rows of
    the file, which are no patients (`read`). The counts of two parts of a table can be added.

    Where patients are merged, these are counts of merged rows: rows are patients, and a cell is missing where
    none of its patient's is there.
    """

    rows: int
    dropped: int
    filled: int
    outside: tuple[int, ...]
    missing: tuple[int, ...]
    clipped: int
    blank: int = 0

    @staticmethod
    def none(schema: Schema) -> OwnerCounts:
        none = (0,) * len(schema.columns)
        return OwnerCounts(rows=0, dropped=0, filled=0, outside=none, missing=none, clipped=0)

    @property
    def kept(self) -> int:
        return self.rows - self.dropped

    @property
    def clipped_share(self) -> float:
        return self.clipped / max(self.kept, 1)

    def __add__(self, other: OwnerCounts) -> OwnerCounts:
        return OwnerCounts(
            rows=self.rows + other.rows,
            dropped=self.dropped + other.dropped,
            filled=self.filled + other.filled,
            outside=tuple(a + b for a, b in zip(self.outside, other.outside, strict=True)),
            missing=tuple(a + b for a, b in zip(self.missing, other.missing, strict=True)),
            clipped=self.clipped + other.clipped,
            blank=self.blank + other.blank,
        )


@dataclass(frozen=True, eq=False)
class Encoded:
    """Hold encoded rows, (m, d), not yet clipped to the bound; which of the n rows these are; and counts.

    kept: True for each of the table's rows or merged patients, (n,), that is among the m. owner: for the
    table's owner alone.
    """

    rows: Array = field(repr=False)
    kept: cells.Mask = field(repr=False)
    owner: OwnerCounts = field(repr=False)

    @property
    def whole(self) -> Array:
        """Return one row for each of the table's, (n, d), zeros for those that are left out."""
        if self.kept.all():
            return self.rows
        whole = np.zeros((len(self.kept), self.rows.shape[1]))
        whole[self.kept] = self.rows
        return whole


def encode(
    schema: Schema,
    table: pa.Table | pa.RecordBatch,
    marks: cells.Marks | None = cells.POINT,
    before: int = 0,
    blank: cells.Mask | None = None,
) -> Encoded:
    """Return the encoded rows of a table, each from its own cells and the schema alone.

    marks: how numbers in text are written where the dictionary does not say; a table that was read knows it
    (`Raw`). before: how many rows of the file precede these, so that an error names a row by its number in
    the file. blank: which rows of the file, at this place, were left out as blank; None: no row was. Raises
    ValueError, whose text quotes no cell, for a chosen column that is not there, or for text in a column of
    numbers.
    """
    n: int = table.num_rows
    rows, tally = np.empty((n, schema.d)), _Tally.begin(n)
    for column, span, _, missing, beyond in _columns(schema, table, marks, before, blank, rows):
        tally.add(column, missing, beyond)
        if column.fill is not None:
            rows[missing, span] = _encoded_fill(column)
    return tally.encoded(schema, rows, blank)


def _merge(schema: Schema, raw: Raw, numbers: Indices) -> Encoded:
    """Return one encoded row a patient: of each column the mean of the patient's own present cells.

    numbers: of each row's patient, from 0 in the order of first rows, (rows,). A patient without a cell of a
    column that has no fill is left out. Raises ValueError as `encode` does.
    """
    n = int(numbers.max()) + 1
    rows, tally = np.empty((n, schema.d)), _Tally.begin(n)
    for column, span, entries, missing, beyond in _columns(schema, raw.table, raw.marks, 0, raw.blank):
        rows[:, span], lacking = patients.means(entries, missing, numbers, n)
        tally.add(column, lacking, beyond)
        if column.fill is not None:
            rows[lacking, span] = _encoded_fill(column)
    return tally.encoded(schema, rows, raw.blank, numbers)


class _Tally(NamedTuple):
    """Count what is missing or does not fit while columns are encoded, and which rows can be used.

    A row is one of the table's or a merged patient's. kept: rows without a missing cell that nothing fills
    in, (n,). filled: cells of each row that were filled in. outside: for each column, which of the table's
    cells do not fit. absent: how many rows lack it.
    """

    kept: cells.Mask
    filled: Indices
    outside: list[cells.Mask]
    absent: list[int]

    @staticmethod
    def begin(n: int) -> _Tally:
        return _Tally(np.ones(n, dtype=bool), np.zeros(n, dtype=np.intp), [], [])

    def add(self, column: Column, missing: cells.Mask, beyond: cells.Mask) -> None:
        """Add a column: which rows lack it, (n,), and which of the table's cells do not fit."""
        self.outside.append(beyond)
        self.absent.append(int(missing.sum()))
        if column.fill is None:  # nothing stands for a missing cell, so its row is dropped
            self.kept[missing] = False
        else:
            np.add(self.filled, missing, out=self.filled)

    def encoded(
        self, schema: Schema, rows: Array, blank: cells.Mask | None, numbers: Indices | None = None
    ) -> Encoded:
        """Return those of the rows, (n, d), that can be used, with the owner's counts."""
        kept = self.kept
        used = kept if numbers is None else kept[numbers]  # of the table's rows
        if not kept.all():
            rows = rows[kept]
        owner = OwnerCounts(
            rows=len(kept),
            dropped=int(len(kept) - kept.sum()),
            filled=int(self.filled[kept].sum()),
            outside=tuple(int(beyond[used].sum()) for beyond in self.outside),
            missing=tuple(self.absent),
            clipped=int((np.sqrt(np.einsum("ij,ij->i", rows, rows)) > schema.bound).sum()),
            blank=0 if blank is None else int(blank.sum()),
        )
        return Encoded(rows, kept, owner)


class _EncodedColumn(NamedTuple):
    """Hold a column's encoded cells, (n, c), and which are missing, and which do not fit, (n,) each.

    span: its columns among the d encoded ones. What stands in `entries` for a missing cell means nothing.
    """

    column: Column
    span: slice
    entries: Array
    missing: cells.Mask
    beyond: cells.Mask


def _columns(
    schema: Schema,
    table: pa.Table | pa.RecordBatch,
    marks: cells.Marks | None,
    before: int,
    blank: cells.Mask | None,
    rows: Array | None = None,
) -> Iterator[_EncodedColumn]:
    """Yield the columns of the dictionary, each encoded cell by cell; the arguments are those of `encode`.

    rows: where the encoded cells are written, (n, d); None: each column gets an array of its own.
    """
    positions = {name: position for position, name in enumerate(table.schema.names)}
    for column in schema.columns:
        if column.name not in positions:
            raise ValueError(f"The table has no column '{column.name}'.")
    n: int = table.num_rows
    # The place of each row in the file, from 1.
    places = before + 1 + (np.arange(n) if blank is None else np.flatnonzero(~blank))
    begin = 0  # the first encoded column of the next column
    for column in schema.columns:
        span = slice(begin, begin := begin + len(column.features))
        entries = np.empty((n, len(column.features))) if rows is None else rows[:, span]
        column_cells = cells.as_numbers_or_text(table.column(positions[column.name]), column.name)
        stated = column.marks or marks
        if column.kind == "number":
            missing, beyond = _numbers(column, column_cells, stated, places, entries)
        else:
            missing, beyond = _categories(column, column_cells, stated, entries)
        yield _EncodedColumn(column, span, entries, missing, beyond)


def _numbers(
    column: Column, column_cells: pa.Array, marks: cells.Marks | None, places: Indices, entries: Array
) -> tuple[cells.Mask, cells.Mask]:
    """Write a column's encoded numbers, (n, 1); return which cells are missing, and which out of range."""
    values, missing, unread = cells.numbers(column_cells, marks, column.missing_codes, column.synonyms)
    if unread.any():
        others, what = int(unread.sum()) - 1, _what_instead(column_cells, unread)
        raise ValueError(
            f"Column '{column.name}' holds no number in row {places[np.argmax(unread)]:,}"
            f"{f' and {others:,} more' if others else ''}, {what}"
        )
    beyond = (values < column.low) | (values > column.high)
    np.clip(values, column.low, column.high, out=values)
    entries[:, 0] = _scaled(column, values)
    return missing, beyond


def _scaled(column: Column, values: Array) -> Array:
    """Return numbers of a column's range in units of half of it, from what is encoded as 0."""
    # The division may round past the encoded ends. Without a usual value the origin is the middle of the
    # range, so these ends are -1 and 1 exactly.
    least, most = ((end - column.origin) / column.half for end in (column.low, column.high))
    if column.usual is None:
        least, most = -1.0, 1.0
    scaled: Array = np.clip((values - column.origin) / column.half, least, most)
    return scaled


def _what_instead(column_cells: pa.Array, unread: cells.Mask) -> str:
    """Return the end of the error: what a column holds instead of numbers, and what to do about it."""
    if cells.unclear(column_cells.slice(int(np.argmax(unread)), 1)).any():
        return "but a mark of thousands or of decimals: say which under 'numbers as' in the dictionary."
    if cells.kind_of(column_cells) == "date":
        return "but a date: turn them into numbers, such as an age or days since."
    return (
        "but text, or other marks in a number: choose them under 'numbers as', make its word a missing code, "
        "leave the column out, or make it a category."
    )


def _categories(
    column: Column, column_cells: pa.Array, marks: cells.Marks | None, entries: Array
) -> tuple[cells.Mask, cells.Mask]:
    """Write a column's centred indicators, (n, c); return which cells are missing, and which unknown."""
    codes, missing = cells.categories(
        column_cells, column.categories, column.synonyms, column.missing_codes, marks
    )
    # Every indicator begins as 0 less its centre; below, that of the answer gets 1 more.
    entries[:] = np.negative(column.centres)
    inside = np.flatnonzero(codes >= 0)
    entries[inside, codes[inside]] += 1.0
    # A single category is a question of yes or no, so any other answer is a "no" and counts as known.
    return missing, (codes < 0) & ~missing & (len(column.categories) > 1)


def _encoded_fill(column: Column) -> Array:
    """Return the encoded cell, (c,), that stands for a missing one: of the fill, or of none of categories."""
    if column.kind == "number":
        return _scaled(column, np.array([column.fill], dtype=float))
    entries: Array = np.negative(column.centres)
    if column.fill:
        entries[column.categories.index(str(column.fill))] += 1.0
    return entries


@dataclass(frozen=True, eq=False)
class Rows:
    """Hold rows, (m, d): `encoded` as they are, and `rows`, clipped to the bound and divided by it.

    `kept` marks, among all rows of the table, those that are here, of a merged patient the first;
    `by_hospital` has each hospital's indices into `rows`. Where a column names the patients, a row is
    multiplied by its weight, so that all rows of one together count as one at most: `weights` and `of_mean`,
    (m, 1), are those of `PatientRows`.
    """

    encoded: Array
    rows: Array
    kept: cells.Mask
    by_hospital: tuple[Indices, ...]
    weights: Array | None = None
    of_mean: Array | None = None


class TableIdentity(NamedTuple):
    """Hold what tells a prepared table from another, without a row in it.

    key: the digest of its content. assignment, sizes: how patients were assigned to hospitals, and how many
    each has. counting: how the rows of one patient count; None where no column names the patients.
    """

    key: str
    schema: Schema
    assignment: str
    sizes: tuple[int, ...]
    counting: Counting | None = None


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """Hold the patients of each hospital, ready for a release.

    A patient who is left out, for a missing cell, counts as a row of zeros: so the number of patients does
    not tell of any cell, and replacing a row by one that is left out moves a sum by at most the row's own
    length. `owner` counts rows and cells for the owner's eyes. `used` is the sum of all rows' squared
    weights (1 each without patients).

    All of it is private except the schema, the sizes, how patients were assigned (`assignment`) and how the
    rows of one count.
    """

    raw: Raw = field(repr=False)
    schema: Schema
    owner: OwnerCounts = field(repr=False)
    sizes: tuple[int, ...]
    assignment: str
    held: Rows = field(repr=False)
    used: float = field(repr=False)
    counting: Counting | None = None  # of a patient's rows; None where no column names the patients

    @property
    def identity(self) -> TableIdentity:
        return TableIdentity(self.raw.key, self.schema, self.assignment, self.sizes, self.counting)

    @property
    def n(self) -> int:
        """Return the number of patients, including those without a usable row."""
        return sum(self.sizes)

    @property
    def usable(self) -> int:
        """Return how many patients the rows that are used make up, which is private."""
        # Rounded, since weights are less by a factor of 1 + 1e-12 (`patients.row_weights`).
        return int(self.used + 0.5 + 1e-6)

    @property
    def d(self) -> int:
        return self.schema.d

    @property
    def parts(self) -> list[Part]:
        """Return the rows that each hospital hands in for a release, clipped and divided by the bound.

        Patients who are left out are rows of zeros at the end or, where patients are named, only counted.
        """
        return self._parts(self.held.rows)

    @property
    def encoded_parts(self) -> list[Part]:
        """Return what `parts` does of rows as they were encoded, for a release that fits their bound."""
        return self._parts(self.held.encoded)

    def _parts(self, rows: Array) -> list[Part]:
        """Return these rows, (m, d), by hospital, with their patients where a column names them."""
        groups, weights = self.held.by_hospital, self.held.weights
        if weights is not None:
            means = self.held.of_mean
            return [
                PatientRows(rows[group], weights[group], size, None if means is None else means[group])
                for group, size in zip(groups, self.sizes, strict=True)
            ]
        return [
            np.concatenate([rows[group], np.zeros((size - len(group), self.d))])
            for group, size in zip(groups, self.sizes, strict=True)
        ]

    @property
    def averaged(self) -> bool:
        return self.held.weights is not None

    @property
    def public(self) -> dict[str, Any]:
        """Return what a release publishes of the table beside its sizes.

        The dictionary without words that the owner mapped, how patients were assigned to hospitals, and how
        the rows of one patient count.
        """
        public = {"dictionary": json.loads(self.schema.published.to_json()), "dealt": self.assignment}
        if isinstance(self.counting, int):
            kept = {"rows kept of a patient": self.counting}
            return public | kept | {"rows of a patient": f"at most {self.counting}"}
        return public if self.counting is None else public | {"rows of a patient": self.counting}


def prepare(
    raw: Raw,
    schema: Schema,
    hospital_column: str | None,
    hospitals: int,
    patient_column: str | None = None,
    counting: Counting = AVERAGED,
) -> PreparedTable:
    """Prepare a table for a release. Raises ValueError with one sentence where it does not fit.

    hospital_column, hospitals: as for `patients.assign`. patient_column: names the patients, who count once.
    counting: how the rows of one of them count: AVERAGED, MERGED, or at most so many of the usable ones, the
    first of the table.
    """
    most = counting if isinstance(counting, int) else None
    if most is None:
        checks.one_of((AVERAGED, MERGED), counting=counting)
    else:
        checks.whole(1, counting=most)
    numbers = patients.patient_of_each_row(raw, patient_column, schema)
    merged = patient_column is not None and counting == MERGED
    if merged:
        encoded = _merge(schema, raw, numbers)
    else:
        encoded = encode(schema, raw.table, raw.marks, blank=raw.blank)
    if len(encoded.rows) < 2:
        raise ValueError(TOO_FEW if merged or patient_column is None else TOO_FEW + OR_MERGED)
    of_patient, sizes, assignment = patients.assign(raw, numbers, hospital_column, hospitals)
    rows, kept, weights, of_mean = encoded.rows, encoded.kept, None, None
    if merged:
        kept = np.zeros(raw.n, dtype=bool)
        kept[patients.first_rows(numbers)[encoded.kept]] = True
        weights = np.ones((len(rows), 1))
    elif patient_column is not None:
        if most is not None:
            first = patients.are_among_first(numbers[kept], most)
            rows, kept = rows[first], kept.copy()  # the mask is that of `encoded`
            kept[kept] = first
        # For each row, how many rows of its patient count.
        counted = np.bincount(numbers[kept])[numbers[kept]]
        weights = patients.row_weights(counted, most)
        # With `most` in place of their number of rows, patients with fewer would pull a mean to 0.
        of_mean = None if most is None else patients.row_weights(counted)
    hospital_of_row = of_patient[numbers[kept]]
    groups = tuple(np.flatnonzero(hospital_of_row == i) for i in range(len(sizes)))
    held = Rows(rows, moments.clip_rows(rows, schema.bound), kept, groups, weights, of_mean)
    used = float(len(rows) if weights is None else np.square(weights).sum())
    stated = None if patient_column is None else counting
    return PreparedTable(raw, schema, encoded.owner, sizes, assignment, held, used, stated)
