"""Which files are the same table: the account finds what was spent on it again."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
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
    return tables.read(data, "t").key


KEY = key(csv(table()))

SAME = {
    "quoted": lambda t: csv(t, quoting=1),
    "semicolons and commas": lambda t: csv(t, sep=";", decimal=","),
    "row numbers along": lambda t: csv(t, index=True),
    "words for missing": lambda t: csv(t, na_rep="NaN"),
    "15 digits": lambda t: csv(t, float_format="%.15g"),
    "columns in another order": lambda t: csv(t[t.columns[::-1]]),
    "rows in another order": lambda t: csv(t.sample(frac=1, random_state=1)),
    "columns renamed": lambda t: csv(t.rename(columns=str.upper)),
    "other letters' encoding": lambda t: csv(t).decode().encode("utf-16"),
    "parquet": parquet,
    "parquet with row numbers": lambda t: parquet(t.sample(frac=1, random_state=1)),
    "parquet, single precision": lambda t: parquet(t.astype({"weight": "float32", "age": "int8"})),
    "parquet, numbers as text": lambda t: parquet(t.astype({"age": str})),
    "row numbers in any order": lambda t: csv(t.assign(number=np.arange(N)[::-1] + 7).sample(frac=1)),
    "an empty column": lambda t: csv(t.assign(note="", more=1, site="A")),
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
    "a column more": lambda t: t.assign(more=t["age"] + 1),
    "numbers that skip one": lambda t: t.assign(more=[*range(N - 1), N]),
    "a column with one value that is not everywhere": lambda t: t.assign(more=[1.0, None] * (N // 2)),
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
    """Compare with a key computed once, by which an account on disk is found."""
    small = pa.table({"a": [1.5, None, -0.0], "b": ["x", "2", "é"]})
    assert tables.content_key(small) == tables.content_key(small.to_pandas())
    assert tables.content_key(small) == "59a71d17adff631235e04290e642020a16198b2c415224df2f632b49d0950136"


ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
PLACES = {
    "pairs": ([0, 0, 1, 1], [2, 2, 3, 3]),  # each would cancel itself by exclusive or
    "another twice": ([0, 0, 1], [0, 1, 1]),
    "2^16 times": ([0] * 2**16 + [1], [0] + [1] * 2**16),
    "2^16 pairs": ([0, 1] * 2**16, [2, 3] * 2**16),
}


@pytest.mark.parametrize(("rows", "other_rows"), PLACES.values(), ids=list(PLACES))
def test_rows_count_as_often_as_they_are_there(rows, other_rows):
    first, second = (pa.table({"a": ROWS[places, 0], "b": ROWS[places, 1]}) for places in (rows, other_rows))
    assert tables.content_key(first) != tables.content_key(second)


def test_columns_that_agree_as_often_do_not_cancel():
    crossed = pa.table({"a": [0.0, 1.0] * 512, "b": [1.0, 0.0] * 512})
    alike = pa.table({"a": [0.0, 1.0] * 512, "b": [0.0, 1.0] * 512})
    assert tables.content_key(crossed) != tables.content_key(alike)


NUMBERS = pd.DataFrame(np.random.default_rng(1).normal(75, 12, (20_000, 2)), columns=["a", "b"])
# Between two numbers of single precision, a thousandth of a millionth of a millionth off the middle.
BORDER = pd.DataFrame({"a": [1 + 2**-24 + 2**-52, 2.0], "b": [1.0, 2.0]})


def test_which_digits_matter():
    for frame in (NUMBERS, BORDER):
        whole = key(csv(frame))
        assert key(csv(frame, float_format="%.17g")) == whole
        assert key(parquet(frame.astype("float32"))) == whole
    for digits in (6, 15):
        short = pd.read_csv(io.BytesIO(csv(NUMBERS, float_format=f"%.{digits}g")))
        assert key(csv(short, float_format="%.15g")) == key(csv(short))
    assert key(csv(NUMBERS, float_format="%.15g")) == key(csv(NUMBERS))  # of 40,000 numbers
    assert key(csv(NUMBERS, float_format="%.9g")) != key(csv(NUMBERS))
    assert key(csv(BORDER, float_format="%.15g")) != key(csv(BORDER))


@pytest.mark.parametrize("changed", [None, "number", "one"])
@pytest.mark.parametrize("in_order", [True, False])
def test_what_says_nothing_is_known_at_the_end_of_many_rows(changed, in_order):
    """Three batches, of which only the last may show that a column says something after all."""
    n = 20_000
    frame = pd.DataFrame({"age": np.random.default_rng(3).normal(50, 9, n), "one": 1.0})
    frame["number"] = np.arange(n) + 1.0 if in_order else np.random.default_rng(2).permutation(n) + 1.0
    if changed:
        frame.loc[n - 1, changed] = n + 2.0
    counted = frame[["age", changed]] if changed else frame[["age"]].assign(none=np.nan)
    assert key(parquet(frame)) == key(parquet(counted))


def test_where_no_column_says_anything_all_count():
    first, second = pa.table({"a": [1, 2, 3], "b": [5, 5, 5]}), pa.table({"a": [2, 3, 4], "b": [5, 5, 5]})
    assert tables.content_key(first) != tables.content_key(second)
