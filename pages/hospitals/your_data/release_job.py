"""Run a job of the page, once and after one confirmation, in a thread that no rerun of the page interrupts.

Most jobs make a release that is paid for, which must neither be made twice nor be lost with a page.
"""

import itertools
import threading
from collections.abc import Callable
from typing import Any, Literal

from dppca_core.accounts.account import Balance
from dppca_core.experiments.failures import log
from dppca_core.release.discrete_gaussian import Progress, StoppedError

# How a job ends: done; stopped by the visitor, or since they left; refused with a sentence (ValueError);
# unwritten, where the disk refused (OSError); failed otherwise.
State = Literal["pending", "running", "done", "stopped", "refused", "unwritten", "failed"]
_job_numbers = itertools.count(1)


class ReleaseJob:
    """Run `make` at the first `confirm` alone, however often a button is pressed.

    what: what it makes, such as a `session.Order`; without any row, since it is kept with the result. make:
    gets a function to which it reports the share done, and which answers whether to go on. present: tells
    whether the visitor is still there; the job stops when they have left.
    """

    def __init__(self, what: Any, make: Callable[[Progress], Any], present: Callable[[], bool]) -> None:
        self.number = next(_job_numbers)
        self.what = what
        self.state: State = "pending"
        self.result: Any = None
        self.message = ""  # why there is no result
        self.account: Balance | None = None  # right after the payment, once the book was asked
        self.share = 0.0
        self._make: Callable[[Progress], Any] | None = make
        self._present = present
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._ended = threading.Event()

    @staticmethod
    def finished(what: Any, result: Any, account: Balance) -> "ReleaseJob":
        """Return a job that is done: for a result of the book. account: as it was right after the payment."""
        job = ReleaseJob(what, lambda progress: result, lambda: True)
        job.state, job.result, job.account = "done", result, account
        job._ended.set()
        return job

    @property
    def running(self) -> bool:
        """Return whether the job was confirmed and has not ended."""
        return self.state == "running"

    @property
    def failed(self) -> bool:
        return self.state not in ("pending", "running", "done")

    def confirm(self) -> bool:
        """Start the job, once only. Return whether this call was the first, even if it failed."""
        with self._lock:
            if self.state != "pending":
                return False
            self.state = "running"
        try:
            threading.Thread(target=self._run, daemon=True, name="release").start()
        except RuntimeError as error:  # the server has no thread left: nothing began, nothing was paid
            self._make = None
            self.state, self.message = "failed", type(error).__name__
            self._ended.set()
        return True

    def stop(self) -> None:
        """Ask the job to stop at its next report of progress. What is paid stays paid."""
        self._stop.set()

    def wait(self, seconds: float) -> None:
        self._ended.wait(seconds)

    def _go_on(self, share: float) -> bool:
        """Note the share done. Return whether to go on: the job was not stopped, and a visitor is there."""
        self.share = share
        is_present = self._present()  # always asked: it notes when it first finds its visitor away
        return is_present and not self._stop.is_set()

    def _run(self) -> None:
        """Make the result in the job's thread, and set how it ended."""
        make, self._make = self._make, None  # the job must not hold the rows once this has ended
        try:
            assert make is not None  # a job runs once
            self.result = make(self._go_on)
            self.state = "done"
        except StoppedError:
            self.state = "stopped"
        except ValueError as error:
            self.state, self.message = "refused", str(error)
        except OSError as error:  # its text holds a path
            self.state, self.message = "unwritten", error.strerror or "the disk refuses"
        except BaseException as error:  # its text may hold a cell, and a thread's traceback goes to the log
            log("release", error)
            self.state, self.message = "failed", type(error).__name__
        finally:
            self._ended.set()
