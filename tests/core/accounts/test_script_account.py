"""The account of a script: one limit for many arrays, one book for copies and processes, and its end."""

import copy
import pickle
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA

from dppca_core.accounting import closed_form
from dppca_core.accounts import Account
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import DamagedBookError, OverLimitError
from tests.core.accounts.paying import HALF, ONE


@pytest.fixture(params=["disk", "memory"])
def path(request, tmp_path):
    return tmp_path / "new" / "spent.sqlite3" if request.param == "disk" else None


def test_it_pays_within_its_limit_and_says_what_is_spent_and_left(path):
    with Account(epsilon=1.2, delta=1e-5, path=path) as account:
        assert (account.spent, account.left, account.events) == (0.0, 1.2, ())
        account.payer.pay("first", HALF)
        account.payer.pay("second", HALF)
        assert account.spent == pytest.approx(closed_form.epsilon_of((*HALF, *HALF), 1e-5), rel=1e-6)
        assert account.spent + account.left == pytest.approx(1.2)
        with pytest.raises(OverLimitError, match=r"the limit is 1\.2: nothing was spent"):
            account.payer.pay("third", ONE)
    balance = account.balance()
    assert balance.limit == Limit(1.2, 1e-5) and account.events == (*HALF, *HALF)
    assert [payment.title for payment in balance.payments] == ["first", "second"]


def test_after_its_block_it_pays_no_more_and_still_tells(path):
    with Account(1.0, 1e-5, path=path) as account:
        account.payer.pay("first", HALF)
    with pytest.raises(ValueError, match="closed at the end of its with block, and pays no more"):
        account.payer  # noqa: B018
    assert 0 < account.spent < 1 and len(account.balance().payments) == 1
    assert Account(1.0, 1e-5).payer.pay("no block", HALF).events == HALF


def test_a_copy_is_the_account_itself(path):
    account = Account(1.0, 1e-5, path=path)
    assert copy.copy(account) is account and copy.deepcopy(account) is account
    cloned = clone(PCA(random_state=None).set_params(copy=account))
    assert cloned.copy is account


def test_only_an_account_with_a_path_goes_to_another_process(tmp_path):
    with pytest.raises(
        TypeError, match=r"^a book in memory cannot be sent to another process or saved: give"
    ):
        pickle.dumps(Account(1.0, 1e-5))
    account = Account(1.0, 1e-5, path=str(tmp_path / "book"))
    other = pickle.loads(pickle.dumps(account))  # noqa: S301
    other.payer.pay("there", HALF)
    account.payer.pay("here", HALF)
    assert account.events == other.events == (*HALF, *HALF)
    with pytest.raises(OverLimitError):
        other.payer.pay("once more", ONE)


def test_a_path_may_be_relative_and_the_process_may_move(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    account = Account(1.0, 1e-5, path="book")
    sent = pickle.dumps(account)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    pickle.loads(sent).payer.pay("there", HALF)  # noqa: S301
    assert account.events == HALF and not (tmp_path / "elsewhere" / "book").exists()


def test_a_file_goes_on_where_it_was_left(tmp_path):
    path = tmp_path / "book"
    Account(1.0, 1e-5, path=path).payer.pay("yesterday", HALF)
    account = Account(0.6, 1e-5, path=path)
    assert account.events == HALF and account.balance().limit == Limit(0.6, 1e-5)
    with pytest.raises(ValueError, match="is spent already, a limit cannot be below that"):
        Account(0.3, 1e-5, path=path)
    with pytest.raises(ValueError, match="delta stays 1e-05, with which this account began"):
        Account(1.0, 1e-6, path=path)
    with pytest.raises(ValueError, match="neighbours stays replace-one"):
        Account(1.0, 1e-5, path=path, neighbours="add-remove")
    assert account.balance().limit == Limit(0.6, 1e-5)
    assert Account(1.0, 1e-5, path=tmp_path / "other").events == ()


@pytest.mark.parametrize("leave", ["nothing", "an empty file"])
def test_an_account_whose_file_is_gone_says_so_and_makes_no_other(tmp_path, leave):
    path = tmp_path / "book"
    account = Account(1.0, 1e-5, path=path)
    account.payer.pay("before", HALF)
    path.unlink()
    if leave == "an empty file":
        path.touch()
    for asked in (lambda: account.payer, account.balance, lambda: account.spent, lambda: account.left):
        with pytest.raises(DamagedBookError, match="the file of this account is gone, or its content"):
            asked()
    assert path.exists() == (leave == "an empty file")


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_the_database_of_another_program_is_refused_and_stays_as_it_is(tmp_path, version, mode):
    path = tmp_path / "browser"
    with closing(sqlite3.connect(path)) as book:
        book.execute(f"PRAGMA journal_mode={mode}")
        book.execute("CREATE TABLE lines (place TEXT)")
        book.execute(f"PRAGMA user_version={version}")
    before = path.read_bytes()
    with pytest.raises(DamagedBookError, match="a database with other tables than a book of accounts has"):
        Account(1.0, 1e-5, path=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("limit", [(0.0, 1e-5), (1.0, 0.0), (np.nan, 1e-5), (1.0, 1.0)])
def test_a_limit_that_cannot_be_makes_no_file(limit, tmp_path):
    with pytest.raises(ValueError, match=r"(epsilon|delta) must"):
        Account(*limit, path=tmp_path / "book")
    assert not (tmp_path / "book").exists()
