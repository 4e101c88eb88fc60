"""Four real hospitals: UCI's counts, what is absent, and constants that no row has touched."""

import json
from pathlib import Path

import numpy as np
import pytest

from dppca_core import Cohort
from dppca_core.populations import heart_disease

STORED = json.loads(
    (Path(heart_disease.__file__).parents[2] / "data" / "heart_disease.json").read_text("utf-8")
)
SIZES = {"Cleveland": 303, "Budapest": 294, "Long Beach": 200, "Zurich/Basel": 123}
FIRST = {  # of UCI's four processed files: age, sex, chest pain, blood pressure, cholesterol
    "Cleveland": (63, 1, 1, 145, 233),
    "Budapest": (28, 1, 2, 130, 132),
    "Long Beach": (63, 1, 4, 140, 260),
    "Zurich/Basel": (32, 1, 1, 95, 0),
}
PLACES = {column.name: j for j, column in enumerate(heart_disease.COLUMNS)}


def test_the_hospitals_have_ucis_sizes():
    assert {name: len(values) for name, values in heart_disease.recorded().items()} == SIZES
    assert sum(SIZES.values()) == heart_disease.TABLE.n
    assert [len(rows) for rows in heart_disease.rows().values()] == list(SIZES.values())


@pytest.mark.parametrize("hospital", SIZES)
def test_each_begins_with_the_patient_that_ucis_file_begins_with(hospital):
    assert tuple(heart_disease.recorded()[hospital][0, :5]) == FIRST[hospital]


def test_no_swiss_patient_has_a_cholesterol():
    absent = heart_disease.absent()
    assert absent["Zurich/Basel"]["chol"] == heart_disease.Absent(1.0, 1.0)
    assert absent["Long Beach"]["chol"].zero == pytest.approx(49 / 200)
    assert absent["Cleveland"]["chol"].share == absent["Budapest"]["chol"].zero == 0
    assert (heart_disease.rows()["Zurich/Basel"][:, PLACES["cholesterol"]] == 0).all()


def test_what_is_absent_states_zero_and_nothing_else_is_hidden():
    for hospital, rows in heart_disease.rows().items():
        for column in heart_disease.COLUMNS:
            values = heart_disease.recorded()[hospital][
                :, list(heart_disease.MEASUREMENTS).index(column.measurement)
            ]
            gone = np.isnan(values)
            if column.measurement in ("chol", "trestbps"):
                gone |= values == 0
            encoded = rows[:, PLACES[column.name]]
            assert (encoded[gone] == 0).all()
            if column.category is None:
                np.testing.assert_allclose(
                    encoded[~gone] * column.scale + column.centre, values[~gone], atol=1e-9
                )
            else:
                assert ((encoded[~gone] > 0) == (values[~gone] == column.category)).all()


def test_every_category_in_the_rows_is_named():
    """One that is not would state "in none of them", as if it were known."""
    for measured in STORED["measurements"]:
        values = np.concatenate(list(heart_disease.recorded().values()))[
            :, list(heart_disease.MEASUREMENTS).index(measured["name"])
        ]
        seen = set(values[~np.isnan(values)])
        if "categories" in measured:
            named = {float(code) for code in measured["categories"]}
            assert seen <= (named | {0.0} if len(named) == 1 else named)


def test_constants_follow_from_public_ranges_alone():
    for measured in STORED["measurements"]:
        columns = [column for column in heart_disease.COLUMNS if column.measurement == measured["name"]]
        if "range" in measured:
            low, high = measured["range"]
            assert (columns[0].centre - 2 * columns[0].scale, columns[0].centre + 2 * columns[0].scale) == (
                low,
                high,
            )
        else:
            share = 1 / max(len(columns), 2)
            assert all(
                c.centre == share and c.scale**2 == pytest.approx(share * (1 - share)) for c in columns
            )
    assert heart_disease.TABLE.bound >= np.sqrt(heart_disease.TABLE.d)
    assert all((heart_disease.TABLE.source, heart_disease.TABLE.licence, heart_disease.TABLE.provenance))


def test_clipped_rows_are_counted():
    lengths = np.concatenate([np.linalg.norm(rows, axis=1) for rows in heart_disease.rows().values()])
    assert heart_disease.clipped_share() == pytest.approx((lengths > heart_disease.TABLE.bound).sum() / 920)
    whole = np.concatenate(list(heart_disease.rows().values()))
    scaled = whole / np.maximum(lengths, heart_disease.TABLE.bound)[:, None]
    clipped = Cohort.from_rows([whole], heart_disease.TABLE.bound)
    np.testing.assert_allclose(clipped.pooled.dense(), scaled.T @ scaled / 920, atol=1e-12)


def test_the_shared_rows_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        heart_disease.rows()["Cleveland"][0, 0] = 1.0
