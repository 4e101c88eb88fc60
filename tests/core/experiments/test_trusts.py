"""Test which method is shown under each trust at an experiment's setting."""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core import METHODS, SpikedModel, sin_theta
from dppca_core.bounds.recommendation import TRUSTS, recommend
from dppca_core.experiments.collaboration.experiment import ALL, CollaborationExperiment
from dppca_core.experiments.collaboration.protocols import ALONE, PROTOCOLS
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.records import RELEASED

MODEL = SpikedModel(d=50, k=3, s=10, spike=20.0, bulk=(0.0, 15.0))
EXPERIMENT = ExplorerExperiment(population=MODEL, n=10_000, k=3, s_hat=20, delta=1e-5, providers=50)


def test_a_model_s_spectrum_is_known_and_a_table_s_is_declared():
    public = trusts.recommended(EXPERIMENT, 1.0, "secure aggregation")
    numbers = {"n": 10_000, "d": 50, "k": 3, "budget": EXPERIMENT.budget(1.0), "s_hat": 20, "providers": 50}
    assert public == recommend("secure aggregation", model=MODEL, **numbers)
    assert public.method == "sealed_sparse"
    table = replace(EXPERIMENT, population="breast_cancer", n=500, k=2, s_hat=10)
    numbers = {"n": 500, "d": table.d, "k": 2, "budget": table.budget(1.0), "s_hat": 10, "providers": 50}
    assert trusts.recommended(table, 1.0, "central") == recommend("central", **numbers)


def test_the_same_method_under_several_trusts_is_the_same_runs():
    names = trusts.methods_shown(EXPERIMENT, 1.0)
    shown = trusts.by_trust(names)
    assert shown["central"] == shown["secure aggregation"] != shown["untrusted server"]
    assert set(names) == {*shown.values(), NO_PRIVACY}
    results = Results(replace(EXPERIMENT, repeats=2))
    results.try_cells((shown["central"], 1.0, r) for r in range(2))
    answer = trusts.recommended(EXPERIMENT, 1.0, "central")
    # Pages run a method with the experiment's options, which are those that were recommended.
    assert dict(answer.options) == {**EXPERIMENT.options(answer.method), "s_hat": 20}
    errors = [cell.sin[-1] for cell in results.measured(shown["secure aggregation"], 1.0)]
    assert len(errors) == 2 and max(errors) < 0.25


@pytest.mark.parametrize("trust", TRUSTS)
def test_features_that_a_release_chooses_are_recommended_so(trust):
    chosen = replace(EXPERIMENT, population=replace(MODEL, spike=80.0), choose_rows=True, s_hat=50)
    answer = trusts.recommended(chosen, 1.0, trust)
    assert METHODS[answer.method].chooses_rows and answer.options == {"s_hat": RELEASED}
    assert chosen.options(answer.method)["s_hat"] == RELEASED


def test_joining_hospitals_have_the_very_errors_of_the_explorer():
    """Run by run, at the same setting: each draws patients and noise by the same seeds."""
    joined = CollaborationExperiment(
        population=MODEL,
        sizes=EXPERIMENT.sizes,
        k=3,
        s_hat=20,
        rank=3,
        budget=EXPERIMENT.budget(1.0),
        scaling=EXPERIMENT.scaling,
    )
    results = Results(EXPERIMENT)
    for name in dict.fromkeys(trusts.by_trust(trusts.methods_shown(EXPERIMENT, 1.0)).values()):
        for run in range(2):
            basis = joined.estimate(PROTOCOLS[name], ALL, run).basis
            error = results.cell(name, 1.0, run).sin[-1]
            assert sin_theta(basis, joined.truth.basis) == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS[::5])
@pytest.mark.parametrize("providers", [1, 2, 50])
def test_methods_shown_are_told_apart_by_their_trust(providers, epsilon):
    experiment = replace(EXPERIMENT, providers=providers)
    shown = trusts.by_trust(trusts.methods_shown(experiment, epsilon))
    assert shown == {trust: trusts.recommended(experiment, epsilon, trust).method for trust in TRUSTS}


@pytest.mark.parametrize(("patients", "s_hat"), [(3200, 20), (6400, 20), (6400, 50)])
def test_a_hospital_alone_errs_as_predicted(patients, s_hat):
    """So it did not where its rows were divided by a public bound: .43 predicted, 1.0 to 1.4 measured."""
    experiment = replace(EXPERIMENT, n=50 * patients, s_hat=s_hat)
    chosen = trusts.recommended_alone(experiment, 1.0, patients)
    setting = CollaborationExperiment.from_experiment(experiment, 1.0, rank=10)
    truth = setting.truth.basis

    def median(protocol):
        return np.median([sin_theta(setting.estimate(protocol, 0, run).basis, truth) for run in range(10)])

    measured, by_bound = median(ALONE[chosen.method]), median(ALONE["analyze_gauss"])
    assert chosen.error / 1.25 < measured < 1.25 * chosen.error < by_bound
