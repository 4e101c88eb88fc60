"""Counts of a column's cells against a table made by hand, and one suggestion of each kind."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dppca_core import tables
from dppca_core.tables.quality import AS_MISSING, ColumnQuality, Expected, Suggestion, check_column

SEXES = ("female", "male")


def cells(*values):
    frame = pd.DataFrame({"x": list(values), "other": range(len(values))})
    return tables.read(frame.to_csv(index=False).encode(), "t.csv").table["x"]


def counts(column: ColumnQuality):
    return column.cells, column.missing, column.unread, column.outside


def words(column: ColumnQuality):
    return {each.word: each.take_as for each in column.suggestions}


def test_numbers_are_counted():
    column = cells("70", "80.5", "999", "<5", "high", "high", "NA", "", "20", "999.0", "81")
    checked = check_column(column, Expected("number", 30, 200))
    assert counts(checked) == (11, 2, 3, 3)
    assert checked.suggestions == (
        Suggestion("high", 2, None),
        Suggestion("<5", 1, AS_MISSING),
        Suggestion("999", 2, AS_MISSING),
    )
    mapped = check_column(column, Expected("number", 30, 200, missing_codes=("999", "<5", "HIGH")))
    assert counts(mapped) == (11, 7, 0, 1) and not mapped.suggestions
    assert counts(check_column(column, Expected("number"))) == (11, 2, 3, 0)  # no range yet


def test_categories_are_counted():
    column = cells("female", "Female ", "m", "M", "male", "x", "9", "9.0", "NA", "none of it")
    expected = Expected("category", categories=SEXES)
    checked = check_column(column, expected)
    assert counts(checked) == (10, 1, 0, 7)
    assert checked.suggestions[0] in (Suggestion("m", 2, "male"), Suggestion("9", 2, AS_MISSING))
    assert words(checked) == {
        **{"m": "male", "9": AS_MISSING, "Female": "female", "x": AS_MISSING, "none of it": None}
    }
    mapped = Expected(
        "category",
        categories=SEXES,
        missing_codes=("x", "9"),
        synonyms=(("m", "male"), ("FEMALE", "female")),
    )
    assert counts(check_column(column, mapped)) == (10, 4, 0, 1)
    undone = check_column(column, Expected("category"))
    assert counts(undone) == (10, 1, 0, 0) and not undone.suggestions  # each may be an answer
    unknown = check_column(cells("a", "b", "unknown", "x"), Expected("category"))
    assert words(unknown) == {"unknown": AS_MISSING}


def test_another_answer_than_yes_is_no_but_another_spelling_of_it_is_suggested():
    checked = check_column(cells("yes", "Yes", "no", "never"), Expected("category", categories=("yes",)))
    assert counts(checked) == (4, 0, 0, 0) and words(checked) == {"Yes": "yes"}


@pytest.mark.parametrize(
    ("word", "categories", "take_as"),
    [
        ("FEMALE", SEXES, "female"),
        ("fe male", SEXES, "female"),
        ("F", SEXES, "female"),
        ("m", SEXES, "male"),
        ("female", ("f", "m"), "f"),
        ("femael", SEXES, "female"),
        ("female", ("male", "other"), None),  # too far from "male"
        ("Sâo Paulo", ("Sao Paulo", "Rio"), "Sao Paulo"),
        ("grade-2", ("Grade 1", "Grade 2"), "Grade 2"),
        ("< 50", ("<50", ">=50"), "<50"),
        ("grade", ("Grade 1", "Grade 2"), None),  # which of them nobody knows
        ("Unknown", SEXES, AS_MISSING),
        ("n.d.", SEXES, AS_MISSING),
        ("u", ("<25", "unknown"), "unknown"),
        ("unknown", ("<25", ">35"), AS_MISSING),
        ("None", ("driver", "both"), None),  # an answer in many a table
        ("--", SEXES, AS_MISSING),
        ("unk", ("yes", "no", "unknown"), "unknown"),
        ("99", ("1", "2"), AS_MISSING),
        ("3", ("1", "2"), None),
        ("1", ("10", "20"), None),
    ],
)
def test_a_word_is_taken_as_what_it_resembles(word, categories, take_as):
    column = pa.chunked_array([pa.array([word, categories[0]], pa.large_string())])
    assert words(check_column(column, Expected("category", categories=categories))) == {word: take_as}


@pytest.mark.parametrize(
    ("values", "expected", "suggested"),
    [
        ([30, 50, 80, 999], Expected("number"), {"999": AS_MISSING}),  # far from everybody else
        ([30, 50, 80, 99], Expected("number"), {}),  # it may be an age
        ([30, 50, 80, 99], Expected("number", 0, 90), {"99": AS_MISSING}),
        ([0, 1, 3, -1], Expected("number"), {"-1": AS_MISSING}),
        ([0, 1, 0, -1], Expected("number"), {}),  # on a scale
        ([-2, 1, 3, -1], Expected("number"), {}),
        ([0, 1, 1, 0, 9], Expected("number", 0, 10), {"9": AS_MISSING}),
        ([1, 2, 300, 300, 300, 40], Expected("number", 0, 10), {"300": None}),  # most that are outside
        ([1, 2, 300, 301, 302, 303], Expected("number", 0, 10), {}),
        ([1, 2, 300, 300], Expected("number", 0, 10), {}),
        ([999, 999], Expected("number"), {}),  # nothing to compare with
    ],
)
def test_a_number_looks_like_a_code(values, expected, suggested):
    assert words(check_column(cells(*values), expected)) == suggested


@pytest.mark.parametrize(
    ("outside", "asked"),
    [
        ((0, 10), [1]),
        ((0, 9), [1]),
        ((0, 8), []),
        ((10, 10), []),  # the range is wrong, and not a hospital
        ((6, 10), []),
        ((4, 10), [1]),
    ],
)
def test_a_hospital_is_asked_about_where_the_other_fits(outside, asked):
    """Ten cells of each hospital, and one that measures nothing, which says nothing about a range."""
    values = [50 if i < 10 - many else 500 for many in outside for i in range(10)] + [""]
    rows = np.arange(10), np.arange(10, 20), np.array([20])
    checked = check_column(cells(*values), Expected("number", 0, 100), hospitals=rows)
    assert checked.by_hospital == (*((many, 10) for many in outside), (0, 0))
    assert checked.nearly_all_outside() == asked


def test_texts_in_portions_are_one_column(monkeypatch):
    monkeypatch.setattr(tables.cells, "_PORTION", 64)
    column = pa.chunked_array([pa.array(["m"] * 30 + ["x1", "m "], pa.large_string())] * 3)
    checked = check_column(column, Expected("category", categories=SEXES))
    assert checked.suggestions == (Suggestion("m", 93, "male"), Suggestion("x1", 3, None))
    assert "x1" not in repr(checked)
