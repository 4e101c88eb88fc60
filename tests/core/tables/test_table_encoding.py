"""A recipe for rows: its formulas, that a row is encoded from its own cells alone, its JSON, its refusals."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import Cohort, tables
from dppca_core.tables import Column, Schema, examples

AGE = Column("age", "number", 20.0, 100.0, fill=60.0)
SEX = Column("sex", "category", categories=("F", "M"), fill="")
STAGE = Column("stage", "category", categories=("1", "2", "3"))
AGE_2 = AGE.changed(name="other age")
SCHEMA = Schema((AGE, SEX, STAGE))


def frame(**columns: list) -> pa.Table:
    return pa.table(columns)


def test_formulas():
    table = frame(age=[20.0, 70.0, 1e9, None], sex=["F", "M", "other", None], stage=[1.0, 2.0, 7.0, 3.0])
    third, half = 1 / 3, 0.5
    expected = [
        [-1, half, -half, 2 / 3, -third, -third],
        [0.25, -half, half, -third, 2 / 3, -third],
        [1, -half, -half, -third, -third, -third],
        [0, -half, -half, -third, -third, 2 / 3],
    ]
    np.testing.assert_allclose(tables.encode(SCHEMA, table).rows, expected, rtol=1e-15)
    assert SCHEMA.features == ("age", "sex = F", "sex = M", "stage = 1", "stage = 2", "stage = 3")


def test_a_usual_value_is_encoded_as_0_in_the_same_unit():
    """At an end of the range too; of categories it is the usual one's, and none of them is less of it."""
    age = Column("age", "number", 20.0, 100.0, fill=60.0, usual=30.0)
    low = Column("low", "number", 0.0, 2.0, usual=0.0)
    sex = Column("sex", "category", categories=("F", "M"), fill="", usual="F")
    schema = Schema((age, low, sex))
    table = frame(age=[30.0, 70.0, 1e9, -9.0], low=[0.0, 1.0, 5.0, -1.0], sex=["F", "M", "other", None])
    expected = [[0, 0, 0, 0], [1, 1, -1, 1], [1.75, 2, -1, 0], [-0.25, 0, -1, 0]]
    np.testing.assert_allclose(tables.encode(schema, table).rows, expected, rtol=1e-15)
    assert schema.longest == pytest.approx(math.sqrt(1.75**2 + 4 + 2))
    without = Schema(tuple(column.changed(usual=None) for column in schema.columns))
    assert schema.default_bound == without.default_bound
    assert schema.has_usual_values and not Schema((age, AGE_2)).has_usual_values
    assert Schema.from_json(schema.to_json()) == schema
    assert "usual" not in without.to_json()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            {"name": "age", "type": "number", "constraints": {"minimum": 1, "maximum": 2}, "usual": 3},
            "usual value of 'age' must lie",
        ),
        (
            {"name": "age", "type": "number", "constraints": {"minimum": 1, "maximum": 2}, "usual": "x"},
            "usual value of 'age' must be",
        ),
        (
            {"name": "sex", "type": "string", "categories": ["F"], "usual": "M"},
            "usual value of 'sex' must be",
        ),
    ],
)
def test_a_usual_value_is_one_that_the_column_can_have(column, message):
    with pytest.raises(ValueError, match=message):
        Schema.from_json(json.dumps({"fields": [column]}))


def test_what_only_the_owner_may_know_is_counted():
    table = frame(
        age=[20.0, 110.0, math.nan, 60.0], sex=["F", None, "other", "M"], stage=["1", "2.0", "4", None]
    )
    encoded = tables.encode(Schema(SCHEMA.columns, bound=1.0), table)
    assert encoded.owner == tables.OwnerCounts(
        rows=4, dropped=1, filled=2, outside=(1, 1, 1), missing=(1, 1, 1), clipped=2
    )
    assert (encoded.kept == [True, True, True, False]).all()
    np.testing.assert_allclose(np.linalg.norm(encoded.rows, axis=1), [1.47, 1.47, 0.91], atol=0.005)
    assert encoded.owner.clipped_share == 2 / 3
    yes_or_no = tables.encode(Schema((AGE, Column("sex", "category", categories=("F",), fill=""))), table)
    assert yes_or_no.owner.outside == (1, 0)  # yes or no


CELL = st.none() | st.floats()
WORD = st.none() | st.sampled_from(["F", "M", "x", "1", "2.0", " 3 ", "NA", "é"])


@given(st.lists(st.tuples(CELL, WORD, WORD), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_row_is_encoded_from_its_own_cells_alone(cells, random):
    def rows(chosen):
        a, b, c = (list(column) for column in zip(*chosen, strict=True))
        text = pa.large_string()
        table = pa.table(
            {"age": pa.array(a, pa.float64()), "sex": pa.array(b, text), "stage": pa.array(c, text)}
        )
        return tables.encode(SCHEMA, table)

    together = rows(cells)
    alone = [rows([cell]) for cell in cells]
    np.testing.assert_array_equal(together.rows, np.concatenate([encoded.rows for encoded in alone]))
    np.testing.assert_array_equal(together.kept, [encoded.kept[0] for encoded in alone])
    assert sum((encoded.owner for encoded in alone[1:]), alone[0].owner) == together.owner
    assert np.isfinite(together.rows).all()
    assert (np.abs(together.rows) <= 1).all()
    assert (np.linalg.norm(together.rows, axis=1) <= SCHEMA.longest * (1 + 1e-12)).all()


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.lists(st.floats(), min_size=1, max_size=5))
def test_any_range_encodes_within_one(low, high, values):
    try:
        column = Column("x", "number", low, high, fill=high)
    except ValueError:
        assert not low < high or not high / 2 > low / 2
        return
    rows = tables.encode(Schema((column, SEX)), frame(x=values, sex=["F"] * len(values))).rows
    assert (np.abs(rows) <= 1).all()


def test_the_longest_row_is_reached_and_the_default_is_the_mean_square_of_an_even_spread():
    rng = np.random.default_rng(0)
    n = 40_000
    table = frame(
        age=rng.uniform(20, 100, n), sex=rng.choice(["F", "M"], n), stage=rng.choice(["1", "2", "3"], n)
    )
    squares = (tables.encode(SCHEMA, table).rows ** 2).sum(axis=1)
    assert squares.max() == pytest.approx(SCHEMA.longest**2, rel=1e-3)
    assert SCHEMA.bound == SCHEMA.default_bound
    # age^2 has standard deviation sqrt(4/45), so the mean is off by more than 5 sd once in two million.
    assert squares.mean() == pytest.approx(SCHEMA.default_bound**2, abs=5 * math.sqrt(4 / 45 / n))
    numbers = Schema(tuple(Column(f"c{i}", "number", 0, 1) for i in range(48)))
    assert (numbers.longest, numbers.default_bound) == pytest.approx((math.sqrt(48), 4))


def test_json_round_trip():
    for schema in (SCHEMA, Schema((AGE, SEX), bound=0.7), examples.example("breast_cancer")[1]):
        again = Schema.from_json(schema.to_json())
        assert again == schema
        assert hash(again) == hash(schema)


CANARY = "Xcanary7"
NUMBERS = {"name": "x", "type": "number", "constraints": {"minimum": 0, "maximum": 1}}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Column("x", "number", 5, 1), "low of 'x' must be below its high"),
        (lambda: Column("x", "number", 1, 1), "below"),
        (lambda: Column("x", "number"), "below"),
        (lambda: Column("x", "number", math.nan, 1), "low of 'x'"),
        (lambda: Column("x", "number", 0, math.inf), "high of 'x'"),
        (lambda: Column("x", "number", 0, "1"), "high of 'x' cannot be read: input should be a valid number"),
        (lambda: Column("x", "number", 0, 1, fill=2), "fill of 'x' must lie between 0 and 1"),
        (lambda: Column("x", "number", 0, 1, fill="a"), "fill of 'x'"),
        (lambda: Column("x", "date"), "kind of 'x'"),
        (lambda: Column("", "number"), "name"),
        (lambda: Column("x\n", "number"), "name"),
        (lambda: Column("x" * 101, "number"), "100 letters"),
        (lambda: Column("x", "category"), "categories of 'x'"),
        (lambda: Column("x", "category", categories=("a", "a")), "differ"),
        (lambda: Column("x", "category", categories=("1", "1.0")), "differ"),
        (lambda: Column("x", "category", categories=("NA", "a")), "counts as missing"),
        (lambda: Column("x", "category", categories=("a",), fill="b"), "fill of 'x'"),
        (lambda: Schema((AGE,)), "between 2 and"),
        (lambda: Schema((AGE, AGE)), "different names"),
        (lambda: Schema((AGE, SEX), bound=-1), "bound must be positive"),
        (lambda: Schema((AGE, SEX), bound=math.nan), "bound must be positive"),
        (lambda: Schema((AGE, SEX), bound=0), "bound must be positive"),
        (
            lambda: Schema(tuple(Column(f"c{i}", "number", 0, 1) for i in range(20_001))),
            "20,001: choose fewer",
        ),
        (lambda: Schema.from_json("{"), "JSON"),
        (lambda: Schema.from_json(b"\xff"), "not in UTF-8"),
        (lambda: Schema.from_json("[" * 100_000), "JSON"),
        (lambda: Schema.from_json('{"fields": [1, 2]}'), "needs a"),
        (
            lambda: Schema.from_json(json.dumps({"fields": [NUMBERS | {"scale": 1}]})),
            "unknown entry 'scale'",
        ),
        (
            lambda: Schema.from_json(json.dumps({"fields": [{"name": "x", "type": "number"}]})),
            "lacks its maximum and minimum",
        ),
        (lambda: Schema.from_json(json.dumps({"fields": [NUMBERS], "limit": 1})), "unknown entry 'limit'"),
        (lambda: tables.encode(SCHEMA, frame(age=[1.0], sex=["F"])), "no column 'stage'"),
        (
            lambda: tables.encode(Schema((AGE, SEX)), frame(age=["1", CANARY, CANARY], sex=["F"] * 3)),
            "row 2 and 1 more",
        ),
        (lambda: tables.encode(Schema((AGE, SEX)), frame(age=["2020-01-01"], sex=["F"])), "but a date"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ValueError, match=words) as caught:
        make()
    assert CANARY not in str(caught.value)


def test_negative_ranges_are_fine():
    rows = tables.encode(
        Schema((Column("a", "number", -9, -1), SEX)), frame(a=[-5.0, -1.0], sex=["F", "F"])
    ).rows
    assert list(rows[:, 0]) == [0, 1]


@pytest.mark.parametrize("name", examples.names())
def test_bundled_tables_encode_by_their_dictionaries(name):
    raw, schema = examples.example(name)
    encoded = tables.encode(schema, raw.table)
    assert encoded.owner.dropped == 0
    assert encoded.owner.clipped_share < 0.2  # few are shortened
    assert sum(encoded.owner.outside) < 0.1 * raw.n * len(schema.columns)
    assert Cohort.from_rows([encoded.rows], schema.bound).n == raw.n
