"""Which files are the same table: the ledger finds what was spent on it again."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dppca_core import tables

N = 60


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, N),
            "weight": np.where(rng.random(N) < 0.1, np.nan, rng.normal(75, 12, N)),
            "sex": rng.choice(["F", "M"], N),
            "smoker": rng.random(N) < 0.3,
            "visit": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D"),
        }
    )


def csv(frame: pd.DataFrame, **options) -> bytes:
    return frame.to_csv(**({"index": False} | options)).encode()


def parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def key(data: bytes) -> str:
    found = tables.read(data, "t").key
    assert tables.content_key_of_file(data) == found
    return found


KEY = key(csv(table()))

SAME = {
    "quoted": lambda t: csv(t, quoting=1),
    "semicolons and commas": lambda t: csv(t, sep=";", decimal=","),
    "row numbers along": lambda t: csv(t, index=True),
    "words for missing": lambda t: csv(t, na_rep="NaN"),
    "15 digits": lambda t: csv(t, float_format="%.15g"),
    "9 digits": lambda t: csv(t, float_format="%.9g"),
    "columns in another order": lambda t: csv(t[t.columns[::-1]]),
    "rows in another order": lambda t: csv(t.sample(frac=1, random_state=1)),
    "columns renamed": lambda t: csv(t.rename(columns=str.upper)),
    "other letters' encoding": lambda t: csv(t).decode().encode("utf-16"),
    "parquet": parquet,
    "parquet with row numbers": lambda t: parquet(t.sample(frac=1, random_state=1)),
    "parquet, single precision": lambda t: parquet(t.astype({"weight": "float32", "age": "int8"})),
    "parquet, numbers as text": lambda t: parquet(t.astype({"age": str})),
    "true and false as 1 and 0": lambda t: csv(t.astype({"smoker": int})),
}


@pytest.mark.parametrize("saved", SAME.values(), ids=SAME.keys())
def test_saving_anew_gives_no_new_budget(saved):
    assert key(saved(table())) == KEY


def changed(frame: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    frame[column] = frame[column].astype(object)
    frame.loc[7, column] = value
    return frame


OTHER = {
    "a number": lambda t: changed(t, "age", 91),
    "a word": lambda t: changed(t, "sex", "X"),
    "a missing cell": lambda t: changed(t, "age", None),
    "a row less": lambda t: t.iloc[1:],
    "a row twice": lambda t: pd.concat([t, t.iloc[:1]]),
    "a column less": lambda t: t.drop(columns="age"),
    "a column more": lambda t: t.assign(more=1),
    "two patients' ages swapped": lambda t: t.assign(age=t["age"].iloc[[*range(1, N), 0]].to_numpy()),
}


@pytest.mark.parametrize("edit", OTHER.values(), ids=OTHER.keys())
def test_another_table_has_another_key(edit):
    assert key(csv(edit(table()))) != KEY


def test_columns_are_told_apart_and_not_only_rows_as_sets():
    plain = pa.table({"a": [0.0, 0.0, 1.0], "b": [1.0, 1.0, 0.0]})
    mixed = pa.table({"a": [0.0, 1.0, 1.0], "b": [1.0, 0.0, 0.0]})
    swapped_in_a_row = pa.table({"a": [0.0, 0.0, 0.0], "b": [1.0, 1.0, 1.0]})
    assert tables.content_key(plain) == tables.content_key(mixed)  # the columns change places
    assert tables.content_key(plain) != tables.content_key(swapped_in_a_row)


def test_the_key_does_not_change_with_the_program():
    """A ledger on disk is found again by a later version: computed once with this one."""
    small = pa.table({"a": [1.5, None, -0.0], "b": ["x", "2", "é"]})
    assert tables.content_key(small) == tables.content_key(small.to_pandas())
    assert tables.content_key(small) == "c70dd87dcfb6740b6785bce784a6fed33a2d9f17346df8a4a31fe6bb789eecdb"


def test_batches_do_not_matter(tmp_path):
    frame = pd.concat([table()] * 400, ignore_index=True)
    whole = tables.from_frame(frame, "t").key
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=5_000)
    done = []
    assert tables.content_key_of_file(path, progress=lambda rows, total: done.append((rows, total))) == whole
    assert done[-1] == (len(frame), len(frame))
    assert len(done) > 2
