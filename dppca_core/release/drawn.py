"""What a release that was paid for has drawn so far, kept so that nothing is drawn twice.

A release draws in named steps: each round, each moment. A step is written down before its noise is used, so
that a release which was interrupted goes on where it stopped, from the same numbers. A step whose noise was
drawn but not written down was seen by nobody, and is drawn again.

On disk it is a file beside the ledger, ID.drawn.jsonl, with the id of the entry that paid. Its first line
says what was asked; each other line is a step. It holds what the release would publish, and no row.
"""

import fcntl
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.release import journal

_GONE = "this release was downloaded, and is no longer kept"


class Drawn(ABC):
    """Keep the steps of one release, and what was asked (plain JSON)."""

    @property
    def asked(self) -> dict[str, Any]:
        """Return what was asked when it was paid for. Raises ValueError where it is no longer kept."""
        lines = self._lines()
        if not lines:
            raise ValueError(_GONE)
        return lines[0]

    def once(self, step: str, draw: Callable[[], Array]) -> Array:
        """Return the numbers of a step: those that were kept, or else those of `draw`, kept from now on.

        One caller at a time, of all threads and processes: two that go on with one release get the same.
        Raises what `draw` raises, ValueError where the release is no longer kept, and OSError where the disk
        refuses: then nothing of the step is kept.
        """
        with self._exclusive():
            for line in self._lines()[1:]:
                if line["step"] == step:
                    return np.array(line["values"], dtype=float).reshape(line["shape"])
            values = np.asarray(draw(), dtype=float)
            self._append({"step": step, "shape": list(values.shape), "values": values.ravel().tolist()})
            return values

    @abstractmethod
    def _lines(self) -> list[dict[str, Any]]:
        """Return what was asked, then all steps."""

    @abstractmethod
    def _append(self, line: dict[str, Any]) -> None:
        """Append a line, which stays."""

    @abstractmethod
    def _exclusive(self) -> AbstractContextManager[Any]:
        """Return a context in which nobody else draws."""


class DrawnInMemory(Drawn):
    """Keep the steps for one visitor, until the session ends."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._kept = [asked]
        self._lock = threading.Lock()

    def _lines(self) -> list[dict[str, Any]]:
        return self._kept

    def _append(self, line: dict[str, Any]) -> None:
        self._kept.append(line)

    def _exclusive(self) -> AbstractContextManager[Any]:
        return self._lock


class DrawnOnDisk(Drawn):
    """Keep the steps in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, asked: dict[str, Any]) -> None:
        """Write down what is asked."""
        self._append(asked)

    def _lines(self) -> list[dict[str, Any]]:
        return journal.read(self._path)

    def _append(self, line: dict[str, Any]) -> None:
        journal.append(self._path, line)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        # The file locks itself: a lock of its own would stay behind when the release is forgotten.
        try:
            file = self._path.open("r+b")
        except FileNotFoundError:
            raise ValueError(_GONE) from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not self._path.exists():
                raise ValueError(_GONE)
            yield
