"""A patient counts once in a table that is read in pieces, as in the same table held in memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from dppca_core import Budget, sin_theta, tables
from dppca_core.numerics import block_power
from dppca_core.release import patient_rows, private_release
from dppca_core.release.discrete_gaussian import StoppedError
from dppca_core.release.request import Request
from dppca_core.tables import Column, Schema, limits, pieces
from dppca_core.tables import patients as counting
from pages.hospitals.your_data import large_table, memory_check, prepared_table
from pages.hospitals.your_data.prepared_table import LargeTable
from pages.shared.background import memory
from tests.core.accounts.paying import payer
from tests.pages.hospitals.your_data.table_page import csv, parquet
from tests.pages.hospitals.your_data.test_patients import COLUMN, page_of, session_payments, session_text
from tests.pages.hospitals.your_data.test_patients import visits as page_visits

D, N = 4, 700
NAMES = [f"c{i}" for i in range(D)]
SCHEMA = Schema(tuple(Column(name, "number", -3, 3, fill=0.5 if i else None) for i, name in enumerate(NAMES)))
IDS = {
    "numbers": lambda i: i - 3,
    "texts": lambda i: f" Rec-{i} ",
    "both": lambda i: f"0{i}" if i % 2 else str(i // 2),  # 03 is 3 among numbers, and another among texts
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Read batches of 256 rows, and merge patients every few of them."""
    monkeypatch.setattr(pieces, "_BATCH_CELLS", 256)
    monkeypatch.setattr(counting, "_FEWEST_MERGED", 300)


def visits(ids="texts"):
    """Return rows of 700 patients, scattered; some have missing cells, some no row without."""
    rng = np.random.default_rng(3)
    who = rng.permutation(np.repeat(np.arange(N), rng.integers(1, 7, N)))
    visit = 0.2 * rng.standard_normal((len(who), D)) + 0.5
    values = rng.standard_normal((N, D))[who] * [2, 1.2, 0.4, 0.3] + visit
    frame = pd.DataFrame(np.where(rng.random((len(who), D)) < 0.2, np.nan, values), columns=NAMES)
    frame["who"], frame["where"] = [IDS[ids](i) for i in who], rng.choice(["N", "S", "7"], len(who))
    if ids == "both":
        frame.loc[len(who) - 1, "who"] = "last"
    return frame


def in_pieces(frame, by=None, column="who", most=None, data=csv, progress=lambda share: True, schema=SCHEMA):
    large = LargeTable("t", "CSV", tuple(frame.columns), None, "utf-8", data(frame))
    return large_table.read_and_prepare(large, schema, by, progress, column, most)


def in_memory(frame, by=None, column="who", most=None, data=csv):
    return prepared_table.prepare(tables.read(data(frame), "t"), SCHEMA, by, 1, column, most)


def means(read, hospitals, of_mean):
    sums = np.zeros((hospitals, D))

    def add(hospital, rows, weights):
        sums[hospital] += (rows * weights**2).sum(axis=0)

    read(add, lambda share: True, of_mean)
    return sums


@pytest.mark.parametrize(
    ("ids", "by", "most", "data"),
    [
        ("texts", "where", None, csv),
        ("texts", "where", 2, parquet),
        ("numbers", None, 2, csv),
        ("numbers", "where", None, parquet),
        ("both", None, None, csv),
    ],
)
def test_in_pieces_it_is_the_table_held_in_memory(ids, by, most, data):
    """To the last bit of the exact sums; also where texts begin only in the last row."""
    frame = visits(ids)
    large, held = (prepare(frame, by, most=most, data=data) for prepare in (in_pieces, in_memory))
    assert (large.identity, large.averaged, large.owner) == (held.identity, True, held.owner)
    assert held.owner.dropped and large.used == pytest.approx(held.used) and held.used < held.n
    for ours, theirs in zip(large.parts, held.parts, strict=True):
        np.testing.assert_array_equal(ours.total, patient_rows.sum_rows([theirs], D).total)
    np.testing.assert_allclose(large.row_sum, held.row_sum, atol=1e-9)
    for of_mean in (False, True):
        args = len(large.sizes), of_mean
        theirs = means(patient_rows.reader(held.parts), *args)
        np.testing.assert_allclose(means(large.read, *args), theirs, atol=1e-9)


def test_without_a_column_of_patients_no_number_of_their_rows_is_stated():
    frame = visits().drop(columns="who").fillna(0.5)
    large, held = (prepare(frame, "where", None, most=5) for prepare in (in_pieces, in_memory))
    assert large.public == held.public and large.identity == held.identity
    assert "rows kept of a patient" not in large.public


@pytest.mark.parametrize("method", ["two_stage", "stacked_rounds", "analyze_gauss"])
def test_a_release_from_pieces_is_that_from_memory(method, monkeypatch):
    """With a paid mean, whose weights are others; no noise, one start. What counts rows is refused."""
    begin = block_power.begin
    monkeypatch.setattr(
        block_power, "begin", lambda start, d, k, rng: begin(start, d, k, np.random.default_rng(1))
    )
    large, held = (prepare(visits(), "where", most=2) for prepare in (in_pieces, in_memory))
    paying = payer()
    asked = Request(method, D, 2, Budget(1e8, 1e-5), averaged=True, mean_share=0.1)
    ours, theirs = (
        private_release.make(asked, table.parts, paying, features=NAMES, public=table.public, read=table.read)
        for table in (large, held)
    )
    np.testing.assert_allclose(ours.document["mean"], theirs.document["mean"], atol=1e-4)
    assert sin_theta(ours.basis, theirs.basis) < 0.01
    assert ours.document["unit"] == "patient" and ours.document["public"] == theirs.document["public"]
    assert paying.account().payments[0].about["averaged patients"] == large.n
    by_row = Request(method, D, 2, Budget(1.0, 1e-5))
    with pytest.raises(ValueError, match="exactly where these are averaged"):
        private_release.make(by_row, large.parts, paying, features=NAMES, public={}, read=large.read)


@pytest.mark.parametrize("most", [None, 3])
def test_all_rows_of_a_patient_move_the_sum_no_more_than_one_row_could(most, monkeypatch):
    """By sqrt 2 of a row's greatest, here nearly reached; with weights of 1 by more."""
    others = pd.DataFrame(np.zeros((600, D)), columns=NAMES).assign(who=np.arange(600))
    mine, theirs = np.zeros((2, 40, D))
    mine[:, 0], theirs[:, 1] = 3.0, 3.0

    def moved():
        sums = []
        for rows in (mine, theirs):
            patient = pd.DataFrame(rows, columns=NAMES).assign(who=600)
            frame = pd.concat([others, patient]).sample(frac=1, random_state=0)
            (part,) = in_pieces(frame, most=most, schema=Schema(SCHEMA.columns, bound=0.5)).parts
            sums.append(part.total / 4.0**part.bits)
        return np.linalg.norm(sums[0] - sums[1])

    assert 1.35 < moved() <= np.sqrt(2)
    monkeypatch.setattr(prepared_table, "row_weights", lambda counted, most: np.ones((len(counted), 1)))
    assert moved() > 2 * np.sqrt(2)


def with_nameless(frame):
    return frame.assign(who=frame["who"].where(np.arange(len(frame)) != len(frame) - 2))


REFUSED = {
    "nameless": (with_nameless, {}),
    "measurement": (lambda frame: frame, {"column": "c1"}),
    "none left": (lambda frame: frame.assign(c0=np.nan), {}),
    "no first row": (
        lambda frame: pd.concat([frame, frame.assign(where="Z")], ignore_index=True),
        {"by": "where"},
    ),
}


@pytest.mark.parametrize(("change", "asked"), REFUSED.values(), ids=list(REFUSED))
def test_what_does_not_fit_is_the_sentence_of_a_table_held_in_memory(change, asked):
    refusals = []
    for prepare in (in_memory, in_pieces):
        with pytest.raises(ValueError, match=r"^[^\n]+\.$") as no:
            prepare(change(visits()), **asked)
        refusals.append(str(no.value))
    assert refusals[0] == refusals[1] and "Rec-" not in refusals[0]


def test_patients_take_the_memory_that_is_stated_and_no_more(monkeypatch):
    """As many entries as rows, all different, beside the batch; without room it is one sentence."""
    monkeypatch.setattr(pieces, "_BATCH_CELLS", 2**15)
    monkeypatch.setattr(counting, "_FEWEST_MERGED", 2**14)
    frame = pd.DataFrame({"c0": 1.0, "c1": 1.0, "who": np.random.default_rng(0).permutation(200_000)})
    data, schema, asked = parquet(frame), Schema(SCHEMA.columns[:2]), []
    tracemalloc.start()
    counted = counting.count_patients(data, schema, "who", check=asked.append)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(counted.sizes) == 200_000 <= max(asked) <= 2 * 200_000
    assert peak < counting.BYTES_PER_ENTRY * max(asked) + 2**21
    kept = counted.codes.nbytes + counted.usable.nbytes + counted.hospital.nbytes
    assert kept == 13 * 200_000
    monkeypatch.setattr(memory, "available", lambda: memory.SPARE_BYTES + 2**20)
    with pytest.raises(ValueError, match=r"^Telling the patients apart takes 2 MB more, and"):
        memory_check.check_patients(2**21 // counting.BYTES_PER_ENTRY, memory.available())
    monkeypatch.setattr(memory, "available", lambda: memory.SPARE_BYTES)
    with pytest.raises(ValueError, match="Telling the patients apart"):
        in_pieces(visits())


@pytest.mark.parametrize("share", [1e-9, 0.35, 0.75])
def test_it_stops_while_it_counts_adds_and_hashes(share):
    with pytest.raises(StoppedError):
        in_pieces(visits(), progress=lambda done: done < share)


def test_the_page_asks_and_says_the_same_of_a_table_in_pieces(monkeypatch, built):
    monkeypatch.setattr(limits, "MOST_BYTES", 100)
    page = page_of(page_visits())
    how = next(box for box in page.app.radio if box.label == "Rows of one patient")
    how.set_value(how.options[1])
    page.run()
    page.kept.set_value(2)
    page.run()
    page.press("Read it now")
    assert page.state.ready.n == 120 and "120 patients" in page.everything
    page.press("Set this limit")
    page.release()
    document = page.state.releases[0].result.document
    assert "any one patient's rows, however many" in document["guarantee"]
    assert document["public"]["rows kept of a patient"] == 2 and document["unit"] == "patient"
    assert session_payments(page)[0].averaged
    report = built()
    assert dict(report.settings)["Rows of one patient"] == "the first 2, each counting 1/2"
    for text in (str(document), str(report), session_text(page)):
        assert "R-0001" not in text and COLUMN not in text
