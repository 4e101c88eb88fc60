"""Test that tables and figures leave every page as files that need no network."""

import io
import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from dppca_core.experiments.explorer.experiment import EPSILONS
from pages.explore.bounds import charts
from pages.explore.bounds.model import Bounds
from pages.shared.background import cache
from pages.shared.charts import explorer_summary
from pages.shared.charts.traces import as_shown
from pages.shared.document import file
from pages.shared.settings import catalogue, to_experiment

SETTINGS = catalogue.defaults() | {"d": 20, "k": 2, "s": 6, "s_hat": 10, "repeats": 2, "n": 10_000}


@pytest.fixture(scope="module")
def payload():
    experiment, epsilon = to_experiment.from_settings(SETTINGS)
    results = cache.results(experiment)
    for cell in results.missing(results.first(epsilon)):
        results.try_cell(*cell)
    return explorer_summary.payload(results, epsilon, SETTINGS)


def test_the_explorers_figure_is_drawn_as_it_stands(payload):
    """It has the active frame's values, and no key unknown to Plotly."""
    still = as_shown(payload)
    go.Figure(still)
    frame = payload["frames"][EPSILONS.index(1.0)]
    for place, patch in frame["traces"].items():
        assert {name: still["data"][int(place)][name] for name in patch if name != "meta"} == {
            name: value for name, value in patch.items() if name != "meta"
        }
    assert still["layout"]["yaxis3"]["ticktext"] == frame["methods"]


def test_the_html_stands_alone(payload):
    page = file.of_figure(payload, "dppca-explorer")
    assert "<h1>dppca-explorer</h1>" in page
    assert "With 10,000 patients in 5 hospitals" in page and 1e6 < len(page) < 3e6
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", page)


def test_the_bounds_table_holds_what_is_drawn():
    m = Bounds(SETTINGS)
    for epsilon in EPSILONS:
        m.results.try_cell("dps_pca", epsilon, 0)
    table = charts.table(m)
    again = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    bounds = again[again["name"] == "ge2018"]
    assert bounds["epsilon"].tolist() == list(EPSILONS)
    np.testing.assert_allclose(bounds["sin_theta"], [bound.final for bound in m.evaluated["ge2018"]])
    measured = again[(again["name"] == "dps_pca") & (again["repeat"] == 0)].set_index("epsilon")["sin_theta"]
    assert measured[1.0] == pytest.approx(m.results.cell("dps_pca", 1.0, 0).sin[-1])
