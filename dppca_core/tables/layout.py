"""The form and columns of an opened file, and its patients: rows with a cell in at least one column.

A blank row has no cell in any named column of the file: each is missing by the rule of `cells`, before any
dictionary. Spreadsheets write such lines below a table. A blank row is no patient and is left out before
anything is counted. Any other row stays, even if the dictionary can use none of its cells: it becomes zeros.

Why this costs no privacy. The guarantee is about tables of patients, and a neighbour has one patient
replaced, or one more or less. Here a patient is a row that is not blank. Whether a row is blank depends on
that row alone. So leaving blank rows out turns any file into the table of its patients, on which every
sensitivity is proved, and files that differ in one patient into tables that differ in one patient. No sum
changes, since a blank row would have been zeros. The public n says how many rows hold any cell at all. It
does not say which cells, since a patient with one cell counts as a patient with all of them does. What n
would tell of a row that may be blank or not is not protected, but no patient is behind a blank row: it names
nobody and says nothing. The rule must not depend on the dictionary or on the chosen columns. Else n, which is
public, would tell of a patient's cells in these.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from dppca_core.tables import limits
from dppca_core.tables.cells import Mask

NO_ROWS = "The file has names but no rows."


class FileBatch(NamedTuple):
    """Hold consecutive rows of a file.

    rows: without those that are left out. blank: which of the file's rows are left out, (m,).
    """

    rows: pa.RecordBatch
    blank: Mask


@dataclass(frozen=True, eq=False)
class Layout:
    """Hold what is known of an opened file, and how to read its rows.

    form: the kind of file, such as "CSV", for the screen. names: of the columns that are read. rows: how many
    there are, blank ones included; None where only reading tells. all_rows: yields the rows once, each column
    as float64 or text (`cells.as_numbers_or_text`), with which of them are blank (see the module).
    unnamed: positions (from 1) of columns that are left out because they have no name, as row numbers have
    none. decimal_comma: whether 1,5 is one and a half. unpacked: the most bytes of a Parquet file that are
    held to read a batch; 0 for other forms.
    """

    form: str
    names: tuple[str, ...]
    rows: int | None
    all_rows: Callable[[], Iterator[tuple[pa.RecordBatch, Mask]]]
    unnamed: tuple[int, ...] = ()
    decimal_comma: bool = False
    unpacked: int = 0

    def batches(self, most_rows: int | None = None, keep_blank: bool = False) -> Iterator[FileBatch]:
        """Yield the rows once, in order, at most so many of the file at a time, without the blank ones.

        A batch can have no row left. keep_blank: leaves no row out.
        """
        for batch, blank in self.all_rows():
            left_out = blank & (not keep_blank)
            step = most_rows or max(batch.num_rows, 1)
            for begin in range(0, batch.num_rows, step):
                rows, here = batch.slice(begin, step), left_out[begin : begin + step]
                yield FileBatch(rows.filter(pa.array(~here)) if here.any() else rows, here)


def check_names(names: Sequence[str]) -> None:
    """Raise ValueError unless there are enough columns, not too many, and their names are usable and differ.

    The messages name a column by its position and quote no name: where the line of names was forgotten, the
    first line is a patient's.
    """
    if len(names) > limits.MOST_COLUMNS:
        raise ValueError(
            f"The file has {len(names):,} columns, and at most {limits.MOST_COLUMNS:,} can be read: keep "
            "those that the literature or a code book names, and choose none by looking at these rows."
        )
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if len(name) > limits.MOST_NAME or "\n" in name or "\r" in name:
            raise ValueError(
                f"The name of column {position} is longer than {limits.MOST_NAME} letters or holds a line "
                "break: is a quotation mark not closed?"
            )
        if not name.isprintable():
            raise ValueError(
                f"The name of column {position} holds a character that cannot be printed: type it anew."
            )
        if name and name in first:
            raise ValueError(f"Columns {first[name]} and {position} have the same name: rename one.")
        first[name] = position
    if len(first) - ("" in first) < 2:  # columns without a name do not count
        raise ValueError(
            "The file has one named column only: components need at least two, separated by commas, "
            "semicolons, tabs or bars."
        )


def select_columns(
    names: Sequence[str], columns: Sequence[str] | None
) -> tuple[dict[str, int], tuple[int, ...]]:
    """Return the position (from 0) of each wanted column by its name, and those (from 1) without a name.

    names: of all columns of the file, "" for one without. columns: the wanted ones, None for all. Raises
    ValueError for a wanted column that the file does not have.
    """
    named = {name: position for position, name in enumerate(names) if name}
    if absent := [name for name in columns or () if name not in named]:
        raise ValueError(f"The file has no column '{absent[0]}'.")
    unnamed = tuple(position for position, name in enumerate(names, 1) if not name)
    return {name: named[name] for name in (named if columns is None else columns)}, unnamed
