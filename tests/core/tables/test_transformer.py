"""The dictionary as a scikit-learn transformer, also before `PrivatePCA`: without noise, PCA of its rows."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from dppca_core import sin_theta, tables
from dppca_core.sklearn import PrivatePCA
from dppca_core.tables import Column, Schema
from dppca_core.tables.transformer import DictionaryEncoder

SCHEMA = Schema(
    (
        Column("age", "number", 0, 120, missing_codes=("-1",)),
        Column("sex", "category", categories=("female", "male"), fill="", synonyms=(("m", "male"),)),
        Column("weight", "number", 30, 200, fill=80.0, usual=75.0, missing_codes=("<5",)),
    )
)


def frame(n=500):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, n)
    weight = (40 + age / 2 + rng.normal(0, 8, n)).astype(str)
    sex = rng.choice(["female", "M ", "male", "?"], n)
    made = pd.DataFrame({"clinic": "north", "weight": weight, "sex": sex, "age": age})
    made.loc[:9, "age"], made.loc[20:24, "weight"] = -1, " <5"
    return made


def test_a_frame_and_an_array_are_encoded_as_a_table_is():
    encoder = DictionaryEncoder(SCHEMA).fit(frame())
    encoded = tables.encode(SCHEMA, tables.from_frame(frame(), "t").table)
    rows = encoder.transform(frame())
    np.testing.assert_array_equal(rows[10:], encoded.rows)
    assert not rows[:10].any() and encoded.owner.dropped == 10
    values = frame()[["age", "sex", "weight"]].to_numpy()
    np.testing.assert_array_equal(clone(encoder).fit_transform(values), rows)
    assert list(encoder.set_output(transform="pandas").transform(frame())) == list(SCHEMA.features)


def test_without_noise_the_pipeline_is_pca_of_the_encoded_rows():
    pca = PrivatePCA(
        method="analyze_gauss",
        n_components=2,
        epsilon=1e12,
        delta=1e-6,
        bound=SCHEMA.longest,
        private_center=0.2,
    )
    fitted = make_pipeline(DictionaryEncoder(SCHEMA), pca).fit(frame())
    rows = fitted[0].transform(frame())
    assert sin_theta(fitted[1].components_.T, PCA(2).fit(rows).components_.T) < 1e-4
    assert fitted.transform(frame()).shape == (500, 2)


def test_scikit_learns_checks_pass():
    """Each with one of these dictionaries: an array must have as many columns as its dictionary."""
    from sklearn.utils.estimator_checks import check_estimator  # slow, and every process collects this file

    statuses = defaultdict(set)
    for width in (2, 3, 4, 5, 10):
        schema = Schema(tuple(Column(f"c{i}", "number", -3, 3, fill=0.0) for i in range(width)))
        for check in check_estimator(DictionaryEncoder(schema), on_fail=None, on_skip=None):
            statuses[check["check_name"]].add(check["status"])
    assert len(statuses) > 35
    assert {name for name, seen in statuses.items() if "passed" not in seen} == {"check_array_api_input"}


def test_what_cannot_be_encoded_is_refused_without_its_cell():
    encoder = DictionaryEncoder(SCHEMA).fit(frame())
    with pytest.raises(ValueError, match="'weight' holds no number in row 7, but text") as caught:
        encoder.transform(frame().assign(weight=["80"] * 6 + ["Xcanary7"] + ["80"] * 493))
    assert "canary" not in str(caught.value)
    with pytest.raises(TypeError, match="schema"):
        DictionaryEncoder(SCHEMA.to_json()).fit(frame())
    with pytest.raises(ValueError, match="no column 'weight'"):
        DictionaryEncoder(SCHEMA).fit_transform(frame().drop(columns="weight"))
