"""A table too large to hold: its columns are known at once, its rows only as sums. No Streamlit here."""

from __future__ import annotations

from dataclasses import dataclass, field

from dppca_core.tables import files, limits


@dataclass(frozen=True, eq=False)
class LargeTable:
    """Hold the file as it was uploaded.

    `n`, its rows, is None where the file does not state it. `key` and `former_key` are those of
    `tables.content_keys_of_file`, known once the file was read. Kinds and constants
    cannot be known without reading: all columns count as numbers until the owner says otherwise.
    """

    name: str
    form: str
    columns: tuple[str, ...]
    n: int | None
    encoding: str
    data: bytes = field(repr=False)
    unnamed: tuple[int, ...] = ()
    key: str = ""
    former_key: str | None = None
    constant: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[str, str]:
        """Return "number" for each column."""
        return dict.fromkeys(self.columns, "number")


def in_pieces(size: int, rows: int, columns: int) -> bool:
    """Return whether a file of so many bytes, which states so many rows, is read in pieces."""
    return size > limits.MOST_BYTES or rows > limits.MOST_ROWS or rows * columns > limits.MOST_CELLS


def open_large(data: bytes, name: str, encoding: str) -> LargeTable | None:
    """Return the table if it is larger than `tables.read` holds. Raise ValueError for a file that is none."""
    with files.opened(data, encoding) as layout:
        if not in_pieces(len(data), layout.rows or 0, len(layout.names)):
            return None
        return LargeTable(name, layout.form, layout.names, layout.rows, encoding, data, layout.unnamed)
