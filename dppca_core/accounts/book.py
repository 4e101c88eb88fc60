"""The book: all accounts of one machine or server, paid into before any noise is drawn, in one SQLite file.

An account belongs to the tables of the same patients (`account`). A table is known by the key of its content
(`tables.content`), whatever its file is called; keys are global: a table is in one account of the book, and
whoever else brings it is refused until an owner of that account shares it. So nobody gets a fresh limit for
patients whose privacy was spent before.

Paying comes first. `Payer.pay` writes the payment, within the limit and at the price that was shown, and it
is on the disk when it returns: a crash wastes budget and never spends it unseen. A release then draws its
noise in named steps, each of which is written here before it is used (`ReleaseSteps`), so that one that was
interrupted goes on from the same numbers, at no cost. The finished release stays until its owner deletes it;
its payment stays for ever. No cell of a table is in here.

The file is for local disks: file locks of network disks do not keep two writers apart. With its rollback
journal (`journal_mode=DELETE`) and `synchronous=EXTRA` SQLite syncs the file, deletes the journal and syncs
the folder before a commit returns. With `FULL` a power cut could bring the journal back, and it would undo a
payment. `BEGIN IMMEDIATE` lets one writer at a time read and write. Without a path the book is in memory, by
the same code, for a session that leaves nothing behind.

Lines of an account, and steps of a release, are chained by digests (`account.chained`), the last of which is
kept apart with their number. Where one was changed, moved or taken out by hand, that account, or that
release, is refused until the book is restored; and while any account is, no unknown table gets a new one.
What is not noticed: a former copy of the whole file, and whoever computes all digests again.
"""

import errno
import hashlib
import json
import math
import os
import re
import secrets
import sqlite3
import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import platformdirs

from dppca_core.accounting import numerical
from dppca_core.accounts.account import (
    Balance,
    Limit,
    Line,
    Payment,
    as_json,
    chained,
    check_alike,
    from_lines,
    hidden,
    limit_line,
    parse,
    payment_line,
    to_text,
)
from dppca_core.arrays import Array
from dppca_core.privacy import Event

ACCOUNTS = "DPPCA_ACCOUNTS"  # the environment variable that names another folder
_FILE = "accounts.sqlite3"
_WAIT_SECONDS = 60.0  # for another process that is writing
_NEARLY = 0.1  # of a table's rows, by which another extract of the same patients may differ
_EXPORTED = ("limit", "table", "payment")  # kinds of lines; others are about owners
_GONE = "this release was deleted from the book"
# name: the key of a table or the id of a payment, by which its line is found. steps, digest: how many steps
# there are, and the digest of the last. asked: what a release is of. shape: NULL for a finished document.
_SCHEMA = """
CREATE TABLE secret (value BLOB NOT NULL);
CREATE TABLE accounts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, lines INTEGER NOT NULL, digest TEXT NOT NULL
);
CREATE TABLE lines (
    account INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT UNIQUE, text TEXT NOT NULL,
    digest TEXT NOT NULL, PRIMARY KEY (account, number)
);
CREATE TABLE releases (
    payment TEXT PRIMARY KEY, asked TEXT NOT NULL, steps INTEGER NOT NULL, digest TEXT NOT NULL
);
CREATE TABLE steps (
    payment TEXT NOT NULL, number INTEGER NOT NULL, step TEXT NOT NULL, shape TEXT, content BLOB NOT NULL,
    PRIMARY KEY (payment, number)
);
"""
_TABLES = set(re.findall(r"CREATE TABLE (\w+)", _SCHEMA))


class OverLimitError(ValueError):
    """Say that a release would spend more than the owner's limit; nothing was spent."""


class DamagedBookError(ValueError):
    """Say that the book was changed by hand or by accident; nothing is released until it is restored."""


class OthersTableError(ValueError):
    """Say that a table is in another person's account, who has not shared it."""


class BookTable(NamedTuple):
    """Hold what the book knows of a table: its key, its size, its columns, and when it came, in ISO 8601."""

    key: str
    rows: int
    columns: tuple[str, ...]
    at: str = ""


class OwnersAccount(NamedTuple):
    """Hold an account as its owner chooses it: its number in the book, and its tables, oldest first."""

    number: int
    tables: tuple[BookTable, ...]

    def likeness(self, table: BookTable) -> int:
        """Return how much hints that a table is of these patients: 0, 1 or 2, and 2 proves nothing either.

        Half of the column names are those of a table here, or as many rows to a tenth.
        """
        names = set(table.columns)
        alike = (
            2 * len(names & set(each.columns)) >= max(len(names), len(each.columns)) for each in self.tables
        )
        as_many = (abs(table.rows - each.rows) <= _NEARLY * each.rows for each in self.tables)
        return any(alike) + any(as_many)


class Finished(NamedTuple):
    """Hold a finished release: the key of its table, the account right after its payment, its document."""

    table: str
    payment: Payment
    account: Balance
    document: dict[str, Any]


def default_path() -> Path:
    """Return the file of the book: in the folder that DPPCA_ACCOUNTS names, or else the user's own."""
    folder = os.environ.get(ACCOUNTS, "")
    return (Path(folder) if folder else platformdirs.user_data_path("dppca", appauthor=False)) / _FILE


class Book:
    """Keep all accounts, in a file or in memory.

    path: of the file, which need not exist yet; None keeps them in memory, as long as this object lives.
    All methods, here and of what they return, raise OSError where the disk refuses and DamagedBookError where
    the book was damaged.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._memory: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        if path is None:
            self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            weakref.finalize(self, self._memory.close)  # Python warns of connections that nobody has closed

    def __reduce__(self) -> tuple[type["Book"], tuple[Path]]:
        """Return how another process opens this book: by its path, so that all write to one file."""
        if self._path is None:
            raise TypeError("a book in memory cannot be sent to another process or saved: give it a path")
        return Book, (self._path.absolute(),)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to the book, whose tables are there, and turn what SQLite raises into ours."""
        with self._lock if self._memory is not None else nullcontext():
            try:
                with nullcontext(self._memory) if self._memory is not None else closing(self._open()) as book:
                    if _is_new(book):
                        _begin(book)
                    yield book
            except sqlite3.DatabaseError as refused:
                # The low byte of a code is its kind.
                if getattr(refused, "sqlite_errorcode", 0) & 0xFF in (11, 26):  # SQLITE_CORRUPT, _NOTADB
                    raise DamagedBookError("the book cannot be read: restore it from a copy first") from None
                raise OSError(errno.EIO, str(refused)) from refused

    def _open(self) -> sqlite3.Connection:
        """Open the file, which nobody but its owner can read, and make it and its folder if there is none."""
        assert self._path is not None
        if not self._path.exists():
            made = [folder for folder in self._path.parents if not folder.exists()]
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            # SQLite syncs the book's own folder; those above it have to hold that folder after a power cut.
            for folder in made:
                sync_folder(folder.parent)
        book = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            _check_tables(book)  # before a pragma, which may write to the file
            # fullfsync: on macOS a plain fsync leaves data in the disk's own cache. It is nothing elsewhere.
            for pragma in ("journal_mode=DELETE", "synchronous=EXTRA", "fullfsync=1"):
                book.execute(f"PRAGMA {pragma}")
        except BaseException:
            book.close()
            raise
        return book

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that sees the book at one moment; of no file, that of an empty book."""
        if self._path is not None and not self._path.exists():
            with Book().reading() as book:  # who only looks makes no file
                yield book
            return
        with self._connected() as book, _transaction(book, "BEGIN"):
            yield book

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection while nobody else writes; all is on the disk afterwards, or nothing is."""
        with self._connected() as book, _transaction(book, "BEGIN IMMEDIATE"):
            yield book

    def payer(self, table: BookTable, owner: str | None = None) -> "Payer":
        """Return what pays for releases of this table, for its owner; None is the owner of all accounts."""
        return Payer(self, table, owner)

    def accounts(self, owner: str | None = None) -> list[OwnersAccount]:
        with self.reading() as book:
            mark, numbers = _mark(book, owner), _numbers(book)
            lines = {number: _lines(book, number) for number in numbers}
        return [
            OwnersAccount(number, _tables(lines[number]))
            for number in numbers
            if _is_owner(lines[number], mark)
        ]

    def finished(self, owner: str | None = None, known: Collection[str] = ()) -> list[Finished]:
        """Return the finished releases that this owner has paid for, but those whose payments are known.

        Accounts and releases that were damaged are left out: `Payer` and `ReleaseSteps` say what is
        wrong with them.
        """
        result = []
        with self.reading() as book:
            mark = _mark(book, owner)
            for number in _numbers(book):
                with suppress(DamagedBookError):
                    result += _finished(book, number, mark, known)
        return result

    def delete(self, payment_id: str, owner: str | None = None) -> None:
        """Delete what a release of this owner has drawn, and its document; its payment stays."""
        with self.writing() as book:
            number, mark = _account_with(book, payment_id), _mark(book, owner)
            lines = [] if number is None else _lines(book, number)
            if any(line.get("id") == payment_id and mark in (None, line["owner"]) for line in lines):
                for rows in ("steps", "releases"):
                    book.execute(f"DELETE FROM {rows} WHERE payment = ?", (payment_id,))

    def join(self, code: str, owner: str | None) -> None:
        """Make a person an owner of the account that was shared by this code; ValueError for any other."""
        digest = hashlib.sha256(code.strip().encode()).hexdigest()
        with self.writing() as book:
            for number in _numbers(book):
                lines = _lines(book, number)
                shared = {"kind": "shared", "code": digest}
                if shared in lines and not any(line.get("used") == digest for line in lines):
                    mark = _mark(book, owner)
                    _add(book, number, {"kind": "owner", "at": _now(), "owner": mark, "used": digest})
                    return
        raise ValueError("no account was shared by this code, or it was used before")


class Payer:
    """Pay for releases of one table, from the account that the table is in, and as one owner sees it.

    A table that is in no account begins one when its limit is set, or is put into one (`put_in`). Methods
    raise OthersTableError for a table that is in another person's account.
    """

    def __init__(self, book: Book, table: BookTable, owner: str | None = None) -> None:
        self._book, self.table, self._owner = book, table, owner

    def __deepcopy__(self, _: dict[int, Any]) -> "Payer":
        """Return this very payer: a copy of what has one, as scikit-learn makes, pays from the same book."""
        return self

    def is_known(self) -> bool:
        with self._book.reading() as book:
            return self._number(book) is not None

    def balance(self) -> Balance:
        """Return limit and payments, as this owner may see them; an empty account for an unknown table."""
        with self._book.reading() as book:
            number = self._number(book)
            return Balance() if number is None else from_lines(self._seen(book, number))

    def tables(self) -> tuple[BookTable, ...]:
        with self._book.reading() as book:
            number = self._number(book)
            return () if number is None else _tables(_lines(book, number))

    def after(self, payment_id: str) -> Balance:
        """Return the account as it was right after this payment. Raises ValueError where there is none."""
        with self._book.reading() as book:
            number = self._number(book)
            return _after(() if number is None else self._seen(book, number), payment_id)

    def put_in(self, number: int) -> None:
        """Put an unknown table into this account of its owner, from which it pays from now on."""
        with self._book.writing() as book:
            if self._number(book) is not None:
                raise ValueError("this table is in an account already")
            if number not in _numbers(book) or not _is_owner(_lines(book, number), _mark(book, self._owner)):
                raise ValueError("that is no account of yours")
            _add(book, number, self._table_line())

    def set_limit(self, limit: Limit) -> Balance:
        """Set the limit from now on and return the account.

        Raises ValueError where delta or neighbours are not those of the first limit, or where more than that
        was spent already.
        """
        with self._book.writing() as book:
            number = self._number_or_new(book)
            now = from_lines(_lines(book, number))
            # {first} is the limit that is set, {second} the new one.
            check_alike(now.limit, limit, "{name} stays {first}, with which this account began, got {second}")
            if now.limit is not None:
                spent = now.spent().epsilon
                if not numerical.within(spent, limit.epsilon):
                    raise ValueError(f"epsilon = {spent:.4g} is spent already, a limit cannot be below that")
            if now.limit != limit:
                _add(book, number, limit_line(limit, _now()))
            return from_lines(self._seen(book, number))

    def pay(
        self,
        title: str,
        events: Sequence[Event],
        about: Mapping[str, Any] | None = None,
        expected: Balance | None = None,
        neighbours: str | None = None,
        asked: dict[str, Any] | None = None,
    ) -> Payment:
        """Pay for a release before it is made: write the payment into the book, and return it.

        Args:
            title: What is paid for.
            events: What it costs.
            about: More for the line, such as the method and the number of rows, in plain JSON.
            expected: The account at which the price was shown, with what was spent by then; None takes any.
            neighbours: The relation that the events are for; given, it must be the limit's.
            asked: What the release is of, in plain JSON; given, `drawn` keeps its steps.

        Raises:
            OverLimitError: Beyond the limit.
            ValueError: Before a limit was set, for no events or other neighbours, for a payment that could
                not be read back from the book, or where the account is another than expected by now.
        """
        if not events:
            raise ValueError("events must be given: a release without a cost is not private")
        payment = Payment(_now(), title, tuple(events), dict(about or {}), secrets.token_hex(8))
        line = payment_line(payment) | {"table": self.table.key}
        with self._book.writing() as book:
            number = self._number(book)
            now = Balance() if number is None else from_lines(self._seen(book, number))
            if expected is not None and now != expected:
                raise ValueError(
                    "another release was made on this account meanwhile: look at the price again"
                )
            if now.limit is not None and neighbours not in (None, now.limit.neighbours):
                raise ValueError(f"neighbours must be those of the account, {now.limit.neighbours}")
            total = now.spent(events).epsilon
            assert now.limit is not None and number is not None  # or `spent` raised
            if not numerical.within(total, now.limit.epsilon):
                raise OverLimitError(
                    f"this would bring the total to epsilon = {total:.4g}, and the limit is "
                    f"{now.limit.epsilon:.4g}: nothing was spent"
                )
            _add(book, number, self._owned(book, line))
            if asked is not None:
                text = json.dumps(asked, allow_nan=False)
                first = (payment.id, text, 0, chained(payment.id, text))
                book.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", first)
        return payment

    def drawn(self, payment_id: str) -> "ReleaseSteps | None":
        """Return what the release of this payment has drawn from this table, or None where it is not kept.

        Tables of one account share its limit and no draws: a release goes on from the rows it was paid for.
        """
        with self._book.reading() as book:
            number = self._number(book)
            lines = [] if number is None else _lines(book, number)
            mine = any(line.get("id") == payment_id and line["table"] == self.table.key for line in lines)
            kept = book.execute("SELECT 1 FROM releases WHERE payment = ?", (payment_id,)).fetchone()
        return ReleaseSteps(self._book, payment_id) if mine and kept else None

    def export(self) -> str:
        """Return the account as JSON lines, as this owner sees it; who paid is not in it."""
        with self._book.reading() as book:
            number = self._number(book)
            lines = [] if number is None else self._seen(book, number)
        return to_text(
            {name: value for name, value in line.items() if name != "owner"}
            for line in lines
            if line["kind"] in _EXPORTED
        )

    def merge(self, text: str, same_patients: bool = False) -> Balance:
        """Add the lines of another account, as `export` wrote them, and return the account.

        A line that is here already is not added again, and the limit that is set here stays. same_patients:
        whether the owner states that the other account is of the same patients; it is needed unless the two
        have a table in common. Raises ValueError for text that is no account, or one of other patients, delta
        or neighbours.
        """
        lines = parse(text)
        with self._book.writing() as book:
            number = self._number_or_new(book)
            mine = _lines(book, number)
            keys, ids = ({line[name] for line in mine if name in line} for name in ("key", "id"))
            theirs = {line["key"] for line in lines if line["kind"] == "table"}
            if not same_patients and not theirs & keys:
                raise ValueError(
                    "this is the account of other tables: state that they are of the same patients"
                )
            now, other = from_lines(mine), from_lines(lines)
            check_alike(now.limit, other.limit, "{name} of that account is {second}, here {first}")
            new = []
            for line in lines:
                name = line.get("key") or line.get("id")
                # No file may raise the limit that the owner decided here.
                if name in keys | ids or (line["kind"] == "limit" and now.limit is not None):
                    continue
                if name is not None and _account_with(book, name) is not None:
                    raise ValueError("a table or payment of it is in another account of this book")
                new.append(self._owned(book, line if "key" in line else {"table": "", **line}))
                ids |= {name} if name else set()
            together = from_lines([*mine, *new])
            if together.limit is not None and not math.isfinite(together.spent().epsilon):
                raise ValueError(
                    f"its releases use up delta = {together.limit.delta:g}: no total can be told"
                )
            _add(book, number, *new)
            return from_lines(self._seen(book, number))

    def invite(self) -> str:
        """Return a code by which one other person becomes an owner of this account too (`Book.join`)."""
        code = secrets.token_urlsafe(16)
        with self._book.writing() as book:
            number = self._number(book)
            if number is None:
                raise ValueError("this table is in no account yet")
            _lines(book, number)  # refuses one that was damaged
            _add(book, number, {"kind": "shared", "code": hashlib.sha256(code.encode()).hexdigest()})
        return code

    def _number(self, book: sqlite3.Connection) -> int | None:
        number = _account_with(book, self.table.key)
        if number is None:
            # By one line that was taken out, a known table would be an unknown one: check all of them.
            for each in _numbers(book):
                _lines(book, each)
        elif not _is_owner(_lines(book, number), _mark(book, self._owner)):
            raise OthersTableError(
                "this table is in another person's account: ask them to share it, and enter their code"
            )
        return number

    def _number_or_new(self, book: sqlite3.Connection) -> int:
        number = self._number(book)
        if number is not None:
            return number
        number = book.execute("INSERT INTO accounts (lines, digest) VALUES (0, '')").lastrowid
        assert number is not None
        book.execute("UPDATE accounts SET digest = ? WHERE number = ?", (_first(number), number))
        opened = {"kind": "opened", "at": _now(), "owner": _mark(book, self._owner)}
        _add(book, number, opened, self._table_line())
        return number

    def _table_line(self) -> Line:
        table = self.table._asdict() | {"columns": list(self.table.columns), "at": _now()}
        return {"kind": "table", **table}

    def _owned(self, book: sqlite3.Connection, line: Line) -> Line:
        """Return a line with the mark of this owner, if it is of a payment; the others are everybody's."""
        return line | ({"owner": _mark(book, self._owner)} if line["kind"] == "payment" else {})

    def _seen(self, book: sqlite3.Connection, number: int) -> list[Line]:
        """Return the lines as this owner may see them: of others' payments only time and cost."""
        mark = _mark(book, self._owner)
        return [_shown(line, mark) for line in _lines(book, number)]


class ReleaseSteps:
    """Keep what one paid release has drawn, in named steps, and its document once it is finished.

    A step whose noise was drawn but not written was seen by nobody, and is drawn again. Methods raise
    ValueError once the release was deleted.
    """

    def __init__(self, book: Book, payment_id: str) -> None:
        self._book, self._id = book, payment_id

    @property
    def asked(self) -> dict[str, Any]:
        with self._book.reading() as book:
            asked, _, _ = _release(book, self._id)
            return asked

    def once(self, step: str, draw: Callable[[], Array]) -> Array:
        """Return the numbers of a step: those that were kept or, the first time, those of `draw`, now kept.

        Of two that draw the same step at once both get the numbers of whoever writes first; the others were
        seen by nobody. Raises what `draw` raises; then nothing of the step is kept.
        """
        with self._book.reading() as book:
            kept = _step(book, self._id, step)
        if kept is None:
            values = np.asarray(draw(), dtype="<f8")
            kept = self._keep(step, json.dumps(values.shape), values.tobytes())
        shape, content = kept
        return np.frombuffer(content, dtype="<f8").astype(float).reshape(json.loads(shape or "[]"))

    def drawn(self, step: str) -> Array:
        """Return the numbers of a step that was drawn before. Raises ValueError where it was not."""

        def refuse() -> Array:
            raise ValueError("this step of the release was not drawn yet")

        return self.once(step, refuse)

    def finish(self, document: dict[str, Any]) -> dict[str, Any]:
        """Keep the document of the finished release, and return it; the first one, if it was kept before."""
        _, content = self._keep("document", None, json.dumps(document, allow_nan=False).encode())
        kept: dict[str, Any] = json.loads(content)
        return kept

    @property
    def document(self) -> dict[str, Any] | None:
        with self._book.reading() as book:
            kept = _step(book, self._id, "document")
        return None if kept is None else json.loads(kept[1])

    def _keep(self, step: str, shape: str | None, content: bytes) -> tuple[str | None, bytes]:
        """Write a step, and return its shape and content; those that are there already where it is."""
        with self._book.writing() as book:
            kept = _step(book, self._id, step)
            if kept is not None:
                return kept
            _, number, digest = _release(book, self._id)
            book.execute(
                "INSERT INTO steps VALUES (?, ?, ?, ?, ?)", (self._id, number + 1, step, shape, content)
            )
            last = (number + 1, chained(digest, _step_text(step, shape, content)), self._id)
            book.execute("UPDATE releases SET steps = ?, digest = ? WHERE payment = ?", last)
        return shape, content


def _check_tables(book: sqlite3.Connection) -> None:
    """Raise DamagedBookError for a database with other tables than a book has: none yet, or all of them."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    if {name for (name,) in book.execute(query)} not in (set(), _TABLES):
        raise DamagedBookError("the file is a database with other tables than a book of accounts has")


def _is_new(book: sqlite3.Connection) -> bool:
    """Return whether the tables have still to be made: SQLite's user_version is 0 until `_begin` sets it."""
    return bool(book.execute("PRAGMA user_version").fetchone()[0] == 0)


def _begin(book: sqlite3.Connection) -> None:
    with _transaction(book, "BEGIN IMMEDIATE"):
        if _is_new(book):
            for statement in _SCHEMA.split(";")[:-1]:
                book.execute(statement)
            book.execute("INSERT INTO secret VALUES (?)", (secrets.token_bytes(32),))
            book.execute("PRAGMA user_version=1")


@contextmanager
def _transaction(book: sqlite3.Connection, begin: str) -> Iterator[None]:
    book.execute(begin)
    try:
        yield
        book.execute("COMMIT")
    except BaseException:
        if book.in_transaction:
            book.execute("ROLLBACK")
        raise


def sync_folder(folder: Path) -> None:
    """Write a folder through to the disk: only then does what is new in it survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _mark(book: sqlite3.Connection, owner: str | None) -> str | None:
    """Return the keyed digest of an owner's name, which lines hold instead; None for the owner of all."""
    if owner is None:
        return None
    (secret,) = book.execute("SELECT value FROM secret").fetchone()
    return hashlib.blake2b(owner.encode(), key=secret, digest_size=16).hexdigest()


def _numbers(book: sqlite3.Connection) -> list[int]:
    """Return the numbers of all accounts, oldest first. Raises DamagedBookError where one was taken out."""
    numbers = [number for (number,) in book.execute("SELECT number FROM accounts ORDER BY number")]
    last = book.execute("SELECT seq FROM sqlite_sequence WHERE name = 'accounts'").fetchone()
    if numbers != list(range(1, (last[0] if last else 0) + 1)):
        raise DamagedBookError("an account is gone from the book: restore it from a copy first")
    return numbers


def _first(account: int) -> str:
    return chained("", f"account {account}")


def _lines(book: sqlite3.Connection, account: int) -> list[Line]:
    """Return all lines of an account. Raises DamagedBookError where one was changed, moved or taken out."""
    digest, lines = _first(account), list[Line]()
    rows = book.execute(
        "SELECT number, name, text, digest FROM lines WHERE account = ? ORDER BY number", (account,)
    )
    for number, name, text, stated in rows.fetchall():
        digest = chained(digest, str(text))
        line = json.loads(text) if digest == stated else {}
        if digest != stated or number != len(lines) + 1 or name != (line.get("key") or line.get("id")):
            raise DamagedBookError(
                f"line {len(lines) + 1} of account {account} was changed or moved, or one before it is gone: "
                "restore the book from a copy first"
            )
        lines.append(line)
    last = book.execute("SELECT lines, digest FROM accounts WHERE number = ?", (account,)).fetchone()
    if last != (len(lines), digest):
        raise DamagedBookError(
            f"lines after line {len(lines)} of account {account} are gone: restore the book from a copy first"
        )
    return lines


def _add(book: sqlite3.Connection, account: int, *lines: Line) -> None:
    """Append lines to an account. The caller has read it in the same transaction, so that it is whole."""
    there, digest = book.execute("SELECT lines, digest FROM accounts WHERE number = ?", (account,)).fetchone()
    for number, line in enumerate(lines, there + 1):
        text = as_json(line)
        digest = chained(digest, text)
        row = (account, number, line.get("key") or line.get("id"), text, digest)
        book.execute("INSERT INTO lines VALUES (?, ?, ?, ?, ?)", row)
        book.execute("UPDATE accounts SET lines = ?, digest = ? WHERE number = ?", (number, digest, account))


def _account_with(book: sqlite3.Connection, name: str) -> int | None:
    line = book.execute("SELECT account FROM lines WHERE name = ?", (name,)).fetchone()
    return None if line is None else line[0]


def _is_owner(lines: Sequence[Line], mark: str | None) -> bool:
    """Return whether an account is this owner's; the owner None has all of them."""
    return mark is None or any(
        line["kind"] in ("opened", "owner") and line["owner"] == mark for line in lines
    )


def _tables(lines: Sequence[Line]) -> tuple[BookTable, ...]:
    return tuple(
        BookTable(line["key"], line["rows"], tuple(line["columns"]), line["at"])
        for line in lines
        if line["kind"] == "table"
    )


def _shown(line: Line, mark: str | None) -> Line:
    """Return a line as the owner with this mark may see it; the owner None sees all of them."""
    is_anothers = line["kind"] == "payment" and mark is not None and line["owner"] != mark
    return hidden(line) if is_anothers else line


def _after(lines: Sequence[Line], payment_id: str) -> Balance:
    places = (number for number, line in enumerate(lines, 1) if line.get("id") == payment_id)
    number = next(places, None)
    if number is None:
        raise ValueError("there is no such payment on this account")
    return from_lines(lines[:number])


def _finished(
    book: sqlite3.Connection, number: int, mark: str | None, known: Collection[str]
) -> list[Finished]:
    """Return the finished releases of an account that the owner with this mark paid for."""
    lines = _lines(book, number)
    seen, result = [_shown(line, mark) for line in lines], []
    for line in lines:
        if line["kind"] != "payment" or mark not in (None, line["owner"]) or line["id"] in known:
            continue
        with suppress(ValueError):  # it was deleted, or damaged
            kept = _step(book, line["id"], "document")
            if kept is not None:
                account = _after(seen, line["id"])
                result.append(Finished(line["table"], account.payments[-1], account, json.loads(kept[1])))
    return result


def _release(book: sqlite3.Connection, payment_id: str) -> tuple[dict[str, Any], int, str]:
    """Return what a release is of, how many steps it has, and the digest of the last.

    Raises ValueError where it was deleted, and DamagedBookError where a step was changed, moved or taken out.
    """
    kept = book.execute(
        "SELECT asked, steps, digest FROM releases WHERE payment = ?", (payment_id,)
    ).fetchone()
    if kept is None:
        raise ValueError(_GONE)
    asked, steps, last = kept
    rows = book.execute(
        "SELECT number, step, shape, content FROM steps WHERE payment = ? ORDER BY number", (payment_id,)
    ).fetchall()
    digest = chained(payment_id, str(asked))
    for _, step, shape, content in rows:
        digest = chained(digest, _step_text(step, shape, content))
    if [number for number, *_ in rows] != list(range(1, steps + 1)) or digest != last:
        raise DamagedBookError(
            "steps of this release were changed, moved or taken out: restore the book from a copy first, "
            "nothing of it is drawn again"
        )
    return json.loads(asked), steps, last


def _step(book: sqlite3.Connection, payment_id: str, step: str) -> tuple[str | None, bytes] | None:
    """Return the shape and content of a step, or None where it was not drawn. Raises as `_release` does."""
    _release(book, payment_id)
    kept: tuple[str | None, bytes] | None = book.execute(
        "SELECT shape, content FROM steps WHERE payment = ? AND step = ?", (payment_id, step)
    ).fetchone()
    return kept


def _step_text(step: str, shape: str | None, content: bytes) -> bytes:
    written = content if isinstance(content, bytes) else str(content).encode()  # by hand it can be anything
    return f"{step} {shape} ".encode() + written
