"""Encode a table's cells as rows of numbers by a public schema, and count what only its owner may know."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dppca_core.arrays import Array, Indices
from dppca_core.tables import answers, cells
from dppca_core.tables.dictionary import Column, Schema


@dataclass(frozen=True)
class OwnerCounts:
    """Count one table's rows and cells. No noise protects these counts: for its owner, never for a release.

    rows: all that were read but blank ones. dropped: rows left out for a missing cell. filled: missing cells
    of kept rows in whose place a constant stands. outside: for each chosen column, cells of kept rows beyond
    their range or none of their categories. missing: for each chosen column, missing cells of all rows, those
    that a missing code marks included. clipped: kept rows whose norm is above the bound. blank: blank rows of
    the file, which are no patients (`read`). The counts of two parts of a table can be added.
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
        """Return the counts of no rows."""
        none = (0,) * len(schema.columns)
        return OwnerCounts(rows=0, dropped=0, filled=0, outside=none, missing=none, clipped=0)

    @property
    def kept(self) -> int:
        """Return how many rows are used."""
        return self.rows - self.dropped

    @property
    def clipped_share(self) -> float:
        """Return the share of the kept rows that the bound shortens."""
        return self.clipped / max(self.kept, 1)

    def __add__(self, other: OwnerCounts) -> OwnerCounts:
        """Return the counts of two parts of a table together."""
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

    kept: True for each of the table's rows, (n,), that is among the m. owner: for the table's owner alone.
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

    The formulas are in `dppca_core.tables.dictionary`. marks: how numbers in text are written where the
    dictionary does not say; a table that was read knows it (`Raw`). before: how many rows of the file precede
    these, so that an error names a row by its number in the file. blank: which rows of the file, at this
    place, were left out as blank; None: no row was. Raises ValueError, whose text quotes no cell, for a
    chosen column that is not there, or for text in a column of numbers.
    """
    positions = {name: position for position, name in enumerate(table.schema.names)}
    for column in schema.columns:
        if column.name not in positions:
            raise ValueError(f"The table has no column '{column.name}'.")
    n: int = table.num_rows
    rows, kept = np.empty((n, schema.d)), np.ones(n, dtype=bool)
    # The place of each row in the file, from 1.
    places = before + 1 + (np.arange(n) if blank is None else np.flatnonzero(~blank))
    # How many cells of each row were filled in; which cells of each column are out of range, and how many of
    # it are missing.
    filled, outside, absent = np.zeros(n, dtype=np.intp), [], []
    begin = 0  # the first encoded column of the next column, which writes into its part of `rows`
    for column in schema.columns:
        part = rows[:, begin : (begin := begin + len(column.features))]
        column_cells = cells.as_numbers_or_text(table.column(positions[column.name]), column.name)
        stated = column.marks or marks
        if column.kind == "number":
            missing, beyond = _numbers(column, column_cells, stated, places, part)
        else:
            missing, beyond = _categories(column, column_cells, stated, part)
        outside.append(beyond)
        absent.append(int(missing.sum()))
        if column.fill is None:  # nothing stands for a missing cell, so its row is dropped
            kept &= ~missing
        else:
            filled += missing
    if not kept.all():
        rows = rows[kept]
    owner = OwnerCounts(
        rows=n,
        dropped=int(n - kept.sum()),
        filled=int(filled[kept].sum()),
        outside=tuple(int(beyond[kept].sum()) for beyond in outside),
        missing=tuple(absent),
        clipped=int((np.sqrt(np.einsum("ij,ij->i", rows, rows)) > schema.bound).sum()),
        blank=0 if blank is None else int(blank.sum()),
    )
    return Encoded(rows, kept, owner)


def _numbers(
    column: Column, column_cells: pa.Array, marks: cells.Marks | None, places: Indices, part: Array
) -> tuple[cells.Mask, cells.Mask]:
    """Write a column's encoded numbers to `part`, (n, 1); return which cells are missing, which out of range.

    column_cells: as `cells.as_numbers_or_text` gives them. places: of the rows in the file, from 1, (n,).
    """
    values, missing, unread = answers.numbers(column_cells, column.missing_codes, marks, column.synonyms)
    if unread.any():
        others, what = int(unread.sum()) - 1, _what_instead(column_cells, unread)
        raise ValueError(
            f"Column '{column.name}' holds no number in row {places[np.argmax(unread)]:,}"
            f"{f' and {others:,} more' if others else ''}, {what}"
        )
    if column.fill is not None:
        values[missing] = float(column.fill)
    beyond = (values < column.low) | (values > column.high)
    np.clip(values, column.low, column.high, out=values)
    # The division may round past the encoded ends. Without a usual value the origin is the middle of the
    # range, so these ends are -1 and 1 exactly.
    least, most = ((end - column.origin) / column.half for end in (column.low, column.high))
    if column.usual is None:
        least, most = -1.0, 1.0
    np.clip((values - column.origin) / column.half, least, most, out=part[:, 0])
    return missing, beyond


def _what_instead(column_cells: pa.Array, unread: cells.Mask) -> str:
    """Return the end of the error: what a column holds instead of numbers, and what to do about it.

    unread: which of its cells are neither a number nor missing.
    """
    if cells.unclear(column_cells.slice(int(np.argmax(unread)), 1)).any():
        return "but a mark of thousands or of decimals: say which under 'numbers as' in the dictionary."
    if cells.kind_of(column_cells) == "date":
        return "but a date: turn them into numbers, such as an age or days since."
    return (
        "but text, or other marks in a number: choose them under 'numbers as', make its word a missing code, "
        "leave the column out, or make it a category."
    )


def _categories(
    column: Column, column_cells: pa.Array, marks: cells.Marks | None, part: Array
) -> tuple[cells.Mask, cells.Mask]:
    """Write a column's centred indicators to `part`, (n, c); return which cells are missing, which unknown.

    A cell is unknown if it is none of the categories.
    """
    codes, missing = answers.categories(
        column_cells, column.categories, column.synonyms, column.missing_codes, marks
    )
    if column.fill:  # "" fills with none of the categories, as -1 already does
        codes[missing] = column.categories.index(str(column.fill))
    # Every indicator begins as 0 less its centre; below, that of the answer gets 1 more.
    part[:] = np.negative(column.centres)
    inside = np.flatnonzero(codes >= 0)
    part[inside, codes[inside]] += 1.0
    # A single category is a question of yes or no, so any other answer is a "no" and counts as known.
    return missing, (codes < 0) & ~missing & (len(column.categories) > 1)
