"""A blank row is no patient, however a table is stored and read; a row with any cell is one."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import tables
from dppca_core.numerics.moments import clip_rows
from dppca_core.tables import Column, Schema

N, BLANK = 300, 700
SCHEMA = Schema((Column("a", "number", 0, 100), Column("b", "number", 0, 9)), bound=0.8)
NAMES = ["a", "b", "who", "ward", "note"]


def patients() -> pd.DataFrame:
    """Return patients of whom some lack what the dictionary needs: 5 have one other cell alone."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(N) < 0.2, np.nan, rng.uniform(0, 100, N).round(1)),
            "b": np.where(rng.random(N) < 0.2, np.nan, rng.integers(0, 10, N)),
            "who": [f"p{i // 2}" for i in range(N)],
            "ward": rng.choice(["N", "S"], N),
            "note": rng.choice(["x", None], N),
        }
    )
    frame.loc[[7, 8, 120, 121, N - 1], ["a", "b", "note"]] = None
    return frame


def with_blanks(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the rows with blank ones before, among and after them, and which rows these are."""
    rng = np.random.default_rng(6)
    blank = np.concatenate([[True] * 2, rng.permutation(np.arange(len(frame) + 98) < 98), [True] * 600])
    rows = pd.DataFrame(index=range(len(blank)), columns=frame.columns, dtype=object)
    rows.loc[~blank] = frame.astype(object).to_numpy()
    return rows.astype(frame.dtypes), blank


def parquet(frame: pd.DataFrame, rows: int) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), file, row_group_size=rows)
    return file.getvalue()


FORMS = {
    "commas": lambda frame: frame.to_csv(index=False).encode(),
    "decimal commas": lambda frame: frame.to_csv(index=False, sep=";", decimal=",").encode(),
    "row numbers": lambda frame: frame.to_csv().encode(),
    "words for missing": lambda frame: frame.to_csv(index=False, na_rep=" NA ").encode(),
    "quoted": lambda frame: frame.to_csv(index=False, quoting=1).encode(),
    "Parquet": lambda frame: parquet(frame, 10_000),
    "Parquet in groups": lambda frame: parquet(frame, 40),
}


@pytest.fixture(params=FORMS.values(), ids=FORMS.keys())
def stored(request):
    """Yield a function that returns the bytes of a file."""
    return request.param


def test_a_table_in_memory_is_that_of_its_patients(stored):
    frame, (rows, blank) = patients(), with_blanks(patients())
    raw, expected = tables.read(stored(rows), "t"), tables.read(stored(frame), "t")
    assert (raw.n, expected.n, len(blank)) == (N, N, N + BLANK)
    assert raw.table.equals(expected.table) and raw.key == expected.key
    np.testing.assert_array_equal(raw.blank, blank)
    assert not expected.blank.any()
    assert tables.content_key(rows) == tables.from_frame(rows, "t").key == raw.key


def test_a_patient_without_a_usable_cell_still_counts(stored):
    rows, _ = with_blanks(patients())
    raw = tables.read(stored(rows), "t")
    whole = tables.encode(SCHEMA, raw.table, raw.marks, blank=raw.blank)
    assert (whole.owner.rows, whole.owner.blank) == (N, BLANK)
    assert whole.owner.dropped > 5 and len(whole.whole) == N  # they are rows of zeros


def test_tables_of_several_hospitals_are_joined_without_them():
    frame = patients()
    (rows, _), same = with_blanks(frame), {name: name for name in NAMES}
    half = frame.iloc[:100].assign(who="other")
    apart = [tables.read(data, "t") for data in (FORMS["commas"](rows), FORMS["Parquet"](half))]
    joined = tables.join(apart, [same] * 2, ["south", "north"])
    assert joined.n == N + 100 and joined.blank.sum() == BLANK
    encoded = tables.encode(SCHEMA, joined.table, blank=joined.blank)
    assert (encoded.owner.rows, encoded.owner.blank) == (N + 100, BLANK)


def test_a_row_is_named_by_its_place_in_the_file():
    data = b"a,b\n,\n1,2\n,\n3,4\n,\n5,word\n"
    raw = tables.read(data, "t")
    with pytest.raises(ValueError, match="'b' holds no number in row 6, but text"):
        tables.encode(SCHEMA, raw.table, blank=raw.blank)


def test_a_cell_in_any_column_makes_a_patient():
    """A date, a whole number or a code, or nothing but its null."""
    words = pa.array([None, " NA", "x", None]).dictionary_encode()
    more = {
        "date": pa.array([None, None, 7, None], pa.timestamp("s")),
        "whole": pa.array([None, None, 7, None], pa.int8()),
        "code": pa.DictionaryArray.from_arrays(words.indices.cast(pa.int8()), words.dictionary),
    }
    for name, column in more.items():
        table = pa.table({"a": [1.0, None, None, None], "b": [2.0, None, None, None], name: column})
        file = io.BytesIO()
        pq.write_table(table, file, row_group_size=2)
        raw = tables.read(file.getvalue(), "t")
        owner = tables.encode(SCHEMA, raw.table, raw.marks, blank=raw.blank).owner
        assert (owner.rows, owner.kept, owner.blank) == (2, 1, 2), name


@pytest.mark.parametrize("data", [b"a,b\n,\n,\n", b'a;b\n"";NA\n?;.\n'])
def test_a_file_of_blank_rows_has_no_patient(data):
    with pytest.raises(ValueError, match="names but no rows"):
        tables.read(data, "t")


def test_rows_to_be_scored_keep_their_places():
    raw = tables.read(b"a,b\n,\n1,2\n", "t", to_score=True)
    assert raw.table.to_pydict() == {"a": [None, "1"], "b": [None, "2"]} and not raw.blank.any()


CELL = st.sampled_from([None, 0.0, 55.0, 100.0])
ROW = st.tuples(CELL, CELL, st.sampled_from([None, "x"]))


@given(
    rows=st.lists(ROW, min_size=2, max_size=8),
    which=st.integers(0, 7),
    other=ROW.filter(any),
    blanks=st.lists(st.integers(0, 8), max_size=3),
)
def test_files_that_differ_in_one_patient_are_tables_that_do(rows, which, other, blanks):
    """The step that the guarantee rests on: as many patients, and a sum that moves by one row of each."""
    rows = [row for row in rows if row != (None, None, None)]
    if len(rows) < 2:
        return
    neighbour = [*rows]
    neighbour[which % len(rows)] = other if other != (None, None, None) else (None, None, "x")

    def released(listed: list) -> tuple[int, np.ndarray]:
        """Return n and the sum of x x^T of a file of these patients with blank rows among them."""
        for place in blanks:
            listed = [*listed[:place], (None, None, None), *listed[place:]]
        raw = tables.from_frame(pd.DataFrame(listed, columns=["a", "b", "note"]), "t")
        clipped = clip_rows(tables.encode(SCHEMA, raw.table, blank=raw.blank).whole, SCHEMA.bound)
        return raw.n, clipped.T @ clipped

    (n, total), (n_other, total_other) = released(rows), released(neighbour)
    assert n == n_other == len(rows)
    assert np.linalg.norm(total - total_other) <= np.sqrt(2) + 1e-12
