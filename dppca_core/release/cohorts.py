"""Cohorts: whose tables pay into one account, kept beside the ledgers.

A cohort is a set of tables of the same patients, its extracts. They pay into one account, which is the
ledgers under all their keys together. A table that is in no cohort is one of its own, under its keys, as
every table was before there were cohorts. Two cohorts can become one, and never two again: what was spent on
either was spent on both. `cohort_lists` keeps the list in memory or beside the ledgers.

A key is a digest of a table's content (`tables.content`). One table has several, for each version of the
digest that ledgers were kept under, and they are always given oldest first, the present one last. An owner is
whoever brings tables, by name; None stands for all owners, where nobody has to be told apart.

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
    """Hold a table of a cohort: its keys, oldest first, its size, and when it came, in ISO 8601."""

    keys: tuple[str, ...]
    rows: int
    columns: int
    at: str = ""

    @property
    def key(self) -> str:
        """Return the present key."""
        return self.keys[-1]


@dataclass(frozen=True)
class PatientCohort:
    """Hold a cohort as one owner sees it.

    key: the present one of the first of its tables that the owner brought. name: as the owner gave it, or "".
    extracts: the tables that the owner brought, oldest first.
    """

    key: str
    name: str
    extracts: tuple[Extract, ...]


class Members(NamedTuple):
    """Hold what pays into one account: the keys of all its tables, and how many rows these tables have.

    Keys are in the order in which the tables came, each table's oldest key first.
    """

    keys: tuple[str, ...]
    rows: frozenset[int]


class Cohorts(Lines):
    """Keep the list of cohorts, for subclasses that say where its lines are.

    All methods raise ValueError where the list is damaged, and OSError where the disk refuses. Who is inside
    `exclusive` is alone: nobody else writes the list or, in a folder, a ledger that it is about. sketches: a
    second list with the tables' sketches in plain JSON; lines of this list name one by its number, from 1.
    """

    sketches: Lines

    @property
    @abstractmethod
    def secret(self) -> bytes:
        """Return the secret of sketches and owners, 256 random bits, drawn when it is first needed."""

    def members(self, keys: Sequence[str]) -> Members:
        """Return what pays into the account of the table with these keys.

        Its own keys are among them, and its number of rows once it is listed.
        """
        lines = self._lines()
        cohort_keys = _Groups(lines).members(keys)
        # A "joined" line comes before the line of its newest table and begins with another's present key. Put
        # such lines last, so that keys are in the order in which tables came, each table's oldest first.
        in_order = sorted(lines, key=lambda line: line["kind"] == "joined")
        members = [key for line in in_order for key in _keys(line) if key in cohort_keys]
        rows = {
            size
            for line in lines
            if line["kind"] in ("extract", "rows") and cohort_keys & set(_keys(line))
            # A "rows" line has a list of sizes, an "extract" line the size of its table.
            for size in (line["rows"] if line["kind"] == "rows" else [line["rows"]])
        }
        return Members(tuple(dict.fromkeys((*members, *keys))), frozenset(rows))

    def cohorts(self, owner: str | None) -> list[PatientCohort]:
        """Return an owner's cohorts, oldest first; all of them for None."""
        return [cohort for cohort, _ in self._visible(owner)]

    def cohort(self, keys: Sequence[str], owner: str | None) -> PatientCohort | None:
        """Return a table's cohort as its owner sees it; None unless the owner has brought a table of it."""
        cohort_keys = self.members(keys).keys
        return next((visible for visible in self.cohorts(owner) if visible.key in cohort_keys), None)

    def has_other_owner(self, keys: Sequence[str], owner: str | None) -> bool:
        """Return whether another owner brought a table of this table's cohort; False for the owner None."""
        if owner is None:
            return False
        return any(line["owner"] != self.mark(owner) for line in self._extracts(keys))

    def first_owner(self, keys: Sequence[str]) -> str | None:
        """Return the digest (`mark`) of the owner who brought the first table of this table's cohort.

        It is None for a table that is not on the list.
        """
        return next((line["owner"] for line in self._extracts(keys)), None)

    def _extracts(self, keys: Sequence[str]) -> list[Line]:
        """Return the lines of the tables that are in the cohort of the table with these keys."""
        members = set(self.members(keys).keys)
        return [line for line in self._lines() if line["kind"] == "extract" and members & set(_keys(line))]

    def was_brought(self, keys: Sequence[str], owner: str | None, patients: bool) -> bool:
        """Return whether this owner brought this very table before.

        patients: whether a column now names its patients. Then only a line counts that was written with such
        a column, since its sketch has the patients as well.
        """
        return any(
            _keys(line) == tuple(keys) and (line["patients"] or not patients)
            for _, lines in self._visible(owner)
            for line in lines
        )

    def alike(
        self, sketch: Sketch, keys: Sequence[str], owner: str | None
    ) -> list[tuple[PatientCohort, Likeness]]:
        """Return the owner's other cohorts with a table like this one, those with the best evidence first.

        Beside each cohort stands the strongest of the reasons why its tables and this one are alike.
        """
        members = set(self.members(keys).keys)
        result = []
        others = [(cohort, lines) for cohort, lines in self._visible(owner) if cohort.key not in members]
        sketches = self.sketches._lines() if others else ()
        for cohort, lines in others:
            compared = (_sketch_of(line, sketches).likeness(sketch) for line in lines)
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
        """Put a table on the list; `into` joins it to another cohort, into whose account it pays from now on.

        patients: whether a column names the table's patients. into: a key of the other cohort. check: raises
        ValueError where the two may not be joined; called while nobody else writes a ledger.
        Raises ValueError too where sketches that the list names are gone.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        digest = self.mark(owner)
        with self.exclusive():
            check()
            last_named = max((line.get("sketch", 0) for line in self._lines()), default=0)
            sketches = len(self.sketches._lines())
            # If sketches are gone, a new one would get a number that another table names.
            if last_named > sketches:
                raise ValueError(DAMAGED.format(name="cohorts.sketches"))
            lines: list[Line] = []
            # Join before the table is listed: after a crash in between, a listed table that has not joined
            # would have a fresh account, and would not be asked about again.
            if into is not None and into not in self.members(extract.keys).keys:
                lines.append({"kind": "joined", "keys": [into, *extract.keys], "at": now})
            if not self.was_brought(extract.keys, owner, patients):
                self.sketches._append(sketch.to_plain())
                line = {"kind": "extract", **extract._asdict(), "keys": list(extract.keys), "at": now}
                lines.append(line | {"owner": digest, "patients": patients, "sketch": sketches + 1})
            self._append(*lines)

    def rename(self, key: str, name: str, owner: str | None) -> None:
        """Name the cohort that has this key. Raises ValueError for a name that no screen can show."""
        check_name(name)
        line = {"kind": "name", "key": key, "name": name.strip(), "owner": self.mark(owner)}
        with self.exclusive():
            self._append(line | {"at": datetime.now(UTC).isoformat(timespec="seconds")})

    def note_further_sizes(self, keys: Sequence[str], rows: Collection[int]) -> None:
        """Note that this table's cohort has further tables of these numbers of rows.

        A ledger's line is refused unless its cohort has a table of so many rows. Tables released elsewhere
        are known from an imported ledger alone. The caller is inside `exclusive`.
        """
        new = sorted(set(rows) - self.members(keys).rows)
        if new:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._append({"kind": "rows", "key": keys[-1], "rows": new, "at": now})

    def _visible(self, owner: str | None) -> list[tuple[PatientCohort, list[Line]]]:
        """Return an owner's cohorts, each with the "extract" lines of the tables that the owner brought."""
        lines = self._lines()
        groups, by_cohort = _Groups(lines), dict[str, list[Line]]()
        digest = None if owner is None else self.mark(owner)
        mine = [line for line in lines if digest is None or line.get("owner") == digest]
        for line in mine:
            if line["kind"] == "extract":
                by_cohort.setdefault(groups.root(line["keys"][-1]), []).append(line)
        # The latest name of a cohort counts.
        names = {groups.root(line["key"]): line["name"] for line in mine if line["kind"] == "name"}
        result = []
        for root, brought in by_cohort.items():
            # A table has a second line once its patients were named: show it once, as it came first.
            tables: dict[str, Extract] = {}
            for line in brought:
                extract = Extract(tuple(line["keys"]), line["rows"], line["columns"], line["at"])
                tables.setdefault(extract.key, extract)
            extracts = tuple(tables.values())
            result.append((PatientCohort(extracts[0].key, names.get(root, ""), extracts), brought))
        return result

    def mark(self, owner: str | None) -> str:
        """Return the keyed digest of an owner's name, which lines of the list and of ledgers hold instead."""
        digest = hashlib.blake2b((owner or "").encode(), key=self.secret, digest_size=16)
        return digest.hexdigest()


def _sketch_of(line: Line, sketches: Sequence[Line]) -> Sketch:
    """Return the sketch that an "extract" line names by its number, from 1, in the list of sketches.

    Raises ValueError where there is none, which means that the list is damaged.
    """
    try:
        return Sketch.from_plain(sketches[line["sketch"] - 1])
    except (IndexError, KeyError, TypeError, ValueError):
        raise ValueError(DAMAGED.format(name="cohorts.sketches")) from None


def check_name(name: str) -> None:
    """Raise ValueError for a name that no screen can show."""
    if not 0 < len(name.strip()) <= MOST_NAME or not name.strip().isprintable():
        raise ValueError(f"a name has 1 to {MOST_NAME} letters on one line")


def _strength(likeness: Likeness) -> tuple[int, float]:
    """Return what reasons are sorted by, the best evidence last: its kind, then the share that is alike.

    Common patients are the best, then rows, columns, and a table's shape.
    """
    return -("patients", "rows", "columns", "shape").index(likeness.kind), likeness.share


def _keys(line: Line) -> tuple[str, ...]:
    """Return the keys of tables that a line names; none for the first line of the list."""
    return tuple(line["keys"]) if "keys" in line else (line["key"],) if "key" in line else ()


class _Groups:
    """Group keys into cohorts: keys that one line names are of one cohort, and so are keys linked by others.

    It is a union-find: each key has a parent, and all keys of one cohort lead up to the same root.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        """Link the keys that each line of the list names."""
        self._parent: dict[str, str] = {}
        for line in lines:
            for first, second in zip(_keys(line), _keys(line)[1:], strict=False):
                self._parent[self.root(second)] = self.root(first)

    def root(self, key: str) -> str:
        """Return the key that stands for the cohort of this key."""
        # Go up from parent to parent; the root has none.
        while key != (key := self._parent.get(key, key)):
            pass
        return key

    def members(self, keys: Sequence[str]) -> set[str]:
        """Return all keys of the cohorts of these keys."""
        roots = {self.root(key) for key in keys}
        return {key for key in (*self._parent, *self._parent.values(), *keys) if self.root(key) in roots}
