"""The ledger of a table's releases: append-only, within its owner's limit, counted by dp-accounting.

A ledger belongs to the content of a table, not to a file's name, and to all tables of its cohort
(`cohorts`). A table may have been kept under former keys (`tables.content`): then its ledger goes on there,
and whatever stands under any key of the cohort's tables counts.

Paying comes first: `spend` writes the event, on the disk, before any noise is drawn, so that a crash wastes
budget and never spends it unseen. Between two processes, or two tabs, only one pays at a time, and the second
sees what the first has spent.
`ledger_records` defines its lines.
"""

import json
import math
import re
import secrets
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from dppca_core.accounting import numerical
from dppca_core.privacy import Event
from dppca_core.release import journal
from dppca_core.release import ledger_records as records
from dppca_core.release.cohort_lists import CohortsInMemory, CohortsOnDisk
from dppca_core.release.cohorts import Cohorts
from dppca_core.release.drawn import Drawn, DrawnInMemory, DrawnOnDisk
from dppca_core.release.ledger_records import Account, Entry, Limit
from dppca_core.release.lines import Lines, LinesInMemory

_KEY = re.compile(r"[0-9a-f]{8,64}")  # it names a file


class OverLimitError(ValueError):
    """Say that a release would spend more than the owner's limit; nothing was spent."""


class Ledger(Lines):
    """Keep the lines of one table and of its cohort.

    patients: rows of that table, if known; lines of tables of other sizes than the cohort's are refused.
    keys: of the table, the present one last. cohorts: which tables pay into one account. owner: who reads and
    pays; what others paid counts, and only when and at what cost is seen. None sees all. sign_in: whether
    owners sign in. Then lines without a mark, of earlier versions, are of whoever brought the first table;
    else everybody sees them.
    """

    def __init__(
        self,
        patients: int | None,
        keys: Sequence[str],
        cohorts: Cohorts,
        owner: str | None = None,
        sign_in: bool = False,
    ) -> None:
        self._patients, self._keys, self._cohorts = patients, tuple(keys), cohorts
        self._owner, self._sign_in = owner, sign_in

    @cached_property
    def _mark(self) -> str | None:
        """Return what marks the lines of this owner."""
        return None if self._owner is None else self._cohorts.mark(self._owner)

    def _seen(self) -> list[dict[str, Any]]:
        """Return all lines, those of other owners without what they say of a table."""
        if self._mark is None:
            return [records.as_seen(line, hidden=False) for line in self._lines()]
        first = self._cohorts.first_owner(self._keys) if self._sign_in else None
        return [
            records.as_seen(
                line, line["kind"] == "release" and line.get("owner", first) not in (self._mark, None)
            )
            for line in self._lines()
        ]

    def _sizes(self) -> frozenset[int] | None:
        """Return how many rows the tables of this account have, or None where any line counts."""
        return None if self._patients is None else self._cohorts.members(self._keys).rows | {self._patients}

    @abstractmethod
    def _begin(self, entry_id: str, asked: dict[str, Any]) -> None:
        """Begin to keep what the release of this entry draws."""

    @abstractmethod
    def drawn(self, entry_id: str) -> Drawn | None:
        """Return what the release of this entry has drawn so far, or None where it is not kept here."""

    @abstractmethod
    def forget(self, entry_id: str) -> None:
        """Drop what the release of this entry has drawn: its owner has it."""

    def account(self) -> Account:
        """Return the account as it stands. Raises ValueError for damaged lines, or those of another table."""
        records.from_lines(self._lines(), self._sizes())  # checked as they are
        return records.from_lines(self._seen())

    def entry(self, entry_id: str) -> Entry:
        """Return a release as it was paid for, whoever did. Raises StopIteration where there is none."""
        return next(entry for entry in records.from_lines(self._lines()).entries if entry.id == entry_id)

    def set_limit(self, limit: Limit) -> Account:
        """Set the limit from now on and return the account.

        Raises ValueError where delta or neighbours are not those of the first limit, or where more than that
        was spent already.
        """
        with self.exclusive():
            now = self.account()
            records.check_alike(
                now.limit, limit, "{name} stays {first}, with which this ledger began, got {second}"
            )
            if now.limit is not None:
                spent = now.spent().epsilon
                if not numerical.within(spent, limit.epsilon):
                    raise ValueError(f"epsilon = {spent:.4g} is spent already, a limit cannot be below that")
            if now.limit != limit:
                self._add(records.limit_line(limit, _now()))
            return self.account()

    def spend(
        self,
        title: str,
        events: Sequence[Event],
        about: Mapping[str, Any] | None = None,
        expected: Account | None = None,
        neighbours: str | None = None,
        asked: dict[str, Any] | None = None,
    ) -> Entry:
        """Pay for a release before it is made; return the entry, which is on the ledger by then.

        expected: the account for which the price was said. neighbours: those that the events count, if they
        are to be the ledger's. asked: what the release is of; then `drawn` keeps its steps. Raises
        OverLimitError beyond the limit, and ValueError before a limit was set,
        for no events or other neighbours, or where the account is another by now.
        """
        if not events:
            raise ValueError("events must be given: a release without a cost is not private")
        with self.exclusive():
            now = self.account()
            if expected is not None and now != expected:
                raise ValueError("another release was made on this table meanwhile: look at the price again")
            if now.limit is not None and neighbours not in (None, now.limit.neighbours):
                raise ValueError(f"neighbours must be those of the ledger, {now.limit.neighbours}")
            total = now.spent(events).epsilon
            assert now.limit is not None  # or `spent` raised
            if not numerical.within(total, now.limit.epsilon):
                raise OverLimitError(
                    f"this would bring the total to epsilon = {total:.4g}, and the limit is "
                    f"{now.limit.epsilon:.4g}: nothing was spent"
                )
            entry = Entry(_now(), title, tuple(events), dict(about or {}), secrets.token_hex(8))
            # Kept first: a crash in between leaves what nobody paid for, never a payment without its steps.
            if asked is not None:
                self._begin(entry.id, asked)
            try:
                self._add(self._marked(records.release_line(entry)))
            except OSError:
                self.forget(entry.id)
                raise
            return entry

    def export(self) -> str:
        """Return all lines as JSON lines, as this owner sees them."""
        return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self._seen())

    def merge(self, text: str, same_cohort: bool = False) -> Account:
        """Add the lines of another ledger of the same table, as exported; known ones count once.

        same_cohort: whether its owner says that they are of extracts of this cohort, of any size. Raises
        ValueError for text that is not a ledger, or one of another table, delta or neighbours.
        """
        lines = records.parse(text)
        theirs = records.from_lines(lines, None if same_cohort else self._sizes())
        with self.exclusive():
            mine = self.account()
            records.check_alike(mine.limit, theirs.limit, "{name} of that ledger is {second}, here {first}")
            kept = [records.unmarked(line) for line in self._lines()]
            known = Counter(json.dumps(line, sort_keys=True) for line in kept)
            paid = [_payment(line) for line in kept if line.get("id") and line["kind"] == "release"]
            new = []
            for line in map(records.unmarked, lines):
                if line["kind"] == "release" and _payment(line) in paid:  # as another owner sees it
                    continue
                text = json.dumps(line, sort_keys=True)
                if not known[text]:
                    new.append(line)
                elif not line.get("id"):  # lines of an old ledger count as often as they occur
                    known[text] -= 1
            # Keep the limit that is set: no file may raise what the owner decided here.
            if mine.limit:
                new = [line for line in new if line["kind"] != "limit"]
            both = records.from_lines([*self._lines(), *new], None if same_cohort else self._sizes())
            if both.limit is not None and not math.isfinite(both.spent().epsilon):
                raise ValueError(f"its releases use up delta = {both.limit.delta:g}: no total can be told")
            if same_cohort:
                self._cohorts.admit(self._keys, both.sizes)
            self._add(*map(self._marked, new))
            return both

    def _marked(self, line: dict[str, Any]) -> dict[str, Any]:
        return line | ({"owner": self._mark} if self._mark and line["kind"] == "release" else {})

    def _written(self) -> list[dict[str, Any]]:
        """Return the lines after which the next one is written: their number is its place."""
        return self._lines()

    def _add(self, *lines: dict[str, Any]) -> None:
        """Append lines, numbered on, each with its digest."""
        before = len(records.deduplicated(self._written()))
        self._append(*(records.seal(before + i, line) for i, line in enumerate(lines, 1)))


class SessionLedger(LinesInMemory, Ledger):
    """Keep lines in memory, for one visitor: gone with the session, which the screen says.

    account: a ledger of the same account, with which this one shares its lines.
    """

    def __init__(
        self,
        patients: int | None = None,
        keys: Sequence[str] = ("",),
        cohorts: Cohorts | None = None,
        account: "SessionLedger | None" = None,
    ) -> None:
        LinesInMemory.__init__(self)
        Ledger.__init__(self, patients, keys, cohorts or CohortsInMemory())
        self._drawn: dict[tuple[str, str], DrawnInMemory] = {}
        if account is not None:
            self._kept, self._drawn, self._lock = account._kept, account._drawn, account._lock

    def take_over(self, other: "SessionLedger") -> None:
        """Add all of another account, which goes on in this one, under this one's limit where there is one.

        Raises ValueError as `merge` does.
        """
        limited = self.account().limit is not None
        lines = [line for line in other._kept if not (limited and line["kind"] == "limit")]
        if lines:
            self.merge("".join(json.dumps(records.content(line)) + "\n" for line in lines))
        self._drawn |= other._drawn

    @staticmethod
    def together(first: "SessionLedger", second: "SessionLedger") -> "SessionLedger":
        """Return what two sessions kept of one account as one of them, with the limit of who has released.

        Where their limits cannot be counted together the account is not readable from then on.
        """
        if first is second:
            return first
        more, less = sorted((first, second), key=SessionLedger._order, reverse=True)
        if less._order()[0]:
            try:
                more.take_over(less)
            except ValueError:  # nothing that was spent may be lost
                more._append(*map(records.content, less._kept))
        return more

    def _order(self) -> tuple[bool, bool]:
        return any(line["kind"] == "release" for line in self._kept), bool(self._kept)

    def _begin(self, entry_id: str, asked: dict[str, Any]) -> None:
        self._drawn[entry_id, self._keys[-1]] = DrawnInMemory(asked)

    def drawn(self, entry_id: str) -> Drawn | None:
        return self._drawn.get((entry_id, self._keys[-1]))

    def forget(self, entry_id: str) -> None:
        self._drawn.pop((entry_id, self._keys[-1]), None)


class DiskLedger(Ledger):
    """Keep lines in FOLDER/KEY.jsonl, shared by all who open the same table with the same folder.

    `key`, `former`: 8 to 64 hexadecimal digits; `former` are the table's keys of earlier versions, oldest
    first. A file under a former key, or that of a table of the same cohort, is continued, so that an earlier
    version that still runs sees what is spent here. Raises ValueError for another key, which could name
    another file.
    """

    def __init__(
        self,
        folder: Path,
        key: str,
        patients: int | None = None,
        former: Sequence[str] = (),
        owner: str | None = None,
        sign_in: bool = False,
    ) -> None:
        super().__init__(patients, (*former, key), CohortsOnDisk(folder), owner, sign_in)
        self._folder = folder
        self._files(self._keys)

    def _files(self, keys: Sequence[str]) -> tuple[Path, ...]:
        if not all(map(_KEY.fullmatch, keys)):
            raise ValueError("key must be 8 to 64 hexadecimal digits")
        return tuple(self._folder / f"{key}.jsonl" for key in keys)

    @property
    def _paths(self) -> tuple[Path, ...]:
        """Return the files of the account; asked each time, since another table may have joined it."""
        return self._files(self._cohorts.members(self._keys).keys)

    @property
    def path(self) -> Path:
        """Return the file of the next line: the first that there is, by the oldest table and key."""
        return next((path for path in self._paths if path.exists()), self._files(self._keys)[-1])

    def _lines(self) -> list[dict[str, Any]]:
        files = [lines for lines in map(journal.read, self._paths) if lines]
        return files[0] if len(files) == 1 else records.merged(files)

    def _written(self) -> list[dict[str, Any]]:
        return journal.read(self.path)

    def _append(self, *lines: dict[str, Any]) -> None:
        journal.append(self.path, *lines)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        _ = self._mark  # its secret has the same lock, when it is drawn
        with ExitStack() as locks:
            locks.enter_context(self._cohorts.exclusive())  # first, so that nothing joins meanwhile
            for path in self._paths:  # an earlier version locks a table's own, in this order too
                locks.enter_context(journal.locked(path))
            yield

    def _steps(self, entry_id: str) -> Path | None:
        """Return the file of this entry's steps; an id that was typed into a ledger names none.

        What was drawn from one table of a cohort does not go on from the rows of another.
        """
        if _KEY.fullmatch(entry_id) is None:
            return None
        before_cohorts = self._folder / f"{entry_id}.drawn.jsonl"
        named = self._folder / f"{entry_id}.{self._keys[-1][:16]}.drawn.jsonl"
        return before_cohorts if before_cohorts.exists() else named

    def _begin(self, entry_id: str, asked: dict[str, Any]) -> None:
        path = self._steps(entry_id)
        assert path is not None  # the id was drawn here
        DrawnOnDisk(path).begin(asked)

    def drawn(self, entry_id: str) -> Drawn | None:
        path = self._steps(entry_id)
        return DrawnOnDisk(path) if path is not None and path.exists() else None

    def forget(self, entry_id: str) -> None:
        path = self._steps(entry_id)
        if path is not None:
            DrawnOnDisk(path).forget()


def _payment(line: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what every owner sees of a release."""
    return line.get("id", ""), line["at"], json.dumps(line["events"], sort_keys=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
