"""Work in another process that ends soon after nobody wants it any more.

A task that a pool has taken over cannot be cancelled, and one cell of a large recipe takes minutes. So a
sweep keeps an empty file as long as it wants its tasks, and a worker looks for it while it works: in a thread
of its own, in which an exception is raised once the file is gone. That happens between two bytecodes, so
after the numerical routine that runs just then.
"""

import ctypes
import os
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeVar

_POLL_SECONDS = 0.25
Result = TypeVar("Result")


class UnwantedError(Exception):
    """The file is gone: nobody waits for this result."""


class _Ended(BaseException):
    """Ends the work, past every `except Exception`."""


class Mark:
    """The file. path: empty where none can be written; work then runs to its end."""

    def __init__(self) -> None:
        self.path = ""
        with suppress(OSError):
            handle, self.path = tempfile.mkstemp(prefix="dppca-wanted-")
            os.close(handle)

    def remove(self) -> None:
        """What was asked for is not wanted any more."""
        if self.path:
            with suppress(FileNotFoundError):
                os.unlink(self.path)


def run(path: str, work: Callable[..., Result], *arguments: Any) -> Result:
    """What `work` returns or raises. Raises UnwantedError soon after the file at `path` is gone."""
    if not path:
        return work(*arguments)
    if not os.path.exists(path):
        raise UnwantedError
    found: Future[Result] = Future()
    thread = threading.Thread(target=_work, args=(found, work, arguments), daemon=True, name="cells")
    thread.start()
    while not wait((found,), _POLL_SECONDS).done:
        if not os.path.exists(path):
            number, ended = ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Ended)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ended)
            thread.join()
            raise UnwantedError
    return found.result()


def _work(found: Future[Any], work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    with suppress(_Ended):
        try:
            found.set_result(work(*arguments))
        except Exception as reason:  # the caller meets it
            found.set_exception(reason)
