"""The form and columns of an opened file, before its rows are read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dppca_core.tables import limits

NO_ROWS = "The file has names but no rows."


@dataclass(frozen=True, eq=False)
class Layout:
    """Hold what is known of an opened file, and how to read its rows.

    form: the kind of file, such as "CSV", for the screen. names: of the columns that are read. rows: how many
    there are, None where only reading tells. batches: yields the rows once, each column as float64 or text
    (`cells.as_numbers_or_text`). unnamed: positions (from 1) of columns that are left out because they have
    no name, as row numbers have none. decimal_comma: whether 1,5 is one and a half. unpacked: the most bytes
    of a Parquet file that are held to read a batch; 0 for other forms.
    """

    form: str
    names: tuple[str, ...]
    rows: int | None
    batches: Callable[[], Iterator[pa.RecordBatch]]
    unnamed: tuple[int, ...] = ()
    decimal_comma: bool = False
    unpacked: int = 0


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
