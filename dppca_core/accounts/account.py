"""What an account has spent and has left: its limit, the payments on it, and the lines that say both.

An account belongs to the tables of the same patients. Its lines are plain JSON objects, in the order in which
they were written:

{"kind": "limit", "at": "2026-11-21T14:00:00+00:00", "epsilon": 2.0, "delta": 1e-06,
 "neighbours": "replace-one"}
{"kind": "table", "at": ..., "key": "9f86...", "rows": 920, "columns": ["age", "weight"]}
{"kind": "payment", "id": "5c1f...", "at": ..., "title": "DPS-PCA",
 "events": [{"noise_multiplier": 5.2, "steps": 4}], "about": {"rows": 920, "rows per patient": 1, ...}}

A budget, and so a limit and every event, is for one row of the table. "rows per patient" is what the owner
stated when the payment was made: how many rows one patient can have at most. Another line may raise or lower
the limit; its delta and neighbours stay those of the first. "key" is a digest of the table's content.

Clocks are set back, so "at" neither orders lines nor tells them apart: their order is that of writing, which
`chained` secures, and a payment has an id drawn at random. A digest depends on its line and on the digest
before it, so that a line that was changed, moved or taken out by accident or by hand is noticed. Digests have
no key: whoever changes lines on purpose can compute all of them again.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from dppca_core.accounting import closed_form, numerical
from dppca_core.accounting.events_json import from_plain, to_plain
from dppca_core.privacy import Budget, Event, Neighbours

Line = dict[str, Any]

MOST_CHARACTERS = 10 * 2**20
# Limits of an import: composing more would keep a visitor waiting.
MOST_LINES = 2_000
MOST_EVENTS = 5_000
_LONGEST_TEXT = 200  # letters of a title, a time or an id
ANOTHERS = "Release of another owner"
_ANOTHERS_KEY = "of another owner"
NO_LIMIT = "set a limit first: what all releases on this account together may cost"
_total = lru_cache(maxsize=256)(numerical.total)  # keeps events and delta only, nothing of a table


@dataclass(frozen=True)
class Limit:
    """Hold what all releases on an account together may cost. Raises ValueError for values out of range."""

    epsilon: float
    delta: float
    neighbours: Neighbours = "replace-one"

    def __post_init__(self) -> None:
        budget = Budget(self.epsilon, self.delta, self.neighbours)  # raises for values out of range
        for name in ("epsilon", "delta"):  # without NumPy's types, which no line holds
            object.__setattr__(self, name, getattr(budget, name))


@dataclass(frozen=True)
class Payment:
    """Hold one payment.

    at: the time, in ISO 8601. title: what was paid for, for the screen. events: what it cost, for one row.
    about: whatever else a reader needs to check it, as plain JSON. id: random digits.
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
    def averaged(self) -> bool:
        """Return whether the guarantee is for a patient with all their rows, which were averaged."""
        return self.about.get("unit") == "patient"

    @property
    def is_of_another_owner(self) -> bool:
        """Return whether another owner paid, so that only when and at what cost is known."""
        return self.about.get(_ANOTHERS_KEY) is True


@dataclass(frozen=True)
class Balance:
    """Hold an account as it is: its limit (None before it was set), and all payments in order."""

    limit: Limit | None = None
    payments: tuple[Payment, ...] = ()

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what all releases cost, event by event, for one row."""
        return tuple(event for payment in self.payments for event in payment.events)

    def spent(self, more: Sequence[Event] = ()) -> numerical.Total:
        """Return what all releases cost together, for one row, at the limit's delta.

        more: events to add, to see the total before they are paid. Raises ValueError before a limit was set.
        """
        if self.limit is None:
            raise ValueError(NO_LIMIT)
        return _total((*self.events, *more), self.limit.delta)

    def spent_by_patient(self, rows: int) -> float:
        """Return the epsilon of all releases for a patient with this many rows, at the limit's delta.

        By `closed_form.grouped`: exact for Gaussian releases. Raises ValueError before a limit was set.
        """
        if rows == 1:
            return self.spent().epsilon
        if self.limit is None:
            raise ValueError(NO_LIMIT)
        return closed_form.epsilon_of(closed_form.grouped(self.events, rows), self.limit.delta)


def size_details(n: int, rows_per_patient: int, averaged: bool) -> dict[str, Any]:
    """Return the part of a payment's "about" that says how many rows or patients a release counted.

    Where rows of a patient are averaged, n is a number of patients, so it has another name.
    """
    counts = {"averaged patients" if averaged else "rows": n, "rows per patient": rows_per_patient}
    return counts | {"unit": "patient" if averaged else "row"}


def limit_line(limit: Limit, at: str) -> Line:
    return {"kind": "limit", "at": at, **vars(limit)}


def payment_line(payment: Payment) -> Line:
    """Return the line of a payment. Raises ValueError for one that could not be read back from its line."""
    line = {"kind": "payment", **vars(payment), "events": to_plain(payment.events)}
    try:
        _read_payment(json.loads(as_json(line)))
    except (KeyError, TypeError, ValueError) as fault:
        raise ValueError(f"no account can hold this payment, and nothing was paid: {fault}") from None
    return line


def from_lines(lines: Iterable[Mapping[str, Any]]) -> Balance:
    """Return the account that lines make up, whatever other kinds of lines are among them.

    Raises ValueError, with the number of the line, for one that cannot be read, or a limit with another delta
    or neighbours than the first.
    """
    limit: Limit | None = None
    payments = []
    for number, line in enumerate(lines, 1):
        try:
            if line["kind"] == "limit":
                before, limit = limit, Limit(line["epsilon"], line["delta"], line["neighbours"])
                if before and (before.delta, before.neighbours) != (limit.delta, limit.neighbours):
                    raise ValueError
            elif line["kind"] == "payment":
                payments.append(_read_payment(line))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"line {number} of the account cannot be read: restore it first") from None
    return Balance(limit, tuple(payments))


def check_alike(first: Limit | None, second: Limit | None, message: str) -> None:
    """Raise ValueError where both limits are set and differ in delta or neighbours: no total can be told.

    message: with the places {name}, {first} and {second}, for what differs and its two values.
    """
    for name in ("delta", "neighbours") if first and second else ():
        values = getattr(first, name), getattr(second, name)
        if values[0] != values[1]:
            raise ValueError(message.format(name=name, first=values[0], second=values[1]))


def hidden(line: Line) -> Line:
    """Return the line of a payment as another owner of the account may see it.

    Left are its id, time and events and, to add up what patients lose, how many rows one can have and whether
    they count as one.
    """
    payment = _read_payment(line)
    about: dict[str, Any] = {_ANOTHERS_KEY: True}
    if (rows := payment.rows_per_patient or 1) > 1:
        about["rows per patient"] = rows
    if payment.averaged:
        about["unit"] = "patient"
    return payment_line(Payment(payment.at, ANOTHERS, payment.events, about, payment.id))


def as_json(line: Mapping[str, Any]) -> str:
    """Return a line as the JSON text of which digests are made. Raises ValueError for infinity and NaN."""
    return json.dumps(line, separators=(",", ":"), sort_keys=True, allow_nan=False)


def chained(before: str, text: str | bytes) -> str:
    """Return the digest of what is written after something with the digest `before`."""
    return hashlib.sha256(before.encode() + (text.encode() if isinstance(text, str) else text)).hexdigest()


def to_text(lines: Iterable[Line]) -> str:
    """Return lines as JSON lines, each with its digest, which `parse` reads."""
    written, digest = "", ""
    for line in lines:
        digest = chained(digest, as_json(line))
        written += as_json(line | {"digest": digest}) + "\n"
    return written


def parse(text: str) -> list[Line]:
    """Return the lines of an account that `to_text` wrote, without their digests.

    Raises ValueError, with the number of the line, for anything else, and where a line was changed, moved or
    taken out.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"an account may have {MOST_CHARACTERS:,} characters, got {len(text):,}")
    written = text.splitlines()
    if len(written) > MOST_LINES:
        raise ValueError(f"an account may have {MOST_LINES:,} lines, got {len(written):,}")
    lines: list[Line] = []
    digest = ""
    for number, each in enumerate(written, 1):
        try:
            line = json.loads(each, parse_constant=_finite_float, parse_float=_finite_float)
            stated = line.pop("digest")
            digest = chained(digest, as_json(line))
            _check(line)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise ValueError(f"line {number} is not of an account") from None
        if digest != stated:
            raise ValueError(f"line {number} was changed or moved, or one before it was taken out")
        lines.append(line)
    if not lines:
        raise ValueError("an account must have lines, got none")
    events = len(from_lines(lines).events)
    if events > MOST_EVENTS:
        raise ValueError(f"an account may have {MOST_EVENTS:,} events, got {events:,}")
    return lines


def _check(line: Line) -> None:
    if line["kind"] == "table":
        key, rows, columns = line["key"], line["rows"], line["columns"]
        if not all(map(_is_short_text, (key, line["at"]))) or not isinstance(rows, int) or rows < 1:
            raise ValueError
        if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
            raise ValueError
    elif line["kind"] in ("limit", "payment"):
        from_lines([line])
        if not _is_short_text(line["at"]):
            raise ValueError
    else:
        raise ValueError


def _read_payment(line: Mapping[str, Any]) -> Payment:
    """Return the payment of a line. Raises KeyError, TypeError or ValueError for a damaged one."""
    at, title, payment_id = line["at"], line["title"], line["id"]
    if not isinstance(line["about"], dict) or not all(map(_is_short_text, (at, title, payment_id))):
        raise ValueError(f"its title must be one line of {_LONGEST_TEXT} letters at most")
    if not payment_id:
        raise ValueError("it must have an id")
    return Payment(at, title, from_plain(line["events"]), line["about"], payment_id)


def _is_short_text(text: object) -> bool:
    """Return True for a text on one line, of 200 letters at most, which every screen and file can show."""
    return isinstance(text, str) and text.isprintable() and len(text) <= _LONGEST_TEXT


def _finite_float(digits: str) -> float:
    """Return the float that a number in JSON stands for; ValueError for infinity and NaN.

    `json.loads` calls it for numbers that are not whole, and for NaN and Infinity, which it would let pass.
    """
    value = float(digits)
    if not math.isfinite(value):  # 1e999 or NaN
        raise ValueError(f"{digits} is not a number that an account holds")
    return value
