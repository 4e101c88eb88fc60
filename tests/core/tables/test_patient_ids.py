"""An id is read by itself: what another patient's id is parts and joins no rows."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from dppca_core import tables
from dppca_core.tables import Column, Schema
from dppca_core.tables.patients import patient_of_each_row

SCHEMA = Schema((Column("x", "number", 0, 1), Column("y", "number", 0, 1)))
NUMBERS = ["17", "017", " 17 ", "17.0", "+17", "1.7e1", "1.7", "-0", "0", "true", "1", "1e3", "1000"]
SPELLINGS = [*NUMBERS, "1,7", "1,70", "A17", "a17", "A 17", "2026-01-02", "0x11", "12 3", "none"]
ALIKE = [0, 0, 0, 0, 0, 0, 1, 2, 2, 3, 3, 4, 4]  # of the numbers
WORDS = ["17", "word", "1234", "1.5", "x" * 99]  # what one patient's id may become


def table(ids, separator=",", where=None):
    """Return a file of one row an id; the last is the patient who is replaced."""
    frame = pd.DataFrame({"who": ids, "x": 0.5, "y": np.linspace(0, 1, len(ids))})
    frame["where"] = where or "N"
    text = frame.to_csv(index=False, sep=separator, quoting=1)
    return (text if separator == "," else text.replace("0.5", "0,5")).encode()


def stored(column):
    buffer = io.BytesIO()
    rows = np.full(len(column), 0.5)
    parquet.write_table(pa.table({"who": column, "x": rows, "y": rows}), buffer)
    return buffer.getvalue()


def grouping(data):
    raw = tables.read(data, "t")
    return patient_of_each_row(raw, "who", SCHEMA)


@pytest.mark.parametrize("others", [NUMBERS, SPELLINGS], ids=["numbers", "words too"])
@pytest.mark.parametrize("separator", [",", ";"])
def test_one_id_does_not_change_how_others_are_grouped(separator, others):
    words = [1, 1, *range(5, 12)] if separator == ";" else range(5, 14)
    expected = [*ALIKE, *words][: len(others)]
    for last in (*WORDS, "18"):
        grouped = grouping(table([*others, last], separator))[:-1]
        np.testing.assert_array_equal(grouped, expected)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([17, 17, 3, 0]),
        pa.array([17, 17, 3, 0], pa.uint8()),
        pa.array([17.0, 17.0, 3.0, -0.0]),
        pa.array(["17", "017", "3", "0"]),
        pa.array(["17", " 17", "3", "zero"], pa.large_string()).dictionary_encode(),
        pa.array([17, 17, 3, 0]).cast(pa.decimal128(21, 2)),
        pa.array([17, 17, 3, 0], pa.int32()).cast(pa.date32()),
    ],
    ids=lambda column: str(column.type),
)
def test_a_typed_column_names_the_patients_that_it_would_as_text(column):
    np.testing.assert_array_equal(grouping(stored(column)), [0, 0, 1, 2])


@pytest.mark.parametrize("last", ["18", "word"])
@pytest.mark.parametrize(
    ("bad", "says"),
    [("", "no patient"), ("NaN", "no patient"), ("1e999", "no patient"), ("9007199254740993", "15 digits")],
)
def test_what_two_patients_could_share_is_refused_whatever_the_others_are(last, bad, says):
    with pytest.raises(ValueError, match=says):
        grouping(table(["17", bad, last]))


def test_tables_of_several_hospitals_join_the_patients_of_both():
    """A table of numbers, and another of texts or, with one row replaced, of numbers."""
    mapping = {name: name for name in ("who", "x", "y")}
    first = tables.read(stored(pa.array([17, 3, 4])), "first")
    groups = []
    for last in ("word", "18"):
        second = tables.read(table(["017", "3", "004", "5.0", last], ";"), "second")
        joined = tables.join([first, second], [mapping, mapping], ["A", "B"])
        groups.append(patient_of_each_row(joined, "who", SCHEMA))
    np.testing.assert_array_equal(groups[0], groups[1])
    np.testing.assert_array_equal(groups[0], [0, 1, 2, 0, 1, 2, 3, 4])


@pytest.mark.parametrize("last", ["word", "8", "1.50"])
def test_one_hospital_s_name_changes_no_other_row_s_hospital(last):
    where = ["7", "07", "7.0", "N", " N ", "x", "1e1", "10", last]
    raw = tables.read(table([f"p{i}" for i in range(9)], where=where), "t")
    hospitals = tables.by_column(raw.table["where"], "where", None, raw.marks)
    rows = {frozenset(np.setdiff1d(rows, [8]).tolist()) for rows in hospitals.values()} - {frozenset()}
    assert rows == {frozenset({0, 1, 2}), frozenset({3, 4}), frozenset({5}), frozenset({6, 7})}
