"""What a notebook draws of a study is what its page draws: the same lines, from the same numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from dppca_core import METHODS, Budget, SpikedModel
from dppca_core.experiments import studies, variant
from dppca_core.methods import dps_pca, register
from pages.explore.bounds import charts as bound_charts
from pages.explore.convergence import charts as convergence_charts
from pages.explore.methods import charts as method_charts
from pages.explore.methods.model import comparison
from pages.shared.charts import in_notebook
from pages.shared.settings import catalogue
from tests.pages.documents import Page

LINK = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10", "repeats": "2"}
MODEL = SpikedModel(d=30, k=2, s=6, spike=100.0, bulk=(0.0, 10.0), seed=0)
DELTA = catalogue.delta_for(10_000)
BUDGET = Budget(1.0, DELTA)
SAME = {"n": 10_000, "providers": 5, "s_hat": 10, "repeats": 2, "progress": False}
OFF = {f"use.{name}": "false" for name in comparison.used(catalogue.defaults())}
NAMES = ["dps_pca", "two_stage", "analyze_gauss", "pca"]
CHOSEN = OFF | {f"use.{name}": "true" for name in NAMES}
ROWS = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 5)), columns=list("abcde")) * [5, 3, 1, 1, 1]


def lines(figure) -> dict[str, tuple[list, list]]:
    """Return the points of each trace that has some, by its name; of a figure or a page's payload."""
    traces = figure["data"] if isinstance(figure, dict) else [trace.to_plotly_json() for trace in figure.data]
    return {trace["name"]: (list(trace["x"]), list(trace["y"])) for trace in traces if "name" in trace}


@pytest.mark.parametrize("metric", ["sin", "share", "degrees"])
def test_a_comparison_draws_the_methods_page(metric):
    page = Page("explore/methods/page.py", **LINK, **CHOSEN, metric=metric).settle()
    study = studies.compare(MODEL, NAMES, BUDGET, **SAME)
    figure = method_charts.figure(study, metric)
    ours, theirs = lines(figure), lines(page.figures["methods figure"].payload)
    on_unit = {name for name in theirs if name.endswith(", length 1")}  # which the page measures besides
    assert set(theirs) - on_unit == set(ours)
    assert {name: theirs[name] for name in ours if name != "this setting"} == {
        name: points for name, points in ours.items() if name != "this setting"
    }
    code = page.figures["methods figure"].code().table().set_index(["label", "epsilon"])
    frame = study.to_frame(metric)
    np.testing.assert_allclose(code.loc[frame.index].to_numpy(dtype=float), frame, rtol=1e-12)


def test_a_registered_method_is_drawn_with_the_others():
    register("my_pca", replace(dps_pca.METHOD, title="My PCA"))
    try:
        study = studies.compare(MODEL, ["my_pca", "pca"], BUDGET, values=(0.5,), **SAME)
        needed = studies.patients_needed(MODEL, 0.3, ["my_pca"], BUDGET, values=(10**4, 10**6), repeats=2)
        rounds = studies.convergence(MODEL, "my_pca", BUDGET, **SAME)
        points = lines(method_charts.figure(study))["My PCA"]
        assert points[1] == pytest.approx(study.to_frame()["50 %"]["my_pca"], rel=1e-3)
        (bar,) = method_charts.figure(needed).data[0].y
        assert bar == "My PCA" and convergence_charts.figure(rounds).data
    finally:
        METHODS.added.clear()


def test_a_study_of_convergence_draws_its_page():
    page = Page("explore/convergence/page.py", **LINK).settle()
    block = page.figures["overlay figure"]
    recipe = block.recipe()
    values = recipe.swept[0].values
    study = studies.convergence(MODEL, "dps_pca", BUDGET, values=values, **SAME)
    for layout in ("overlay", "multiples"):
        page.move("layout", layout)
        shown = page.settle().figures[f"{layout} figure"].payload
        figure = convergence_charts.figure(study, layout=layout)
        assert lines(figure) == lines(shown)
        assert len(figure.data) == len(shown["data"])
    code = block.code().table().set_index(["epsilon", "round"])
    np.testing.assert_allclose(code.to_numpy(dtype=float), study.to_frame(), rtol=1e-12)


def test_a_study_of_bounds_draws_its_page():
    page = Page("explore/bounds/page.py", **LINK).settle()
    block = page.figures["bounds figure"]
    names = list(block.code().arguments["bounds"])
    study = studies.bounds(MODEL, names, BUDGET, **SAME)
    assert lines(bound_charts.figure(study)) == lines(block.payload)
    code = block.code().table().set_index("index")
    np.testing.assert_allclose(code.to_numpy(dtype=float), study.to_frame(), rtol=1e-9)


def test_a_study_of_patients_needed_draws_its_page():
    link = LINK | CHOSEN | {"compare.panel": "needed", "compare.target": "0.2"}
    page = Page("explore/methods/page.py", **link).settle()
    block = page.figures["needed figure"]
    study = studies.patients_needed(MODEL, 0.2, NAMES, BUDGET, **SAME | {"n": 10_000})
    bars, _ = method_charts.figure(study).data
    theirs = block.payload["data"][0]
    ours = dict(zip(bars["y"], bars["x"], strict=True))
    assert ours == dict(zip(theirs["y"], theirs["x"], strict=True)) and len(ours) > 2
    code = block.code().table().set_index("label")
    columns = ["patients", "low", "high"]
    both = study.to_frame().set_index("label")[columns], code.loc[NAMES, columns].astype(float)
    pd.testing.assert_frame_equal(*both)


def test_own_rows_are_drawn_in_every_figure():
    settings = {"k": 2, "bound": 9.0, "repeats": 2, "progress": False}
    figures = [
        method_charts.figure(studies.compare(ROWS, NAMES, BUDGET, **settings)),
        convergence_charts.figure(studies.convergence(ROWS, "dps_pca", BUDGET, values=(0.5,), **settings)),
        bound_charts.figure(studies.bounds(ROWS, None, BUDGET, **settings), "degrees"),
    ]
    for figure in figures:
        assert isinstance(figure, go.Figure) and len(figure.data) > 5
        assert figure.to_json() and "own rows" not in figure.to_json()


def test_what_cannot_be_drawn_is_refused():
    twice = [variant("dps_pca"), variant("dps_pca", "other", burn_in=0)]
    study = studies.compare(MODEL, twice, BUDGET, values=(), **SAME)
    with pytest.raises(ValueError, match="each method once"):
        method_charts.figure(study)
    with pytest.raises(ValueError, match="metric must be one of degrees, projector, share, sin, got"):
        in_notebook.settings("energy")
    many = studies.convergence(MODEL, "dps_pca", BUDGET, values=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), **SAME)
    with pytest.raises(ValueError, match="number of values must be between 1 and 6, got 7"):
        convergence_charts.figure(many)
