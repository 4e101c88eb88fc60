"""Tables of several hospitals joined to one: the same rows, the same key in any order, and clear refusals."""

import numpy as np
import pandas as pd
import pytest

from dppca_core import tables
from dppca_core.tables import Column, Schema, limits, several

SCHEMA = Schema(
    (
        Column("age", "number", 0, 120, fill=60.0),
        Column("stage", "category", categories=("1", "2", "IV"), fill=""),
        Column("weight", "number", 30, 200, fill=80.0),
    )
)


def frame(seed, n=40):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.uniform(20, 90, n).round(1),
            "stage": rng.choice(["1", "2", "IV"], n),
            "weight": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(45, 120, n)),
        }
    )


FRAMES = frame(0), frame(1).assign(stage=np.arange(40.0) % 2 + 1), frame(2)
RENAMED = FRAMES[1].rename(columns={"age": "Age_yrs", "stage": "STAGE"}).assign(ward=1.0)
OTHER = {"age": "Age_yrs", "stage": "STAGE", "weight": "weight"}
SAME = {column.name: column.name for column in SCHEMA.columns}
NAMES = "south", "north", "west"


def raw(held, name="ours.csv"):
    return tables.read(held.to_csv(index=False).encode(), name)


RAWS, MAPPINGS = (raw(FRAMES[0]), raw(RENAMED), raw(FRAMES[2])), (SAME, OTHER, SAME)


def test_joined_rows_are_those_of_each_table_renamed_by_hand():
    joined = tables.join(RAWS, MAPPINGS, NAMES)
    apart = {name: tables.encode(SCHEMA, raw(held).table) for name, held in zip(NAMES, FRAMES, strict=True)}
    whole = tables.encode(SCHEMA, joined.table)
    expected = np.concatenate([apart[name].rows for name in sorted(NAMES)])
    np.testing.assert_array_equal(whole.rows, expected)
    groups = tables.by_column(joined.table[joined.hospital_column], "hospital")
    assert {name: len(rows) for name, rows in groups.items()} == dict.fromkeys(NAMES, 40)
    for name, rows in groups.items():
        np.testing.assert_array_equal(whole.rows[rows], apart[name].rows)
    assert joined.hospital_column not in joined.columns and "1.0" not in repr(joined)


def test_the_key_is_that_of_one_file_and_of_any_order_of_uploads():
    keys = {
        tables.join([RAWS[i] for i in order], [MAPPINGS[i] for i in order], [NAMES[i] for i in order]).key
        for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2))
    }
    by_hand = pd.concat([held.assign(hospital=name) for name, held in zip(NAMES, FRAMES, strict=True)])
    assert keys == {raw(by_hand).key}
    assert tables.join(RAWS, MAPPINGS, ("a", "b", "c")).key not in keys


def test_numbers_and_texts_of_a_patient_read_alike():
    """In one file 017 is a number, in the other text."""
    numbers = tables.from_frame(pd.DataFrame({"id": [17, 3, 2.125], "x": [1, 2, 3]}), "t")
    texts = raw(pd.DataFrame({"id": ["17", "R-4", "03"], "x": [1, 2, 3]}))
    joined = tables.join((numbers, texts), ({"id": "id"}, {"id": "id"}), ("a", "b"))
    assert joined.table["id"].to_pylist() == ["17", "3", "2.125e0", "17", "R-4", "3"]


def test_what_was_not_measured_is_missing():
    joined = tables.join(RAWS[:2], (SAME, OTHER | {"stage": None}), NAMES[:2])
    assert joined.table["stage"].null_count == 40
    assert tables.encode(SCHEMA, joined.table).owner.kept == 80


@pytest.mark.parametrize(
    ("mapping", "names", "error"),
    [
        ({"age": "Age_yrs", "weight": "weight"}, NAMES, "north has no column for 'stage'"),
        (OTHER | {"stage": "grade"}, NAMES, "north has no column 'grade'"),
        (OTHER | {"stage": "weight"}, NAMES, "north's column 'weight' is chosen twice"),
        (OTHER, ("south", "south ", "west"), "Two hospitals have the same name 'south'"),
        (OTHER, ("1", "1.0", "2"), "Two hospitals have the same name '1.0'"),
        (OTHER, ("NA", "north", "west"), "stand for a missing cell"),
        (OTHER, ("a\nb", "north", "west"), "that can be printed"),
        (OTHER, ("a" * 101, "north", "west"), "1 to 100 letters"),
    ],
)
def test_what_cannot_be_joined_is_one_sentence(mapping, names, error):
    with pytest.raises(ValueError, match=error) as reason:
        tables.join(RAWS, (SAME, mapping, SAME), names)
    assert "\n" not in str(reason.value)


def test_the_hospitals_column_takes_a_name_that_is_free():
    held = raw(FRAMES[0].rename(columns={"age": "hospital", "stage": "hospital 2"}))
    same = {name: name for name in held.columns}
    joined = tables.join((held, held), (same, same), ("a", "b"))
    assert joined.hospital_column == "hospital 3" and joined.columns == held.columns


def test_as_many_hospitals_as_are_dealt_and_no_more():
    few = raw(FRAMES[0].iloc[:2])
    names = [f"h{i}" for i in range(limits.MOST_HOSPITALS + 1)]
    joined = tables.join([few] * 200, [SAME] * 200, names[:200])
    assert len(tables.by_column(joined.table["hospital"], "hospital")) == 200 and joined.n == 400
    with pytest.raises(ValueError, match="At most 200 hospitals"):
        tables.join([few] * 201, [SAME] * 201, names)


@pytest.mark.parametrize(
    ("limit", "what"), [("MOST_ROWS", "rows"), ("MOST_CELLS", "cells"), ("MOST_BYTES", "text")]
)
def test_tables_too_large_together_are_refused(monkeypatch, limit, what):
    monkeypatch.setattr(several.limits, limit, 79)
    with pytest.raises(ValueError, match=f"Together the tables have more than 79 .*{what}"):
        tables.join(RAWS[:2], MAPPINGS[:2], NAMES[:2])


def halves(last, separator, seed):
    """Return a table of stages 1 and 2.5, which have a comma where columns have another separator."""
    stages = [*np.random.default_rng(seed).choice(["1", "2.5"], 30), last]
    point = "." if separator == "," else ","
    rows = (f"{40 + i}{separator}{stage.replace('.', point)}" for i, stage in enumerate(stages))
    return tables.read("\n".join((f"age{separator}stage", *rows)).encode(), "t")


@pytest.mark.parametrize("others", [(), (",",), (";",)], ids=["alone", "with points", "with commas"])
@pytest.mark.parametrize("separator", [",", ";"])
def test_one_patients_word_leaves_all_other_rows_as_they_were(separator, others):
    """A word makes its column text, in which 2,5 of another patient must stay the number that it was."""
    schema = Schema((SCHEMA.columns[0], Column("stage", "category", categories=("1", "2.5"))))

    def rows(last):
        held = [halves(last, separator, 0), *(halves("1", other, 1) for other in others)]
        whole = tables.join(held, [{"age": "age", "stage": "stage"}] * len(held), NAMES[: len(held)])
        return tables.encode(schema, whole.table, whole.marks).rows

    number, word = rows("2.5"), rows("unknown")
    assert np.flatnonzero((number != word).any(axis=1)).tolist() == [len(number) - 1]
    assert number[:, 1:].max(axis=1).tolist() == [0.5] * len(number)
