"""Cancellation of tasks that run in other processes.

A task that a pool has started cannot be cancelled from outside. So a sweep keeps an empty file as long as it
wants its tasks, and a worker stops before its next cell where the file is gone.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class UnwantedError(Exception):
    """Nobody waits for this result: the sweep removed its file."""


@contextmanager
def cancellation_file() -> Iterator[str]:
    """Yield the path of a file that cancels tasks once it is gone; "" where none can be written."""
    path = ""
    with suppress(OSError):
        handle, path = tempfile.mkstemp(prefix="dppca-wanted-")
        os.close(handle)
    try:
        yield path
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def check(path: str) -> None:
    """Raise UnwantedError where the file at `path` is gone; an empty path never had one."""
    if path and not os.path.exists(path):
        raise UnwantedError
