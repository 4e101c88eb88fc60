"""Data frames go by the names of their columns, which travel to the estimate."""

import numpy as np
import pandas as pd
import pytest

from dppca_core import METHODS, Budget, Cohort, datasets

BUDGET = Budget(1.0, 1e-6)
RNG = np.random.default_rng(0)
FIRST = pd.DataFrame(RNG.normal(size=(40, 4)), columns=["age", "weight", "pulse", "sex"])
SECOND = pd.DataFrame(RNG.normal(size=(30, 4)), columns=list(FIRST))
SECRET = 7654.321


def test_frames_are_taken_by_name():
    """Another order of the columns is no other cohort, and arrays give the same."""
    arrays = Cohort.from_rows([FIRST.to_numpy(), SECOND.to_numpy()], 3.0)
    for second in (SECOND, SECOND[["pulse", "sex", "age", "weight"]]):
        frames = Cohort.from_rows([FIRST, second], 3.0)
        assert frames.columns == tuple(FIRST) and arrays.columns == ()
        for one_way, other in zip(frames, arrays, strict=True):
            np.testing.assert_array_equal(one_way.moment.dense(), other.moment.dense())


@pytest.mark.parametrize("name", METHODS)
def test_every_estimate_has_the_features_of_the_frames(name):
    cohort = Cohort.from_rows([FIRST, SECOND], 3.0)
    options = {"support": (0, 1)} if name == "oracle_pca" else {}
    estimate = METHODS[name].fit(cohort, k=2, budget=BUDGET, rng=np.random.default_rng(1), **options)
    frame = estimate.to_frame()
    assert list(frame.index) == list(FIRST) and list(frame) == ["component 1", "component 2"]
    np.testing.assert_array_equal(frame.to_numpy(), estimate.basis)
    again = METHODS[name].fit(
        Cohort.from_rows([FIRST.to_numpy(), SECOND.to_numpy()], 3.0),
        k=2,
        budget=BUDGET,
        rng=np.random.default_rng(1),
        **options,
    )
    np.testing.assert_array_equal(again.basis, estimate.basis)
    assert list(again.to_frame().index) == [0, 1, 2, 3]


def test_columns_stay_where_a_cohort_becomes_another():
    cohort = Cohort.from_rows([FIRST, SECOND], 3.0)
    assert cohort.unit().columns == cohort.weighted(np.array([0.5, 0.5])).columns == tuple(FIRST)
    budgets = [BUDGET, Budget(2.0, 1e-6)]
    estimate = METHODS["dps_pca"].fit(cohort, k=1, budget=budgets, rng=np.random.default_rng(1))
    assert estimate.features == tuple(FIRST)
    table = datasets.cohort("breast_cancer", (300, 269), seed=0)
    assert table.columns == datasets.table("breast_cancer").features
    with pytest.raises(ValueError, match="columns must name 4 features, got 1 names"):
        Cohort.together(cohort.providers, columns=("age",))


def test_pairs_are_names_as_well():
    frame = FIRST.set_axis(pd.MultiIndex.from_product([["first", "second"], ["low", "high"]]), axis=1)
    estimate = METHODS["pca"].fit(
        Cohort.from_rows([frame], 3.0), k=1, budget=BUDGET, rng=np.random.default_rng(1)
    )
    assert list(estimate.to_frame().index) == list(frame)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([FIRST, SECOND.rename(columns={"age": "years"})], "lacks 'age' and it has 'years' besides"),
        (
            [FIRST, SECOND.drop(columns="sex")],
            r"rows\[1\] must have the columns of rows\[0\]: it lacks 'sex'$",
        ),
        ([FIRST, SECOND.assign(id=1.0)], "it has 'id' besides"),
        ([FIRST, SECOND.to_numpy()], "all data frames or all matrices"),
        ([FIRST.to_numpy(), SECOND], "all data frames or all matrices"),
        ([FIRST.set_axis(["age", "age", "pulse", "sex"], axis=1)], "each column once, got several of 'age'"),
        ([FIRST.assign(sex=str(SECRET))], "must hold numbers, got other values in 'sex'"),
        ([FIRST.assign(sex=pd.Timestamp("1999-01-01"))], "must hold numbers, got other values in 'sex'"),
        ([FIRST.assign(sex=pd.Timedelta(days=3))], "must hold numbers, got other values in 'sex'"),
        ([FIRST.assign(sex=SECRET * 1j)], "real numbers"),
        ([FIRST.assign(sex=[np.nan, *[SECRET] * 39])], "no missing values, got some in 'sex'"),
        ([FIRST.assign(sex=[np.inf, *[SECRET] * 39])], "finite numbers only"),
        ([FIRST.iloc[:0]], "non-empty matrix"),
        (FIRST, r"a list with a part for each hospital, got DataFrame of shape \(40, 4\)"),
        ([[["a", str(SECRET)]]], "a matrix of numbers, got list of length 1"),
        ([pd.DataFrame({str(i): ["x"] for i in range(99)})], "'0', '1', '10', '11', '12' and 94 more$"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused_by_its_columns(rows, message):
    with pytest.raises(ValueError, match=message) as caught:
        Cohort.from_rows(rows, 3.0)
    assert str(SECRET) not in str(caught.value)
    assert caught.value.__cause__ is None  # or a traceback would quote the cell


def test_whole_numbers_and_switches_are_numbers():
    frame = pd.DataFrame(
        {"age": [70, 35], "smokes": [True, False], "visits": pd.array([3, 1], dtype="Int64")}
    )
    expected = Cohort.from_rows([np.array([[70.0, 1.0, 3.0], [35.0, 0.0, 1.0]])], 50.0)
    made = Cohort.from_rows([frame], 50.0)
    np.testing.assert_array_equal(made.pooled.dense(), expected.pooled.dense())
