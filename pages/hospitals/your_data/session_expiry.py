"""Tables of visitors who have left are forgotten: Streamlit keeps a session for those who may come back.

It does so for two minutes or, where no other session ends, for good. A table whose forgetting fails keeps no
other table.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from dppca_core.experiments.failures import surviving
from pages.shared.background import sessions
from pages.shared.background.lasting import LastingThread

_LOOK_SECONDS = 5.0
_MOST_TRIES = 5  # to forget one visitor's table


class Forgetful(Protocol):
    """What holds a table."""

    def forget(self) -> None:
        """Hold it no more."""


@dataclass
class _Watched:
    holder: weakref.ref[Forgetful]
    drop_uploads: Callable[[str], None]
    left: float | None = None
    tries: int = 0


class SessionExpiry:
    """One thread, while anybody holds a table, that looks who has left."""

    def __init__(self, kept: float = sessions.KEPT_SECONDS, every: float = _LOOK_SECONDS) -> None:
        self._kept, self._every = kept, every  # seconds
        self._watched: dict[str, _Watched] = {}
        self._lock = threading.Lock()
        self._thread = LastingThread("leaving", self._work)

    def watch(self, visitor: str, holder: Forgetful, drop_uploads: Callable[[str], None]) -> None:
        """Once this visitor has left for long enough, `holder` forgets, and their uploads are dropped."""
        with self._lock:
            known = self._watched.get(visitor)
            if known is None or known.holder() is not holder:
                self._watched[visitor] = _Watched(weakref.ref(holder), drop_uploads)
            self._thread.start()

    def revive(self) -> bool:
        """Start the thread again if it has died while anybody holds a table. Return whether it had."""
        with self._lock:
            return bool(self._watched) and self._thread.start()

    def _work(self) -> None:
        while not self.look():
            time.sleep(self._every)

    def look(self) -> bool:
        """Forget what those hold who have left for good, and return whether nobody is left to look after."""
        with self._lock:
            for visitor, watched in list(self._watched.items()):
                done = False
                with surviving("leaving"):
                    done = self._gone(visitor, watched)
                if done or watched.tries == _MOST_TRIES:
                    del self._watched[visitor]
            if not self._watched:
                self._thread.leave()
            return not self._watched

    def _gone(self, visitor: str, watched: _Watched) -> bool:
        """Whether there is nothing left to look after."""
        holder = watched.holder()
        if holder is None:
            return True
        if sessions.present(visitor):
            watched.left = None
            return False
        if watched.left is None:
            watched.left = time.monotonic()
        if time.monotonic() - watched.left < self._kept:
            return False
        watched.tries += 1
        forgotten = _succeeds(holder.forget)
        dropped = _succeeds(partial(watched.drop_uploads, visitor))
        return forgotten and dropped


def _succeeds(step: Callable[[], None]) -> bool:
    """Take this step of forgetting, and return whether it succeeds: the other is taken either way."""
    with surviving("leaving"):
        step()
        return True
    return False
