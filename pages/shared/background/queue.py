"""Whose sweep runs next: first come, first served, and one of each visitor at a time.

There are two lines, each with as many places as the machine has cores: one for sweeps of seconds and one for
long ones, so that nobody who moves a slider waits for somebody else's hour.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from joblib import cpu_count

LONG_SECONDS = 15.0  # on one core: longer sweeps have a line of their own
_POLL_SECONDS = 0.5  # until one who waits sees that its visitor has gone


class QueuePosition(NamedTuple):
    """How many sweeps come first: other visitors', and the visitor's own."""

    others: int
    own: int


@dataclass(eq=False)
class Turn:
    """One sweep in its line. ending: it was told to stop, and holds up none of its visitor's others."""

    visitor: str
    long: bool
    running: bool = False
    ending: bool = False


class Turns:
    """Both lines. at_once: sweeps that run at a time in each."""

    def __init__(self, at_once: int | None = None) -> None:
        self._at_once = at_once or max(2, cpu_count())
        self._turns: list[Turn] = []
        self._changed = threading.Condition()

    def join(self, visitor: str, seconds: float) -> Turn:
        """The end of the line for a sweep of so many rough seconds."""
        turn = Turn(visitor, seconds > LONG_SECONDS)
        with self._changed:
            self._turns.append(turn)
        return turn

    def wait(self, turn: Turn, cancelled: Callable[[], bool]) -> bool:
        """Until it is this sweep's turn; False where it was cancelled before. In both cases `leave` later."""
        with self._changed:
            while not cancelled():
                if self._is_next(turn):
                    turn.running = True
                    return True
                self._changed.wait(_POLL_SECONDS)
        return False

    def end(self, turn: Turn) -> None:
        """It was told to stop: whoever waits may look again."""
        with self._changed:
            turn.ending = True
            self._changed.notify_all()

    def leave(self, turn: Turn) -> None:
        """It has ended, or waits no more."""
        with self._changed:
            self._turns.remove(turn)
            self._changed.notify_all()

    def ahead(self, turn: Turn) -> QueuePosition:
        """Who comes first now: those who run, and those who came earlier."""
        with self._changed:
            line = self._line(turn)
            if turn.running or turn not in line:
                return QueuePosition(0, 0)
            place = line.index(turn)
            first = [one for i, one in enumerate(line) if (one.running or i < place) and not one.ending]
            own = sum(one.visitor == turn.visitor for one in first)
            full = self._free(line) < 1
            return QueuePosition(len(first) - own if full else 0, own)

    def _line(self, turn: Turn) -> list[Turn]:
        return [one for one in self._turns if one.long == turn.long]

    def _free(self, line: list[Turn]) -> int:
        """Places; one that is ending needs its own for a moment only, and a slider must not wait for it."""
        return self._at_once - sum(one.running and not one.ending for one in line)

    def _is_next(self, turn: Turn) -> bool:
        line = self._line(turn)
        free = self._free(line)
        busy = {one.visitor for one in line if one.running and not one.ending}
        for one in line:
            if one.running or one.ending or one.visitor in busy:
                continue
            if free < 1 or one is turn:
                return free > 0
            busy.add(one.visitor)
            free -= 1
        return False
