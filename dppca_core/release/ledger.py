"""The ledger of a table's releases: append-only, within its owner's limit, counted by dp-accounting.

A ledger belongs to the content of a table, not to a file's name, and to all tables of its cohort
(`cohorts`). A table may have been kept under former keys (`tables.content`): then its ledger goes on there,
and whatever stands under any key of the cohort's tables counts.

Paying comes first: `spend` writes the event, on the disk, before any noise is drawn, so that a crash wastes
budget and never spends it unseen. Between two processes, or two tabs, only one pays at a time, and the second
sees what the first has spent. Inside `exclusive` nobody else writes.

`ledger_records` defines its lines. A key is a digest of a table's content; one table has several, of former
versions of the digest, and they are given oldest first. An owner is whoever signed in; lines hold a keyed
digest of the name (the mark). A release draws its noise in steps, which are kept until it is downloaded
(`drawn`), so that one that was interrupted can go on.
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
    """Keep the lines of one table and of its cohort, the tables of the same patients; they are one account.

    patients: number of rows of that table, if known; then lines of tables of other sizes than the cohort's
    are refused. keys: of the table, the present one last. cohorts: which tables pay into one account. owner:
    who reads and pays; what others paid counts, but only when and at what cost is seen. None sees all.
    sign_in: whether owners sign in. Then lines without a mark, of earlier versions, belong to whoever brought
    the first table; else everybody sees them.
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
        """Return the keyed digest that marks the lines of this owner; None where the ledger has no owner."""
        return None if self._owner is None else self._cohorts.mark(self._owner)

    def _seen(self) -> list[dict[str, Any]]:
        """Return all lines as this owner may see them: of others' releases only time and cost are left."""
        if self._mark is None:
            return [records.shown_to_owner(line, hidden=False) for line in self._lines()]
        # Whose the lines without a mark are; nobody's, and so visible, where owners do not sign in.
        first_owner = self._cohorts.first_owner(self._keys) if self._sign_in else None
        visible = (self._mark, None)
        return [
            records.shown_to_owner(
                line, hidden=line["kind"] == "release" and line.get("owner", first_owner) not in visible
            )
            for line in self._lines()
        ]

    def _sizes(self) -> frozenset[int] | None:
        """Return the numbers of rows that this account's tables have; a line that states another is refused.

        It is None, and lines may have any, where the number of this table's patients is not known.
        """
        return None if self._patients is None else self._cohorts.members(self._keys).rows | {self._patients}

    @abstractmethod
    def _begin(self, entry_id: str, asked: dict[str, Any]) -> None:
        """Begin to keep the draws of the release of this entry; asked: what it is of, in plain JSON."""

    @abstractmethod
    def drawn(self, entry_id: str) -> Drawn | None:
        """Return what the release of this entry has drawn so far, or None where it is not kept here."""

    @abstractmethod
    def forget(self, entry_id: str) -> None:
        """Drop what the release of this entry has drawn, once its owner has downloaded it."""

    def account(self) -> Account:
        """Return limit and releases, as this owner may see them.

        Raises ValueError for damaged lines, or those of another table.
        """
        # Check the lines as they stand: what an owner sees of others' lines lacks the number of rows.
        records.from_lines(self._lines(), self._sizes())
        return records.from_lines(self._seen())

    def entry(self, entry_id: str) -> Entry:
        """Return the full entry of a release, also of another owner; StopIteration where there is none."""
        return next(entry for entry in records.from_lines(self._lines()).entries if entry.id == entry_id)

    def set_limit(self, limit: Limit) -> Account:
        """Set the limit from now on and return the account.

        Raises ValueError where delta or neighbours are not those of the first limit, or where more than that
        was spent already.
        """
        with self.exclusive():
            now = self.account()
            # {first} is the limit that is set, {second} the new one.
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
        """Pay for a release before it is made: write its entry on the ledger, and return it.

        events: what it costs. about: more for the line, such as the method and the number of rows. expected:
        the account on which the owner was told the price; None takes any. neighbours: the relation that the
        events are for; given, it must be the limit's. asked: what the release is of, in plain JSON; given,
        `drawn` keeps its steps. Raises OverLimitError beyond the limit, and ValueError before a limit was
        set, for no events or other neighbours, or where the account is another than expected by now.
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
            entry = Entry(_now(), title, tuple(events), dict(about or {}), id=secrets.token_hex(8))
            # Begin the steps first: a crash in between leaves a file that nobody paid for, and never a
            # payment whose release could not be resumed.
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
        """Add the lines of another ledger of the same table, as `export` wrote them, and return the account.

        A line that is here already is not added again. same_cohort: whether the owner states that they are of
        tables of the same patients; then tables of any size are accepted. Raises ValueError for text that is
        not a ledger, or one of another table, delta or neighbours.
        """
        lines = records.parse(text)
        theirs = records.from_lines(lines, None if same_cohort else self._sizes())
        with self.exclusive():
            mine = self.account()
            records.check_alike(mine.limit, theirs.limit, "{name} of that ledger is {second}, here {first}")
            # Compare what lines say, without their place, digest and owner, which differ between ledgers.
            kept = [records.without_owner(line) for line in self._lines()]
            # How often each line stands here.
            known = Counter(json.dumps(line, sort_keys=True) for line in kept)
            # A file that another owner exported shows of a release only id, time and events: compare these.
            paid = [_payment(line) for line in kept if line.get("id") and line["kind"] == "release"]
            new = []
            for line in map(records.without_owner, lines):
                if line["kind"] == "release" and _payment(line) in paid:
                    continue
                as_json = json.dumps(line, sort_keys=True)
                if not known[as_json]:
                    new.append(line)
                elif not line.get("id"):
                    # Old lines have no id, so equal ones can be different releases: each one here stands for
                    # one there, and any more of them are new.
                    known[as_json] -= 1
            # Keep the limit that is set: no file may raise what the owner decided here.
            if mine.limit:
                new = [line for line in new if line["kind"] != "limit"]
            both = records.from_lines([*self._lines(), *new], None if same_cohort else self._sizes())
            if both.limit is not None and not math.isfinite(both.spent().epsilon):
                raise ValueError(f"its releases use up delta = {both.limit.delta:g}: no total can be told")
            if same_cohort:
                self._cohorts.note_further_sizes(self._keys, both.sizes)
            self._add(*map(self._marked, new))
            return both

    def _marked(self, line: dict[str, Any]) -> dict[str, Any]:
        """Return a line with the mark of this owner, if it is of a release; a limit is everybody's."""
        return line | ({"owner": self._mark} if self._mark and line["kind"] == "release" else {})

    def _written(self) -> list[dict[str, Any]]:
        """Return the lines of the file that new lines are appended to; their numbers go on from these."""
        return self._lines()

    def _add(self, *lines: dict[str, Any]) -> None:
        """Append lines, each with its number, counted on from those that are there, and its digest."""
        before = len(records.deduplicated(self._written()))
        self._append(*(records.seal(before + i, line) for i, line in enumerate(lines, 1)))


class SessionLedger(LinesInMemory, Ledger):
    """Keep lines in memory, for one visitor: gone with the session, which the screen says.

    patients, keys, cohorts: as for `Ledger`. account: a ledger of the same account, whose lines, steps and
    lock this one shares, so that what either spends both see.
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
        if account is not None:  # share its lists and its lock themselves, not copies
            self._kept, self._drawn, self._lock = account._kept, account._drawn, account._lock

    def take_over(self, other: "SessionLedger") -> None:
        """Add all lines and steps of another account, which is joined to this one.

        This one's limit stays; the other's counts where there is none. Raises ValueError as `merge` does.
        """
        limit = self.account().limit
        # Before the other's limit is left out, by which `merge` would refuse it.
        records.check_alike(
            limit, other.account().limit, "{name} of one account is {first}, of the other {second}"
        )
        lines = [line for line in other._kept if not (limit and line["kind"] == "limit")]
        if lines:
            self.merge("".join(json.dumps(records.content(line)) + "\n" for line in lines))
        self._drawn |= other._drawn

    @staticmethod
    def together(first: "SessionLedger", second: "SessionLedger") -> "SessionLedger":
        """Return one of two ledgers that two sessions kept of one account, with the lines of both.

        The limit is that of the one that has paid for releases. Where both have and their limits cannot be
        counted together, the account is not readable from then on.
        """
        if first is second:
            return first
        more, less = sorted((first, second), key=SessionLedger._fullness, reverse=True)
        less_paid, _ = less._fullness()
        if less_paid:  # else the lesser one has at most a limit, from which nothing was spent
            try:
                more.take_over(less)
            except ValueError:
                # Append the lines as they are: an account that nobody can read is better than one that
                # forgets what was spent.
                more._append(*map(records.content, less._kept))
        return more

    def _fullness(self) -> tuple[bool, bool]:
        """Return whether a release was paid for here, and whether there is any line, which sorts ledgers."""
        return any(line["kind"] == "release" for line in self._kept), bool(self._kept)

    def _begin(self, entry_id: str, asked: dict[str, Any]) -> None:
        """Begin to keep the draws of this entry's release.

        They are under the table's present key too: tables of a cohort share an account, but no draws.
        """
        self._drawn[entry_id, self._keys[-1]] = DrawnInMemory(asked)

    def drawn(self, entry_id: str) -> Drawn | None:
        """Return what the release of this entry has drawn from this table, or None if it is not kept."""
        return self._drawn.get((entry_id, self._keys[-1]))

    def forget(self, entry_id: str) -> None:
        """Drop what the release of this entry has drawn."""
        self._drawn.pop((entry_id, self._keys[-1]), None)


class DiskLedger(Ledger):
    """Keep lines in FOLDER/KEY.jsonl, shared by all who open the same table with the same folder.

    key: of the table's content, 8 to 64 hexadecimal digits. former: its keys by earlier versions of the
    digest, oldest first. A file under a former key, or of a table of the same cohort, is continued, so that
    an earlier version of this program that still runs sees what is spent here. patients, owner, sign_in: as
    for `Ledger`. Raises ValueError for any other key, which could name a file elsewhere.
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
        self._files(self._keys)  # raises for a key that could name a file elsewhere

    def _files(self, keys: Sequence[str]) -> tuple[Path, ...]:
        """Return the ledger file of each key, whether or not it exists. Raises ValueError for other text."""
        if not all(map(_KEY.fullmatch, keys)):
            raise ValueError("key must be 8 to 64 hexadecimal digits")
        return tuple(self._folder / f"{key}.jsonl" for key in keys)

    @property
    def _paths(self) -> tuple[Path, ...]:
        """Return the ledger files of all keys of the account, oldest table first.

        The list of cohorts is read each time, since another table may have joined meanwhile.
        """
        return self._files(self._cohorts.members(self._keys).keys)

    @property
    def path(self) -> Path:
        """Return the file that lines are appended to: the first that exists, by oldest table and key.

        Where none does, it is the file of this table's present key.
        """
        return next((path for path in self._paths if path.exists()), self._files(self._keys)[-1])

    def _lines(self) -> list[dict[str, Any]]:
        """Return the lines of all files of the account, each release once."""
        files = [lines for lines in map(journal.read, self._paths) if lines]
        # One file is returned with its lines' places, so that one that is gone from it is noticed.
        return files[0] if len(files) == 1 else records.merged(files)

    def _written(self) -> list[dict[str, Any]]:
        """Return the lines of the one file that new lines are appended to."""
        return journal.read(self.path)

    def _append(self, *lines: dict[str, Any]) -> None:
        """Append lines to that one file, all of them or none."""
        journal.append(self.path, *lines)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the locks of the list of cohorts and of all files of the account."""
        # Compute the mark before locking: it may have to draw the cohorts' secret, under the lock taken next.
        _ = self._mark
        with ExitStack() as locks:
            # Lock the list of cohorts first, so that no table joins the account meanwhile. Then lock all
            # files of the account: an earlier version, without cohorts, locks a table's own, in this order.
            locks.enter_context(self._cohorts.exclusive())
            for path in self._paths:
                locks.enter_context(journal.locked(path))
            yield

    def _steps_file(self, entry_id: str) -> Path | None:
        """Return the file of this entry's steps, or None for an id that could name a file elsewhere.

        An imported ledger can have any id. The file's name holds the table's key as well, so that what was
        drawn from one table of a cohort does not go on from the rows of another.
        """
        if _KEY.fullmatch(entry_id) is None:
            return None
        # A version before cohorts named the file by the entry alone; one that exists goes on.
        before_cohorts = self._folder / f"{entry_id}.drawn.jsonl"
        by_table = self._folder / f"{entry_id}.{self._keys[-1][:16]}.drawn.jsonl"
        return before_cohorts if before_cohorts.exists() else by_table

    def _begin(self, entry_id: str, asked: dict[str, Any]) -> None:
        """Begin the file of steps of this entry with what its release is of, in plain JSON."""
        path = self._steps_file(entry_id)
        assert path is not None  # the id was drawn here
        DrawnOnDisk(path).begin(asked)

    def drawn(self, entry_id: str) -> Drawn | None:
        """Return what the release of this entry has drawn so far, or None where there is no such file."""
        path = self._steps_file(entry_id)
        return DrawnOnDisk(path) if path is not None and path.exists() else None

    def forget(self, entry_id: str) -> None:
        """Delete what the release of this entry has drawn."""
        path = self._steps_file(entry_id)
        if path is not None:
            DrawnOnDisk(path).forget()


def _payment(line: Mapping[str, Any]) -> tuple[str, ...]:
    """Return id, time and events of a release's line, which every owner sees: equal ones are one release."""
    return line.get("id", ""), line["at"], json.dumps(line["events"], sort_keys=True)


def _now() -> str:
    """Return the present time as lines have it, UTC in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
