"""What becomes of a run that raises: the one policy, for whatever measures runs beside a page.

A run that the core refuses keeps the core's own sentence. Of any other exception only its type is kept,
since its text may quote a value or a path. Either way the run counts as done: it is not tried again for ever,
and nobody else waits for it. A run that lacked memory is tried once more, after all else: what took the
memory may be gone by then.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

NO_MEMORY = "there was not enough memory"
# Raised with a sentence for a reader. Only these very types: a UnicodeDecodeError is a ValueError too.
_REFUSALS = (ValueError, ArithmeticError, np.linalg.LinAlgError)
_LOG = logging.getLogger("dppca")
Cell = TypeVar("Cell")
Key = TypeVar("Key", bound=Hashable)


def reason(error: BaseException) -> str:
    """Return why a run has no answer, as a clause that may be shown to anybody."""
    if type(error) in _REFUSALS and str(error):
        return str(error)
    if isinstance(error, MemoryError):
        return NO_MEMORY
    return f"the program failed with {type(error).__name__}"


def log(where: str, error: BaseException) -> None:
    """Log what failed by its type and its line of code: its text may quote a value or a path."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    _LOG.error("%s: %s%s", where, type(error).__name__, place)


@contextmanager
def surviving(where: str) -> Iterator[None]:
    """Log whatever is raised inside, and go on after it."""
    try:
        yield
    except Exception as error:
        log(where, error)


class Failures(dict[Key, str], Generic[Key]):
    """Why cells have no answer, by cell; those in `again` are worth one more try once all others are done."""

    def __init__(self) -> None:
        super().__init__()
        self.again: set[Key] = set()

    @contextmanager
    def noting(self, cell: Key) -> Iterator[None]:
        """Keep the reason of whatever this cell's run raises; a cell that succeeds has not failed."""
        try:
            yield
        except Exception as error:
            self._note(cell, error)
        else:
            self.again.discard(cell)
            self.pop(cell, None)

    def settled(self, cell: Key) -> bool:
        """Return whether this cell has failed for good."""
        return cell in self and cell not in self.again

    def next_missing(
        self, wanted: Iterable[Cell], measured: Container[Key], key: Callable[[Cell], Key]
    ) -> Cell | None:
        """Return the first wanted cell without answer or reason, else the first that is worth one more try.

        Args:
            wanted: The cells in the order in which a reader needs them.
            measured: The keys that have an answer.
            key: From a cell to its key here and in `measured`.
        """
        last = None
        for cell in wanted:
            at = key(cell)
            if at in measured:
                continue
            if at not in self:
                return cell
            if last is None and at in self.again:
                last = cell
        return last

    def _note(self, cell: Key, error: Exception) -> None:
        why, first = reason(error), cell not in self
        if type(error) not in _REFUSALS and why not in list(self.values()):
            log("run", error)
        self[cell] = why
        if first and isinstance(error, MemoryError):
            self.again.add(cell)
        else:
            self.again.discard(cell)
