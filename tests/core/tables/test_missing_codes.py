"""Missing codes and synonyms: what cells they mean, and that none is in what is published."""

import json

import numpy as np
import pandas as pd
import pytest

from dppca_core import tables
from dppca_core.tables import Column, Schema

WEIGHT = Column("weight", "number", 30, 200, fill=80.0, missing_codes=("999", "<5", "Unknown"))
SEX = Column(
    "sex",
    "category",
    categories=("female", "male"),
    missing_codes=("9",),
    synonyms=(("m", "male"), ("W", "female"), ("1", "male")),
)
AGE = Column("age", "number", 0, 120, missing_codes=("-1",))
SCHEMA = Schema((AGE, WEIGHT, SEX), bound=1.2)


def messy(n=2_000):
    """Return the cells as a person left them, and as the dictionary means them."""
    rng = np.random.default_rng(0)
    words = {"male": ("male", " m", "M", "1"), "female": ("female", "w", "W "), "": ("9", "9.0", "NA")}
    sex = rng.choice(list(words), n, p=[0.5, 0.4, 0.1])
    weight, age = rng.uniform(40, 120, n).round(1), rng.uniform(20, 90, n).round(1)
    gone, unborn = rng.random(n) < 0.1, rng.random(n) < 0.05
    typed = pd.DataFrame(
        {
            "age": np.where(unborn, "-1", age.astype(str)),
            "weight": np.where(
                gone, rng.choice(["999", "999.0", " <5", "UNKNOWN", ""], n), weight.astype(str)
            ),
            "sex": [rng.choice(words[each]) for each in sex],
            "who": rng.integers(0, 500, n),
        }
    )
    meant = pd.DataFrame(
        {"age": np.where(unborn, np.nan, age), "weight": np.where(gone, np.nan, weight), "sex": sex}
    )
    return typed, meant


@pytest.mark.parametrize("comma", [False, True])
def test_cells_are_what_the_dictionary_means(comma):
    typed, meant = messy()
    named = meant.assign(who=typed["who"])  # a row without any cell would be no patient
    expected = tables.encode(SCHEMA.published, tables.from_frame(named, "meant").table)
    if comma:
        typed = typed.apply(lambda cells: cells.astype(str).str.replace(".", ","))
    data = typed.to_csv(index=False, sep=";" if comma else ",").encode()
    raw = tables.read(data, "typed.csv")
    encoded = tables.encode(SCHEMA, raw.table, raw.marks)
    np.testing.assert_array_equal(encoded.whole, expected.whole)
    assert encoded.owner == expected.owner
    assert encoded.owner.missing == tuple((meant.isna() | (meant == "")).sum())


def test_json_keeps_them_and_what_is_published_does_not():
    text = SCHEMA.to_json()
    assert Schema.from_json(text) == SCHEMA and hash(Schema.from_json(text)) == hash(SCHEMA)
    assert json.loads(text)["fields"][2]["synonyms"] == {"m": "male", "W": "female", "1": "male"}
    assert json.loads(text)["fields"][1]["missingValues"] == ["999", "<5", "Unknown"]
    published = SCHEMA.published.to_json()
    assert "missingValues" not in published and "synonyms" not in published and "<5" not in published
    assert SCHEMA.published.bound == SCHEMA.bound
    typed = json.loads(text)
    typed["fields"][0]["missingValues"] = [-1, 99.5]
    assert Schema.from_json(json.dumps(typed)).columns[0].missing_codes == ("-1", "99.5")


@pytest.mark.parametrize(
    "changed",
    [
        {"missing_codes": ("male",)},
        {"missing_codes": ("MALE ",)},
        {"missing_codes": ("M",)},
        {"missing_codes": ("1.0",)},
        {"missing_codes": ("",)},
        {"missing_codes": ("a;b",)},
        {"missing_codes": tuple(map(str, range(20, 300)))},
        {"synonyms": (("m", "neither"),)},
        {"synonyms": (("m", "male"), ("M", "female"))},
        {"synonyms": (("female", "male"),)},
        {"synonyms": (("n/a", "male"),)},
        {"synonyms": (("x" * 101, "male"),)},
    ],
)
def test_a_word_that_would_be_taken_in_two_ways_is_refused_and_not_quoted(changed):
    with pytest.raises(ValueError, match="'sex'") as caught:
        SEX.changed(**changed)
    for word in ("'M", "neither", "n/a", "xxx"):
        assert word not in str(caught.value)


@pytest.mark.parametrize("synonyms", [(("old", "99"),), (("old", 121.0),), (("7", 8.0),)])
def test_a_word_of_a_number_stands_for_a_number_of_its_range(synonyms):
    with pytest.raises(
        ValueError, match="synonyms of 'age' must be words, each of which stands for a number"
    ):
        AGE.changed(synonyms=synonyms)


def test_a_word_below_detection_is_encoded_as_its_number():
    raw = tables.from_frame(pd.DataFrame({"crp": ["<0.5", "4.1", " <0.5 ", "n.d."], "b": [1, 2, 3, 4]}), "t")
    crp = Column("crp", "number", 0, 10, synonyms=(("<0.5", 0.25),), missing_codes=("n.d.",))
    encoded = tables.encode(Schema((crp, Column("b", "number", 0, 9))), raw.table)
    np.testing.assert_allclose(encoded.rows[:, 0] * 5 + 5, [0.25, 4.1, 0.25])
    assert encoded.owner.missing == (1, 0) and encoded.owner.outside == (0, 0)


def test_stated_marks_read_a_column():
    raw = tables.read(b"x;y\n1.012;3,5\n933;1.5\n", "t")
    german = Column("x", "number", 0, 2000, decimal=",", group=".")
    encoded = tables.encode(Schema((german, Column("y", "number", 0, 9))), raw.table, raw.marks)
    np.testing.assert_allclose(encoded.rows * [1000, 4.5] + [1000, 4.5], [[1012, 3.5], [933, 1.5]])


@pytest.mark.parametrize(
    ("key", "given"),
    [("missingValues", "999"), ("missingValues", [["9"]]), ("synonyms", ["m"]), ("missingValues", [9**400])],
    ids=["a word", "a list", "no categories", "a long number"],
)
def test_a_file_that_states_them_otherwise_is_refused(key, given):
    plain = json.loads(SCHEMA.to_json())
    plain["fields"][2][key] = given
    with pytest.raises(ValueError, match="'sex'"):
        Schema.from_json(json.dumps(plain))
