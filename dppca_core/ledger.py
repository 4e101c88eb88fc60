"""What was released on a table: append-only, within a limit that its owner set, counted by dp-accounting.

A ledger belongs to the content of a table, not to a file's name. Paying comes first: `spend` writes the
event, on the disk, before any noise is drawn, so that a crash wastes budget and never spends it unseen.
Between two processes, or two tabs, only one pays at a time, and the second sees what the first has spent.

One line of JSON each:

{"line": 1, "id": "5c1f...", "kind": "limit", "at": "2026-11-21T14:00:00+00:00", "epsilon": 2.0,
 "delta": 1e-06, "neighbours": "replace-one"}
{"line": 2, "id": ..., "kind": "release", "at": ..., "title": "DPS-PCA",
 "events": [{"noise_multiplier": 5.2, "steps": 4}], "about": {"patients": 920, ...}}

A limit may be raised or lowered by another line; delta and neighbours stay those of the first.

Clocks are set back, so "at" neither orders lines nor tells them apart. Their number does the one, so that a
line that was moved, or is gone from between others, is noticed; an id drawn at random does the other, so that
a line that was copied counts once. Ledgers from before ids have neither: each of their lines counts.
"""

import json
import math
import re
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dppca_core import checks, composition, journal
from dppca_core.events import from_plain, to_plain
from dppca_core.types import NEIGHBOURS, Budget, Event

MOST_CHARACTERS = 10 * 2**20
# Of an import: composing more would keep a visitor waiting.
MOST_LINES = 2_000
MOST_EVENTS = 5_000
_KEY = re.compile(r"[0-9a-f]{8,64}")  # it names a file
_MOST_SAID = 200  # letters of a title
_SLACK = 1e-9  # relative: composing exactly what was calibrated exactly leaves rounding


class OverLimitError(ValueError):
    """A release that would spend more than the owner's limit; nothing was spent."""


@dataclass(frozen=True)
class Limit:
    """What all releases on the table together may cost. Raises ValueError for a field where no budget is."""

    epsilon: float
    delta: float
    neighbours: str = "replace-one"

    def __post_init__(self) -> None:
        checks.one_of(NEIGHBOURS, neighbours=self.neighbours)
        Budget(self.epsilon, self.delta)


@dataclass(frozen=True)
class Entry:
    """One release: when, what, its events, and whatever else a reader needs to check it."""

    at: str
    title: str
    events: tuple[Event, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Account:
    """The ledger as it stands: the limit (None before it was set), and all releases in order."""

    limit: Limit | None = None
    entries: tuple[Entry, ...] = ()

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of all releases."""
        return tuple(event for entry in self.entries for event in entry.events)

    def spent(self, more: Sequence[Event] = ()) -> composition.Total:
        """epsilon at the limit's delta, with `more` events. Raises ValueError before a limit was set."""
        if self.limit is None:
            raise ValueError("set a limit first: what all releases on this table together may cost")
        return composition.total((*self.events, *more), self.limit.delta)


class Ledger(ABC):
    """Where one table's lines are kept. patients: of that table, if known; lines of another are refused."""

    def __init__(self, patients: int | None = None) -> None:
        self._patients = patients

    @abstractmethod
    def _lines(self) -> list[dict[str, Any]]:
        """All lines so far."""

    @abstractmethod
    def _append(self, *lines: dict[str, Any]) -> None:
        """More lines, which stay: all of them or, where one cannot be written, none."""

    @abstractmethod
    def _alone(self) -> Any:
        """A context in which nobody else writes."""

    def account(self) -> Account:
        """As it stands. Raises ValueError for lines that are damaged, or of another table."""
        return from_lines(self._lines(), self._patients)

    def set_limit(self, limit: Limit) -> Account:
        """The account with this limit from now on.

        Raises ValueError where delta or neighbours are not those of the first limit, or where more than that
        was spent already.
        """
        with self._alone():
            now = self.account()
            if now.limit is not None:
                for name in ("delta", "neighbours"):
                    first, asked = getattr(now.limit, name), getattr(limit, name)
                    if first != asked:
                        raise ValueError(f"{name} stays {first}, with which this ledger began, got {asked}")
                spent = now.spent().epsilon
                if spent > limit.epsilon * (1 + _SLACK):
                    raise ValueError(f"epsilon = {spent:.4g} is spent already, a limit cannot be below that")
            if now.limit != limit:
                self._add(_limit_line(limit, _now()))
            return self.account()

    def spend(
        self,
        title: str,
        events: Sequence[Event],
        about: Mapping[str, Any] | None = None,
        expected: Account | None = None,
    ) -> Entry:
        """Pay for a release, before it is made: the entry, which is on the ledger when this returns.

        expected: the account for which the price was said. Raises OverLimitError beyond the limit, and
        ValueError before a limit was set, for no events, or where the account is another by now.
        """
        if not events:
            raise ValueError("events must be given: a release without a cost is not private")
        with self._alone():
            now = self.account()
            if expected is not None and now != expected:
                raise ValueError("another release was made on this table meanwhile: look at the price again")
            asked = now.spent(events).epsilon
            if now.limit is None or asked > now.limit.epsilon * (1 + _SLACK):
                most = now.limit.epsilon if now.limit else 0.0
                raise OverLimitError(
                    f"this would bring the total to epsilon = {asked:.4g}, and the limit is {most:.4g}: "
                    "nothing was spent"
                )
            entry = Entry(_now(), title, tuple(events), dict(about or {}), secrets.token_hex(8))
            self._add(_release_line(entry))
            return entry

    def export(self) -> str:
        """All lines, as JSON lines."""
        return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self._lines())

    def take_in(self, text: str) -> Account:
        """The account with the lines of another ledger of the same table, as exported; known ones count once.

        Raises ValueError for text that is not a ledger, or one of another table, delta or neighbours.
        """
        lines = parse(text)
        theirs = from_lines(lines, self._patients)
        with self._alone():
            mine = self.account()
            if mine.limit and theirs.limit and mine.limit.delta != theirs.limit.delta:
                raise ValueError(f"delta of that ledger is {theirs.limit.delta:g}, here {mine.limit.delta:g}")
            if mine.limit and theirs.limit and mine.limit.neighbours != theirs.limit.neighbours:
                raise ValueError(
                    f"that ledger counts {theirs.limit.neighbours}, this {mine.limit.neighbours}"
                )
            known = {json.dumps(_said(line), sort_keys=True) for line in self._lines()}
            # Limits are not taken over where one is set: no file may raise what the owner decided here.
            new = [line for line in map(_said, lines) if json.dumps(line, sort_keys=True) not in known]
            if mine.limit:
                new = [line for line in new if line["kind"] != "limit"]
            both = from_lines([*self._lines(), *new], self._patients)
            if both.limit is not None and not math.isfinite(both.spent().epsilon):
                raise ValueError(f"its releases use up delta = {both.limit.delta:g}: no total can be told")
            self._add(*new)
            return both

    def _add(self, *lines: dict[str, Any]) -> None:
        """More lines, numbered on."""
        before = len(_once(self._lines()))
        self._append(*({"line": before + i, **line} for i, line in enumerate(lines, 1)))


class SessionLedger(Ledger):
    """In memory, for one visitor: gone with the session, which the screen says."""

    def __init__(self, patients: int | None = None) -> None:
        super().__init__(patients)
        self._kept: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def _lines(self) -> list[dict[str, Any]]:
        return list(self._kept)

    def _append(self, *lines: dict[str, Any]) -> None:
        self._kept.extend(lines)

    def _alone(self) -> Any:
        return self._lock


class DiskLedger(Ledger):
    """FOLDER/KEY.jsonl, shared by all who open the same table with the same folder.

    `key`: 8 to 64 hexadecimal digits. Raises ValueError for another, which could name another file.
    """

    def __init__(self, folder: Path, key: str, patients: int | None = None) -> None:
        super().__init__(patients)
        if not _KEY.fullmatch(key):
            raise ValueError("key must be 8 to 64 hexadecimal digits")
        self.path = folder / f"{key}.jsonl"

    def _lines(self) -> list[dict[str, Any]]:
        return journal.read(self.path)

    def _append(self, *lines: dict[str, Any]) -> None:
        journal.append(self.path, *lines)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with journal.locked(self.path):
            yield


def parse(text: str) -> list[dict[str, Any]]:
    """The lines of an exported ledger. Raises ValueError, with the number of the line, for anything else."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a ledger may have {MOST_CHARACTERS:,} characters, got {len(text):,}")
    written = text.splitlines()
    if len(written) > MOST_LINES:
        raise ValueError(f"a ledger may have {MOST_LINES:,} lines, got {len(written):,}")
    lines = []
    for number, line in enumerate(written, 1):
        try:
            lines.append(json.loads(line, parse_constant=_no_number, parse_float=_finite))
            from_lines([_said(lines[-1])])  # alone it may have any number
        except (AttributeError, ValueError, RecursionError):
            raise ValueError(f"line {number} is not of a ledger") from None
    if not lines:
        raise ValueError("a ledger must have lines, got none")
    events = len(from_lines(lines).events)
    if events > MOST_EVENTS:
        raise ValueError(f"a ledger may have {MOST_EVENTS:,} events, got {events:,}")
    return [line for _, line in _once(lines)]


def from_lines(lines: Sequence[Mapping[str, Any]], patients: int | None = None) -> Account:
    """The account that lines make up.

    Raises ValueError, with the number of the line, for a damaged one, one that is out of its place, and one
    of a table with another number of patients, where that is given.
    """
    limit: Limit | None = None
    entries = []
    for number, line in _once(lines):
        try:
            if line["kind"] == "limit":
                before, limit = limit, Limit(*(line[name.name] for name in fields(Limit)))
                if before and (before.delta, before.neighbours) != (limit.delta, limit.neighbours):
                    raise ValueError
            elif line["kind"] == "release":
                entries.append(_entry(line))
            else:
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"line {number} of the ledger cannot be read: mend or restore it first"
            ) from None
        if line["kind"] == "release":
            _check_table(number, entries[-1].about.get("patients"), patients)
    return Account(limit, tuple(entries))


def _once(lines: Sequence[Mapping[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Each line with its place in the file, without copies. Raises ValueError for one out of its place."""
    found: list[tuple[int, dict[str, Any]]] = []
    known: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        if not isinstance(line, dict) or not isinstance(own := line.get("id", ""), str):
            raise ValueError(f"line {number} of the ledger cannot be read: mend or restore it first")
        if own and known.get(own) == _said(line):
            continue
        if own in known or line.get("line", len(found) + 1) != len(found) + 1:
            raise ValueError(
                f"line {number} of the ledger is out of its place: lines were moved, changed or are gone, "
                "restore it first"
            )
        if own:
            known[own] = _said(line)
        found.append((number, line))
    return found


def _said(line: Mapping[str, Any]) -> dict[str, Any]:
    """What a line says, wherever it stands."""
    return {name: value for name, value in line.items() if name != "line"}


def _check_table(number: int, theirs: object, patients: int | None) -> None:
    if patients is not None and isinstance(theirs, int) and theirs != patients:
        raise ValueError(
            f"line {number} of the ledger is of a table with {theirs:,} patients, and this one has "
            f"{patients:,}: take it out first"
        )


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number that JSON has")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):  # 1e999
        raise ValueError(f"{digits} is not a number that a ledger holds")
    return value


def _limit_line(limit: Limit, at: str) -> dict[str, Any]:
    return {"id": secrets.token_hex(8), "kind": "limit", "at": at, **vars(limit)}


def _release_line(entry: Entry) -> dict[str, Any]:
    events = to_plain(entry.events)
    told = {"id": entry.id, "kind": "release", "at": entry.at, "title": entry.title}
    return {**told, "events": events, "about": entry.about}


def _entry(line: Mapping[str, Any]) -> Entry:
    at, title, own = line["at"], line["title"], line.get("id", "")
    if not isinstance(line["about"], dict) or not all(_is_line(said) for said in (at, title, own)):
        raise ValueError
    return Entry(at, title, from_plain(line["events"]), line["about"], own)


def _is_line(said: object) -> bool:
    """Whether it is a short text on one line, which every screen and file can show."""
    return isinstance(said, str) and said.isprintable() and len(said) <= _MOST_SAID


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
