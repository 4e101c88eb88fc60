"""A table's cells as rows of numbers, by a recipe; and what only their owner may know about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dppca_core.arrays import Array
from dppca_core.tables import answers, cells
from dppca_core.tables.schema import Column, Schema


@dataclass(frozen=True)
class OwnerOnly:
    """Count one table's rows and cells. Not private: for its owner's eyes and never for a release.

    rows: read. dropped: for a missing cell. filled: missing cells that a constant stands for, of kept rows.
    outside: for each chosen column, cells of kept rows beyond their range or none of their categories.
    missing: for each chosen column, missing cells of all rows, those that a missing code marks included.
    long: kept rows whose norm is above the bound. Two of them add up.
    """

    rows: int
    dropped: int
    filled: int
    outside: tuple[int, ...]
    missing: tuple[int, ...]
    long: int

    @staticmethod
    def none(schema: Schema) -> OwnerOnly:
        """Return the counts of no rows."""
        none = (0,) * len(schema.columns)
        return OwnerOnly(0, 0, 0, none, none, 0)

    @property
    def kept(self) -> int:
        """Return how many rows are used."""
        return self.rows - self.dropped

    @property
    def clipped_share(self) -> float:
        """Return the share of the kept rows that the bound shortens."""
        return self.long / max(self.kept, 1)

    def __add__(self, other: OwnerOnly) -> OwnerOnly:
        return OwnerOnly(
            self.rows + other.rows,
            self.dropped + other.dropped,
            self.filled + other.filled,
            tuple(a + b for a, b in zip(self.outside, other.outside, strict=True)),
            tuple(a + b for a, b in zip(self.missing, other.missing, strict=True)),
            self.long + other.long,
        )


@dataclass(frozen=True, eq=False)
class Encoded:
    """Hold `rows`, (kept, d), not yet clipped, and which of the table's rows these are."""

    rows: Array = field(repr=False)
    kept: cells.Mask = field(repr=False)
    owner: OwnerOnly = field(repr=False)

    @property
    def whole(self) -> Array:
        """Return a row for each of the table's, (n, d): those that are left out are zeros."""
        if self.kept.all():
            return self.rows
        whole = np.zeros((len(self.kept), self.rows.shape[1]))
        whole[self.kept] = self.rows
        return whole


def encode(
    schema: Schema,
    table: pa.Table | pa.RecordBatch,
    decimal_comma: bool = False,
    before: int = 0,
) -> Encoded:
    """Return the rows of a table, each from its own cells and the schema alone (see its formulas).

    decimal_comma: see `cells.numbers`; that of `Raw` for its table. before: rows of the file before these,
    for what is said of a row. Raises ValueError, without a cell, for a chosen column that is not there, or
    other text in a column of numbers.
    """
    positions = {name: position for position, name in enumerate(table.schema.names)}
    for column in schema.columns:
        if column.name not in positions:
            raise ValueError(f"The table has no column '{column.name}'.")
    n: int = table.num_rows
    rows, kept = np.empty((n, schema.d)), np.ones(n, dtype=bool)
    filled, outside, absent = np.zeros(n, dtype=np.intp), [], []
    begin = 0
    for column in schema.columns:
        part = rows[:, begin : (begin := begin + len(column.features))]
        cell = cells.plain(table.column(positions[column.name]), column.name)
        if column.kind == "number":
            missing, beyond = _numbers(column, cell, decimal_comma, before, part)
        else:
            missing, beyond = _categories(column, cell, decimal_comma, part)
        outside.append(beyond)
        absent.append(int(missing.sum()))
        if column.fill is None:
            kept &= ~missing
        else:
            filled += missing
    if not kept.all():
        rows = rows[kept]
    owner = OwnerOnly(
        n,
        int(n - kept.sum()),
        int(filled[kept].sum()),
        tuple(int(beyond[kept].sum()) for beyond in outside),
        tuple(absent),
        int((np.sqrt(np.einsum("ij,ij->i", rows, rows)) > schema.bound).sum()),
    )
    return Encoded(rows, kept, owner)


def _numbers(
    column: Column, cell: pa.Array, decimal_comma: bool, before: int, part: Array
) -> tuple[cells.Mask, cells.Mask]:
    """Fill (n, 1) encoded numbers; which are missing, which outside."""
    values, missing, unread = answers.numbers(cell, column.missing_codes, decimal_comma)
    if unread.any():
        others = int(unread.sum()) - 1
        raise ValueError(
            f"Column '{column.name}' holds no number in row {before + int(np.argmax(unread)) + 1:,}"
            f"{f' and {others:,} others' if others else ''}, {_what(cell)}"
        )
    if column.fill is not None:
        values[missing] = float(column.fill)
    beyond = (values < column.low) | (values > column.high)
    np.clip(values, column.low, column.high, out=values)
    # The division may round past the ends, and about the middle these are -1 and 1.
    least, most = ((end - column.origin) / column.half for end in (column.low, column.high))
    if column.usual is None:
        least, most = -1.0, 1.0
    np.clip((values - column.origin) / column.half, least, most, out=part[:, 0])
    return missing, beyond


def _what(cell: pa.Array) -> str:
    if cells.kind_of(cell) == "date":
        return "but a date: turn them into numbers, such as an age or days since."
    return (
        "but text, or commas in a number: make its word a missing code, leave the column out, make it a "
        "category, or mend it."
    )


def _categories(
    column: Column, cell: pa.Array, decimal_comma: bool, part: Array
) -> tuple[cells.Mask, cells.Mask]:
    """Fill (n, c) centred indicators; which are missing, which none of the categories."""
    codes, missing = answers.categories(
        cell, column.categories, column.synonyms, column.missing_codes, decimal_comma
    )
    if column.fill:
        codes[missing] = column.categories.index(str(column.fill))
    part[:] = np.negative(column.centres)
    inside = np.flatnonzero(codes >= 0)
    part[inside, codes[inside]] += 1.0
    # One category is yes or no: another answer is "no", and nothing that the dictionary forgot.
    return missing, (codes < 0) & ~missing & (len(column.categories) > 1)
