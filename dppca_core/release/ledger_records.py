"""The lines of a ledger, limits and releases, and the account that they make up.

One line of JSON each:

{"line": 1, "id": "5c1f...", "kind": "limit", "at": "2026-11-21T14:00:00+00:00", "epsilon": 2.0,
 "delta": 1e-06, "neighbours": "replace-one"}
{"line": 2, "id": ..., "kind": "release", "at": ..., "title": "DPS-PCA",
 "events": [{"noise_multiplier": 5.2, "steps": 4}], "about": {"rows": 920, "rows per patient": 1, ...}}

A budget, and so a limit and every event, is for one row of the table. "rows per patient" is what the owner
stated when the release was made: how many rows one patient can have at most. Older ledgers have "patients"
where "rows" stands now, and no such statement.

"owner", where it stands, is a keyed digest of who paid, on the disk of a folder that several owners share and
nowhere else. Whoever else pays into the account sees when that was and what it takes to add it up
(`shown_to_owner`).

A limit may be raised or lowered by another line; delta and neighbours stay those of the first.

Clocks are set back, so "at" neither orders lines nor tells them apart. Their number does the one, so that a
line that was moved, or is gone from between others, is noticed; an id drawn at random does the other, so that
a line that was copied counts once. Ledgers from before ids have neither: each of their lines counts.
"""

import hashlib
import json
import math
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from dppca_core.accounting import closed_form, numerical
from dppca_core.accounting.events_json import from_plain, to_plain
from dppca_core.privacy import Budget, Event, Neighbours

MOST_CHARACTERS = 10 * 2**20
# Limits of an import: composing more would keep a visitor waiting.
MOST_LINES = 2_000
MOST_EVENTS = 5_000
_LONGEST_TEXT = 200  # letters of a title, a time or an id
ANOTHERS = "Release of another owner or session"
_ANOTHERS_KEY = "of another owner"
_total = lru_cache(maxsize=256)(numerical.total)  # keeps events and delta only, nothing of a table
_DIFFERENT_LIMITS = (
    "this table has two ledgers with different {name}: move one out of the folder, and add up what both have "
    "spent"
)


class AnotherTableError(ValueError):
    """Say that a line is of a table that is not known to be of this account's."""


@dataclass(frozen=True)
class Limit:
    """Hold what all releases on the table together may cost. Raises ValueError for values out of range."""

    epsilon: float
    delta: float
    neighbours: Neighbours = "replace-one"

    def __post_init__(self) -> None:
        """Raise ValueError, as `Budget` does, for values out of range."""
        Budget(self.epsilon, self.delta, self.neighbours)


@dataclass(frozen=True)
class Entry:
    """Hold one paid release.

    at: the time, in ISO 8601. title: of the method, for the screen. events: what it cost, for one row. about:
    whatever else a reader needs to check it, as plain JSON. id: random digits; "" on the oldest ledgers.
    """

    at: str
    title: str
    events: tuple[Event, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""

    @property
    def rows_per_patient(self) -> int | None:
        """Return how many rows one patient could have at most, as the owner stated; None if nothing was."""
        stated = self.about.get("rows per patient")
        return stated if isinstance(stated, int) and not isinstance(stated, bool) and stated > 0 else None

    @property
    def table_rows(self) -> int | None:
        """Return how many rows the table had; None where it does not say, or counts averaged patients."""
        rows = self.about.get("rows", self.about.get("patients"))  # older ledgers write "patients" for rows
        return rows if isinstance(rows, int) else None

    @property
    def is_of_another_owner(self) -> bool:
        """Return whether another owner paid, so that only when and at what cost is known."""
        return self.about.get(_ANOTHERS_KEY) is True

    @property
    def averaged(self) -> bool:
        """Return whether the guarantee is for a patient with all their rows, which were averaged."""
        return self.about.get("unit") == "patient"


@dataclass(frozen=True)
class Account:
    """Hold the ledger as it stands: the limit (None before it was set), and all releases in order."""

    limit: Limit | None = None
    entries: tuple[Entry, ...] = ()

    @property
    def sizes(self) -> set[int]:
        """Return the numbers of rows of all tables that releases were made from, as far as lines say them."""
        return {rows for entry in self.entries if (rows := entry.table_rows) is not None}

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what all releases cost, event by event, for one row."""
        return tuple(event for entry in self.entries for event in entry.events)

    def spent(self, more: Sequence[Event] = ()) -> numerical.Total:
        """Return what all releases cost together, for one row, at the limit's delta.

        more: events to add, to see the total before a release is paid for. Raises ValueError before a limit
        was set.
        """
        if self.limit is None:
            raise ValueError("set a limit first: what all releases on this table together may cost")
        return _total((*self.events, *more), self.limit.delta)

    def spent_by_patient(self, rows: int) -> float:
        """Return the epsilon of all releases for a patient with this many rows, at the limit's delta.

        By `closed_form.grouped`: exact for Gaussian releases. Raises ValueError before a limit was set.
        """
        if rows == 1:
            return self.spent().epsilon
        if self.limit is None:
            raise ValueError("set a limit first: what all releases on this table together may cost")
        return closed_form.epsilon_of(closed_form.grouped(self.events, rows), self.limit.delta)


def size_details(n: int, rows_per_patient: int, averaged: bool) -> dict[str, Any]:
    """Return the part of a line's "about" that says how many rows or patients a release counted.

    The number of rows tells whether a line is of this table (`Entry.table_rows`). Where rows of a patient are
    averaged, n is a number of patients, so it has another name.
    """
    counts = {"averaged patients" if averaged else "rows": n, "rows per patient": rows_per_patient}
    return counts | {"unit": "patient" if averaged else "row"}


def parse(text: str) -> list[dict[str, Any]]:
    """Return the lines of an exported ledger.

    Raises ValueError, with the number of the line, for anything else.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a ledger may have {MOST_CHARACTERS:,} characters, got {len(text):,}")
    written = text.splitlines()
    if len(written) > MOST_LINES:
        raise ValueError(f"a ledger may have {MOST_LINES:,} lines, got {len(written):,}")
    lines = []
    for number, line in enumerate(written, 1):
        try:
            lines.append(json.loads(line, parse_constant=_finite_float, parse_float=_finite_float))
            from_lines([content(lines[-1])])  # checked alone: without its number, which would not be 1
        except (AttributeError, ValueError, RecursionError):
            raise ValueError(f"line {number} is not of a ledger") from None
    if not lines:
        raise ValueError("a ledger must have lines, got none")
    events = len(from_lines(lines).events)
    if events > MOST_EVENTS:
        raise ValueError(f"a ledger may have {MOST_EVENTS:,} events, got {events:,}")
    return [line for _, line in deduplicated(lines)]


def from_lines(lines: Sequence[Mapping[str, Any]], sizes: Collection[int] | None = None) -> Account:
    """Return the account that lines make up.

    sizes: numbers of rows that its tables can have; None accepts all. Raises ValueError, with the number of
    the line, for a damaged one, one out of its place, or a limit with another delta or neighbours than the
    first; and AnotherTableError, a ValueError, for a release from a table of another size.
    """
    limit: Limit | None = None
    entries = []
    for number, line in deduplicated(lines):
        try:
            if line["kind"] == "limit":
                before, limit = limit, Limit(*(line[part.name] for part in fields(Limit)))
                if before and (before.delta, before.neighbours) != (limit.delta, limit.neighbours):
                    raise ValueError
            elif line["kind"] == "release":
                entries.append(_read_entry(line))
            else:
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"line {number} of the ledger cannot be read: mend or restore it first"
            ) from None
        # A limit has no number of rows: after one, the last release is only checked once more.
        rows = entries[-1].table_rows if entries else None
        if sizes is not None and rows is not None and rows not in sizes:
            raise AnotherTableError(  # no number: it may be that of another owner's table
                f"line {number} of the ledger is of a table with another number of rows: take it out first"
            )
    return Account(limit, tuple(entries))


def deduplicated(lines: Sequence[Mapping[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Return each line with its place in the file, counted from 1, leaving out copies of a line with an id.

    Raises ValueError for a line that does not match its digest or its number, or has the id of another line.
    Lines of the oldest ledgers have neither id, number nor digest, and all pass.
    """
    records: list[tuple[int, dict[str, Any]]] = []
    known: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        if not isinstance(line, dict) or not isinstance(line_id := line.get("id", ""), str):
            raise ValueError(f"line {number} of the ledger cannot be read: mend or restore it first")
        # A line without digest or number passes: the oldest ledgers have none.
        if line.get("digest", digest := _digest(line)) != digest:
            raise ValueError(f"line {number} of the ledger was changed: restore it first")
        if line_id and known.get(line_id) == content(line):
            continue
        if line_id in known or line.get("line", len(records) + 1) != len(records) + 1:
            raise ValueError(
                f"line {number} of the ledger is out of its place: lines were moved or are gone, "
                "restore it first"
            )
        if line_id:
            known[line_id] = content(line)
        records.append((number, line))
    return records


def check_alike(first: Limit | None, second: Limit | None, message: str) -> None:
    """Raise ValueError where both limits are set and differ in delta or neighbours: no total can be told.

    message: with the places {name}, {first} and {second}, for what differs and its two values.
    """
    for name in ("delta", "neighbours") if first and second else ():
        values = getattr(first, name), getattr(second, name)
        if values[0] != values[1]:
            raise ValueError(message.format(name=name, first=values[0], second=values[1]))


def merged(files: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the lines of several files of one account, each release once, without their places in the files.

    The limits are those of the first file that has some. Raises ValueError for files that are damaged, and
    where their limits have different deltas or neighbours: no total can be told then.
    """
    together: list[dict[str, Any]] = []
    known: set[str] = set()
    limit: Limit | None = None
    for lines in files:
        theirs = from_lines(lines).limit
        check_alike(limit, theirs, _DIFFERENT_LIMITS)
        for _, line in deduplicated(lines):
            if line.get("id", "") in known or (limit is not None and line["kind"] == "limit"):
                continue
            together.append(content(line))
        known |= {line["id"] for line in together if line.get("id")}
        limit = limit or theirs
    return together


def content(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line without its number and digest: what it says, wherever it stands."""
    return {name: value for name, value in line.items() if name not in ("line", "digest")}


def without_owner(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line without its number, digest and owner."""
    return {name: value for name, value in content(line).items() if name != "owner"}


def shown_to_owner(line: Mapping[str, Any], hidden: bool) -> dict[str, Any]:
    """Return a line as an owner may see it, without the mark of who paid, and numbered and sealed anew.

    hidden: whether another owner paid for this release. Then title and details are replaced. Left are its
    id, time and events and, to add up what patients lose, how many rows one can have and whether they count
    as one.
    """
    if not hidden and "owner" not in line:
        return dict(line)
    plain = without_owner(line)
    if hidden:
        entry = _read_entry(line)
        several = {"rows per patient": rows} if (rows := entry.rows_per_patient or 1) > 1 else {}
        unit = {"unit": "patient"} if entry.averaged else {}
        plain |= {"title": ANOTHERS, "about": {_ANOTHERS_KEY: True, **several, **unit}}
    return seal(line["line"], plain) if "line" in line else plain


def seal(number: int, line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line with its number and a digest, by which a change by accident or by hand is noticed.

    The digest has no key: whoever changes a line on purpose can compute it again.
    """
    placed = {"line": number, **line}
    return placed | {"digest": _digest(placed)}


def _digest(line: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a line, with its number, without its digest."""
    plain = {name: value for name, value in line.items() if name != "digest"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def limit_line(limit: Limit, at: str) -> dict[str, Any]:
    """Return the line of a limit that is set now, with a new id; number and digest come with `seal`."""
    return {"id": secrets.token_hex(8), "kind": "limit", "at": at, **vars(limit)}


def release_line(entry: Entry) -> dict[str, Any]:
    """Return the line of a paid release; number and digest come with `seal`."""
    events = to_plain(entry.events)
    header = {"id": entry.id, "kind": "release", "at": entry.at, "title": entry.title}
    return {**header, "events": events, "about": entry.about}


def _read_entry(line: Mapping[str, Any]) -> Entry:
    """Return the entry of a release's line. Raises KeyError, TypeError or ValueError for a damaged one."""
    at, title, line_id = line["at"], line["title"], line.get("id", "")
    if not isinstance(line["about"], dict) or not all(_is_short_text(text) for text in (at, title, line_id)):
        raise ValueError
    return Entry(at, title, from_plain(line["events"]), line["about"], line_id)


def _is_short_text(text: object) -> bool:
    """Return True for a text on one line, of 200 letters at most, which every screen and file can show."""
    return isinstance(text, str) and text.isprintable() and len(text) <= _LONGEST_TEXT


def _finite_float(digits: str) -> float:
    """Return the float that a number in JSON stands for; ValueError for infinity and NaN.

    `json.loads` calls it for numbers that are not whole, and for NaN and Infinity, which it would let pass.
    """
    value = float(digits)
    if not math.isfinite(value):  # 1e999 or NaN
        raise ValueError(f"{digits} is not a number that a ledger holds")
    return value
