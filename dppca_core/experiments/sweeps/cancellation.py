"""A sign that a sweep still wants its tasks, which its processes look for between two cells.

A task that a pool has taken over cannot be cancelled from outside. So a sweep keeps an empty file as long as
it wants its tasks, and a worker ends before its next cell where the file is gone.
"""

import os
import tempfile
from contextlib import suppress


class UnwantedError(Exception):
    """The file is gone: nobody waits for this result."""


class Mark:
    """The file. path: empty where none can be written; work then runs to its end."""

    def __init__(self) -> None:
        self.path = ""
        with suppress(OSError):
            handle, self.path = tempfile.mkstemp(prefix="dppca-wanted-")
            os.close(handle)

    def remove(self) -> None:
        """Say that the tasks are not wanted any more."""
        if self.path:
            with suppress(FileNotFoundError):
                os.unlink(self.path)


def check(path: str) -> None:
    """Raise UnwantedError where the file at `path` is gone. Empty: there never was one."""
    if path and not os.path.exists(path):
        raise UnwantedError
