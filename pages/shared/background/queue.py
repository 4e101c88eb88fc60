"""Decide whose work comes next, of all that is measured beside the pages. Nothing here runs anything.

There is one queue with three lines: the short steps that complete what visitors look at, one at a time;
sweeps of seconds; and longer sweeps, so that a visitor who moves a slider does not wait for another's hour of
work. Each line follows one rule: the first entry runs, one of each visitor at a time, and returns to the end
of its line after a step if it has more. So visitors take turns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import Literal

LONG_SECONDS = 15.0  # sweeps expected to take longer on one core have a line of their own
_MOST_PREFETCHED = 3  # the most visitors at once for whom anything is prefetched
Line = Literal["screen", "short", "long"]


class Rank(IntEnum):
    """Order the entries of one visitor: the lowest rank runs first."""

    NEXT_PRESS = 0  # what the slider that was moved last may ask for next
    SHOWN = 1  # what the screen lacks, and every sweep
    WHEN_IDLE = 2  # what other sliders may ask for next, when nobody's screen lacks anything


@dataclass(eq=False)
class Queued:
    """Hold what is to be measured for a visitor (their session's name), in steps, and its line.

    Attributes:
        step: Does the next step, and returns whether more are left; a sweep is one step.
        until: When the engine drops it, in seconds of the monotonic clock, unless it is asked for again.
        active: Whether a step of it runs now.
        ending: True once it was asked to stop; it then holds up nobody.
    """

    visitor: str
    line: Line
    step: Callable[[], bool | None]
    rank: Rank = Rank.SHOWN
    until: float = inf
    active: bool = False
    ending: bool = False

    def abandon(self, reason: BaseException | None = None) -> None:
        """Note that no step will follow, since one failed for this reason, or nobody waits for it (None).

        What was measured of a screen stays where it is, and nothing need be noted.
        """


class Queue:
    """Hold all entries in the order in which they are served; capacity: how many of each line run at once."""

    def __init__(self, capacity: Mapping[Line, int]) -> None:
        self._capacity = capacity
        self._entries: list[Queued] = []

    def add(self, entry: Queued) -> None:
        self._entries.append(entry)

    def replace(self, entry: Queued) -> None:
        """Let this entry's steps take the place of those of its visitor, line and rank, if there are some."""
        for former in self.line(entry.line):
            if (former.visitor, former.rank) == (entry.visitor, entry.rank):
                former.step, former.until = entry.step, entry.until
                return
        self.add(entry)

    def start_next(self, line: Line) -> Queued | None:
        """Mark the entry that runs next in a line as running and return it; None if none may run."""
        active = [entry for entry in self.line(line) if entry.active and not entry.ending]
        busy = {entry.visitor for entry in active}
        if len(active) < self._capacity[line]:
            for entry in self._in_turn(line):
                if entry.visitor not in busy:
                    entry.active = True
                    return entry
        return None

    def requeue(self, entry: Queued) -> None:
        entry.active = False
        if self.remove(entry):
            self.add(entry)

    def remove(self, entry: Queued) -> bool:
        """Remove this entry, and return whether it was still there."""
        if entry not in self._entries:
            return False
        self._entries.remove(entry)
        return True

    def drop(self, unwanted: Callable[[Queued], bool]) -> list[Queued]:
        """Remove the entries that do not run and are `unwanted`, and return them."""
        dropped = [entry for entry in self._entries if not entry.active and unwanted(entry)]
        for entry in dropped:
            self._entries.remove(entry)
        return dropped

    def position(self, entry: Queued) -> tuple[int, int]:
        """Return how many entries run now or come before this one: of other visitors, and of its own."""
        if entry.active or entry not in self._entries:
            return 0, 0
        line = [other for other in self.line(entry.line) if not other.ending]
        before = [other for i, other in enumerate(line) if other.active or i < line.index(entry)]
        same_visitor = sum(other.visitor == entry.visitor for other in before)
        full = sum(other.active for other in line) >= self._capacity[entry.line]  # else others delay nothing
        return len(before) - same_visitor if full else 0, same_visitor

    def line(self, line: Line) -> list[Queued]:
        return [entry for entry in self._entries if entry.line == line]

    def prefetches(self) -> bool:
        return len({entry.visitor for entry in self._entries if entry.rank != Rank.SHOWN}) <= _MOST_PREFETCHED

    def _in_turn(self, line: Line) -> list[Queued]:
        """Return the entries that may run next, in order: each visitor's first by rank, idle work last."""
        waiting = [entry for entry in self.line(line) if not (entry.active or entry.ending)]
        if not self.prefetches():
            waiting = [entry for entry in waiting if entry.rank == Rank.SHOWN]
        first: dict[str, Queued] = {}  # of each visitor
        for entry in sorted(waiting, key=lambda entry: entry.rank):
            first.setdefault(entry.visitor, entry)
        return sorted(first.values(), key=lambda entry: (entry.rank == Rank.WHEN_IDLE, waiting.index(entry)))
