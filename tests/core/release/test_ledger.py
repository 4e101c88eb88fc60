"""The ledger: nothing is spent twice or unseen, whoever asks at the same time, whatever stops in between."""

import json
import math
import multiprocessing
import re
import shutil
import time
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dppca_core import Budget, Guarantee, Release, tables
from dppca_core.accounting import closed_form, gaussian, numerical
from dppca_core.release import journal
from dppca_core.release.ledger import DiskLedger, Ledger, OverLimitError, SessionLedger
from dppca_core.release.ledger_records import Limit, from_lines, parse
from tests.core.full_disk import full_disk

KEY = "0123456789abcdef"
LIMIT = Limit(1.0, 1e-5)
ONE = (Release(3.75),)  # epsilon = .994 at 1e-5
HALF = (Release(7.2),)  # epsilon = .487


@pytest.fixture(params=["disk", "session"])
def ledger(request, tmp_path) -> Ledger:
    return DiskLedger(tmp_path / "new", KEY) if request.param == "disk" else SessionLedger()


def limited(limit: Limit = LIMIT, patients: int | None = None) -> SessionLedger:
    ledger = SessionLedger(patients)
    ledger.set_limit(limit)
    return ledger


MIXES = {
    "one": ([Release(3.75)], 1e-5),
    "steps": ([Release(12.0, 10)], 1e-9),
    "many": ([Release(5.0), Release(9.0, 3), Release(20.0)], 1e-9),
    "many, large delta": ([Release(5.0), Release(9.0, 3), Release(20.0)], 0.1),
    "large": ([Release(0.05)], 1e-5),
    "tiny": ([Release(300.0)], 1e-9),
    "tiny, nothing spent": ([Release(300.0)], 0.1),
}


@pytest.mark.parametrize(("events", "delta"), MIXES.values(), ids=list(MIXES))
def test_loss_distributions_agree_with_the_closed_form(events, delta):
    """dp-accounting and Balle & Wang are independent; the former rounds up."""
    exact = closed_form.epsilon_of(events, delta)
    total = numerical.total(events, delta)
    assert total.epsilon == pytest.approx(exact, rel=1e-3, abs=1e-5)
    assert total.epsilon >= exact * (1 - 1e-6)
    assert total.simple >= exact * (1 - 1e-9)
    assert (total.simple > exact * 1.05) == (len(events) > 1 and exact > 0)


def test_stated_guarantees_add_up():
    """Pure epsilons: the sum, less what delta forgives; beside a Gaussian, below simple composition."""
    ten = numerical.total([Guarantee(0.1)] * 10, 1e-6)
    assert ten.simple == pytest.approx(1.0)
    assert 0.95 < ten.epsilon <= 1.0
    mixed = numerical.total([Guarantee(0.5, 1e-6), Release(7.2)], 1e-5)
    assert closed_form.epsilon_of(HALF, 1e-5) < mixed.epsilon < mixed.simple
    assert numerical.total([Guarantee(0.5, 1e-5), Release(7.2)], 1e-5) == (math.inf, math.inf)
    assert numerical.total([], 1e-5) == (0.0, 0.0)


def test_a_release_is_paid_for_once_and_refused_beyond_the_limit(ledger):
    ledger.set_limit(LIMIT)
    ledger.spend("first", HALF, {"k": 2})
    with pytest.raises(OverLimitError, match=r"epsilon = 1\.\d+, and the limit is 1: nothing was spent"):
        ledger.spend("second", ONE)
    account = ledger.account()
    assert [entry.title for entry in account.entries] == ["first"]
    assert account.entries[0].about == {"k": 2}
    assert account.spent().epsilon == pytest.approx(0.487, abs=0.01)
    ledger.set_limit(Limit(2.0, 1e-5))
    ledger.spend("second", ONE)
    assert ledger.account().events == (*HALF, *ONE)


def test_the_whole_limit_can_be_spent_exactly(ledger):
    ledger.set_limit(Limit(numerical.total(ONE, 1e-5).epsilon, 1e-5))
    ledger.spend("all", ONE)
    with pytest.raises(OverLimitError):
        ledger.spend("more", (Release(1000.0),))


def test_nothing_is_released_without_a_limit_or_a_cost(ledger):
    with pytest.raises(ValueError, match="set a limit first"):
        ledger.spend("first", HALF)
    ledger.set_limit(LIMIT)
    with pytest.raises(ValueError, match="not private"):
        ledger.spend("free", ())
    assert ledger.account().entries == ()


def test_a_limit_is_not_lowered_below_what_is_spent_nor_counted_otherwise(ledger):
    ledger.set_limit(LIMIT)
    ledger.spend("first", HALF)
    with pytest.raises(ValueError, match=r"epsilon = 0\.48\d* is spent already"):
        ledger.set_limit(Limit(0.3, 1e-5))
    with pytest.raises(ValueError, match="delta stays 1e-05"):
        ledger.set_limit(Limit(1.0, 1e-3))
    with pytest.raises(ValueError, match="neighbours stays replace-one"):
        ledger.set_limit(Limit(1.0, 1e-5, "add-remove"))
    assert ledger.set_limit(Limit(0.5, 1e-5)).limit == Limit(0.5, 1e-5)


def test_an_export_is_taken_in_once(ledger):
    ledger.set_limit(LIMIT)
    ledger.spend("first", HALF)
    other = SessionLedger()
    assert other.merge(ledger.export()) == ledger.account()
    assert other.merge(ledger.export()) == ledger.account()
    other.set_limit(Limit(3.0, 1e-5))
    other.spend("second", ONE)
    merged = ledger.merge(other.export())
    assert [entry.title for entry in merged.entries] == ["first", "second"]
    assert merged.limit == LIMIT  # what the owner set here
    assert merged.spent().epsilon > 1
    foreign = limited(Limit(1.0, 1e-3))
    with pytest.raises(ValueError, match=r"delta of that ledger is 0\.001, here 1e-05"):
        ledger.merge(foreign.export())


def test_equal_lines_of_a_ledger_without_names_all_count(ledger):
    """As ledgers were before lines had an id: each of them was a release."""
    ledger.set_limit(LIMIT)
    ledger.spend("first", HALF)
    limit, line = (json.loads(record) for record in ledger.export().splitlines())
    for name in ("id", "line", "digest"):
        del line[name], limit[name]
    old = "\n".join(json.dumps(record) for record in (limit, line, line))
    taken = SessionLedger()
    taken.merge("\n".join(old.splitlines()[:2]))
    assert len(taken.merge(old).entries) == 2
    assert len(taken.merge(old).entries) == 2
    assert taken.account().spent() == SessionLedger().merge(old).spent()


LINE = json.dumps(
    {"kind": "release", "at": "", "title": "a", "events": [{"noise_multiplier": 3.0}], "about": {}}
)
BAD = {
    "empty": "",
    "words": "hello",
    "a number": "3",
    "an array": "[1]",
    "another kind": '{"kind":"refund"}',
    "no events": LINE.replace('[{"noise_multiplier": 3.0}]', "[]"),
    "no noise": LINE.replace("3.0", "0"),
    "negative": LINE.replace('"noise_multiplier": 3.0', '"epsilon": -1.0'),
    "not a number": LINE.replace("3.0", "NaN"),
    "negative steps": LINE.replace("3.0", '3.0, "steps": -1'),
    "more than a release": LINE.replace("3.0", '3.0, "more": 1'),
    "nested": "[" * 10_000,
    "an infinity beside it": LINE.replace("{}", '{"a": 1e999}'),
    "half a character": LINE.replace('"title": "a"', '"title": "\\ud800"'),
    "a title of a page": LINE.replace('"title": "a"', f'"title": "{"a" * 300}"'),
    "a time that is none": LINE.replace('"at": ""', '"at": [1]'),
    "a limit where no budget is": '{"kind":"limit","epsilon":1e300,"delta":1e-5,"neighbours":"replace-one"}',
    "a bad second line": LINE + "\n" + "{",
}


@pytest.mark.parametrize("text", BAD.values(), ids=list(BAD))
def test_what_is_no_ledger_is_refused(text):
    ledger = limited()
    with pytest.raises(ValueError, match=r"of a ledger|must have lines"):
        ledger.merge(text)
    assert ledger.account().entries == ()
    assert parse(LINE)


PRICELESS = {
    "no finite total": [{"epsilon": 1.0, "delta": 1.0}],
    "deltas used up": [{"epsilon": 0.1, "delta": 6e-6}, {"epsilon": 0.1, "delta": 6e-6}],
}


@pytest.mark.parametrize("events", PRICELESS.values(), ids=list(PRICELESS))
def test_what_has_no_total_is_not_taken_in(events):
    ledger = limited()
    line = json.loads(LINE) | {"events": events}
    with pytest.raises(ValueError, match="no total can be told"):
        ledger.merge(json.dumps(line))
    assert ledger.account().entries == ()


@pytest.mark.parametrize(
    "event", [{"epsilon": 1e6}, {"noise_multiplier": 1e-6}, {"noise_multiplier": 1.0, "steps": 10**6}]
)
def test_a_huge_price_is_a_number(event):
    ledger = limited()
    account = ledger.merge(json.dumps(json.loads(LINE) | {"events": [event]}))
    assert 1e3 < account.spent().epsilon < math.inf
    with pytest.raises(OverLimitError):
        ledger.spend("more", HALF)


def test_an_import_that_would_keep_a_visitor_waiting_is_refused():
    """And one just within is counted in seconds: many different guarantees by simple composition alone."""
    ledger = limited()
    with pytest.raises(ValueError, match="a ledger may have 2,000 lines, got 2,001"):
        ledger.merge(f"{LINE}\n" * 2001)
    many = json.loads(LINE) | {"events": [{"noise_multiplier": 3.0}] * 5001}
    with pytest.raises(ValueError, match="a ledger may have 5,000 events, got 5,001"):
        ledger.merge(json.dumps(many))
    stated = [{"epsilon": 1e-6 * i} for i in range(1, 2501)]
    drawn = [{"noise_multiplier": 100.0 + i} for i in range(2500)]
    began = time.process_time()
    account = ledger.merge(json.dumps(json.loads(LINE) | {"events": stated + drawn}))
    spent = account.spent()
    assert time.process_time() - began < 7  # ten times of what it takes alone
    assert spent.epsilon == closed_form.epsilon_of(account.events, LIMIT.delta) < spent.simple < math.inf


def test_all_of_an_import_is_taken_in_or_nothing(ledger):
    ledger.set_limit(LIMIT)
    good = json.loads(LINE)
    for bad in ('{"a": NaN}', '{"a": Infinity}'):
        with pytest.raises(ValueError, match="line 2 is not of a ledger"):
            ledger.merge(LINE + "\n" + LINE.replace('"about": {}', f'"about": {bad}'))
    second = [good, {"kind": "limit", "at": "", "epsilon": 5.0, "delta": 1e-3, "neighbours": "replace-one"}]
    with pytest.raises(ValueError, match="delta of that ledger"):
        ledger.merge("\n".join(map(json.dumps, second)))
    assert ledger.account().entries == ()


def test_two_limits_count_alike():
    limits = [
        {"kind": "limit", "at": "", "epsilon": 1.0, "delta": d, "neighbours": "replace-one"}
        for d in (1e-5, 0.9)
    ]
    with pytest.raises(ValueError, match="line 2 of the ledger cannot be read"):
        SessionLedger().merge("\n".join(map(json.dumps, limits)))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.3, 1e-9), (0.5, 1e-5), (1.0, 1e-6), (5.0, 1e-9), (50.0, 1e-5)]
)
def test_a_release_of_the_whole_round_limit_fits(epsilon, delta):
    """Calibrated exactly at epsilon, it spends epsilon, and not a rounded-up total beside it."""
    ledger = limited(Limit(epsilon, delta))
    ledger.spend("all", (Release(gaussian.noise_multiplier(Budget(epsilon, delta))),))
    with pytest.raises(OverLimitError):
        ledger.spend("more", (Release(100.0),))


def test_nobody_else_reads_a_ledger(tmp_path):
    ledger = DiskLedger(tmp_path / "new", KEY)
    ledger.set_limit(LIMIT)
    assert ledger.path.stat().st_mode & 0o077 == 0
    assert ledger.path.parent.stat().st_mode & 0o077 == 0


def test_a_ledger_is_found_again_by_its_key(tmp_path):
    DiskLedger(tmp_path, KEY).set_limit(LIMIT)
    DiskLedger(tmp_path, KEY).spend("first", HALF)
    assert len(DiskLedger(tmp_path, KEY).account().entries) == 1
    assert DiskLedger(tmp_path, KEY[::-1]).account().entries == ()
    for key in ("../../etc/passwd", "", "0123/4567", "g" * 16):
        with pytest.raises(ValueError, match="hexadecimal"):
            DiskLedger(tmp_path, key)


def test_a_crash_while_writing_loses_no_earlier_line(tmp_path):
    ledger = DiskLedger(tmp_path, KEY)
    ledger.set_limit(LIMIT)
    ledger.spend("first", HALF)
    whole = ledger.path.read_bytes()
    for cut in range(whole.rfind(b"\n", 0, -1) + 1, len(whole)):
        ledger.path.write_bytes(whole[:cut])
        assert len(ledger.account().entries) == (cut == len(whole) - 1)  # whole but for its end: it counts
    ledger.path.write_bytes(whole[:-5])
    ledger.spend("again", HALF)
    assert [entry.title for entry in ledger.account().entries] == ["again"]


FORMER = Path(__file__).parent / "former_ledger"


@pytest.fixture(params=["", "version_2"])
def former(tmp_path, request):
    """Return a table, and the folder of its ledger as versions 1 and 2 of its key wrote it."""
    written = FORMER / request.param
    for path in written.glob("*.jsonl"):
        shutil.copy(path, tmp_path)
    return tables.read((written / "table.csv").read_bytes(), "t"), tmp_path


def test_a_ledger_under_a_former_key_is_found_and_continued(former):
    raw, folder = former
    (path,) = folder.glob("*.jsonl")
    assert raw.key != path.stem
    ledger = DiskLedger(folder, raw.key, raw.n, raw.former_keys)
    assert ledger.account() == DiskLedger(folder, path.stem, raw.n).account()
    assert ledger.account().limit == LIMIT
    assert ledger.account().spent().epsilon == pytest.approx(0.487, abs=1e-3)
    with pytest.raises(OverLimitError):
        ledger.spend("too much", ONE)
    ledger.spend("more", HALF)
    titles = [entry.title for entry in DiskLedger(folder, path.stem).account().entries]
    assert titles[0] in ("DPS-PCA", "Analyze Gauss") and titles[1:] == ["more"]
    assert list(folder.glob("*.jsonl")) == [path]


def test_lines_under_all_keys_count(former):
    """Cover an earlier version that ran once more on a folder that this one had written to."""
    raw, folder = former
    (path,) = folder.glob("*.jsonl")
    away = path.rename(folder / "away")
    ours = DiskLedger(folder, raw.key, raw.n, raw.former_keys)
    ours.set_limit(Limit(0.9, LIMIT.delta))
    ours.spend("ours", HALF, {"patients": raw.n})
    assert ours.path.stem == raw.key
    away.rename(path)  # by now, and not when `ours` was made
    both = DiskLedger(folder, raw.key, raw.n, raw.former_keys)
    assert both.account() == ours.account()
    titles = [entry.title for entry in both.account().entries]
    assert titles[0] in ("DPS-PCA", "Analyze Gauss") and titles[1:] == ["ours"]
    assert both.account().limit == LIMIT
    with pytest.raises(OverLimitError):
        both.spend("too much", ONE)
    both.set_limit(Limit(3.0, LIMIT.delta))
    both.spend("more", HALF)
    assert [entry.title for entry in both.account().entries] == [titles[0], "more", "ours"]
    assert both.path == path
    away = SessionLedger(raw.n)
    assert away.merge(both.export()).spent() == both.account().spent()
    assert both.merge(away.export()) == both.account()  # all of it is known


def test_two_ledgers_of_one_table_that_cannot_be_added_up_are_refused(former):
    raw, folder = former
    DiskLedger(folder, raw.key).set_limit(Limit(1.0, 1e-7))
    with pytest.raises(ValueError, match="two ledgers with different delta"):
        DiskLedger(folder, raw.key, raw.n, raw.former_keys).account()


@cache
def written() -> bytes:
    """Return the lines of a limit and three releases."""
    with TemporaryDirectory() as folder:
        ledger = DiskLedger(Path(folder), KEY, 120)
        ledger.set_limit(Limit(9.0, 1e-5))
        for title in ("first", "second", "third"):
            ledger.spend(title, HALF, {"patients": 120})
        return ledger.path.read_bytes()


def three_releases(folder: Path) -> tuple[DiskLedger, list[bytes]]:
    ledger = DiskLedger(folder, KEY, 120)
    ledger.path.write_bytes(written())
    return ledger, written().splitlines(keepends=True)


def unsealed(line: bytes) -> bytes:
    """Return a line as an earlier version wrote it, without its digest."""
    return re.sub(rb',"digest":"\w+"', b"", line)


def changed(line: bytes) -> bytes:
    return unsealed(line.replace(b"noise_multiplier", b"noise"))


DAMAGE = {
    "in the middle": (lambda a, b, c, d: [a, changed(b), c, d], "line 2 of the ledger cannot be read"),
    "at the end": (lambda a, b, c, d: [a, b, c, changed(d)], "line 4 of the ledger cannot be read"),
    "torn within": (lambda a, b, c, d: [a, b[:40] + b"\n", c, d], rf"line 2 of {KEY}.jsonl cannot be read"),
    "moved": (lambda a, b, c, d: [a, c, b, d], "line 2 of the ledger is out of its place"),
    "gone": (lambda a, b, c, d: [a, c, d], "line 2 of the ledger is out of its place"),
    "cheaper": (lambda a, b, c, d: [a, b, c.replace(b"7.2", b"99.2"), d], "line 3 of the ledger was changed"),
    "a larger limit": (lambda a, b, c, d: [a.replace(b"9.0", b"99.0"), b, c, d], "line 1 of the ledger was"),
    "said twice": (
        lambda a, b, c, d: [a, b.replace(b"}\n", b',"events":[{"epsilon":0,"delta":0}]}\n'), c, d],
        "line 2 of the ledger was changed",
    ),
    "cheaper copy": (
        lambda a, b, c, d: [a, b, c, d, unsealed(b.replace(b"7.2", b"9.9"))],
        "line 5 of the ledger is out of its place",
    ),
    "all NUL": (lambda *lines: [bytes(len(b"".join(lines)))], rf"line 1 of {KEY}.jsonl cannot be read"),
    "its end NUL": (lambda a, b, c, d: [a, b, bytes(len(c + d))], rf"line 3 of {KEY}.jsonl cannot be read"),
    "on one line": (
        lambda *lines: [b"".join(lines).replace(b"\n", b" ")],
        rf"line 1 of {KEY}.jsonl cannot be read",
    ),
    "with other ends": (
        lambda *lines: [b"".join(lines).replace(b"\n", b"\r")],
        rf"line 1 of {KEY}.jsonl cannot be read",
    ),
    "the last two together": (
        lambda a, b, c, d: [a, b, c.rstrip(b"\n"), d.rstrip(b"\n")],
        rf"line 3 of {KEY}.jsonl cannot be read",
    ),
    "an array": (
        lambda *lines: [b"[", b",".join(line.rstrip(b"\n") for line in lines), b"]"],
        rf"line 1 of {KEY}.jsonl cannot be read",
    ),
    "of another table": (
        lambda a, b, c, d: [a, b, c, unsealed(d.replace(b"120", b"569"))],
        "line 4 of the ledger is of a table with another number of rows: take it out first",
    ),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=list(DAMAGE))
def test_a_damaged_line_stops_every_release(tmp_path, damage, message):
    ledger, lines = three_releases(tmp_path)
    ledger.path.write_bytes(b"".join(damage(*lines)))
    before = ledger.path.read_bytes()
    for attempt in (
        ledger.account,
        lambda: ledger.spend("fourth", HALF),
        lambda: ledger.set_limit(Limit(10.0, 1e-5)),
    ):
        with pytest.raises(ValueError, match=message):
            attempt()
    assert ledger.path.read_bytes() == before
    ledger.path.write_bytes(b"".join(lines))
    assert [entry.title for entry in ledger.account().entries] == ["first", "second", "third"]


@pytest.mark.parametrize("copies", [[1, 1, 2, 3], [1, 2, 3, 0, 1, 2, 3]], ids=str)
def test_a_copied_line_counts_once(tmp_path, copies):
    ledger, lines = three_releases(tmp_path)
    whole = ledger.account()
    ledger.path.write_bytes(b"".join([lines[0], *(lines[i] for i in copies)]))
    assert ledger.account() == whole
    ledger.spend("fourth", HALF, {"patients": 120})
    assert len(ledger.account().entries) == 4


def test_lines_from_before_ids_count_each(tmp_path):
    ledger = DiskLedger(tmp_path, KEY)
    ledger.set_limit(LIMIT)
    with ledger.path.open("a") as file:
        file.write(2 * (LINE + "\n"))
    assert len(ledger.account().entries) == 2
    ledger.set_limit(Limit(2.0, 1e-5))
    assert len(ledger.account().entries) == 2


def test_a_ledger_of_another_table_is_not_taken_in(tmp_path):
    ledger, _ = three_releases(tmp_path)
    other = SessionLedger(569)
    with pytest.raises(ValueError, match="line 2 of the ledger is of a table with another number of rows"):
        other.merge(ledger.export())
    assert other.account().limit is None


@pytest.mark.parametrize(
    "other", [Limit(1.0, 1e-6), Limit(1.0, 1e-5, "add-remove")], ids=["delta", "neighbours"]
)
def test_two_accounts_that_cannot_be_added_up_are_read_no_more(other):
    """Better than one that counts a release for another relation than it was made for, or forgets it."""
    first, second = limited(), limited(other)
    for ledger in (first, second):
        ledger.spend("a release", HALF, {"rows": 80})
    together = SessionLedger.together(first, second)
    with pytest.raises(ValueError, match="cannot be read"):
        together.account()
    with pytest.raises(ValueError, match="cannot be read"):
        together.spend("one more", HALF, {"rows": 80})


@pytest.mark.parametrize("rows", [1, 3])
def test_an_account_without_a_limit_has_no_total(rows):
    with pytest.raises(ValueError, match="set a limit first"):
        SessionLedger().account().spent_by_patient(rows)


def test_a_file_that_cannot_be_replaced_stays_as_it_was(tmp_path):
    path = tmp_path / "file"
    journal.replace(path, b"former")
    with full_disk(path), pytest.raises(OSError, match="large"):
        journal.replace(path, b"longer than the former")
    assert path.read_bytes() == b"former" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("more", [60, -1], ids=["a part", "all but its end"])
def test_a_full_disk_spends_nothing_and_leaves_no_part_of_a_line(tmp_path, more):
    ledger, lines = three_releases(tmp_path)
    whole = ledger.path.read_bytes()
    most = len(lines[-1]) - 1 if more < 0 else more
    with full_disk(ledger.path, most), pytest.raises(OSError, match="large"):
        ledger.spend("fourth", HALF, {"patients": 120})
    assert ledger.path.read_bytes() == whole
    other = limited(Limit(9.0, 1e-5), 120)
    for title in ("theirs", "theirs too"):
        other.spend(title, HALF, {"patients": 120})
    with full_disk(ledger.path, 300), pytest.raises(OSError, match="large"):
        ledger.merge(other.export())  # the first of its two lines would have fitted
    assert ledger.path.read_bytes() == whole
    assert len(ledger.merge(other.export()).entries) == 5


def test_order_is_that_of_writing_whatever_the_clock_says(ledger, monkeypatch):
    ledger.set_limit(Limit(9.0, 1e-5))
    for at in ("2126-01-02", "2026-01-01", "2025-12-31"):
        monkeypatch.setattr("dppca_core.release.ledger._now", lambda at=at: at)
        ledger.spend(at, HALF)
    times = [entry.at for entry in ledger.account().entries]
    assert all(first > second for first, second in pairwise(times))


def test_two_releases_at_one_time_of_a_clock_that_was_set_back_are_two(ledger, monkeypatch):
    """Here, and when one ledger is taken into another: equal to the letter but for their ids."""
    monkeypatch.setattr("dppca_core.release.ledger._now", lambda: "2026-01-01")
    ledger.set_limit(Limit(9.0, 1e-5))
    ledger.spend("again", HALF)
    other = SessionLedger()
    other.merge(ledger.export())
    other.spend("again", HALF)
    ledger.spend("again", HALF)
    assert len(ledger.account().entries) == 2
    for _ in range(2):
        assert len(ledger.merge(other.export()).entries) == 3
    assert len(other.merge(ledger.export()).entries) == 3


def _tab(folder: Path, gate, results) -> None:
    ledger = DiskLedger(folder, KEY)
    gate.wait()
    try:
        ledger.spend("race", HALF)
        results.put("paid")
    except OverLimitError:
        results.put("refused")


def test_tabs_that_race_spend_the_limit_once(tmp_path):
    context = multiprocessing.get_context("fork")
    for race in range(2):
        folder = tmp_path / str(race)
        DiskLedger(folder, KEY).set_limit(Limit(0.5, 1e-5))
        gate, results = context.Barrier(6), context.Queue()
        tabs = [context.Process(target=_tab, args=(folder, gate, results)) for _ in range(6)]
        for tab in tabs:
            tab.start()
        outcomes = sorted(results.get(timeout=60) for _ in tabs)
        for tab in tabs:
            tab.join()
        assert outcomes == ["paid"] + ["refused"] * 5
        assert len(DiskLedger(folder, KEY).account().entries) == 1


def test_without_the_lock_the_race_would_be_lost(tmp_path, monkeypatch):
    """Show what the lock prevents: two tabs read before either writes."""
    folder = tmp_path / "race"
    DiskLedger(folder, KEY).set_limit(Limit(0.5, 1e-5))
    first, second = DiskLedger(folder, KEY), DiskLedger(folder, KEY)
    stale = second.account()
    first.spend("one", HALF)
    monkeypatch.setattr(second, "account", lambda: stale)
    second.spend("two", HALF)
    assert from_lines(journal.read(first.path)).spent().epsilon > 0.5
