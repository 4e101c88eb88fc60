"""Lists of JSON lines that only grow: those of a ledger, of cohorts, and of what a release has drawn.

Subclasses keep them in memory or in a file, with `_lines`, `_append` and `exclusive` as said here.
"""

import threading
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

Line = dict[str, Any]


class Lines(ABC):
    """Keep lines in order, of which one writer at a time appends some."""

    @abstractmethod
    def _lines(self) -> list[Line]:
        """Return all lines so far."""

    @abstractmethod
    def _append(self, *lines: Line) -> None:
        """Append lines: all of them or, where one cannot be written, none; the caller is in `exclusive`."""

    @abstractmethod
    def exclusive(self) -> AbstractContextManager[Any]:
        """Return a lock as a context: inside it nobody else writes. It cannot be entered twice at once."""


class LinesInMemory(Lines):
    """Keep lines for one visitor, until the session ends."""

    def __init__(self) -> None:
        """Begin with no lines."""
        self._kept: list[Line] = []
        self._lock = threading.Lock()

    def _lines(self) -> list[Line]:
        return list(self._kept)

    def _append(self, *lines: Line) -> None:
        self._kept.extend(lines)

    def exclusive(self) -> AbstractContextManager[Any]:
        return self._lock
