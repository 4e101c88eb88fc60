"""Cohorts: their tables pay into one account, whatever happens to the list of them."""

import fcntl
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dppca_core import Release
from dppca_core.release import journal
from dppca_core.release.cohort_lists import CohortsInMemory, CohortsOnDisk
from dppca_core.release.cohorts import Cohorts, Extract
from dppca_core.release.ledger import DiskLedger, OverLimitError, SessionLedger
from dppca_core.release.ledger_records import AnotherTableError, Limit
from dppca_core.tables import content
from dppca_core.tables.sketches import Sketch, Sketcher

HALF = (Release(7.2),)  # epsilon = .487 at 1e-5
LIMIT = Limit(0.6, 1e-5)  # for one of these


def patients(seed: int = 0, n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(50, 9, (n, 4)), columns=["age", "bmi", "pulse", "crea"])


FIRST = patients()
FEWER, FOREIGN = FIRST.iloc[1:], patients(1, 300)


@pytest.fixture(params=["disk", "session"])
def cohorts(request, tmp_path) -> Cohorts:
    return CohortsOnDisk(tmp_path / "new") if request.param == "disk" else CohortsInMemory()


def sketched(frame: pd.DataFrame, cohorts: Cohorts) -> tuple[Extract, Sketch]:
    sketcher = Sketcher(cohorts.secret)
    keys = content.content_keys(frame, sketcher)
    return Extract((*keys.former, keys.key), *frame.shape), sketcher.sketch


def add(frame: pd.DataFrame, cohorts: Cohorts, owner: str | None = "ann", into: str | None = None) -> Extract:
    extract, sketch = sketched(frame, cohorts)
    cohorts.add(extract, sketch, owner, False, into)
    return extract


def alike(frame: pd.DataFrame, cohorts: Cohorts, owner: str | None = "ann") -> list[str]:
    extract, sketch = sketched(frame, cohorts)
    return [likeness.kind for _, likeness in cohorts.alike(sketch, extract.keys, owner)]


def ledger(folder, extract: Extract) -> DiskLedger:
    return DiskLedger(folder, extract.key, extract.rows, extract.keys[:-1])


def test_a_table_like_one_of_the_owners_is_noticed_and_joined_for_good(cohorts):
    first = add(FIRST, cohorts)
    assert alike(FIRST.sample(frac=1, random_state=1), cohorts) == []  # it is that very table
    assert alike(FEWER, cohorts) == ["rows"]
    assert alike(FOREIGN, cohorts) == []
    fewer = add(FEWER, cohorts, into=first.key)
    assert alike(FEWER, cohorts) == []
    assert cohorts.members(fewer.keys) == cohorts.members(first.keys)
    assert cohorts.members(first.keys) == ((*first.keys, *fewer.keys), {80, 79})
    (cohort,) = cohorts.cohorts("ann")
    assert (cohort.key, cohort.name, [extract.rows for extract in cohort.extracts]) == (
        first.key,
        "",
        [80, 79],
    )
    cohorts.rename(fewer.key, "Heart study", "ann")
    assert cohorts.cohort(first.keys, "ann").name == "Heart study"
    for name in ("", "a\nb", "a" * 61):
        with pytest.raises(ValueError, match="a name has"):
            cohorts.rename(first.key, name, "ann")


def test_an_account_of_two_joined_ones_has_the_tables_of_both(cohorts):
    first, foreign = add(FIRST, cohorts), add(FOREIGN, cohorts)
    assert len(cohorts.cohorts("ann")) == 2
    add(FOREIGN, cohorts, into=first.key)
    (cohort,) = cohorts.cohorts("ann")
    assert cohorts.members(foreign.keys).rows == {80, 300} == {extract.rows for extract in cohort.extracts}


def test_an_account_into_which_others_pay_is_told_apart(cohorts):
    """It joins no other account: what they spent would count there, and the other way round."""
    first = add(FIRST, cohorts)
    add(FEWER, cohorts, into=first.key)
    alone = add(FOREIGN, cohorts, "bob")
    add(FIRST, cohorts, "bob")  # he has this very extract
    assert cohorts.has_other_owner(first.keys, "bob") and cohorts.has_other_owner(first.keys, "ann")
    assert not cohorts.has_other_owner(alone.keys, "bob") and not cohorts.has_other_owner(first.keys, None)


def test_nobody_learns_of_another_owners_tables(cohorts):
    first = add(FIRST, cohorts)
    cohorts.rename(first.key, "Heart study", "ann")
    assert alike(FEWER, cohorts, "ben") == alike(FEWER, cohorts, "") == []
    assert cohorts.cohorts("ben") == [] and cohorts.cohort(first.keys, "ben") is None
    assert alike(FEWER, cohorts, None) == ["rows"]  # who may see all of the folder
    add(FIRST, cohorts, "ben")  # who has the very table pays into its account, and names it for himself
    cohorts.rename(first.key, "Mine", "ben")
    assert cohorts.cohort(first.keys, "ann").name == "Heart study"
    assert cohorts.cohort(first.keys, "ben").name == "Mine"
    add(FEWER, cohorts, "ann", into=first.key)
    assert [extract.rows for extract in cohorts.cohort(first.keys, "ben").extracts] == [80]
    assert cohorts.members(first.keys).rows == {80, 79}  # but what it cost counts


def test_two_extracts_spend_one_limit(tmp_path):
    cohorts = CohortsOnDisk(tmp_path)
    first = add(FIRST, cohorts)
    stale = ledger(tmp_path, sketched(FEWER, cohorts)[0])  # opened before it joined
    ledger(tmp_path, first).set_limit(LIMIT)
    ledger(tmp_path, first).spend("first", HALF, {"rows": 80})
    fewer = add(FEWER, cohorts, into=first.key)
    for opened in (stale, ledger(tmp_path, fewer)):
        assert [entry.title for entry in opened.account().entries] == ["first"]
    with pytest.raises(OverLimitError):
        stale.spend("second", HALF, {"rows": 79})
    stale.set_limit(Limit(0.8, 1e-5))
    stale.spend("second", HALF, {"rows": 79})
    assert [entry.title for entry in ledger(tmp_path, first).account().entries] == ["first", "second"]
    assert [path.stem for path in tmp_path.glob("*.jsonl")] == [first.key]


def test_what_both_spent_before_they_joined_counts(tmp_path):
    cohorts = CohortsOnDisk(tmp_path)
    first, foreign = add(FIRST, cohorts), add(FOREIGN, cohorts)
    for extract in (first, foreign):
        ledger(tmp_path, extract).set_limit(LIMIT)
        ledger(tmp_path, extract).spend(f"of {extract.rows}", HALF, {"rows": extract.rows})
    add(FOREIGN, cohorts, into=first.key)
    for extract in (first, foreign):
        account = ledger(tmp_path, extract).account()
        assert [entry.title for entry in account.entries] == ["of 80", "of 300"]
        with pytest.raises(OverLimitError):
            ledger(tmp_path, extract).spend("third", HALF)


def test_a_ledger_of_the_version_before_is_that_of_a_cohort(tmp_path):
    """Its file, written by that version, is continued by an extract that joins."""
    former = Path(__file__).parent / "former_ledger" / "version_2"
    (path,) = (Path(shutil.copy(path, tmp_path)) for path in former.glob("*.jsonl"))
    table = pd.read_csv(former / "table.csv")
    cohorts = CohortsOnDisk(tmp_path)
    first = add(table, cohorts)
    fewer = add(table.drop(columns="number").iloc[1:], cohorts, into=first.key)
    ledger(tmp_path, fewer).set_limit(Limit(0.8, 1e-5))
    ledger(tmp_path, fewer).spend("fewer", HALF, {"rows": fewer.rows})
    account = ledger(tmp_path, first).account()
    assert [entry.title for entry in account.entries] == ["Analyze Gauss", "fewer"]
    assert list(tmp_path.glob("*.jsonl")) == [path] and path.stem in first.keys[:-1]


def test_lists_of_two_sessions_become_one():
    """After a reload: what was known in either is known, and compared with its own sketch."""
    former, now = CohortsInMemory(), CohortsInMemory()
    first, foreign = add(FIRST, former), add(FOREIGN, now)
    former.rename(first.key, "Heart study", "ann")
    now.take_over(former)
    assert [cohort.name for cohort in now.cohorts("ann")] == ["Heart study", ""]
    assert alike(FEWER, now) == alike(FOREIGN.iloc[1:], now) == ["rows"]
    assert now.members(foreign.keys).rows == {300}


def test_the_same_in_a_session():
    cohorts = CohortsInMemory()
    first, fewer = add(FIRST, cohorts), sketched(FEWER, cohorts)[0]
    account, other = SessionLedger(), SessionLedger()
    mine = SessionLedger(80, first.keys, cohorts, account)
    theirs = SessionLedger(79, fewer.keys, cohorts, other)
    for opened, rows in ((mine, 80), (theirs, 79)):
        opened.set_limit(LIMIT)
        opened.spend(f"of {rows}", HALF, {"rows": rows}, asked={"of": rows})
    account.take_over(other)
    add(FEWER, cohorts, into=first.key)
    joined = SessionLedger(79, fewer.keys, cohorts, account)
    assert [entry.title for entry in mine.account().entries] == ["of 80", "of 79"]
    assert joined.account() == mine.account()
    ids = [entry.id for entry in joined.account().entries]
    assert [joined.drawn(entry_id) is None for entry_id in ids] == [True, False]


def test_a_table_that_was_noted_in_part_is_asked_about_again(tmp_path):
    """Cut within the lines of one answer: it pays into the account already, or is not known yet."""
    cohorts = CohortsOnDisk(tmp_path)
    first = add(FIRST, cohorts)
    before = len((tmp_path / "cohorts.index").read_text().splitlines())
    fewer = add(FEWER, cohorts, into=first.key)
    lines = (tmp_path / "cohorts.index").read_text().splitlines(keepends=True)
    assert len(lines) == before + 2
    for kept in (before, before + 1):
        (tmp_path / "cohorts.index").write_text("".join(lines[:kept]))
        assert not cohorts.was_brought(fewer.keys, "ann", False)
        joined = first.key in cohorts.members(fewer.keys).keys
        assert joined == (kept > before) and (joined or alike(FEWER, cohorts) == ["rows"])


def test_no_table_is_taken_for_another_where_sketches_are_gone(tmp_path):
    cohorts = CohortsOnDisk(tmp_path)
    add(FIRST, cohorts)
    (tmp_path / "cohorts.sketches").unlink()
    with pytest.raises(ValueError, match=r"cohorts\.sketches"):
        add(FOREIGN, cohorts)


def test_what_is_drawn_of_one_table_does_not_go_on_from_another(tmp_path):
    cohorts = CohortsOnDisk(tmp_path)
    first = add(FIRST, cohorts)
    fewer = add(FEWER, cohorts, into=first.key)
    ledger(tmp_path, first).set_limit(LIMIT)
    entry = ledger(tmp_path, first).spend("first", HALF, {"rows": 80}, asked={"k": 2})
    assert ledger(tmp_path, fewer).drawn(entry.id) is None
    assert ledger(tmp_path, first).drawn(entry.id).asked == {"k": 2}
    (path,) = tmp_path.glob("*.drawn.jsonl")
    path.unlink()
    path.with_suffix(".used").unlink()
    (tmp_path / f"{entry.id}.drawn.jsonl").write_text('{"k": 2}\n')  # as versions before cohorts wrote it
    assert ledger(tmp_path, first).drawn(entry.id).asked == {"k": 2}
    ledger(tmp_path, first).forget(entry.id)
    assert not list(tmp_path.glob("*.drawn.jsonl"))


def test_lines_of_another_size_count_only_where_the_owner_says_so(tmp_path):
    cohorts = CohortsOnDisk(tmp_path)
    first = add(FIRST, cohorts)
    away = SessionLedger(300)
    away.set_limit(LIMIT)
    away.spend("elsewhere", HALF, {"rows": 300})
    with pytest.raises(AnotherTableError, match="of a table with another number of rows"):
        ledger(tmp_path, first).merge(away.export())
    assert ledger(tmp_path, first).account().entries == ()
    ledger(tmp_path, first).merge(away.export(), same_cohort=True)
    assert [entry.title for entry in ledger(tmp_path, first).account().entries] == ["elsewhere"]
    assert ledger(tmp_path, first).merge(away.export()).limit == LIMIT


def rewritten(change):
    """Return a way to damage a file of lines, by a change of these."""

    def damage(path):
        path.write_bytes(b"".join(change(*path.read_bytes().splitlines(keepends=True))))

    return damage


DAMAGE = {
    "changed": ("index", rewritten(lambda a, b, c, d: [a, b, c, d.replace(b'"rows":79', b'"rows":78')])),
    "a line gone": ("index", rewritten(lambda a, b, c, d: [a, c, d])),
    "moved": ("index", rewritten(lambda a, b, c, d: [a, c, b, d])),
    "torn": ("index", rewritten(lambda a, b, c, d: [a, b[:30] + b"\n", c, d])),
    "without its digest": (
        "index",
        rewritten(
            lambda a, b, c, d: [a, b, c, json.dumps({"line": 4, "kind": "joined", "keys": []}).encode()]
        ),
    ),
    "emptied": ("index", lambda path: path.write_bytes(b"")),
    "deleted": ("index", os.unlink),
    "secret deleted": ("secret", os.unlink),
    "secret cut": ("secret", lambda path: path.write_bytes(b"short")),
    "sketches deleted": ("sketches", os.unlink),
    "a sketch gone": ("sketches", rewritten(lambda a, b: [a])),
    "a sketch changed": ("sketches", rewritten(lambda a, b: [a.replace(b'"rows":80', b'"rows":81'), b])),
}


@pytest.mark.parametrize(("which", "damage"), DAMAGE.values(), ids=list(DAMAGE))
def test_a_damaged_list_opens_no_new_budget(tmp_path, which, damage):
    """Neither to a joined table, whose own key has no ledger, nor to a new one that resembles it."""
    cohorts = CohortsOnDisk(tmp_path)
    first, (new, sketch) = add(FIRST, cohorts), sketched(FIRST.iloc[2:], cohorts)
    ledger(tmp_path, first).set_limit(LIMIT)
    fewer = add(FEWER, cohorts, into=first.key)
    damage(tmp_path / f"cohorts.{which}")
    left = {path: path.read_bytes() for path in tmp_path.iterdir()}
    refused = pytest.raises(ValueError, match=r"the list of cohorts .* is damaged or incomplete: restore")
    with refused:
        cohorts.alike(sketch, new.keys, "ann")
    if which == "index":
        with refused:
            ledger(tmp_path, fewer).set_limit(LIMIT)
        with refused:
            cohorts.add(new, sketch, "ann", False)
    else:
        assert ledger(tmp_path, fewer).account().limit == LIMIT
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == left


def test_nobody_else_reads_the_list_and_it_holds_no_name_of_an_owner(tmp_path):
    cohorts = CohortsOnDisk(tmp_path / "new")
    add(FIRST, cohorts, "ann@example.org")
    files = list((tmp_path / "new").glob("cohorts.*"))
    assert {path.suffix for path in files} == {".index", ".sketches", ".secret", ".lock"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)
    assert b"ann@" not in b"".join(path.read_bytes() for path in files)


def test_a_crash_while_the_list_is_written_loses_no_earlier_line(tmp_path):
    cohorts = CohortsOnDisk(tmp_path)
    add(FIRST, cohorts)
    index = tmp_path / "cohorts.index"
    whole = index.read_bytes()
    fewer = add(FEWER, cohorts)
    index.write_bytes(whole + index.read_bytes()[len(whole) : -20])  # its sketch was written before it
    assert [cohort.extracts[0].rows for cohort in cohorts.cohorts("ann")] == [80]
    assert alike(FEWER, cohorts) == ["rows"]
    add(FEWER, cohorts)
    assert cohorts.members(fewer.keys).rows == {79}
    assert len(journal.read(tmp_path / "cohorts.sketches")) == 3
    assert alike(FIRST.iloc[2:], cohorts) == ["rows", "rows"]


def test_a_crash_while_a_table_joins_gives_it_no_account_of_its_own(tmp_path):
    cohorts = CohortsOnDisk(tmp_path)
    first = add(FIRST, cohorts)
    fewer = add(FEWER, cohorts, into=first.key)
    index = tmp_path / "cohorts.index"
    index.write_bytes(index.read_bytes()[:-60])
    assert not cohorts.was_brought(fewer.keys, "ann", False) and first.key in cohorts.members(fewer.keys).keys


def test_no_table_takes_the_sketch_of_another_where_one_is_gone(tmp_path):
    cohorts = CohortsOnDisk(tmp_path)
    add(FIRST, cohorts, "ann")
    (tmp_path / "cohorts.sketches").unlink()
    with pytest.raises(ValueError, match=r"\(cohorts.sketches\) is damaged"):
        add(FOREIGN, cohorts, "ben")


def test_what_may_not_join_is_checked_while_nobody_else_writes(cohorts):
    first, (extract, sketch) = add(FIRST, cohorts), sketched(FEWER, cohorts)

    def check():
        if isinstance(cohorts, CohortsInMemory):
            assert cohorts.exclusive().locked()
        else:
            lock = cohorts._path.with_name("cohorts.index.lock")
            with lock.open("a") as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise ValueError("another delta")

    with pytest.raises(ValueError, match="another delta"):
        cohorts.add(extract, sketch, "ann", False, first.key, check)
    assert cohorts.members(extract.keys).rows == set()


def test_what_two_sessions_kept_of_an_account_is_one_whoever_was_first():
    spent, opened = SessionLedger(80), SessionLedger(80)
    spent.set_limit(LIMIT)
    spent.spend("first", HALF, {"rows": 80})
    opened.set_limit(Limit(9.0, 1e-6))
    for pair in ((spent, opened), (opened, spent)):
        account = SessionLedger.together(*pair).account()
        assert account.limit == LIMIT and [entry.title for entry in account.entries] == ["first"]
