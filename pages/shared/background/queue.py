"""Decide whose work comes next, of all that is measured beside the pages. Nothing here runs anything.

There is one queue with five lines: quick steps that complete what visitors look at, one at a time in the
server; those that take longer, one at a time in a process of their own; those of seconds, in another; sweeps
of seconds; and longer sweeps, so that a visitor who moves a slider does not wait for another's hour of work.
In each line one entry of each visitor runs at a time, and returns to the end of its line after a step if it
has more. First answers come first, then the visitor for whom the line has worked the least, in seconds: so
whose steps are long has fewer of them. Sweeps are one step, and are served in the order in which they came.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import Literal

LONG_SECONDS = 15.0  # sweeps expected to take longer on one core have a line of their own
_MOST_PREFETCHED = 3  # the most visitors at once for whom anything is prefetched
_REMEMBERED_SECONDS = 60.0  # that a line remembers for whom it has worked
Line = Literal["screen", "aside", "slow", "short", "long"]
ON_SCREEN: tuple[Line, ...] = ("screen", "aside", "slow")  # the lines of what visitors look at


class Rank(IntEnum):
    """Order the entries of one visitor: the lowest rank runs first."""

    NEXT_PRESS = 0  # what the slider that was moved last may ask for next
    SHOWN = 1  # what the screen lacks, and every sweep
    WHEN_IDLE = 2  # what other sliders may ask for next, when nobody's screen lacks anything


@dataclass(eq=False)
class Queued:
    """Hold what is to be measured for a visitor (their session's name), in steps, and its line.

    Attributes:
        step: Does the next step, and returns the line of the one after it, if any; a sweep is one step.
        until: When the engine drops it, in seconds of the monotonic clock, unless it is asked for again.
        first: Whether the next step gives a first answer, for which its visitor waits.
        active: Whether a step of it runs now.
        ending: True once it was asked to stop; it then holds up nobody.
    """

    visitor: str
    line: Line
    step: Callable[[], Line | None]
    rank: Rank = Rank.SHOWN
    until: float = inf
    first: bool = False
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
        # For whom each line has worked, on first answers and on more: for how long, and until when it counts.
        self._worked: dict[tuple[Line, bool, str], tuple[float, float]] = {}

    def add(self, entry: Queued) -> None:
        self._entries.append(entry)

    def replace(self, entry: Queued) -> None:
        """Let this entry's steps take the place of those of its visitor and rank on a screen, if any.

        A step that runs for the former ends by itself, and the new steps do not wait for it.
        """
        for former in self.line(*ON_SCREEN):
            if (former.visitor, former.rank) == (entry.visitor, entry.rank):
                if not former.active:
                    self._entries[self._entries.index(former)] = entry
                    return
                self.remove(former)
        self.add(entry)

    def charge(self, entry: Queued, seconds: float) -> None:
        """Note that the line of an entry has worked so long for its visitor, on a first answer or on more."""
        now, key = time.monotonic(), (entry.line, entry.first, entry.visitor)
        self._worked = {each: worked for each, worked in self._worked.items() if worked[1] > now}
        worked_before = self._worked_for(entry.line, entry.first, [entry.visitor])[entry.visitor]
        self._worked[key] = worked_before + seconds, now + _REMEMBERED_SECONDS

    def _worked_for(self, line: Line, first: bool, visitors: Iterable[str]) -> dict[str, float]:
        """Return for how long a line has worked for each visitor; newcomers are level with who had least."""
        known = {key[2]: worked[0] for key, worked in self._worked.items() if key[:2] == (line, first)}
        least = min(known.values(), default=0.0)
        return {visitor: known.get(visitor, least) for visitor in visitors}

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

    def requeue(self, entry: Queued, line: Line) -> None:
        """Move an entry whose step has ended to the end of the line of its next one."""
        entry.active = False
        if self.remove(entry):
            entry.line = line
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

    def line(self, *lines: Line) -> list[Queued]:
        return [entry for entry in self._entries if entry.line in lines]

    def prefetches(self) -> bool:
        return len({entry.visitor for entry in self._entries if entry.rank != Rank.SHOWN}) <= _MOST_PREFETCHED

    def _in_turn(self, line: Line) -> list[Queued]:
        """Return the entries that may run next, in order: each visitor's first by rank, idle work last.

        First answers come before more of what others see already. Of others the visitor comes first for whom
        the line has worked the least.
        """
        waiting = [entry for entry in self.line(line) if not (entry.active or entry.ending)]
        if not self.prefetches():
            waiting = [entry for entry in waiting if entry.rank == Rank.SHOWN]
        first: dict[str, tuple[int, Queued]] = {}  # of each visitor, with its place
        for place, entry in sorted(enumerate(waiting), key=lambda placed: placed[1].rank):
            first.setdefault(entry.visitor, (place, entry))
        worked = {answer: self._worked_for(line, answer, first) for answer in (True, False)}

        def turn(placed: tuple[int, Queued]) -> tuple[bool, bool, float, int]:
            place, entry = placed
            idle = entry.rank == Rank.WHEN_IDLE
            return idle, not entry.first, worked[entry.first][entry.visitor], place

        return [entry for _, entry in sorted(first.values(), key=turn)]
