"""Faults of machines around a payment: tabs that race, a full disk, a process that is killed."""

import json
import multiprocessing
import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from dppca_core.accounting import numerical
from dppca_core.accounts import book as book_module
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, OverLimitError
from tests.core.accounts.paying import HALF, TABLE, begun, payer
from tests.core.full_disk import full_disk

FORK = multiprocessing.get_context("fork")


def _tab(path, gate, results, new):
    gate.wait()
    pays = Book(path).payer(TABLE)
    try:
        if new:  # all make the file and the account at once
            pays.set_limit(Limit(0.5, 1e-5))
        pays.pay("race", HALF)
        results.put("paid")
    except OverLimitError:
        results.put("refused")


@pytest.mark.parametrize("new", [False, True])
def test_tabs_that_race_spend_the_limit_once(tmp_path, new):
    numerical.total(HALF, 1e-5)  # which each process would have to import and compute
    for race in range(2):
        path = tmp_path / f"{race}" / "book"
        if not new:
            payer(0.5, path)
        gate, results = FORK.Barrier(6), FORK.Queue()
        tabs = [FORK.Process(target=_tab, args=(path, gate, results, new)) for _ in range(6)]
        for tab in tabs:
            tab.start()
        outcomes = sorted(results.get(timeout=60) for _ in tabs)
        for tab in tabs:
            tab.join()
        assert outcomes == ["paid"] + ["refused"] * 5
        assert len(Book(path).payer(TABLE).balance().payments) == 1 and len(Book(path).accounts()) == 1


def test_by_what_was_read_before_the_lock_the_race_would_be_lost(tmp_path, monkeypatch):
    """Show what reading inside the transaction prevents: two tabs read before either writes."""
    pays = payer(0.5, tmp_path / "book")
    with Book(tmp_path / "book").reading() as book:
        stale = book_module._lines(book, 1)
    pays.pay("one", HALF)
    with monkeypatch.context() as planted:
        planted.setattr(book_module, "_lines", lambda book, account: stale)
        pays.pay("two", HALF)
    assert pays.balance().spent().epsilon > 0.5


@pytest.mark.parametrize("more", [0, 1000, 5000, 20_000])
def test_a_full_disk_spends_nothing(tmp_path, more):
    """The kernel writes as much as there is room for, of the journal or of the book, then refuses."""
    path = tmp_path / "book"
    pays = payer(9.0, path)
    pays.pay("first", HALF, asked={})
    before, whole = pays.balance(), path.read_bytes()
    long = {"about": "a" * 40_000}
    with full_disk(path, more), pytest.raises(OSError, match=r"disk"):
        pays.pay("second", HALF, long, asked=long)
    assert pays.balance() == before and path.read_bytes() == whole and list(tmp_path.iterdir()) == [path]
    pays.pay("second", HALF, long, asked=long)
    assert len(pays.balance().payments) == 2
    away = payer(9.0)
    for _ in range(2):
        away.pay("theirs", HALF, long)
    with full_disk(path, 60_000), pytest.raises(OSError, match="disk"):
        pays.merge(away.export())  # the first of its two lines would have fitted
    assert len(pays.balance().payments) == 2 and len(pays.merge(away.export()).payments) == 4


def test_a_full_disk_keeps_no_part_of_a_step(tmp_path):
    drawn = begun(path=tmp_path / "book")
    with full_disk(tmp_path / "book", 10_000), pytest.raises(OSError, match="disk"):
        drawn.once("moment", lambda: np.ones((100, 100)))
    assert drawn.once("moment", lambda: np.zeros(3)).tolist() == [0, 0, 0]


def _pay_on_and_on(path, output):
    pays = Book(path).payer(TABLE)
    while True:
        payment = pays.pay("a release", HALF, asked={"k": 1})
        os.write(output, f"{payment.id}\n".encode())
        pays.drawn(payment.id).once("moment", lambda: np.ones(1000))


def test_no_payment_is_lost_with_a_process_that_is_killed(tmp_path):
    """Ten times, after a random while: what was told to be paid is in the book, and at most one more."""
    path, paid, complete = tmp_path / "book", 0, list[str]()
    pays = payer(path=path)
    for _ in range(10):
        reads, writes = os.pipe()
        victim = FORK.Process(target=_pay_on_and_on, args=(path, writes))
        victim.start()
        os.close(writes)
        with os.fdopen(reads) as output:
            first = [output.readline().strip() for _ in range(2)]
            time.sleep(0.001 + 0.03 * np.random.default_rng().random())
            os.kill(victim.pid, signal.SIGKILL)
            victim.join()
            ids = [*first, *output.read().splitlines()]
        payments = [payment.id for payment in pays.balance().payments]
        assert payments[paid:][: len(ids)] == ids and len(payments) - paid - len(ids) in (0, 1)
        paid, complete = len(payments), [*complete, *ids[:-1]]
    for each in complete:  # the next was paid for once its noise was kept
        assert pays.drawn(each).once("moment", lambda: pytest.fail("drawn twice")).sum() == 1000


def test_a_half_written_payment_is_undone_by_whoever_opens_the_book_next(tmp_path):
    """A copy of the folder while the book is being written, as a process that was killed leaves it."""
    path, copy = tmp_path / "a" / "book", tmp_path / "b"
    pays = payer(path=path)
    pays.pay("first", HALF)
    before = path.read_bytes()
    with Book(path).writing() as book:
        book.execute("PRAGMA cache_size=1")
        book.execute("PRAGMA cache_spill=1")
        lines = [{"kind": "payment", "id": f"{i}", "about": json.dumps("a" * 9000)} for i in range(50)]
        book_module._add(book, 1, *lines)
        shutil.copytree(path.parent, copy)
    assert sorted(file.name for file in copy.iterdir()) == ["book", "book-journal"]
    assert (copy / "book").read_bytes() != before
    again = Book(copy / "book").payer(TABLE)
    assert [payment.title for payment in again.balance().payments] == ["first"]
    assert again.pay("second", HALF) and [file.name for file in copy.iterdir()] == ["book"]


def test_all_that_is_written_is_synced_before_the_payment_returns(tmp_path):
    """As SQLite is set: what its documentation calls EXTRA syncs the folder once the journal is gone."""
    with Book(tmp_path / "book").writing() as book:
        output = [book.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        assert output == ["delete", 3] and book.execute("PRAGMA fullfsync").fetchone()[0] == 1
    assert Path(tmp_path / "book").exists()
