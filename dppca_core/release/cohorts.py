"""Cohorts: whose tables pay into one account, kept beside the ledgers.

A cohort is a set of tables of the same patients, its extracts. They pay into one account, which is the
ledgers under all their keys together. A table that is in no cohort is one of its own, under its keys, as
every table was before there were cohorts. Two cohorts can become one, and never two again: what was spent on
either was spent on both. `cohort_lists` keeps the list in memory or beside the ledgers.

The list is append-only, a line of JSON each:

    {"line": 1, "kind": "list", "version": 1}
    {"kind": "extract", "keys": [oldest .. present], "rows": n, "columns": d, "owner": ..., "patients": false,
     "sketch": 1, "at": ...}                 a table; it is in the cohort of every table that shares a key
    {"kind": "joined", "keys": [k, oldest .. present], "at": ...}          the cohorts of these are one
    {"kind": "name", "key": k, "name": "...", "owner": ..., "at": ...}
    {"kind": "rows", "key": k, "rows": [...], "at": ...}      sizes of extracts that were released elsewhere

Sketches (`tables.sketches`) have a list of their own, which is read only to compare tables. Nobody's tables
are compared with anyone's but their owner's, nor named to anyone else; owners are kept as keyed digests.
Whoever has the very table of another pays into the same account, and sees what it costs and not what it is.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from dppca_core.release.lines import Line, Lines
from dppca_core.tables.sketches import Likeness, Sketch

MOST_NAME = 60  # letters
DAMAGED = (
    "the list of cohorts beside the ledgers ({name}) is damaged or incomplete: restore the folder from a copy"
)


class Extract(NamedTuple):
    """Hold a table of a cohort: its keys, oldest first, its size, and when it came."""

    keys: tuple[str, ...]
    rows: int
    columns: int
    at: str = ""

    @property
    def key(self) -> str:
        return self.keys[-1]


@dataclass(frozen=True)
class PatientCohort:
    """Hold a cohort as its owner sees it: the present key of its first table, its name or "", its tables."""

    key: str
    name: str
    extracts: tuple[Extract, ...]


class Members(NamedTuple):
    """Hold what pays into one account: all keys, oldest first by table, and sizes of their tables."""

    keys: tuple[str, ...]
    rows: frozenset[int]


class Cohorts(Lines):
    """Keep the list. All raise ValueError where it is damaged, and OSError where the disk refuses.

    While somebody is alone with it (`exclusive`) nobody else writes the list, or a ledger of it. sketches:
    those of its tables, in plain JSON, numbered from 1.
    """

    sketches: Lines

    @property
    @abstractmethod
    def secret(self) -> bytes:
        """Return the secret of sketches and owners, 256 random bits, drawn when it is first needed."""

    def members(self, keys: Sequence[str]) -> Members:
        """Return what pays into the account of the table with these keys, itself included."""
        lines = self._lines()
        cohort = _Groups(lines).members(keys)
        # In the order in which tables came, each with its oldest key first.
        in_order = sorted(lines, key=lambda line: line["kind"] == "joined")
        members = [key for line in in_order for key in _keys(line) if key in cohort]
        rows = {
            size
            for line in lines
            if line["kind"] in ("extract", "rows") and cohort & set(_keys(line))
            for size in (line["rows"] if line["kind"] == "rows" else [line["rows"]])
        }
        return Members(tuple(dict.fromkeys((*members, *keys))), frozenset(rows))

    def cohorts(self, owner: str | None) -> list[PatientCohort]:
        """Return an owner's cohorts, oldest first; all of them for None."""
        return [cohort for cohort, _ in self._visible(owner)]

    def cohort(self, keys: Sequence[str], owner: str | None) -> PatientCohort | None:
        """Return the cohort of a table if the owner has brought that table or another of the cohort."""
        cohort = self.members(keys).keys
        return next((visible for visible in self.cohorts(owner) if visible.key in cohort), None)

    def shared(self, keys: Sequence[str], owner: str | None) -> bool:
        """Return whether somebody else brought a table of the cohort of the table with these keys."""
        if owner is None:
            return False
        return any(line["owner"] != self.mark(owner) for line in self._extracts(keys))

    def first_owner(self, keys: Sequence[str]) -> str | None:
        """Return the mark of who brought the first table of the cohort, or None before anybody did."""
        return next((line["owner"] for line in self._extracts(keys)), None)

    def _extracts(self, keys: Sequence[str]) -> list[Line]:
        """Return the lines of the tables that are in the cohort of the table with these keys."""
        members = set(self.members(keys).keys)
        return [line for line in self._lines() if line["kind"] == "extract" and members & set(_keys(line))]

    def holds(self, keys: Sequence[str], owner: str | None, patients: bool) -> bool:
        """Return whether this owner brought this table before, and with named patients, where it has some."""
        return any(
            _keys(line) == tuple(keys) and (line["patients"] or not patients)
            for _, lines in self._visible(owner)
            for line in lines
        )

    def alike(
        self, sketch: Sketch, keys: Sequence[str], owner: str | None
    ) -> list[tuple[PatientCohort, Likeness]]:
        """Return the owner's other cohorts that have a table like this one, and by what; the likest first."""
        members = set(self.members(keys).keys)
        result = []
        others = [(cohort, lines) for cohort, lines in self._visible(owner) if cohort.key not in members]
        kept = self.sketches._lines() if others else ()
        for cohort, lines in others:
            compared = (_sketch(kept, line).likeness(sketch) for line in lines)
            reasons = [likeness for likeness in compared if likeness is not None]
            if reasons:
                result.append((cohort, max(reasons, key=_strength)))
        return sorted(result, key=lambda pair: _strength(pair[1]), reverse=True)

    def add(
        self,
        extract: Extract,
        sketch: Sketch,
        owner: str | None,
        patients: bool,
        into: str | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Note a table and, with a key of another cohort, that it pays into that account from now on.

        check: raises ValueError where it may not; called while nobody else writes a ledger.
        Raises ValueError too where sketches that the list names are gone.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        digest = self.mark(owner)
        with self.exclusive():
            check()
            named = max((line.get("sketch", 0) for line in self._lines()), default=0)
            many = len(self.sketches._lines())
            if named > many:  # the next one would be taken for another table's
                raise ValueError(DAMAGED.format(name="cohorts.sketches"))
            lines: list[Line] = []
            # First, so that a crash in between leaves no table that is known and has a fresh account.
            if into is not None and into not in self.members(extract.keys).keys:
                lines.append({"kind": "joined", "keys": [into, *extract.keys], "at": now})
            if not self.holds(extract.keys, owner, patients):
                self.sketches._append(sketch.to_plain())
                line = {"kind": "extract", **extract._asdict(), "keys": list(extract.keys), "at": now}
                lines.append(line | {"owner": digest, "patients": patients, "sketch": many + 1})
            self._append(*lines)

    def rename(self, key: str, name: str, owner: str | None) -> None:
        """Name the cohort that has this key. Raises ValueError for a name that no screen can show."""
        check_name(name)
        line = {"kind": "name", "key": key, "name": name.strip(), "owner": self.mark(owner)}
        with self.exclusive():
            self._append(line | {"at": datetime.now(UTC).isoformat(timespec="seconds")})

    def admit(self, keys: Sequence[str], rows: Collection[int]) -> None:
        """Note that the cohort of this table has extracts of these sizes, which were released elsewhere.

        The caller is alone.
        """
        new = sorted(set(rows) - self.members(keys).rows)
        if new:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._append({"kind": "rows", "key": keys[-1], "rows": new, "at": now})

    def _visible(self, owner: str | None) -> list[tuple[PatientCohort, list[Line]]]:
        """Return the cohorts of an owner, with the lines of their tables that the owner brought."""
        lines = self._lines()
        groups, by_cohort = _Groups(lines), dict[str, list[Line]]()
        digest = None if owner is None else self.mark(owner)
        mine = [line for line in lines if digest is None or line.get("owner") == digest]
        for line in mine:
            if line["kind"] == "extract":
                by_cohort.setdefault(groups.root(line["keys"][-1]), []).append(line)
        names = {groups.root(line["key"]): line["name"] for line in mine if line["kind"] == "name"}
        result = []
        for root, brought in by_cohort.items():
            tables: dict[str, Extract] = {}
            for line in brought:
                extract = Extract(tuple(line["keys"]), line["rows"], line["columns"], line["at"])
                tables.setdefault(extract.key, extract)
            extracts = tuple(tables.values())
            result.append((PatientCohort(extracts[0].key, names.get(root, ""), extracts), brought))
        return result

    def mark(self, owner: str | None) -> str:
        """Return the keyed digest of an owner, by which lines are told to be theirs."""
        digest = hashlib.blake2b((owner or "").encode(), key=self.secret, digest_size=16)
        return digest.hexdigest()


def _sketch(kept: Sequence[Line], line: Line) -> Sketch:
    try:
        return Sketch.from_plain(kept[line["sketch"] - 1])
    except (IndexError, KeyError, TypeError, ValueError):
        raise ValueError(DAMAGED.format(name="cohorts.sketches")) from None


def check_name(name: str) -> None:
    """Raise ValueError for a name that no screen can show."""
    if not 0 < len(name.strip()) <= MOST_NAME or not name.strip().isprintable():
        raise ValueError(f"a name has 1 to {MOST_NAME} letters on one line")


def _strength(likeness: Likeness) -> tuple[int, float]:
    return -("patients", "rows", "columns", "shape").index(likeness.kind), likeness.share


def _keys(line: Line) -> tuple[str, ...]:
    """Return the keys that a line is of."""
    return tuple(line["keys"]) if "keys" in line else (line["key"],) if "key" in line else ()


class _Groups:
    """Tell which keys are of one cohort."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._parent: dict[str, str] = {}
        for line in lines:
            for first, second in zip(_keys(line), _keys(line)[1:], strict=False):
                self._parent[self.root(second)] = self.root(first)

    def root(self, key: str) -> str:
        """Return the key that stands for a cohort."""
        while key != (key := self._parent.get(key, key)):
            pass
        return key

    def members(self, keys: Sequence[str]) -> set[str]:
        """Return all keys of the cohorts of these keys."""
        roots = {self.root(key) for key in keys}
        return {key for key in (*self._parent, *self._parent.values(), *keys) if self.root(key) in roots}
