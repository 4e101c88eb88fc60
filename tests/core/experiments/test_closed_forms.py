"""Which bounds are an experiment's closed forms, and where they are void for what it asks of its methods."""

import math
from dataclasses import replace

import pytest

from dppca_core import SpikedModel
from dppca_core.bounds import BOUNDS
from dppca_core.experiments.explorer import closed_forms
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS

MODEL = SpikedModel(d=40, k=2, s=6, seed=0)
EXPERIMENT = ExplorerExperiment(MODEL, n=20_000, k=2, s_hat=10, delta=1e-5, repeats=3)


def test_two_stages_have_a_closed_form_under_every_trust():
    staged = {name for name, method in METHODS.items() if method.chooses_rows}
    assert staged <= set(closed_forms.CLOSED_FORMS) and len(staged) == 3
    assert closed_forms.closed_form(Results(EXPERIMENT), "mod_sulq", 1.0) is None


@pytest.mark.parametrize("method", ["dps_pca", "two_stage", "two_stage_own_noise"])
def test_it_is_the_bound_at_the_experiments_setting(method):
    """The experiment's ten iterations are those of DPS-PCA: two stages are predicted with four rounds."""
    results = Results(EXPERIMENT)
    bound = closed_forms.closed_form(results, method, 1.0)
    assert bound.final == BOUNDS[closed_forms.CLOSED_FORMS[method]](results.setting(1.0)).final
    assert len(results.estimate("two_stage", 1.0, 0).iterates) == 6


@pytest.mark.parametrize(
    ("experiment", "needs"),
    [
        (replace(EXPERIMENT, s_hat=40, choose_rows=True), "chosen from the release"),
        (replace(EXPERIMENT, population="breast_cancer", n=569, s_hat=30), "of a table"),
    ],
)
def test_two_stages_are_not_predicted_for_what_the_closed_form_is_not_about(experiment, needs):
    results = Results(experiment)
    bound = closed_forms.closed_form(results, "two_stage", 1.0)
    assert bound.final == math.inf and not bound.applies and needs in bound.failed[0]
    assert not any(needs in line for line in closed_forms.closed_form(results, "dps_pca", 1.0).failed)


def test_runs_that_find_all_rows_are_counted():
    results = Results(EXPERIMENT)
    cells = [results.cell("two_stage", 1.0, repeat) for repeat in range(3)]
    assert closed_forms.count_complete(cells) == 3
    assert closed_forms.count_complete([cells[0], cells[1]._replace(support=5 / 6)]) == 1
