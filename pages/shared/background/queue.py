"""Whose work comes next, of all that is measured beside the pages. Nothing here runs anything.

There is one queue with three lines: the short steps that complete what visitors look at, one at a time;
sweeps of seconds; and longer sweeps, so that nobody who moves a slider waits for somebody else's hour. One
rule holds in each: the first in line runs, one of each visitor at a time, and goes to the end of its line
after a step where it has more. So visitors take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import Literal, NamedTuple, Protocol

LONG_SECONDS = 15.0  # on one core: longer sweeps have a line of their own
_FEW = 3  # visitors at once for whom anything is measured ahead
Line = Literal["screen", "short", "long"]


class Work(Protocol):
    """What is measured for one visitor, in steps."""

    def step(self) -> bool:
        """Do the next step. Return whether more are left."""

    def abandon(self, reason: Exception | None = None) -> None:
        """Take note that no step will follow: `reason` is what failed, None where nobody waits for it."""


class Rank(IntEnum):
    """Which of one visitor's works comes first."""

    NEXT_PRESS = 0  # what the slider that was moved last may ask for next
    SHOWN = 1  # what the screen lacks, and every sweep
    WHEN_IDLE = 2  # what other sliders may ask for next, when nobody's screen lacks anything


class QueuePosition(NamedTuple):
    """How many sweeps come first: other visitors', and the visitor's own."""

    others: int
    same_visitor: int


@dataclass(eq=False)
class Queued:
    """One work in its line.

    until: when it is given up, on the monotonic clock in seconds, unless it is asked for again.
    ending: it was told to stop, and holds up nobody any more.
    """

    visitor: str
    line: Line
    work: Work
    rank: Rank = Rank.SHOWN
    until: float = inf
    running: bool = False
    ending: bool = False


class Queue:
    """All entries in the order in which they are served. places: how many run at a time in each line."""

    def __init__(self, places: Mapping[Line, int]) -> None:
        self._places = places
        self._entries: list[Queued] = []

    def __contains__(self, entry: Queued) -> bool:
        return entry in self._entries

    def add(self, entry: Queued) -> None:
        """Put this entry at the end of its line."""
        self._entries.append(entry)

    def replace(self, entry: Queued) -> None:
        """Put this entry in the place of the one of its visitor, line and rank, if there is one."""
        for former in self.line(entry.line):
            if (former.visitor, former.rank) == (entry.visitor, entry.rank):
                former.work, former.until = entry.work, entry.until
                return
        self.add(entry)

    def take(self, line: Line) -> Queued | None:
        """Return the entry that runs next, marked as running; None where no place is free or nobody waits."""
        active = [entry for entry in self.line(line) if entry.running and not entry.ending]
        busy = {entry.visitor for entry in active}
        if len(active) < self._places[line]:
            for entry in self._in_turn(line):
                if entry.visitor not in busy:
                    entry.running = True
                    return entry
        return None

    def back(self, entry: Queued) -> None:
        """Put an entry that has run a step, and has more, at the end of its line."""
        entry.running = False
        if entry in self._entries:
            self._entries.remove(entry)
            self._entries.append(entry)

    def remove(self, entry: Queued) -> None:
        """Take this entry out, if it is still there."""
        if entry in self._entries:
            self._entries.remove(entry)

    def drop(self, unwanted: Callable[[Queued], bool]) -> list[Queued]:
        """Take out those that do not run and are `unwanted`, and return them."""
        dropped = [entry for entry in self._entries if not entry.running and unwanted(entry)]
        for entry in dropped:
            self._entries.remove(entry)
        return dropped

    def ahead(self, entry: Queued) -> QueuePosition:
        """Return who comes first now: those who run, and those who came earlier."""
        if entry.running or entry not in self._entries:
            return QueuePosition(0, 0)
        line = [other for other in self.line(entry.line) if not other.ending]
        first = [other for i, other in enumerate(line) if other.running or i < line.index(entry)]
        same_visitor = sum(other.visitor == entry.visitor for other in first)
        full = sum(other.running for other in line) >= self._places[entry.line]
        return QueuePosition(len(first) - same_visitor if full else 0, same_visitor)

    def line(self, line: Line) -> list[Queued]:
        """Return the entries of one line, in order."""
        return [entry for entry in self._entries if entry.line == line]

    def looks_ahead(self) -> bool:
        """Return whether anything is measured ahead: not for many visitors at once."""
        return len({entry.visitor for entry in self._entries if entry.rank != Rank.SHOWN}) <= _FEW

    def _in_turn(self, line: Line) -> list[Queued]:
        """Return who may run next, in order: of each visitor what comes first, of all what is shown first."""
        waits = [entry for entry in self.line(line) if not (entry.running or entry.ending)]
        if not self.looks_ahead():
            waits = [entry for entry in waits if entry.rank == Rank.SHOWN]
        first: dict[str, Queued] = {}
        for entry in sorted(waits, key=lambda entry: entry.rank):
            first.setdefault(entry.visitor, entry)
        return sorted(first.values(), key=lambda entry: (entry.rank == Rank.WHEN_IDLE, waits.index(entry)))
