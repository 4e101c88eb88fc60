"""The book: nothing is spent twice or unseen, and nobody gets a fresh limit for a table that has paid."""

import sqlite3
from contextlib import closing
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from dppca_core import Guarantee, Release
from dppca_core.accounts import book as book_module
from dppca_core.accounts.account import Balance, Limit
from dppca_core.accounts.book import Book, BookTable, OthersTableError, OverLimitError, default_path
from tests.core.accounts.paying import HALF, KEY, ONE, TABLE, begun, payer

LIMIT = Limit(1.0, 1e-5)


@pytest.fixture(params=["disk", "memory"])
def book(request, tmp_path) -> Book:
    return Book(tmp_path / "new" / "book" if request.param == "disk" else None)


@pytest.fixture
def pays(book):
    made = book.payer(TABLE)
    made.set_limit(LIMIT)
    return made


def test_a_release_is_paid_for_once_and_refused_beyond_the_limit(pays):
    pays.pay("first", HALF, {"k": 2})
    with pytest.raises(OverLimitError, match=r"epsilon = 1\.\d+, and the limit is 1: nothing was spent"):
        pays.pay("second", ONE)
    account = pays.balance()
    assert [payment.title for payment in account.payments] == ["first"]
    assert account.payments[0].about == {"k": 2}
    assert account.spent().epsilon == pytest.approx(0.487, abs=0.01)
    pays.set_limit(Limit(2.0, 1e-5))
    pays.pay("second", ONE)
    assert pays.balance().events == (*HALF, *ONE)


def test_it_is_paid_at_the_price_that_was_shown_or_not_at_all(pays):
    shown = pays.balance()
    pays.pay("first", HALF, expected=shown)
    with pytest.raises(ValueError, match="look at the price again"):
        pays.pay("second", (Release(100.0),), expected=shown)
    shown = pays.balance()
    pays.set_limit(Limit(5.0, 1e-5))
    with pytest.raises(ValueError, match="look at the price again"):
        pays.pay("second", (Release(100.0),), expected=shown)
    with pytest.raises(ValueError, match="neighbours must be those of the account, replace-one"):
        pays.pay("second", HALF, neighbours="add-remove")
    assert len(pays.balance().payments) == 1


def test_nothing_is_released_without_a_limit_or_a_cost(book):
    pays = book.payer(TABLE)
    assert pays.balance() == Balance() and not pays.is_known() and pays.tables() == ()
    with pytest.raises(ValueError, match="set a limit first"):
        pays.pay("first", HALF)
    pays.set_limit(LIMIT)
    with pytest.raises(ValueError, match="not private"):
        pays.pay("free", ())
    assert pays.balance().payments == ()


@pytest.mark.parametrize(
    ("title", "events", "about", "message"),
    [
        ("steps", [Release(1.0, 4.0)], {}, r"steps must be a whole number, got 4\.0"),
        ("steps", [Release(1e5, 10**9)], {}, "steps must be between 1 and 1000000, got 1000000000"),
        ("noise", [Release(1e-8)], {}, "noise_multiplier must lie between"),
        ("epsilon", [Guarantee(1e7)], {}, "epsilon must lie between"),
        ("two\nlines", HALF, {}, "its title must be one line of 200 letters at most"),
        ("a" * 201, HALF, {}, "its title must be one line"),
        ("about", HALF, {"rows": float("nan")}, "JSON"),
        ("about", HALF, {"rows": {1}}, "JSON"),
    ],
)
def test_a_payment_that_could_not_be_read_back_is_not_written(pays, title, events, about, message):
    pays.set_limit(Limit(1e12, 1e-5))
    before = pays.balance()
    with pytest.raises(
        ValueError, match=f"no account can hold this payment, and nothing was paid: .*{message}"
    ):
        pays.pay(title, events, about)
    assert pays.balance() == before
    assert pays.pay("another", HALF) in pays.balance().payments


def test_a_limit_is_not_lowered_below_what_is_spent_nor_counted_otherwise(pays):
    pays.pay("first", HALF)
    with pytest.raises(ValueError, match=r"epsilon = 0\.48\d* is spent already"):
        pays.set_limit(Limit(0.3, 1e-5))
    with pytest.raises(ValueError, match="delta stays 1e-05"):
        pays.set_limit(Limit(1.0, 1e-3))
    with pytest.raises(ValueError, match="neighbours stays replace-one"):
        pays.set_limit(Limit(1.0, 1e-5, "add-remove"))
    assert pays.set_limit(Limit(0.5, 1e-5)).limit == Limit(0.5, 1e-5)


def test_a_table_is_known_by_its_content_alone_and_keeps_its_account(book, pays):
    pays.pay("first", HALF)
    again = book.payer(BookTable(KEY, 7, ("other", "names")))
    assert again.balance() == pays.balance() and again.is_known()
    other = book.payer(TABLE._replace(key="ab" * 8))
    assert not other.is_known() and other.balance() == Balance()
    other.put_in(1)
    assert other.balance() == pays.balance()
    assert [table.key for table in pays.tables()] == [KEY, "ab" * 8]
    with pytest.raises(OverLimitError):
        other.pay("too much", ONE)
    with pytest.raises(ValueError, match="in an account already"):
        other.put_in(1)
    with pytest.raises(ValueError, match="no account of yours"):
        book.payer(TABLE._replace(key="cd" * 8)).put_in(2)
    assert [account.number for account in book.accounts()] == [1]
    assert book.accounts()[0].tables[0].columns == ("age", "weight")


def test_order_is_that_of_writing_whatever_the_clock_says(pays, monkeypatch):
    pays.set_limit(Limit(9.0, 1e-5))
    for at in ("2126-01-02", "2026-01-01", "2025-12-31", "2025-12-31"):
        monkeypatch.setattr(book_module, "_now", lambda at=at: at)
        pays.pay("again", HALF)
    times = [payment.at for payment in pays.balance().payments]
    assert len(times) == 4 and all(first >= second for first, second in pairwise(times))


def test_an_export_is_taken_in_once(pays):
    pays.pay("first", HALF, {"k": 2})
    away = Book().payer(TABLE)
    assert away.merge(pays.export()) == pays.balance()
    assert away.merge(pays.export()) == pays.balance()
    away.set_limit(Limit(3.0, 1e-5))
    away.pay("second", ONE)
    merged = pays.merge(away.export())
    assert [payment.title for payment in merged.payments] == ["first", "second"]
    assert merged.limit == LIMIT  # what the owner set here
    assert merged.spent().epsilon > 1
    assert pays.merge(away.export()) == merged
    assert pays.drawn(merged.payments[-1].id) is None


def test_an_account_of_other_tables_needs_its_owner_s_word(pays):
    elsewhere = payer(3.0, table=TABLE._replace(key="ab" * 8))
    elsewhere.pay("there", HALF)
    with pytest.raises(ValueError, match="state that they are of the same patients"):
        pays.merge(elsewhere.export())
    assert pays.balance().payments == () and len(pays.tables()) == 1
    assert len(pays.merge(elsewhere.export(), same_patients=True).payments) == 1
    # Its tables came along: none of them gets a fresh limit here.
    assert [table.key for table in pays.tables()] == [KEY, "ab" * 8]


def test_what_is_in_one_account_of_a_book_is_taken_into_no_other(book, pays):
    pays.pay("first", HALF)
    other = book.payer(TABLE._replace(key="ab" * 8))
    other.set_limit(LIMIT)
    with pytest.raises(ValueError, match="is in another account of this book"):
        other.merge(pays.export(), same_patients=True)
    assert other.balance().payments == ()


def test_an_unknown_table_takes_in_an_account_wholly_or_stays_unknown(book):
    pays = book.payer(TABLE)
    with pytest.raises(ValueError, match="line 1 is not of an account"):
        pays.merge("{}", same_patients=True)
    assert not pays.is_known() and book.accounts() == []


def test_nobody_else_reads_the_book(tmp_path):
    path = tmp_path / "new" / "book"
    payer(path=path)
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_the_folder_is_the_users_own_or_the_one_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("DPPCA_ACCOUNTS", raising=False)
    assert default_path() == tmp_path / "dppca" / "accounts.sqlite3"
    monkeypatch.setenv("DPPCA_ACCOUNTS", str(tmp_path / "elsewhere"))
    assert default_path() == tmp_path / "elsewhere" / "accounts.sqlite3"


def test_books_in_memory_are_apart():
    payer().pay("first", HALF)
    assert not Book().payer(TABLE).is_known()


# Steps.


def never():
    pytest.fail("drawn twice")


def test_a_step_is_drawn_once_and_kept_to_the_bit(book, pays):
    payment = pays.pay("a release", HALF, asked={"k": [1, 2]})
    values = np.array([[0.1, -0.0, 1e-308], [np.pi, 2**53 + 2.0, -1e300]])
    drawn = pays.drawn(payment.id)
    for kept in (drawn.once("moment", lambda: values), drawn.once("moment", never)):
        assert kept.shape == values.shape and kept.tobytes() == values.tobytes()
    assert book.payer(TABLE).drawn(payment.id).asked == {"k": [1, 2]}
    assert drawn.once("a number", lambda: np.float64(7)).shape == ()
    with pytest.raises(ZeroDivisionError):
        drawn.once("broken", lambda: 1 / 0)
    assert drawn.once("broken", lambda: np.ones(1)).tolist() == [1]


def test_of_two_that_draw_a_step_at_once_both_get_one(tmp_path):
    drawn = begun(path=tmp_path / "book")

    def slowly():
        first.append(drawn.once("mean", lambda: np.array([1.0])))
        return np.array([2.0])

    first = []
    assert drawn.once("mean", slowly).tolist() == first[0].tolist() == [1.0]


def test_a_finished_release_stays_until_it_is_deleted_and_its_payment_for_ever(book, pays):
    first, second = (pays.pay(title, (Release(100.0),), asked={}) for title in ("first", "second"))
    drawn = pays.drawn(first.id)
    drawn.once("mean", lambda: np.ones(2))
    assert drawn.document is None and book.finished() == []
    assert drawn.finish({"components": [0.1]}) == {"components": [0.1]}
    assert drawn.finish({"another": 1}) == {"components": [0.1]} == drawn.document
    (finished,) = book.finished()
    assert finished.document == {"components": [0.1]} and finished.payment == first
    assert finished.account == Balance(LIMIT, (first,)) == pays.after(first.id)
    assert pays.after(second.id) == pays.balance()
    assert book.finished(known={first.id}) == []
    book.delete(first.id)
    assert book.finished() == [] and pays.drawn(first.id) is None
    for ask in (lambda: drawn.once("mean", never), lambda: drawn.asked, lambda: drawn.finish({})):
        with pytest.raises(ValueError, match="was deleted"):
            ask()
    assert pays.balance().payments == (first, second)


def test_draws_are_of_the_table_that_was_paid_for(book, pays):
    """Tables of one account share its limit, and no release goes on from the rows of another."""
    payment = pays.pay("a release", HALF, asked={})
    other = book.payer(TABLE._replace(key="ab" * 8))
    other.put_in(1)
    assert other.balance().payments == (payment,) and other.drawn(payment.id) is None
    assert pays.drawn("not an id") is None and pays.drawn(pays.pay("more", (Release(100.0),)).id) is None


# Owners.

SECRET = {"rows": 79190313, "rows per patient": 3, "unit": "row", "chosen": "by Zanzibar"}
TOLD = ("Zanzibar", "79190313")


@pytest.fixture
def anns(book):
    ann = book.payer(TABLE, "ann")
    ann.set_limit(LIMIT)
    ann.pay("Zanzibar's scores", HALF, SECRET, asked={})
    return ann


def test_a_table_of_another_person_is_refused_until_it_is_shared(book, anns):
    ben = book.payer(TABLE, "ben")
    for refused in (
        ben.balance,
        ben.export,
        ben.invite,
        ben.is_known,
        lambda: ben.set_limit(Limit(9.0, 1e-5)),
    ):
        with pytest.raises(OthersTableError, match="in another person's account"):
            refused()
    with pytest.raises(OthersTableError):
        ben.pay("fresh", HALF)
    assert book.accounts("ben") == [] and book.finished("ben") == []
    with pytest.raises(ValueError, match="no account of yours"):
        book.payer(TABLE._replace(key="cd" * 8), "ben").put_in(1)
    code = anns.invite()
    with pytest.raises(ValueError, match="no account was shared"):
        book.join(code[:-1], "ben")
    book.join(f" {code}\n", "ben")
    with pytest.raises(ValueError, match="used before"):
        book.join(code, "cleo")
    assert ben.balance().spent() == anns.balance().spent()
    with pytest.raises(OthersTableError):
        book.payer(TABLE, "cleo").balance()


def test_another_owner_sees_the_cost_and_nothing_else(book, anns):
    book.join(anns.invite(), "ben")
    ben = book.payer(TABLE, "ben")
    seen = ben.balance()
    assert not [mark for mark in TOLD if mark in repr(seen) + ben.export()]
    (theirs,), (mine,) = seen.payments, anns.balance().payments
    assert theirs.is_of_another_owner and not mine.is_of_another_owner and mine.about == SECRET
    assert (theirs.at, theirs.events, theirs.id) == (mine.at, mine.events, mine.id)
    assert seen.spent_by_patient(3) == anns.balance().spent_by_patient(3) and theirs.rows_per_patient == 3
    anns.drawn(mine.id).finish({"what": "Zanzibar"})
    assert book.finished("ben") == [] and len(book.finished("ann")) == len(book.finished()) == 1
    book.delete(mine.id, "ben")  # it is not his
    assert len(book.finished("ann")) == 1


def test_what_both_spend_adds_up_for_both_and_for_who_sees_all(book, anns):
    book.join(anns.invite(), "ben")
    ben = book.payer(TABLE, "ben")
    ben.pay("Ben's", HALF, {"rows": 79190313}, expected=ben.balance())
    accounts = [book.payer(TABLE, owner).balance() for owner in ("ann", "ben", None)]
    assert len({account.spent().epsilon for account in accounts}) == 1
    assert [[payment.is_of_another_owner for payment in account.payments] for account in accounts] == [
        [False, True],
        [True, False],
        [False, False],
    ]
    for owner in ("ann", "ben"):
        with pytest.raises(OverLimitError):
            book.payer(TABLE, owner).pay("more", ONE)


@pytest.mark.parametrize("order", [("ann", "ben"), ("ben", "ann")])
def test_what_each_exported_counts_once(book, anns, order):
    """A line as its owner and as another sees it is one payment, in the same book and in another."""
    book.join(anns.invite(), "ben")
    exported = {owner: book.payer(TABLE, owner).export() for owner in order}
    elsewhere = Book().payer(TABLE)
    for owner in order:
        for reader in order:
            book.payer(TABLE, reader).merge(exported[owner])
        elsewhere.merge(exported[owner])
        assert '"owner"' not in exported[owner]
    assert len(elsewhere.balance().payments) == len(anns.balance().payments) == 1


def test_no_name_of_an_owner_is_in_the_file(tmp_path):
    path = tmp_path / "book"
    payer(path=path, owner="user ann@example.org").pay("a release", HALF)
    assert b"ann@example" not in path.read_bytes()


# Tampering.


def written(tmp_path):
    """Return a book of two accounts, of which the first has three payments, with steps of the second one."""
    path = tmp_path / "book"
    pays = payer(9.0, path=path)
    payments = [pays.pay(title, HALF, asked={"k": 1}) for title in ("first", "second", "third")]
    drawn = pays.drawn(payments[1].id)
    for step in ("mean", "moment 1", "moment 2"):
        drawn.once(step, partial(np.array, [0.5]))
    other = Book(path).payer(TABLE._replace(key="ab" * 8))
    other.set_limit(LIMIT)
    return path, pays, other, drawn


CHANGES = {
    "cheaper": "UPDATE lines SET text = replace(text, '7.2', '99.2') WHERE account = 1 AND number = 5",
    "a larger limit": "UPDATE lines SET text = replace(text, '9.0', '99.0') WHERE account = 1 AND number = 3",
    "gone": "DELETE FROM lines WHERE account = 1 AND number = 5",
    "the last gone": "DELETE FROM lines WHERE account = 1 AND number = 6",
    "the last gone and counted so": (
        "DELETE FROM lines WHERE account = 1 AND number = 6; UPDATE accounts SET lines = 5 WHERE number = 1"
    ),
    "gone and moved up": (
        "DELETE FROM lines WHERE account = 1 AND number = 4; "
        "UPDATE lines SET number = number - 1 WHERE account = 1 AND number > 4"
    ),
    "moved": (
        "UPDATE lines SET number = 20 - number WHERE account = 1 AND number > 4; "
        "UPDATE lines SET number = number - 9 WHERE account = 1 AND number > 9"
    ),
    "all gone": "DELETE FROM lines WHERE account = 1",
    "the table unknown": "UPDATE lines SET name = NULL WHERE account = 1 AND number = 2",
    "the table in another account": (
        "UPDATE lines SET account = 2, number = 9 WHERE account = 1 AND number = 2"
    ),
    "not JSON": "UPDATE lines SET text = x'00ff' WHERE account = 1 AND number = 4",
    "a digest": "UPDATE lines SET digest = 'ab' WHERE account = 1 AND number = 4",
    "another's line": (
        "UPDATE lines SET text = (SELECT text FROM lines WHERE account = 2 AND number = 3) "
        "WHERE account = 1 AND number = 3"
    ),
}


def change(path, statements):
    with closing(sqlite3.connect(path)) as book, book:
        book.executescript(statements)


@pytest.mark.parametrize("statements", CHANGES.values(), ids=list(CHANGES))
def test_a_changed_payment_stops_every_release_of_its_account(tmp_path, statements):
    path, pays, other, _ = written(tmp_path)
    whole = path.read_bytes()
    change(path, statements)
    before = path.read_bytes()
    for attempt in (
        pays.balance,
        lambda: pays.pay("fourth", HALF),
        lambda: pays.set_limit(Limit(10.0, 1e-5)),
        lambda: pays.merge(payer().export(), same_patients=True),
        # Who takes out the line of a table gets no new account for it.
        lambda: Book(path).payer(TABLE._replace(key="cd" * 8)).set_limit(LIMIT),
    ):
        with pytest.raises(ValueError, match="restore the book from a copy first"):
            attempt()
    assert path.read_bytes() == before
    if "another" not in statements and "account = 2, number" not in statements:
        other.pay("as before", HALF)
    path.write_bytes(whole)
    assert [payment.title for payment in pays.balance().payments] == ["first", "second", "third"]


def test_an_account_that_is_gone_stops_what_could_be_its_tables(tmp_path):
    path, pays, other, _ = written(tmp_path)
    change(path, "DELETE FROM lines WHERE account = 2; DELETE FROM accounts WHERE number = 2")
    with pytest.raises(ValueError, match="an account is gone from the book"):
        other.set_limit(LIMIT)
    assert len(pays.balance().payments) == 3


STEP_CHANGES = {
    "another number": "UPDATE steps SET content = x'0000000000000040' WHERE number = 2",
    "no number": "UPDATE steps SET content = 'abc' WHERE number = 2",
    "the last gone": "DELETE FROM steps WHERE number = 3",
    "one gone": "DELETE FROM steps WHERE number = 2",
    "all gone": "DELETE FROM steps",
    "all gone and counted so": "DELETE FROM steps; UPDATE releases SET steps = 0",
    "renamed": "UPDATE steps SET step = 'moment 3' WHERE number = 3",
    "moved": (
        "UPDATE steps SET number = 9 - number WHERE number > 1; "
        "UPDATE steps SET number = number - 4 WHERE number > 4"
    ),
    "asked": "UPDATE releases SET asked = replace(asked, '1', '2')",
}


@pytest.mark.parametrize("statements", STEP_CHANGES.values(), ids=list(STEP_CHANGES))
def test_steps_that_were_changed_draw_nothing_again(tmp_path, statements):
    path, _, _, drawn = written(tmp_path)
    change(path, statements)
    for step in ("mean", "moment 1", "moment 2", "another"):
        with pytest.raises(ValueError, match="nothing of it is drawn again"):
            drawn.once(step, never)
    with pytest.raises(ValueError, match="nothing of it is drawn again"):
        drawn.finish({})
    with pytest.raises(ValueError, match="nothing of it is drawn again"):
        _ = drawn.asked


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_book_is_refused(tmp_path, content):
    path = tmp_path / "book"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="the book cannot be read"):
        payer(path=path)
    assert path.read_bytes() == content


def test_a_process_that_died_before_it_made_tables_leaves_an_empty_book(tmp_path):
    (tmp_path / "book").touch()
    assert payer(path=tmp_path / "book").balance() == Balance(Limit(1e9, 1e-5))


@pytest.mark.parametrize("place", ["/proc/dppca/book", "folder"])
def test_a_place_that_takes_no_file_is_refused_by_the_disk(tmp_path, place):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"(?i)no such file|denied|unable to open"):
        payer(path=tmp_path / place)
