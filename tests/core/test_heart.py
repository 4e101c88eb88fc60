"""Four real hospitals: UCI's counts, what is absent, and constants that no row has touched."""

import json
from pathlib import Path

import numpy as np
import pytest

from dppca_core import Cohort, heart

STORED = json.loads((Path(heart.__file__).parents[1] / "data" / "heart_disease.json").read_text("utf-8"))
SIZES = {"Cleveland": 303, "Budapest": 294, "Long Beach": 200, "Zurich/Basel": 123}
FIRST = {  # of UCI's four processed files: age, sex, chest pain, blood pressure, cholesterol
    "Cleveland": (63, 1, 1, 145, 233),
    "Budapest": (28, 1, 2, 130, 132),
    "Long Beach": (63, 1, 4, 140, 260),
    "Zurich/Basel": (32, 1, 1, 95, 0),
}
PLACES = {column.name: j for j, column in enumerate(heart.COLUMNS)}


def test_the_hospitals_have_ucis_sizes():
    assert {name: len(values) for name, values in heart.recorded().items()} == SIZES
    assert sum(SIZES.values()) == heart.TABLE.n
    assert [len(rows) for rows in heart.rows().values()] == list(SIZES.values())


@pytest.mark.parametrize("hospital", SIZES)
def test_each_begins_with_the_patient_that_ucis_file_begins_with(hospital):
    assert tuple(heart.recorded()[hospital][0, :5]) == FIRST[hospital]


def test_no_swiss_patient_has_a_cholesterol():
    absent = heart.absent()
    assert absent["Zurich/Basel"]["chol"] == heart.Absent(1.0, 1.0)
    assert absent["Long Beach"]["chol"].zero == pytest.approx(49 / 200)
    assert absent["Cleveland"]["chol"].share == absent["Budapest"]["chol"].zero == 0
    assert (heart.rows()["Zurich/Basel"][:, PLACES["cholesterol"]] == 0).all()


def test_what_is_absent_states_zero_and_nothing_else_is_hidden():
    """Row by row against the file: the share of zeros of a measured column is that of its absent values."""
    for hospital, rows in heart.rows().items():
        for column in heart.COLUMNS:
            values = heart.recorded()[hospital][:, list(heart.MEASUREMENTS).index(column.measurement)]
            gone = np.isnan(values)
            if column.measurement in ("chol", "trestbps"):
                gone |= values == 0
            own = rows[:, PLACES[column.name]]
            assert (own[gone] == 0).all()
            if column.category is None:
                np.testing.assert_allclose(
                    own[~gone] * column.scale + column.centre, values[~gone], atol=1e-9
                )
            else:
                assert ((own[~gone] > 0) == (values[~gone] == column.category)).all()


def test_every_category_in_the_rows_is_named():
    """One that is not would state "in none of them", as if it were known."""
    for measured in STORED["measurements"]:
        values = np.concatenate(list(heart.recorded().values()))[
            :, list(heart.MEASUREMENTS).index(measured["name"])
        ]
        seen = set(values[~np.isnan(values)])
        if "categories" in measured:
            named = {float(code) for code in measured["categories"]}
            assert seen <= (named | {0.0} if len(named) == 1 else named)


def test_constants_follow_from_public_ranges_alone():
    for measured in STORED["measurements"]:
        own = [column for column in heart.COLUMNS if column.measurement == measured["name"]]
        if "range" in measured:
            low, high = measured["range"]
            assert (own[0].centre - 2 * own[0].scale, own[0].centre + 2 * own[0].scale) == (low, high)
        else:
            share = 1 / max(len(own), 2)
            assert all(c.centre == share and c.scale**2 == pytest.approx(share * (1 - share)) for c in own)
    assert heart.TABLE.bound >= np.sqrt(heart.TABLE.d)
    assert all((heart.TABLE.source, heart.TABLE.licence, heart.TABLE.provenance))


def test_clipped_rows_are_counted():
    lengths = np.concatenate([np.linalg.norm(rows, axis=1) for rows in heart.rows().values()])
    assert heart.clipped_share() == pytest.approx((lengths > heart.TABLE.bound).sum() / 920)
    whole = np.concatenate(list(heart.rows().values()))
    scaled = whole / np.maximum(lengths, heart.TABLE.bound)[:, None]
    clipped = Cohort.from_rows([whole], heart.TABLE.bound)
    np.testing.assert_allclose(clipped.pooled.dense(), scaled.T @ scaled / 920, atol=1e-12)


def test_the_shared_rows_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        heart.rows()["Cleveland"][0, 0] = 1.0
