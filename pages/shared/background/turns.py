"""Let one page run at a time, in the order in which they were asked for; refreshes come after whole pages.

Python runs one thread at a time anyway. Many that compute at once only hand the interpreter to each other at
every step of NumPy, and each waits for all others at each: with fifty visitors a page took seconds instead of
hundredths. A run that waits for something gives its turn away, and one that holds it for too long loses it.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_SECONDS = 0.25  # after which the next begins beside a run that still goes on


class Turns:
    def __init__(self, longest: float = LONGEST_SECONDS) -> None:
        self._longest = longest
        self._waiting: tuple[deque[object], deque[object]] = deque(), deque()  # whole pages, refreshes
        self._holder: object | None = None
        self._since = 0.0
        self._changed = threading.Condition()
        self._mine = threading.local()  # `turn`: what this thread holds or None; `line`: where it waits

    @contextmanager
    def taken(self, refresh: bool = False) -> Iterator[None]:
        """Hold the turn inside a `with` block; a thread that holds it already goes on."""
        if getattr(self._mine, "turn", None) is not None:
            yield
            return
        self._mine.line = self._waiting[refresh]
        self._take()
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def given_away(self) -> Iterator[None]:
        """Let others run inside a `with` block, in which this thread waits; take the turn again after it."""
        held = getattr(self._mine, "turn", None) is not None
        if held:
            self._give()
        try:
            yield
        finally:
            if held:
                self._take()

    def _take(self) -> None:
        turn = self._mine.turn = object()
        with self._changed:
            self._mine.line.append(turn)
            while self._next() is not turn or self._left() > 0:
                self._changed.wait(self._left() if self._next() is turn else None)
            self._mine.line.popleft()
            self._holder, self._since = turn, time.monotonic()
            self._changed.notify_all()

    def _next(self) -> object:
        return next(line[0] for line in self._waiting if line)

    def _left(self) -> float:
        """Return for how many seconds the holder may keep others waiting."""
        return 0.0 if self._holder is None else max(self._since + self._longest - time.monotonic(), 0.0)

    def _give(self) -> None:
        turn, self._mine.turn = self._mine.turn, None
        with self._changed:
            if self._holder is turn:  # else it has lost it
                self._holder = None
                self._changed.notify_all()


TURNS = Turns()
