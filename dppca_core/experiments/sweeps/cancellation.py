"""Cancellation of tasks that run in other processes.

A task that a pool has started cannot be cancelled from outside. So a sweep keeps an empty file as long as it
wants its tasks, and a worker stops before its next cell where the file is gone.
"""

import os
import tempfile
from contextlib import suppress


class UnwantedError(Exception):
    """Nobody waits for this result: the sweep removed its file."""


class CancellationFile:
    """Create and remove the file at `path`; an empty path, where none can be written, cancels nothing."""

    def __init__(self) -> None:
        self.path = ""
        with suppress(OSError):
            handle, self.path = tempfile.mkstemp(prefix="dppca-wanted-")
            os.close(handle)

    def remove(self) -> None:
        """Cancel the tasks."""
        if self.path:
            with suppress(FileNotFoundError):
                os.unlink(self.path)


def check(path: str) -> None:
    """Raise UnwantedError where the file at `path` is gone; an empty path never had one."""
    if path and not os.path.exists(path):
        raise UnwantedError
