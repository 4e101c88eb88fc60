"""Forget the tables of visitors who have left.

Streamlit keeps a session for two minutes, for those who may come back. A table that cannot be forgotten does
not keep any other from being forgotten.
"""

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dppca_core.experiments.failures import log_errors
from pages.shared.background import sessions
from pages.shared.background.restarted_thread import RestartedThread

_CHECK_SECONDS = 5.0
_MOST_TRIES = 5  # to forget one visitor's table


@dataclass
class _Watched:
    """Hold the session of one visitor, and how often forgetting its table was tried."""

    holder: weakref.ref[Any]
    may_come_back: Callable[[], bool]
    tries: int = 0


class SessionExpiry:
    """Run one thread, while any visitor is watched, that forgets the tables of those who have left.

    kept_seconds: for how long a visitor may be away. check_seconds: the time between two checks.
    """

    def __init__(
        self, kept_seconds: float = sessions.KEPT_SECONDS, check_seconds: float = _CHECK_SECONDS
    ) -> None:
        self._kept_seconds, self._check_seconds = kept_seconds, check_seconds
        self._watched: dict[str, _Watched] = {}  # by the visitor's name
        self._lock = threading.Lock()
        self._thread = RestartedThread("leaving", self._work)

    def watch(self, visitor: str, holder: Any) -> None:
        """Call `holder.forget` once this visitor has been away for long enough.

        Called at each run of a page. holder: the visitor's session, which is not kept alive by this.
        """
        with self._lock:
            known = self._watched.get(visitor)
            if known is None or known.holder() is not holder:
                may_come_back = sessions.return_check(visitor, self._kept_seconds)
                self._watched[visitor] = _Watched(weakref.ref(holder), may_come_back)
            self._thread.start()

    def revive(self) -> bool:
        """Start the thread again if it has died while anybody holds a table. Return whether it had."""
        with self._lock:
            return bool(self._watched) and self._thread.start()

    def _work(self) -> None:
        while not self.check():
            time.sleep(self._check_seconds)

    def check(self) -> bool:
        """Forget the tables of those who have left for good. Return whether nobody is left to watch."""
        with self._lock:
            for visitor, watched in list(self._watched.items()):
                nothing_left = False
                with log_errors("leaving"):  # one visitor's failure keeps no other's table
                    nothing_left = self._expire(watched)
                # Give one up that cannot be forgotten, or the thread would never end.
                if nothing_left or watched.tries == _MOST_TRIES:
                    del self._watched[visitor]
            if not self._watched:
                # Inside the lock, or `watch` could find the thread running and not start another.
                self._thread.leave()
            return not self._watched

    def _expire(self, watched: _Watched) -> bool:
        """Forget the table if its visitor has left for good. Return whether nothing is left to forget."""
        holder = watched.holder()
        if holder is None:
            return True
        if watched.may_come_back():
            return False
        watched.tries += 1
        holder.forget()
        return True
