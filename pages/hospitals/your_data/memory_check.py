"""Refuse a table that does not fit into the memory that is left, before it is read. No Streamlit here."""

from dppca_core.tables.read import sizes
from pages.shared.background.memory import SPARE_BYTES, megabytes

_CELL_BYTES = 34  # as text, as a number, encoded and clipped, beside the letters of the text
_TEXTS = 3  # copies of a file's bytes: decoded, as texts, and while these are trimmed
_ROW_BYTES = 48  # hashed for the account and assigned to hospitals


def check(data: bytes, left: int | None) -> None:
    """Raise ValueError, with one sentence, for a file whose table would not fit into the memory left.

    left: in bytes, None where it is not known; then nothing is refused.
    """
    needed = needs(data)
    if left is not None and needed > left - SPARE_BYTES:
        room = megabytes(max(left - SPARE_BYTES, 0))
        raise ValueError(
            f"Reading this table takes about {megabytes(needed)}, and the server has {room} left for tables: "
            "try again once other visitors have finished, or keep the columns that matter."
        )


def needs(data: bytes) -> int:
    """Return the bytes that reading a file takes at most, beside the file itself, without reading it.

    Raises ValueError for what is no table, and for one that is too large.
    """
    stated = sizes(data)
    return _TEXTS * stated.bytes + _CELL_BYTES * stated.cells + _ROW_BYTES * stated.rows
