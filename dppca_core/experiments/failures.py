"""The reason shown to a reader, and the line written to the log, for a run that raises.

A run that the core refuses keeps the core's own sentence. Of any other exception only its type is kept,
since its text may quote a value or a path.
"""

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

NO_MEMORY = "there was not enough memory"
# The core raises these with a sentence for a reader. Subclasses do not count: the text of a
# UnicodeDecodeError, which is a ValueError too, may quote data.
_REFUSALS = (ValueError, ArithmeticError, np.linalg.LinAlgError)
_LOG = logging.getLogger("dppca")


def refused(error: BaseException) -> bool:
    """Return whether the core refused a run with a sentence of its own, rather than failed in it."""
    return type(error) in _REFUSALS


def reason(error: BaseException) -> str:
    """Return why a run has no answer, as a clause that may be shown to anybody."""
    if refused(error) and str(error):
        return str(error)
    if isinstance(error, MemoryError):
        return NO_MEMORY
    return f"the program failed with {type(error).__name__}"


def log(where: str, error: BaseException) -> None:
    """Log an error by its type and its line of code, since its text may quote a value or a path."""
    frames = traceback.extract_tb(error.__traceback__)
    location = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    _LOG.error("%s: %s%s", where, type(error).__name__, location)


@contextmanager
def log_errors(where: str) -> Iterator[None]:
    """Log whatever the `with` block raises, also a panic of a library in Rust, and continue after it."""
    try:
        yield
    except BaseException as error:
        log(where, error)
