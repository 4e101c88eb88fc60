"""Several owners on one account: what each spent counts for all, and nobody sees what another released."""

import json

import numpy as np
import pytest

from dppca_core import Release
from dppca_core.release.cohort_lists import CohortsOnDisk
from dppca_core.release.cohorts import Extract
from dppca_core.release.ledger import DiskLedger, OverLimitError, SessionLedger
from dppca_core.release.ledger_records import Limit, from_lines
from dppca_core.tables.sketches import Sketch

KEY = "0123456789abcdef"
LIMIT = Limit(1.0, 1e-5)
HALF = (Release(7.2),)  # epsilon = .487
ABOUT = {
    "rows": 79190313,
    "rows per patient": 3,
    "unit": "row",
    "parameters": {"k": 41},
    "chosen": "by Zanzibar",
}
MARKS = ("Zanzibar", "79190313", "parameters")


def ledger_of(folder, owner, sign_in=False):
    return DiskLedger(folder, KEY, 79190313, owner=owner, sign_in=sign_in)


@pytest.fixture
def shared(tmp_path):
    """Return a folder in which one owner has released."""
    ann = ledger_of(tmp_path, "ann")
    ann.set_limit(LIMIT)
    ann.spend("Zanzibar's scores", HALF, ABOUT)
    return tmp_path


def test_another_owner_sees_the_cost_and_nothing_else(shared):
    ann, ben = (ledger_of(shared, owner) for owner in ("ann", "ben"))
    seen = ben.account()
    assert not [mark for mark in MARKS if mark in repr(seen) + ben.export()]
    (theirs,), (mine,) = seen.entries, ann.account().entries
    assert theirs.is_of_another_owner and not mine.is_of_another_owner and mine.about == ABOUT
    assert (theirs.at, theirs.events, theirs.id) == (mine.at, mine.events, mine.id)
    assert seen.spent() == ann.account().spent()
    assert seen.spent_by_patient(3) == ann.account().spent_by_patient(3) and theirs.rows_per_patient == 3
    assert ben.entry(theirs.id) == mine


def test_what_both_spend_adds_up_for_both_and_for_who_sees_all(shared):
    ben = ledger_of(shared, "ben")
    ben.spend("Ben's", HALF, {"rows": 79190313}, expected=ben.account())
    accounts = [ledger_of(shared, owner).account() for owner in ("ann", "ben", None)]
    assert len({account.spent().epsilon for account in accounts}) == 1
    assert [[entry.is_of_another_owner for entry in account.entries] for account in accounts] == [
        [False, True],
        [True, False],
        [False, False],
    ]
    for owner in ("ann", "ben", "cleo"):
        with pytest.raises(OverLimitError):
            ledger_of(shared, owner).spend("more", (Release(3.75),))


def test_no_export_says_whose_a_line_is_and_it_reads_as_a_ledger(shared):
    ledger_of(shared, "ben").spend("Ben's", HALF)
    assert '"owner"' in (shared / f"{KEY}.jsonl").read_text()
    for owner in ("ann", "ben", None):
        exported = ledger_of(shared, owner).export()
        assert '"owner"' not in exported
        elsewhere = SessionLedger()
        elsewhere.merge(exported)
        assert elsewhere.account() == ledger_of(shared, owner).account()
    damaged = exported.replace('"noise_multiplier":7.2', '"noise_multiplier":72')
    with pytest.raises(ValueError, match=r"was changed|not of a ledger"):
        SessionLedger().merge(damaged)


@pytest.mark.parametrize("order", [("ann", "ben"), ("ben", "ann")])
def test_what_each_exported_counts_once(shared, order):
    """A line as its owner and as another sees it is one payment, in the same folder and in another."""
    exported = {owner: ledger_of(shared, owner).export() for owner in order}
    elsewhere = SessionLedger(79190313)
    for owner in order:
        before = (shared / f"{KEY}.jsonl").read_bytes()
        for reader in order:
            ledger_of(shared, reader).merge(exported[owner])
        assert (shared / f"{KEY}.jsonl").read_bytes() == before
        elsewhere.merge(exported[owner])
    assert len(elsewhere.account().entries) == 1


def test_an_imported_line_is_of_who_imported_it(shared):
    away = SessionLedger()
    away.set_limit(LIMIT)
    away.spend("Ben's elsewhere", (Release(30.0),))
    ledger_of(shared, "ben").merge(away.export())
    assert "elsewhere" in ledger_of(shared, "ben").export()
    assert "elsewhere" not in ledger_of(shared, "ann").export()


@pytest.mark.parametrize("sign_in", [False, True])
def test_lines_of_an_earlier_version_are_as_before_or_the_first_owners(tmp_path, sign_in):
    """Byte by byte for who sees them; by a sign-in, whoever brought the first table of the account does."""
    former = ledger_of(tmp_path, None)
    former.set_limit(LIMIT)
    former.spend("Zanzibar's scores", HALF, ABOUT)
    written = (tmp_path / f"{KEY}.jsonl").read_text()
    assert '"owner"' not in written
    assert ledger_of(tmp_path, "cleo", sign_in).export() == written  # nobody has brought a table yet
    for owner in ("ann", "ben"):
        CohortsOnDisk(tmp_path).add(
            Extract((KEY,), 79190313, 5), Sketch(79190313, {"rows": np.empty(0, "<u8")}), owner, False
        )
    for owner, hidden in (("ann", False), ("ben", sign_in), (None, False)):
        ledger = ledger_of(tmp_path, owner, sign_in)
        assert (ledger.export() == written) != hidden
        assert ledger.account().entries[0].is_of_another_owner == hidden
        assert ledger.account().spent() == from_lines(map(json.loads, written.splitlines())).spent()


def test_another_size_than_the_account_s_is_not_told_by_a_number(shared):
    other = DiskLedger(shared, KEY, 80, owner="ben")
    with pytest.raises(ValueError, match="another number of rows") as refused:
        other.account()
    assert "79190313" not in str(refused.value) and "79,190,313" not in str(refused.value)
