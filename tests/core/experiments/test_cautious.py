"""Test the patients that a study needs with one more cautious hospital, by running its method."""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.planning.cautious import patients_with_cautious
from dppca_core.experiments.planning.planning import StudyPlan
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import sin_theta
from dppca_core.populations.spiked import SpikedModel

EXPERIMENT = ExplorerExperiment(SpikedModel(d=30, k=2, s=6), 20_000, 2, 12, 1e-6, 5)


@pytest.mark.parametrize("name", ["cape", "two_stage_own_noise", "analyze_gauss"])
def test_it_costs_more_than_nothing_and_less_than_strictness_for_all(name):
    plan = StudyPlan(EXPERIMENT, name, 0.05)
    needed = [patients_with_cautious(plan, 1.0, strict).value for strict in (1.0, 0.5, 0.1)]
    assert needed[0] == pytest.approx(plan.patients(1.0).value, rel=1e-3)
    assert needed == sorted(needed)
    if name == "analyze_gauss":  # one noise protects all
        assert needed[1:] == [plan.patients(strict).value for strict in (0.5, 0.1)]
    else:
        assert needed[2] < 1.3 * needed[0] < plan.patients(0.5).value


def test_a_cautious_hospital_like_the_others_changes_nothing_by_looser_accounting():
    plan = StudyPlan(replace(EXPERIMENT, accounting="zcdp"), "cape", 0.05)
    same, asked = patients_with_cautious(plan, 1.0, 1.0).value, plan.patients(1.0).value
    assert same == pytest.approx(asked, rel=1e-3)


def test_runs_at_the_answer_err_as_was_planned():
    """Root mean square of 20 runs: its standard error is about 2 %."""
    plan = StudyPlan(EXPERIMENT, "cape", 0.1)
    experiment = replace(EXPERIMENT, n=patients_with_cautious(plan, 1.0, 0.2).value)
    common = experiment.budget(1.0)
    budgets = [replace(common, epsilon=0.2), *[common] * 4]
    truth = Results(experiment).truth.basis
    errors = []
    for repeat in range(20):
        estimate = METHODS["cape"].fit(
            experiment.cohort(repeat), k=2, budget=budgets, rng=np.random.default_rng(repeat), **plan.options
        )
        errors.append(sin_theta(estimate.basis, truth))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(0.1, rel=0.1)
