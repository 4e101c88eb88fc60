"""Read a whole table from a file, into memory and nowhere else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dppca_core.tables import cells, content, files, limits
from dppca_core.tables.layout import NO_ROWS, Layout

_CELLS_AT_ONCE = 2**16  # that are turned into numbers: those of many short columns, or of one long one


@dataclass(frozen=True, eq=False)
class Raw:
    """Hold a table as it was uploaded: private, all of it but its column names.

    name: that of the file, for the screen. form: the kind of file, such as "CSV". table: columns of float64
    or text, null where missing. unnamed: positions (from 1) of columns left out because they have no name.
    decimal_comma: whether 1,5 is one and a half in columns of text, which keep their commas. blank: which of
    the file's rows are blank and left out, as they are no patients (`layout`). Printing it shows no cells.
    """

    name: str
    form: str
    table: pa.Table = field(repr=False)
    unnamed: tuple[int, ...] = ()
    decimal_comma: bool = False
    blank: cells.Mask = field(repr=False, default_factory=lambda: np.zeros(0, dtype=bool))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the names, in the file's order."""
        return tuple(self.table.column_names)

    @property
    def n(self) -> int:
        """Return the number of rows, of which the dictionary may drop some; blank ones are not counted."""
        return int(self.table.num_rows)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Return what each column seems to hold, "number", "text" or "date", to suggest it on screen.

        It is computed from private cells, so it is for the table's owner only.
        """
        return {name: cells.kind_of(self.table[name], self.decimal_comma) for name in self.columns}

    @cached_property
    def constant(self) -> tuple[str, ...]:
        """Return the columns whose cells all agree or are all missing, so that they say nothing of a patient.

        It is computed from private cells, so it is for the table's owner only.
        """
        return tuple(name for name in self.columns if _constant(self.table[name]))

    @cached_property
    def keys(self) -> content.Keys:
        """Return the keys by which this table's ledger of spent privacy is found (`content`)."""
        return content.content_keys(self.table)

    @property
    def key(self) -> str:
        """Return the key under which the table's ledger is kept now."""
        return self.keys.key

    @property
    def former_keys(self) -> tuple[str, ...]:
        """Return the keys under which earlier versions of this program kept the ledger, oldest first."""
        return self.keys.former


def read(
    source: files.Source,
    name: str,
    encoding: str = "utf-8",
    check_texts: Callable[[int], None] | None = None,
    to_score: bool = False,
) -> Raw:
    """Return a CSV, TSV or Parquet table, whole; its form follows from its bytes, `name` is only kept.

    encoding: "utf-8" or "windows-1252", of a text file without a byte order mark. check_texts(bytes of text
    so far) is called after each batch, so that the caller can refuse a table for which memory is short; what
    it raises stops the reading. How much text a Parquet file holds is known only then. to_score: the rows are
    scored by a release and are no patients of one: then a single row will do, and blank rows stay in their
    places. Raises ValueError with one sentence, which quotes no cell, for a file that is too large or no
    table with two columns and two rows.
    """
    size = files.size_of(source)
    with files.opened(source, encoding) as layout:
        most = limits.most_bytes(len(layout.names))
        if size > most:
            raise ValueError(
                f"The file has {size / 2**20:,.0f} MB, and at most {most / 2**20:,.0f} MB can be opened "
                "here: keep the columns that matter, or reduce it by a script in pieces."
            )
        return _read(layout, name, check_texts, to_score)


def from_frame(frame: pd.DataFrame, name: str) -> Raw:
    """Return a data frame as an uploaded table of this name. Raises ValueError as `read` does."""
    table = cells.from_frame(frame)

    def all_rows() -> Iterator[tuple[pa.RecordBatch, cells.Mask]]:
        """Yield the frame's rows, with which of them are blank."""
        for batch in table.to_batches():
            yield batch, cells.blank_rows(batch.columns)

    return _read(Layout("data frame", tuple(table.column_names), table.num_rows, all_rows), name)


def _read(
    layout: Layout, name: str, check_texts: Callable[[int], None] | None = None, to_score: bool = False
) -> Raw:
    """Return all batches of an opened file as one table; the arguments and errors are those of `read`."""
    # A text file does not state its number of rows: then it is checked as rows are read.
    _check_fits(layout.rows or 0, len(layout.names))
    held: dict[str, list[pa.Array]] = {column: [] for column in layout.names}
    blank: list[cells.Mask] = []
    rows, text_size = 0, 0
    for batch, left_out in layout.batches(keep_blank=to_score):
        rows += batch.num_rows
        blank.append(left_out)
        _check_fits(rows, len(layout.names))
        for column, chunk in zip(layout.names, batch.columns, strict=True):
            held[column].append(chunk)
            text_size += cells.text_bytes(chunk)
        if text_size > limits.MOST_TABLE_TEXT_BYTES:
            raise ValueError(
                "The file holds more text than can be opened here: keep the columns that matter."
            )
        if check_texts is not None:
            check_texts(text_size)
    if rows == 0:
        raise ValueError(NO_ROWS)
    if rows < limits.FEWEST_ROWS and not to_score:
        raise ValueError(f"The file has one row only: at least {limits.FEWEST_ROWS} patients are needed.")
    columns: list[pa.Array] = []
    step = max(1, _CELLS_AT_ONCE // rows)
    for begin in range(0, len(layout.names), step):
        # Taken out of `held`, so that only these columns are in memory twice.
        chunks = [held.pop(column) for column in layout.names[begin : begin + step]]
        columns += cells.canonical_columns(chunks, rows, layout.decimal_comma)
    table = pa.table(columns, names=list(layout.names))
    return Raw(name, layout.form, table, layout.unnamed, layout.decimal_comma, np.concatenate(blank))


def _constant(column: Any) -> bool:
    """Return whether all cells that are not missing agree, or there are none.

    The least and the greatest cell decide it, without a set of all cells in memory.
    """
    ends = pc.min_max(column)  # it leaves out missing cells; both ends are null where there are no others
    return bool(ends["min"] == ends["max"])


def _check_fits(rows: int, columns: int) -> None:
    """Raise ValueError for a table with too many rows or cells to be held in memory."""
    if rows > limits.MOST_ROWS:
        raise ValueError(
            f"The file has more than {limits.MOST_ROWS:,} rows, more than can be opened here: reduce "
            "it by a script in pieces."
        )
    if rows * columns > limits.MOST_CELLS:
        raise ValueError(
            f"The file has more than {limits.MOST_CELLS:,} cells, more than can be opened here: keep "
            "the columns that matter, or reduce it by a script in pieces."
        )
