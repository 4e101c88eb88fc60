"""Rows of a patient that are merged: the mean of the cells that are there, encoded before, then fills."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dppca_core import tables
from dppca_core.arrays import PatientRows
from dppca_core.numerics import moments
from dppca_core.tables import Column, Schema
from dppca_core.tables.encode import prepare
from dppca_core.tables.patients import AVERAGED, MERGED

REDCAP = Path(__file__).parents[2] / "cases" / "redcap_repeating.csv"
RANGES = {"age": (0, 120), "bp_sys": (80, 150), "bp_dia": (40, 120)}  # some pressures are beyond
PRESSURES = Schema(
    (
        *(Column(name, "number", *ends) for name, ends in RANGES.items()),
        Column("sex", "category", categories=("0", "1")),
    )
)


def by_pandas(frame, who):
    """Return the encoded rows of PRESSURES by a second implementation: encode each cell, then group."""
    encoded = pd.DataFrame(index=frame.index)
    for name, (low, high) in RANGES.items():
        encoded[name] = (frame[name].clip(low, high) - (low + high) / 2) / ((high - low) / 2)
    for sex in (0, 1):
        encoded[f"sex = {sex}"] = (frame["sex"] == sex).where(frame["sex"].notna()).astype(float) - 0.5
    return encoded.groupby(frame[who], sort=False).mean()


def test_repeating_instruments_of_redcap_become_a_row_a_patient():
    """No row of the file has all cells, so that averaging whole rows leaves nobody."""
    raw, frame = tables.read(REDCAP.read_bytes(), "redcap.csv"), pd.read_csv(REDCAP)
    table = prepare(raw, PRESSURES, None, 1, "record_id", MERGED)
    expected = by_pandas(frame, "record_id")
    assert table.n == table.usable == len(expected) == frame["record_id"].nunique() < raw.n / 2
    assert expected.notna().all(axis=None) and (frame["bp_sys"] > 150).any()
    np.testing.assert_allclose(
        table.held.rows, moments.clip_rows(expected.to_numpy(), PRESSURES.bound), 1e-14
    )
    assert table.owner == tables.OwnerCounts(
        rows=table.n,
        dropped=0,
        filled=0,
        outside=(0, int((frame["bp_sys"] > 150).sum()), 0, 0),
        missing=(0, 0, 0, 0),
        clipped=int((np.linalg.norm(expected, axis=1) > PRESSURES.bound).sum()),
    )
    (part,) = table.parts
    assert isinstance(part, PatientRows) and (part.weights == 1).all() and part.n == table.n
    assert (frame["record_id"][table.held.kept] == expected.index).all()  # labels are those of first rows
    with pytest.raises(ValueError, match="Fewer than two patients"):
        prepare(raw, PRESSURES, None, 1, "record_id", AVERAGED)


FRAME = pd.DataFrame(
    [
        ("a", 1.0, None, None, "N"),
        ("b", None, 0.5, "x", "S"),
        ("a", None, -3.0, "y", "S"),  # -1 within the range
        ("c", None, 0.25, None, "S"),
        ("b", 0.5, None, "w", "N"),
        ("a", 0.0, 1.0, None, "N"),
        ("d", 0.75, None, "", "N"),
        ("b", 0.25, 0.0, "y", "N"),
    ],
    columns=["who", "p", "q", "r", "where"],
)
FILLED = (
    Column("p", "number", -1, 1),
    Column("q", "number", -1, 1, fill=0.5, usual=0.5),
    Column("r", "category", categories=("x", "y"), fill="y", usual="x"),
)


def test_fills_stand_for_columns_of_which_a_patient_has_no_cell():
    """By hand. Who lacks a column without one is left out and counted, in the hospital of the first row."""
    table = prepare(tables.from_frame(FRAME, "t"), Schema(FILLED, 9.0), "where", 1, "who", MERGED)
    third = 1 / 3
    # q less its usual value; r as its indicators, of which x loses 1: y is (-1, 1), x (0, 0), none (-1, 0).
    expected = [[0.5, -0.5, -1, 1], [0.375, -0.25, -2 * third, third], [0.75, 0, -1, 1]]
    np.testing.assert_allclose(table.held.rows * 9, expected, 1e-15)
    assert table.sizes == (2, 2) and table.n == 4 and table.usable == 3
    assert [(len(part.rows), part.n) for part in table.parts] == [(2, 2), (1, 2)]
    assert np.flatnonzero(table.held.kept).tolist() == [0, 1, 6]
    owner = table.owner
    assert (owner.rows, owner.dropped, owner.filled) == (4, 1, 2)
    assert (owner.missing, owner.outside) == ((1, 1, 2), (0, 1, 1))


def test_a_patient_of_one_row_is_encoded_as_that_row():
    frame = FRAME.drop_duplicates("who").assign(p=[1.0, 0.3, None, 0.7])
    raw, schema = tables.from_frame(frame, "t"), Schema(FILLED)
    merged, plain = (prepare(raw, schema, None, 1, "who", counting).held for counting in (MERGED, AVERAGED))
    np.testing.assert_array_equal(merged.rows, plain.rows)
    np.testing.assert_array_equal(merged.kept, plain.kept)
