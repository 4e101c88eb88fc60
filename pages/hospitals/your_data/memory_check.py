"""Refuse a table that does not fit into the memory the server has left, before it is read. No Streamlit here.

The functions raise ValueError with one sentence, which the page shows. `left` is how many bytes of memory the
server has left, None where that is not known; then nothing is refused.
"""

from dppca_core.tables import content, files, limits, patients
from pages.shared.background import memory
from pages.shared.background.memory import SPARE_BYTES, megabytes

_CELL_BYTES = 42  # as text, as a number, encoded, clipped: 39 at the peak of a CSV with one digit each
_ROW_BYTES = 48  # hashed for the account and assigned to hospitals
_BATCH_BYTES = 128 * 2**20  # what reading in pieces holds beside the file
_KEPT_ROW_BYTES = 8  # of a table read in pieces: its hash in the former key
_COLUMN_BYTES = 32 * 2**10  # what describes it and reads it, in some fifty batches
_MATRICES = 5  # of a hospital: its moment, its exact sum, and what is added to them
_ADVICE = "try again once other visitors have finished, or keep the columns that matter"


def _check_fits(needed: int, left: int | None, need: str, advice: str) -> None:
    """Raise ValueError where so many bytes do not fit, with a spare for the rest of the server.

    left: how many bytes of memory the server has left, None where that is not known. need: begins the
    sentence with what takes how much. advice: ends it.
    """
    if left is not None and needed > left - SPARE_BYTES:
        room = megabytes(max(left - SPARE_BYTES, 0))
        raise ValueError(f"{need}, and the server has {room} left for tables: {advice}.")


def check(data: bytes, encoding: str, left: int | None) -> None:
    """Raise ValueError, with one sentence, for a file whose table would not fit into the memory left.

    left: in bytes, None where it is not known; then nothing is refused.
    """
    needed = needs(data, encoding)
    _check_fits(needed, left, f"Reading this table takes about {megabytes(needed)}", _ADVICE)


def check_texts(text_bytes: int) -> None:
    """Raise ValueError, with one sentence, where a table with so many bytes of text does not fit now.

    It is called again and again while a table is read, since what is held by then is no longer left. Texts
    are trimmed into a copy, so as many bytes are needed again.
    """
    need = f"The texts of this table take more than {megabytes(text_bytes)} beside what is read of them"
    _check_fits(text_bytes, memory.available(), need, _ADVICE)


def needs(data: bytes, encoding: str) -> int:
    """Return the bytes that reading a file takes at most, beside the file itself, without reading it.

    A Parquet file states its rows; of a text file the line ends are counted. How much text a Parquet file
    holds is counted while it is read (`check_texts`): it does not state how often each text is there.
    Raises ValueError for what is no table, and for more rows than are read even in pieces.
    """
    with files.opened(data, encoding) as layout:
        rows, columns, unpacked = layout.rows, len(layout.names), layout.unpacked
    line_ends = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    lines = 1 + line_ends if rows is None else rows
    check_rows(lines)
    if in_pieces(len(data), rows or 0, columns):
        # Hashes of rows for a former key are held up to so many; of a file that states more rows, none.
        former_hashes = min(lines, content.FORMER_ROWS) if rows is None or rows <= content.FORMER_ROWS else 0
        return _BATCH_BYTES + unpacked + _KEPT_ROW_BYTES * former_hashes + _COLUMN_BYTES * columns
    text_bytes = 0 if rows is not None else len(data)
    cells = min(lines * columns, limits.MOST_CELLS)
    return text_bytes + unpacked + cells * _CELL_BYTES + lines * _ROW_BYTES + columns * _COLUMN_BYTES


def in_pieces(size: int, rows: int, columns: int) -> bool:
    """Return whether a file of so many bytes, which states so many rows, is read in pieces."""
    return size > limits.most_bytes(columns) or rows > limits.MOST_ROWS or rows * columns > limits.MOST_CELLS


def check_rows(rows: int) -> None:
    """Raise ValueError, with one sentence, for more rows than are read even in pieces."""
    if rows > limits.MOST_ROWS_IN_PIECES:
        raise ValueError(
            f"The table has more than {limits.MOST_ROWS_IN_PIECES:,} rows, more than can be read here: split "
            "it into several."
        )


def check_patients(entries: int, left: int | None) -> None:
    """Raise ValueError, with one sentence, where so many entries of patients do not fit.

    entries: how many are merged, one for each patient, or for each of a patient's rows before that. left: the
    bytes of memory left, None where that is not known.
    """
    needed = patients.BYTES_PER_ENTRY * entries
    advice = "try again once other visitors have finished, or state the most rows of a patient instead"
    _check_fits(needed, left, f"Telling the patients apart takes {megabytes(needed)} more", advice)


def check_matrices(d: int, left: int | None) -> None:
    """Raise ValueError, with one sentence, where one more hospital's d x d matrices would not fit.

    left: the bytes of memory left, None where that is not known.
    """
    needed = _MATRICES * 8 * d**2  # 8 bytes a number
    advice = "choose fewer columns, or read the table as of one hospital"
    _check_fits(needed, left, f"One more hospital takes {megabytes(needed)}", advice)
