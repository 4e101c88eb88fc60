"""A table too large to hold: its columns at once, its rows only as sums. No Streamlit here."""

from __future__ import annotations

from dataclasses import dataclass, field

from dppca_core.tables import files, limits


@dataclass(frozen=True, eq=False)
class LargeTable:
    """The file as it was uploaded. rows: where it tells. key, former_key: `tables.content_keys_of_file`, once
    it was read.

    What `tables.Raw` knows of cells, kinds and constants, it cannot know without reading: all columns count
    as numbers until somebody says otherwise.
    """

    name: str
    form: str
    columns: tuple[str, ...]
    rows: int | None
    encoding: str
    data: bytes = field(repr=False)
    unnamed: tuple[int, ...] = ()
    key: str = ""
    former_key: str | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """ "number" of each column."""
        return dict.fromkeys(self.columns, "number")

    @property
    def constant(self) -> tuple[str, ...]:
        """None that is known."""
        return ()


def in_pieces(size: int, rows: int, columns: int) -> bool:
    """Whether a file of so many bytes, and so many rows as it tells, is read in pieces."""
    return size > limits.MOST_BYTES or rows > limits.MOST_ROWS or rows * columns > limits.MOST_CELLS


def open_large(data: bytes, name: str, encoding: str) -> LargeTable | None:
    """The file, if it is larger than `tables.read` holds. Raises ValueError for what is no table."""
    with files.opened(data, encoding) as layout:
        if not in_pieces(len(data), layout.rows or 0, len(layout.names)):
            return None
        return LargeTable(name, layout.form, layout.names, layout.rows, encoding, data, layout.unnamed)
