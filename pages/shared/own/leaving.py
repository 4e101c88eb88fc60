"""Tables of visitors who have left are forgotten: Streamlit keeps a session for those who may come back.

It does so for two minutes or, where no other session ends, for good.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pages.shared import visitors

_LOOK_SECONDS = 5.0


class Forgetful(Protocol):
    """What holds a table."""

    def forget(self) -> None:
        """Hold it no more."""


@dataclass
class _Watched:
    holder: weakref.ref[Forgetful]
    drop_uploads: Callable[[str], None]
    left: float | None = None


class Leaving:
    """One thread, while anybody holds a table, that looks who has left."""

    def __init__(self, kept: float = visitors.KEPT_SECONDS, look: float = _LOOK_SECONDS) -> None:
        self._kept, self._look = kept, look  # seconds
        self._watched: dict[str, _Watched] = {}
        self._lock = threading.Lock()

    def watch(self, visitor: str, holder: Forgetful, drop_uploads: Callable[[str], None]) -> None:
        """Once this visitor has left for long enough, `holder` forgets, and their uploads are dropped."""
        with self._lock:
            known = self._watched.get(visitor)
            if known is not None and known.holder() is holder:
                return
            idle = not self._watched
            self._watched[visitor] = _Watched(weakref.ref(holder), drop_uploads)
            if idle:
                threading.Thread(target=self._work, daemon=True, name="leaving").start()

    def _work(self) -> None:
        while True:
            time.sleep(self._look)
            with self._lock:
                for visitor, one in list(self._watched.items()):
                    if self._gone(visitor, one):
                        del self._watched[visitor]
                if not self._watched:
                    return

    def _gone(self, visitor: str, one: _Watched) -> bool:
        """Whether there is nothing left to look after."""
        holder = one.holder()
        if holder is None:
            return True
        if visitors.present(visitor):
            one.left = None
            return False
        if one.left is None:
            one.left = time.monotonic()
        if time.monotonic() - one.left < self._kept:
            return False
        holder.forget()
        one.drop_uploads(visitor)
        return True
