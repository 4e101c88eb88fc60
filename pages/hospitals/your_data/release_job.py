"""A release that was asked for: confirmed once, then made once, in a thread that no rerun interrupts."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from dppca_core.release.discrete_gaussian import StoppedError
from dppca_core.release.private_release import Progress

Result = TypeVar("Result")
State = Literal["asked", "running", "done", "stopped", "refused", "unwritten", "failed"]
_numbers = itertools.count(1)


class ReleaseJob(Generic[Result]):
    """`make(progress)` is called by the first `confirm` alone, however often a button is pressed.

    what: the place on the page, and what was asked for there, told apart without rows. message: why not.
    """

    def __init__(
        self, what: tuple[object, ...], make: Callable[[Progress], Result], present: Callable[[], bool]
    ) -> None:
        self.number = next(_numbers)
        self.what = what
        self.state: State = "asked"
        self.result: Result | None = None
        self.message = ""
        self.share = 0.0
        self._make: Callable[[Progress], Result] | None = make
        self._present = [present]
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._ended = threading.Event()

    @property
    def running(self) -> bool:
        """Whether it was confirmed and has not ended."""
        return self.state == "running"

    @property
    def failed(self) -> bool:
        """Whether it has ended without a result."""
        return self.state not in ("asked", "running", "done")

    def confirm(self) -> bool:
        """Make it. Whether this call is the one that did."""
        with self._lock:
            if self.state != "asked":
                return False
            self.state = "running"
        try:
            threading.Thread(target=self._run, daemon=True, name="release").start()
        except RuntimeError as reason:  # the server has no thread left: nothing began, nothing was paid
            self._make = None
            self.state, self.message = "failed", type(reason).__name__
            self._ended.set()
        return True

    def stop(self) -> None:
        """Draw no more: what is paid stays paid."""
        self._stop.set()

    def follow(self, present: Callable[[], bool]) -> None:
        """Go on for whoever this tells of too: after a reload the visitor has another session."""
        self._present.append(present)

    def wait(self, seconds: float) -> None:
        """Until it has ended, or so long."""
        self._ended.wait(seconds)

    def _go_on(self, share: float) -> bool:
        self.share = share
        here = [present() for present in self._present]  # each: they remember when they were last asked
        return not self._stop.is_set() and any(here)

    def _run(self) -> None:
        make, self._make = self._make, None  # and with it the rows, once this ends
        assert make is not None
        try:
            self.result = make(self._go_on)
            self.state = "done"
        except StoppedError:
            self.state = "stopped"
        except ValueError as reason:
            self.state, self.message = "refused", str(reason)
        except OSError as reason:  # its text holds a path
            self.state, self.message = "unwritten", reason.strerror or "the disk refuses"
        except Exception as reason:  # its text may hold a cell, and a thread's traceback goes to the log
            self.state, self.message = "failed", type(reason).__name__
        finally:
            self._ended.set()
