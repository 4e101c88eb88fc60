"""Let one page run at a time, in the order in which they were asked for; refreshes are no hurry.

Python runs one thread at a time anyway. Many that compute at once only hand the interpreter to each other at
every step of NumPy, and each waits for all others at each: with fifty visitors a page took seconds instead of
hundredths. A run that waits for something gives its turn away, and one that holds it for too long loses it.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

LONGEST_SECONDS = 0.5  # after which the next begins beside a run that still goes on
REFRESH_SECONDS = 1.0  # by which a whole page may be later than a refresh, and still come first


class Turn(NamedTuple):
    due: float  # decides who comes first
    changed: threading.Condition  # wakes the thread whose turn it is; to wake all at each change takes long


class Turns:
    def __init__(self, longest: float = LONGEST_SECONDS) -> None:
        self._longest = longest
        self._waiting: tuple[deque[Turn], deque[Turn]] = deque(), deque()  # whole pages, refreshes
        self._holder: Turn | None = None
        self._since = 0.0
        self._lock = threading.Lock()
        # `turn`: what this thread holds or None; `refresh`: whether it is one; `waited`: as below.
        self._mine = threading.local()

    @contextmanager
    def taken(self, refresh: bool = False) -> Iterator[None]:
        """Hold the turn inside a `with` block; a thread that holds it already goes on."""
        if getattr(self._mine, "turn", None) is not None:
            yield
            return
        self._mine.refresh, self._mine.waited = refresh, 0.0
        self._take()
        try:
            yield
        finally:
            self._give()

    def waited(self) -> float:
        """Return for how many seconds this run has waited while its turn was given away."""
        held = getattr(self._mine, "turn", None) is not None
        return self._mine.waited if held else 0.0

    @contextmanager
    def given_away(self) -> Iterator[None]:
        """Let others run inside a `with` block, in which this thread waits; take the turn again after it.

        Whoever is interrupted there ends, and needs no turn for that.
        """
        held = getattr(self._mine, "turn", None) is not None
        if held:
            self._give()
        began = time.monotonic()
        yield
        if held:
            self._mine.waited += time.monotonic() - began
            self._take()

    def _take(self) -> None:
        refresh: bool = self._mine.refresh
        with self._lock:
            due = time.monotonic() + REFRESH_SECONDS * refresh
            turn = self._mine.turn = Turn(due, threading.Condition(self._lock))
            self._waiting[refresh].append(turn)
            while self._next() is not turn or self._left() > 0:
                turn.changed.wait(self._left() if self._next() is turn else None)
            self._waiting[refresh].popleft()
            self._holder, self._since = turn, time.monotonic()
            self._tell_next()

    def _next(self) -> Turn | None:
        return min((line[0] for line in self._waiting if line), key=lambda turn: turn.due, default=None)

    def _tell_next(self) -> None:
        if (following := self._next()) is not None:
            following.changed.notify()

    def _left(self) -> float:
        """Return for how many seconds the holder may keep others waiting."""
        return 0.0 if self._holder is None else max(self._since + self._longest - time.monotonic(), 0.0)

    def _give(self) -> None:
        turn, self._mine.turn = self._mine.turn, None
        with self._lock:
            if self._holder is turn:  # else it has lost it
                self._holder = None
                self._tell_next()


TURNS = Turns()
