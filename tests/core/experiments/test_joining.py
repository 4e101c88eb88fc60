"""Joined or alone: on whose patients, against which truth, and at which budget hospitals are measured."""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, sin_theta
from dppca_core.experiments.collaboration import joining
from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.experiments.collaboration.site_experiment import HEART, SYNTHETIC, SiteExperiment
from dppca_core.numerics.linalg import top_eigenspace
from dppca_core.numerics.subspace_metrics import captured_energy
from dppca_core.populations import clinical, heart_disease, standardisation

LOUD = SiteExperiment(method="analyze_gauss_sparse", n=200_000, repeats=2)
QUIET = replace(LOUD, epsilon=1e9, delta=0.5)
KINDS = standardisation.KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_joined_answer_is_plain_pca(kind):
    """Also where means and spreads are paid for; the method's truncation to 20 columns stays."""
    recipe = replace(QUIET, s_hat=100)
    cell = joining.measure(recipe, ("joined", 1.0, kind, 0))
    assert cell.common[0] == pytest.approx(cell.no_privacy.common[0], abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_without_differences_all_kinds_agree_and_joining_pays(kind):
    """For everybody where standardising is free; paid means of small hospitals' patients cost large ones."""
    results = SiteResults(LOUD)
    for what in ("joined", "alone"):
        results.try_cell(what, 0.0, kind, 0)
    (joined,), (alone,) = (results.measured(what, 0.0, kind) for what in ("joined", "alone"))
    assert joined.no_privacy.common[0] < 0.05 and alone.no_privacy is None
    np.testing.assert_allclose(joined.local, joined.common, atol=1e-9)
    gains = (joined.local < alone.local) & (joined.energy >= alone.energy)
    assert gains.all() if kind not in standardisation.PAID else gains[2:].all()


def test_where_hospitals_differ_the_smallest_gain_and_larger_ones_lose():
    """In the median of five repeats: the fourth, with a tenth of all patients, does better alone."""
    recipe = replace(LOUD, n=100_000)
    joined, alone = (
        np.median([joining.measure(recipe, (what, 1.0, "own-ranges", run)).local for run in range(5)], axis=0)
        for what in ("joined", "alone")
    )
    assert joined[-1] < alone[-1]
    assert joined[3] > 1.5 * alone[3]


def test_the_joined_answer_is_the_methods_on_all_hospitals_and_alone_is_on_its_own():
    recipe = replace(LOUD, epsilon=1e9, delta=0.5, s_hat=100)
    sites = recipe.sites(1.0, 1)
    tail = joining.FAILURE / recipe.n
    ranges = [standardisation.public_constants(recipe.d)] * len(sites)
    every = standardisation.cohort(sites, ranges, tail)
    truth = recipe.model(1.0).basis()

    def error(cohort: Cohort) -> float:
        return sin_theta(top_eigenspace(cohort.pooled.dense(), recipe.k), truth)

    joined, alone = (joining.measure(recipe, (what, 1.0, "public", 1)) for what in ("joined", "alone"))
    assert joined.common[0] == pytest.approx(error(every), abs=1e-3)
    each = [error(standardisation.cohort([site], ranges[:1], tail)) for site in sites]
    np.testing.assert_allclose(alone.common, each, atol=2e-3)


def test_the_method_runs_at_what_is_left(monkeypatch):
    """The whole budget where standardising is free; else exactly what paying leaves."""
    budgets = []
    method = METHODS[LOUD.method]

    def spied(cohort, *, budget, **options):
        budgets.append(budget)
        return method.fit(cohort, budget=budget, **options)

    monkeypatch.setitem(METHODS, LOUD.method, replace(method, fit=spied))
    for kind in KINDS:
        joining.measure(LOUD, ("joined", 1.0, kind, 0))
    left = standardisation.remaining_budget(LOUD.budget, LOUD.share)
    assert budgets == [LOUD.budget, LOUD.budget, left, left]
    assert left.epsilon < LOUD.epsilon == Budget(1.0, 1e-5).epsilon


def test_a_cell_does_not_depend_on_what_was_measured_before():
    key = ("joined", 0.5, "within-site", 1)
    fresh = joining.measure(LOUD, key)
    results = SiteResults(LOUD)
    for before in (("alone", 0.5, "within-site", 1), ("joined", 0.5, "pooled", 1), key):
        results.try_cell(*before)
    np.testing.assert_array_equal(results.cells[key].local, fresh.local)
    assert not np.array_equal(fresh.local, joining.measure(LOUD, ("joined", 0.5, "within-site", 0)).local)


@pytest.mark.parametrize("kind", ["public", "pooled", "within-site"])
def test_the_tables_truths_are_pca_of_its_own_rows(kind):
    recipe = SiteExperiment(data=HEART)
    truths = joining.truths(recipe, 0.0, kind)
    if kind == "public":
        cohort = Cohort.from_rows(list(heart_disease.rows().values()), heart_disease.TABLE.bound)
        for basis, provider in zip(truths.local, cohort, strict=True):
            assert sin_theta(basis, top_eigenspace(provider.moment.dense(), 2)) < 1e-9
        assert sin_theta(truths.common, top_eigenspace(cohort.pooled.dense(), 2)) < 1e-9
    for basis, moment in zip(truths.local, truths.moments, strict=True):
        best = float(np.linalg.eigvalsh(moment)[-2:].sum())
        assert captured_energy(basis, moment, best) == pytest.approx(1.0)


def test_the_table_has_its_four_hospitals_and_no_laboratorys_ranges():
    recipe = SiteExperiment(data=HEART)
    assert recipe.hospitals == ("Cleveland", "Budapest", "Long Beach", "Zurich/Basel")
    assert recipe.sizes == (303, 294, 200, 123)
    assert "own-ranges" not in recipe.kinds
    with pytest.raises(ValueError, match="kind must be one of"):
        joining.measure(recipe, ("joined", 0.0, "own-ranges", 0))


@pytest.mark.parametrize("data", [SYNTHETIC, HEART])
def test_a_view_completes_and_its_table_is_tidy(data):
    recipe = SiteExperiment(data=data, method="analyze_gauss_sparse", n=1000, repeats=1)
    results = SiteResults(recipe)
    strength = 0.25 if recipe.synthetic else 0.0
    while (key := results.next_missing(strength, "public")) is not None:
        results.try_cell(*key)
    assert set(results.first(strength, "public")) <= set(results.cells)
    table = results.table()
    joined = len(recipe.kinds) * (6 if recipe.synthetic else 1)
    assert len(table) == (joined + 1) * len(recipe.hospitals)
    assert table["captured_energy_own"].between(0, 1 + 1e-9).all()
    assert set(table["patients"]) == set(recipe.sizes)
    free = table[table["standardisation"] == "public"]
    assert (free["epsilon_of_pca"] == recipe.epsilon).all()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"data": "iris"}, "data must be one of"),
        ({"method": "magic"}, "method must be one of"),
        ({"n": 99}, "n must be at least 100"),
        ({"share": 1.0}, "share must lie"),
        ({"s_hat": 2}, "s_hat must be between 3 and 100"),
        ({"data": HEART, "s_hat": 23}, "s_hat must be between 2 and 22"),
    ],
)
def test_what_cannot_be_is_refused_by_name(wrong, says):
    with pytest.raises(ValueError, match=says):
        SiteExperiment(**wrong)


def test_hospitals_of_the_cohort_are_named_as_many_as_they_are():
    assert len(clinical.NAMES) == len(clinical.SHARES) == len(SiteExperiment().sizes)
    assert sum(clinical.SHARES) == pytest.approx(1.0)
