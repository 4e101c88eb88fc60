"""Whether a table fits into what memory the server has left: said before it is read. No Streamlit here."""

from __future__ import annotations

from pathlib import Path

from dppca_core.tables import files, limits

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")  # a container's own limit
_SPARE_BYTES = 256 * 2**20  # for everybody's pages
_CELL_BYTES = 42  # as text, as a number, encoded, clipped: 39 at the peak of a CSV with one digit each
_BATCH_BYTES = 64 * 2**20  # what reading in pieces holds beside the file


def check(data: bytes, encoding: str, left: int | None) -> None:
    """Raises ValueError, with one sentence, for a file whose table would not fit into so many bytes.

    left: None where it is not known.
    """
    needed = needs(data, encoding)
    if left is not None and needed > left - _SPARE_BYTES:
        most = max(left - _SPARE_BYTES, 0)
        raise ValueError(
            f"Reading this table takes about {_megabytes(needed)}, and the server has {_megabytes(most)} "
            "left for tables: try again once other visitors have finished, or keep the columns that matter."
        )


def needs(data: bytes, encoding: str) -> int:
    """Bytes that reading a file takes at most, beside the file itself; by its head, without reading it.

    Raises ValueError for what is no table.
    """
    with files.opened(data, encoding) as layout:
        rows, columns = layout.rows, len(layout.names)
    pieces = len(data) > limits.MOST_BYTES
    if rows is not None:
        pieces = pieces or rows > limits.MOST_ROWS or rows * columns > limits.MOST_CELLS
    if pieces:
        return _BATCH_BYTES
    text = 0 if rows is not None else len(data)
    cells = (data.count(b"\n") if rows is None else rows) * columns
    return text + min(cells, limits.MOST_CELLS) * _CELL_BYTES


def available() -> int | None:
    """Bytes of memory that can still be had, of the machine and of this container; None where not told."""
    found = []
    try:
        words = dict(line.split(":", 1) for line in _MEMINFO.read_text(encoding="ascii").splitlines())
        found.append(1024 * int(words["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):
        pass
    try:
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        found.append(int((_GROUP / "memory.max").read_text(encoding="ascii")) - used)
    except (OSError, ValueError):  # no group, or "max"
        pass
    return min(found, default=None)


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB"
