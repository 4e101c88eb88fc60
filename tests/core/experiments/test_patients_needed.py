"""Patients needed for an error: exact on power laws, with the state of what was not reached."""

import numpy as np
import pandas as pd
import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import Axis, Recipe, sweep, variant
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from tests.core.laws import mean_is

PATIENTS = np.array([10**3, 2 * 10**3, 5 * 10**3, 10**4, 10**5, 10**6])


def table(errors, patients=PATIENTS, label="a", name="sin_theta"):
    errors = np.asarray(errors, dtype=float)
    point, repeat = np.indices(errors.shape).reshape(2, -1)
    columns = {"label": label, "method": "pca", "n": patients[point], "repeat": repeat, name: errors.ravel()}
    return pd.DataFrame(columns)


def only(*args, **more):
    answer = patients_needed(*args, **more)
    assert len(answer) == 1
    return answer.iloc[0]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_it_is_exact_on_a_power_law(power):
    """error = a / n^p is at the target from n = (a/target)^(1/p) on, between grid points and on them."""
    for truth in (1001.0, 1700.0, 5000.0, 40_000.0, 10.0**6):
        errors = 0.1 * (truth / PATIENTS[:, None]) ** power * np.ones(3)
        answer = only(table(errors), 0.1)
        assert answer["state"] == "reached" and answer["reason"] == ""
        assert answer[["patients", "low", "high"]].to_numpy(float) == pytest.approx(truth, rel=1e-9)


def test_the_median_counts_not_the_mean():
    errors = 30 / np.sqrt(PATIENTS)[:, None] * np.array([0.9, 1.0, 1000.0])
    assert only(table(errors), 0.1)["patients"] == pytest.approx(90_000, rel=1e-9)


def test_a_curve_that_rises_again_counts_from_its_last_fall():
    curve = np.array([1.0, 0.05, 0.4, 0.1, 0.01, 0.01])[:, None]
    within = 5_000 * 2 ** (np.log(0.4 / 0.2) / np.log(0.4 / 0.1))  # between the last 0.4 and 0.1
    assert only(table(curve), 0.2)["patients"] == pytest.approx(within, rel=1e-9)


def test_an_exact_zero_gives_its_own_grid_point():
    assert only(table([[1.0], [1.0], [0.0], [0.0], [0.0], [0.0]]), 0.1)["patients"] == 5000


def test_what_is_never_and_what_is_always_reached_says_so():
    never = only(table(np.full((6, 4), 0.5)), 0.1)
    assert never["state"] == "never" and never["patients"] == never["low"] == np.inf
    assert never["reason"] == "not reached by 1,000,000 patients"
    lost = only(table(np.array([1.0, 0.05, 0.05, 0.4, 0.05, 0.4])[:, None]), 0.1)
    assert lost["state"] == "never" and lost["reason"] == "reached and lost again by 1,000,000 patients"
    always = only(table(np.full((6, 4), 0.5)), 0.5)
    assert always["state"] == "at most" and always["patients"] == always["high"] == 1000
    assert "already reached by 1,000 patients" in always["reason"]


def test_an_interval_may_be_open():
    """Half of the runs reach it at the end: so do some resamples, and others never do."""
    errors = np.ones((6, 8))
    errors[-1, :5] = 0.05
    answer = only(table(errors), 0.1)
    assert answer["state"] == "reached" and answer["low"] <= answer["patients"] < np.inf == answer["high"]


def test_failed_runs_are_left_out_and_labels_keep_their_order():
    errors = 30 / np.sqrt(PATIENTS)[:, None] * np.ones(3)
    errors[0] = np.nan  # as where there are fewer patients than hospitals
    errors[3, 1] = np.nan
    both = pd.concat([table(errors, label="z"), table(np.full((6, 3), np.nan), label="b")])
    answer = patients_needed(both.sample(frac=1.0, random_state=1).sort_values("label", ascending=False), 0.1)
    assert answer["label"].tolist() == ["z", "b"]
    assert answer["patients"][0] == pytest.approx(90_000, rel=1e-9)
    assert answer["state"][1] == "unmeasured" and np.isnan(answer["patients"][1])


def test_an_empty_table_has_no_rows():
    answer = patients_needed(table(np.ones((6, 2))).iloc[:0], 0.1)
    assert len(answer) == 0 and answer["patients"].dtype == float


def covered(level, tables=150, repeats=10):
    """Return for each of many noisy tables whether the interval holds 90,000, where 30/sqrt(n) is 0.1."""
    rng = np.random.default_rng(5)
    errors = (
        30 / np.sqrt(PATIENTS)[:, None] * np.exp(0.3 * rng.standard_normal((tables, len(PATIENTS), repeats)))
    )
    noisy = pd.concat([table(errors[i], label=str(i)) for i in range(tables)])
    answers = patients_needed(noisy, 0.1, level=level)
    return answers["low"].le(90_000) & answers["high"].ge(90_000)


def test_the_interval_covers_as_often_as_it_says():
    """0.8 within 0.06, at the false-alarm rate of `mean_is`; 150 tables refuse one at half the level."""
    assert mean_is(covered(0.8), 0.8, slack=0.06)
    assert not mean_is(covered(0.4), 0.8, slack=0.06)


def test_on_a_sweep_the_same_twice():
    model = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.0, 5.0), seed=2)
    methods = (variant("analyze_gauss"), variant("analyze_gauss_sparse"))
    recipe = Recipe(model, methods, (Axis("n", (10**3, 10**4, 10**5, 10**6)),), s_hat=6, repeats=4)
    table = sweep(recipe)
    first = patients_needed(table, 0.05)
    pd.testing.assert_frame_equal(first, patients_needed(table, 0.05))
    assert set(first["state"]) == {"reached"} and first["patients"].between(10**3, 10**6).all()
    stricter = patients_needed(table, 0.01)
    assert (stricter["patients"] > first["patients"]).all()


@pytest.mark.parametrize(
    ("change", "more", "says"),
    [
        ({}, {"target": 0.0}, "target must be positive"),
        ({}, {"target": 0.1, "level": 1.0}, "level must lie strictly between"),
        ({"n": 1000}, {"target": 0.1}, "swept over n alone"),
    ],
)
def test_bad_input_is_named(change, more, says):
    with pytest.raises(ValueError, match=says):
        patients_needed(table(np.ones((6, 2))).assign(**change), **more)
