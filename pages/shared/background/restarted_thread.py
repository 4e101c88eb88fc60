"""Keep a thread alive that serves every visitor: start it when first needed, and again if it has died."""

import logging
import threading
from collections.abc import Callable

from dppca_core.experiments.failures import log_errors

_LOG = logging.getLogger("dppca")


class RestartedThread:
    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self.name = name
        self._work = work
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self) -> bool:
        """Start the thread unless it runs. Return whether it had died."""
        with self._lock:
            former = self._thread
            if former is not None and former.is_alive():
                return False
            work = log_errors(self.name)(self._work)  # a thread's own report would quote the exception's text
            self._thread = threading.Thread(target=work, daemon=True, name=self.name)
            self._thread.start()
        if former is None:
            return False
        _LOG.error("%s: the thread had died and was started again", self.name)
        return True

    def leave(self) -> None:
        """Let the thread that calls this end: it has nothing left to do, and has not died."""
        with self._lock:
            self._thread = None
