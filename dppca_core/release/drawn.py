"""What a release that was paid for has drawn so far, kept so that nothing is drawn twice.

A release draws in named steps: each round, each moment. A step is written down before its noise is used, so
that a release which was interrupted goes on where it stopped, from the same numbers. A step whose noise was
drawn but not written down was seen by nobody, and is drawn again.

On disk it is a file beside the ledger, ID.drawn.jsonl, with the id of the entry that paid. Its first line
says what was asked; each other line is a step. It holds what the release would publish, and no row.

Each line is encrypted (`sealing`) under a key that follows from the folder's secret and the entry's id, with
its number, so that no line can be moved. ID.drawn.used has a byte for each line that was written: a file that
was cut afterwards is refused, since its steps may have been seen, and must not be drawn again. Lines of an
earlier version are plain, without that file; they are read, and the next is encrypted. The byte tells which
were plain then: no other plain line is read. Whoever puts former copies of both files back is not noticed.
"""

import base64
import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.release import journal, sealing
from dppca_core.release.lines import Lines, LinesInMemory

_PLAIN_LINE = b"p"  # of a line that an earlier version wrote
_NO_LONGER_KEPT = "this release was downloaded, and is no longer kept"


class Drawn(Lines):
    """Keep the draws of one paid release: its first line is what was asked (plain JSON), the others steps."""

    @property
    def asked(self) -> dict[str, Any]:
        """Return what was asked when it was paid for. Raises ValueError where it is no longer kept."""
        lines = self._lines()
        if not lines:
            raise ValueError(_NO_LONGER_KEPT)
        return lines[0]

    def once(self, step: str, draw: Callable[[], Array]) -> Array:
        """Return the numbers of a step: those that were kept or, the first time, those of `draw`, now kept.

        Only one caller at a time gets here, of all threads and processes: two that resume the same release
        get the same numbers.
        Raises what `draw` raises, ValueError where the release is no longer kept, and OSError where the disk
        refuses: then nothing of the step is kept.
        """
        with self.exclusive():
            for line in self._lines()[1:]:  # the first says what was asked
                if line["step"] == step:
                    return np.array(line["values"], dtype=float).reshape(line["shape"])
            values = np.asarray(draw(), dtype=float)
            self._append({"step": step, "shape": list(values.shape), "values": values.ravel().tolist()})
            return values


class DrawnInMemory(LinesInMemory, Drawn):
    """Keep the steps for one visitor, until the session ends."""

    def __init__(self, asked: dict[str, Any]) -> None:
        """Begin with what was asked, in plain JSON, as the first line."""
        super().__init__()
        self._append(asked)


class DrawnOnDisk(Drawn):
    """Keep the steps in a file, encrypted. Methods raise ValueError where it was damaged or moved.

    `_used` is the file beside it that has a byte for each line that was ever written: "p" for a plain line of
    an earlier version, "." for an encrypted one.
    """

    def __init__(self, path: Path) -> None:
        """Keep the steps in this file, which `begin` writes first."""
        self._path, self._used = path, path.with_suffix(".used")

    def begin(self, asked: dict[str, Any]) -> None:
        """Write the first line, what is asked."""
        self._append(asked)

    def forget(self) -> None:
        """Drop the file of steps, and the one that counts its lines."""
        self._path.unlink(missing_ok=True)
        self._used.unlink(missing_ok=True)

    @cached_property
    def _seal(self) -> sealing.Seal:
        """Return what encrypts lines: its key, for this file alone, follows from the folder's secret."""
        return sealing.Seal(sealing.folder_secret(self._path.parent), f"drawn {self._path.name}")

    def _lines(self) -> list[dict[str, Any]]:
        """Return all lines, decrypted. Raises ValueError where lines are missing or were changed or moved."""
        # Read the bytes first: another process may append meanwhile, and it writes its byte after its line.
        used = self._used.read_bytes() if self._used.exists() else b""
        written = journal.read(self._path)
        if len(written) < len(used) and self._path.exists():  # else it was forgotten meanwhile
            raise ValueError(f"{self._path.name} was cut: restore it first, nothing of it is drawn again")
        lines: list[dict[str, Any]] = []
        # Plain lines are read only before the first encrypted one, and only where an earlier version wrote
        # them: a plain line in the place of an encrypted one was put there by somebody else.
        encrypted = False
        for number, line in enumerate(written, 1):
            if "sealed" in line or (used and used[number - 1 : number] != _PLAIN_LINE):
                encrypted = True
            lines.append(self._opened(number, line) if encrypted else line)
        return lines

    def _opened(self, number: int, line: dict[str, Any]) -> dict[str, Any]:
        """Return an encrypted line, decrypted; its number, from 1, is part of what was encrypted."""
        try:
            sealed = base64.b64decode(line["sealed"], validate=True)
            opened: dict[str, Any] = json.loads(self._seal.open(sealed, f"line {number}"))
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"line {number} of {self._path.name} cannot be opened: it was changed or moved, or the "
                "folder's secret is another. Restore them first"
            ) from None
        return opened

    def _append(self, *lines: dict[str, Any]) -> None:
        """Encrypt lines, each with its number, append them, and note that they were written."""
        sealed = []
        for number, line in enumerate(lines, len(self._lines()) + 1):
            plain = json.dumps(line, separators=(",", ":"), allow_nan=False).encode()
            text = base64.b64encode(self._seal.close(plain, f"line {number}")).decode()
            sealed.append({"sealed": text})
        journal.append(self._path, *sealed)
        # Add a byte for every line that has none: these, and any before a crash or of an earlier version.
        with journal.open_private(self._used, "a") as file:
            kinds = (b"." if "sealed" in line else _PLAIN_LINE for line in journal.read(self._path))
            # The position of the end is the number of bytes that are there.
            journal.write(file, b"".join(kinds)[file.seek(0, 2) :])

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock of the steps, on which others wait. Raises ValueError once they are forgotten."""
        # Lock the file of steps itself: a lock file would stay behind when the release is forgotten.
        try:
            file = self._path.open("r+b")
        except FileNotFoundError:
            raise ValueError(_NO_LONGER_KEPT) from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not self._path.exists():  # it was forgotten while this caller waited for the lock
                raise ValueError(_NO_LONGER_KEPT)
            yield
