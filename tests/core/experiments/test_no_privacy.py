"""Test the one number without privacy, and how much of a lead is due to rows of length 1."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import METHODS, Budget, SpikedModel, sin_theta
from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import ON_UNIT_ROWS, UNIT_NAMES, Results
from dppca_core.experiments.no_privacy import NO_PRIVACY, UNPROTECTED

MODEL = SpikedModel(d=60, k=2, s=6, seed=1)
EXPERIMENT = ExplorerExperiment(MODEL, n=5000, k=2, s_hat=12, delta=1e-5, repeats=6, method="two_stage")
NUMBERS = (10**3, 10**5, 10**9)


def medians(s_hat: int, n: int, scalings: tuple[str, ...]) -> list[float]:
    """Return the median errors over six draws of each method and scaling, by their own calls."""
    errors = []
    for name in UNPROTECTED:
        options = {} if name == "pca" else {"s_hat": s_hat}
        for scaling in scalings:
            runs = []
            for draw in range(6):
                cohort = draws.cohort(MODEL, (n,), draws.PUBLIC, 0, draw)
                arguments = {"rng": np.random.default_rng(draw), "scaling": scaling, **options}
                basis = METHODS[name].fit(cohort, k=2, budget=Budget(1.0, 1e-5), **arguments).basis
                runs.append(sin_theta(basis, MODEL.basis))
            errors.append(float(np.median(runs)))
    return errors


@pytest.mark.parametrize("n", NUMBERS)
def test_it_is_the_best_of_every_method_on_both_kinds_of_rows(n):
    every = medians(MODEL.s, n, ("inside", "unit"))
    assert no_privacy.error(MODEL, n, 2, repeats=6) == pytest.approx(min(every), rel=1e-6)


def test_it_depends_on_the_population_n_and_k_alone():
    """Whatever epsilon, delta, hospitals, features kept and the method: the same runs, so the same number."""
    free = no_privacy.error(MODEL, EXPERIMENT.n, 2, repeats=6)
    for changed in ({}, {"delta": 1e-7}, {"providers": 9}, {"s_hat": 30}, {"method": "dps_pca"}):
        results = Results(replace(EXPERIMENT, **changed))
        for epsilon in (0.1, 10.0):
            results.try_cells((NO_PRIVACY, epsilon, r) for r in range(results.repeats_of(NO_PRIVACY)))
            runs = [cell.sin[-1] for cell in results.measured(NO_PRIVACY, epsilon)]
            assert len(runs) == 6 and float(np.median(runs)) == free


@pytest.mark.parametrize("n", NUMBERS)
def test_no_recommended_method_errs_less(n):
    """At epsilon = 10, where there is next to no noise, on the same patients."""
    results = Results(replace(EXPERIMENT, n=n))
    for trust in trusts.TRUSTS:
        name = trusts.recommended(results.experiment, 10.0, trust).method
        errors = [results.cell(name, 10.0, repeat).sin[-1] for repeat in range(6)]
        assert np.median(errors) >= no_privacy.error(MODEL, n, 2, repeats=6), name


def test_a_reference_that_keeps_too_many_features_is_beaten():
    """So it was with 1e9 patients: methods without privacy that kept 20 features of which 10 matter."""
    model = SpikedModel(d=200, k=3, s=10)
    results = Results(ExplorerExperiment(model, 10**9, 3, 20, 1e-5, repeats=6, method="two_stage"))
    private, kept_20 = (
        np.median([results.cell(name, 1.0, r).sin[-1] for r in range(6)])
        for name in ("two_stage", "sparse_pca_shrunk")
    )
    assert no_privacy.error(model, 10**9, 3, repeats=6) < 0.95 * private < private < 0.9 * kept_20


def test_of_a_table_it_is_pca_of_the_table():
    assert no_privacy.error("breast_cancer", 569, 2) < 1e-12
    results = Results(ExplorerExperiment("breast_cancer", n=569, k=2, s_hat=10, delta=1e-3, repeats=3))
    results.try_cells((NO_PRIVACY, 1.0, r) for r in range(results.repeats_of(NO_PRIVACY)))
    assert [cell.sin[-1] < 1e-12 for cell in results.measured(NO_PRIVACY, 1.0)] == [True]
    assert {row["method"] for row in results.table().to_dict("records")} == {
        "no privacy: pca, inside",
        "no privacy: pca, unit",
    }


def test_captured_energy_is_measured_where_it_is_asked_for():
    results = Results(replace(EXPERIMENT, energy=True))
    results.try_cells([(NO_PRIVACY, 1.0, 0)])
    (cell,) = results.measured(NO_PRIVACY, 1.0)
    assert 0.99 < cell.energy[-1] <= 1.0


def test_a_lead_is_divided_between_the_rows_and_the_method():
    """By hand: 12 times as much, 3 times on rows of length 1, log 4/log 12 = .558 of it by scaling."""
    lead = trusts.Lead("two_stage", "analyze_gauss_sparse", 12.0, 3.0)
    assert lead.scaling == pytest.approx(math.log(4) / math.log(12))
    assert math.isnan(trusts.Lead("two_stage", "analyze_gauss", 0.9, 0.8).scaling)


def test_the_best_published_method_is_run_on_rows_of_length_1():
    """Its runs are those of the method itself with that scaling, and the lead is of the medians."""
    results = Results(EXPERIMENT)
    assert trusts.lead(results, 1.0, "central") is None
    leader = trusts.recommended(EXPERIMENT, 1.0, "central").method
    names = (leader, "analyze_gauss", "analyze_gauss_sparse", "noisy_power")
    results.try_cells((name, 1.0, r) for name in names for r in range(6))
    best = results.best_published(1.0, "central")
    errors = {name: np.median([c.sin[-1] for c in results.measured(name, 1.0)]) for name in names}
    assert best == "analyze_gauss_sparse" == min(names[1:], key=errors.__getitem__)
    unit = UNIT_NAMES[best]
    results.try_cells((unit, 1.0, r) for r in range(6))
    rng = draws.generator(0, 0, best)
    estimate = METHODS[best].fit(
        EXPERIMENT.cohort(0), k=2, budget=EXPERIMENT.budget(1.0), rng=rng, s_hat=12, scaling="unit"
    )
    assert results.cell(unit, 1.0, 0).sin[-1] == pytest.approx(
        sin_theta(estimate.basis, MODEL.basis), rel=1e-9
    )
    lead = trusts.lead(results, 1.0, "central")
    on_unit = np.median([c.sin[-1] for c in results.measured(unit, 1.0)])
    assert (lead.method, lead.published) == (leader, best)
    assert lead.whole == pytest.approx(errors[best] / errors[leader])
    assert lead.left == pytest.approx(on_unit / errors[leader])
    assert 1 < lead.left < lead.whole


def test_methods_that_promise_less_are_no_rivals():
    """They hold on a good event only, take rows of length 1 by themselves, or protect nobody."""
    rivals = [METHODS[name] for name in ON_UNIT_ROWS.values()]
    assert {method.scaling for method in rivals} == {"inside"}
    assert {method.guarantee for method in rivals} == {"(ε, δ)", "ε"}
