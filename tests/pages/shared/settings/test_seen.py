"""Test that picking a table leads to where something is seen of it, as the screen states."""

import numpy as np
import pytest

from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics.subspace_metrics import share_recovered
from pages.shared.settings import catalogue, to_experiment


@pytest.mark.parametrize("name", TABLES)
def test_picking_a_table_shows_the_share_that_is_stated(name):
    """The seed is fixed; 8 points either way let the numbers of another platform pass."""
    now, sentences = catalogue.reconcile(catalogue.defaults() | {"data": name}, "data")
    (_, stated), k = catalogue.SUITED_TO_TABLE[name], now["k"]
    experiment, epsilon = to_experiment.from_settings(now)
    results = Results(experiment)
    results.try_cells((experiment.method, epsilon, repeat) for repeat in range(experiment.repeats))
    runs = results.measured(experiment.method, epsilon)
    measured = 100 * float(np.median([share_recovered(run.sin[-1], k) for run in runs]))
    assert measured == pytest.approx(stated, abs=8)
    assert measured > 4 * 100 * k / experiment.d  # far from a guess
    assert any(f"{stated} %" in sentence for sentence in sentences)


def test_picking_a_table_keeps_what_a_visitor_has_set_and_a_link_means_what_it_meant():
    asked = catalogue.defaults() | {"data": "digits", "epsilon": 0.5, "k": 2}
    now, _ = catalogue.reconcile(asked, "data")
    assert (now["epsilon"], now["k"]) == (0.5, 2)
    assert catalogue.open_link({"data": "digits"})[0]["epsilon"] == 1.0
