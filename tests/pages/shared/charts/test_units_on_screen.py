"""Test that one conversion gives the share and the angle of runs, of theory and of a guess."""

import math

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from dppca_core.experiments.explorer.results import Results
from pages.shared import text
from pages.shared.charts import metric_axis
from pages.shared.charts.metric_axis import Scale
from pages.shared.settings import catalogue, to_experiment

SMALL = catalogue.defaults() | {"d": 20, "s": 5, "k": 2, "s_hat": 10, "repeats": 1, "n": 10_000}


@pytest.mark.parametrize(("view", "metric"), [("plain", "sin"), ("full", "share"), ("full", "degrees")])
def test_a_run_is_shown_as_scipy_has_it(view, metric):
    settings = SMALL | {"view": view, "metric": metric}
    experiment, epsilon = to_experiment.from_settings(settings)
    results = Results(experiment)
    results.try_cells([("analyze_gauss", epsilon, 0)])
    basis = results.estimate("analyze_gauss", epsilon, 0).basis
    angles, scale = subspace_angles(basis, results.truth.basis), Scale(results, settings)
    expected = math.degrees(angles.max()) if metric == "degrees" else 100 * np.mean(np.cos(angles) ** 2)
    assert scale.final_error(results.cell("analyze_gauss", epsilon, 0)) == pytest.approx(expected, rel=1e-8)
    assert metric == "degrees" or scale.guess == pytest.approx(100 * 2 / 20)


def test_theory_has_degrees_for_one_component_alone():
    sine = math.sin(math.radians(30))
    assert metric_axis.in_unit("degrees", sine, 1) == pytest.approx(30)
    assert np.isnan(metric_axis.in_unit("degrees", sine, 2))
    assert metric_axis.in_unit("share", sine, 2) == pytest.approx(100 * (1 - 0.25 / 2))


def test_a_verdict_is_alike_in_share_and_in_sine():
    shares = metric_axis.in_unit("share", np.array([0.2, 0.9]), 3)
    ratio = metric_axis.as_error("share", shares[0]) / metric_axis.as_error("share", shares[1])
    assert ratio == pytest.approx(0.2 / 0.9)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (98.8, "98.8 %"),
        (1.5, "1.5 %"),
        (99.9933, "99.993 %"),
        (86.2, "86 %"),
        (100.0, "100 %"),
        (99.99999, "over 99.9999 %"),
        (10 - 1e-12, "10 %"),
    ],
)
def test_shares_keep_what_tells_them_from_all(value, words):
    assert text.recovered(value) == words
