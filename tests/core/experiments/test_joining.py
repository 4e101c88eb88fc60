"""Joined or alone: who is measured on whose patients, against which truth, at which budget."""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, sin_theta
from dppca_core.experiments.collaboration import joining
from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.experiments.collaboration.site_recipe import HEART, SYNTHETIC, SiteRecipe
from dppca_core.numerics.linalg import top_eigenspace
from dppca_core.numerics.subspace_metrics import captured_energy
from dppca_core.populations import clinical, heart_disease, standardisation

LOUD = SiteRecipe(method="analyze_gauss_sparse", n=200_000, repeats=2)
QUIET = replace(LOUD, epsilon=1e9, delta=0.5)
KINDS = standardisation.KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_joined_answer_is_plain_pca(kind):
    """Also where means and spreads are paid for; the method's truncation to 20 columns stays."""
    of = replace(QUIET, s_hat=100)
    cell = joining.measure(of, ("joined", 1.0, kind, 0))
    assert cell.common[0] == pytest.approx(cell.plain.common[0], abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_without_differences_all_ways_agree_and_joining_pays(kind):
    """For everybody where standardising is free; paid means of small hospitals' patients cost large ones."""
    found = SiteResults(LOUD)
    for what in ("joined", "alone"):
        found.try_cell(what, 0.0, kind, 0)
    (joined,), (alone,) = (found.measured(what, 0.0, kind) for what in ("joined", "alone"))
    assert joined.plain.common[0] < 0.05 and alone.plain is None
    np.testing.assert_allclose(joined.own, joined.common, atol=1e-9)
    gains = (joined.own < alone.own) & (joined.energy >= alone.energy)
    assert gains.all() if kind not in standardisation.PAID else gains[2:].all()


def test_where_hospitals_differ_the_smallest_gain_and_larger_ones_lose():
    """In the median of five repeats: the fourth, with a tenth of all patients, does better alone."""
    of = replace(LOUD, n=100_000)
    joined, alone = (
        np.median([joining.measure(of, (what, 1.0, "own-ranges", run)).own for run in range(5)], axis=0)
        for what in ("joined", "alone")
    )
    assert joined[-1] < alone[-1]
    assert joined[3] > 1.5 * alone[3]


def test_the_joined_answer_is_the_methods_on_all_hospitals_and_alone_is_on_its_own():
    of = replace(LOUD, epsilon=1e9, delta=0.5, s_hat=100)
    sites = of.sites(1.0, 1)
    tail = joining.FAILURE / of.n
    ranges = [standardisation.public_constants(of.d)] * len(sites)
    every = standardisation.cohort(sites, ranges, tail)
    truth = of.model(1.0).basis()

    def error(cohort: Cohort) -> float:
        return sin_theta(top_eigenspace(cohort.pooled.dense(), of.k), truth)

    joined, alone = (joining.measure(of, (what, 1.0, "public", 1)) for what in ("joined", "alone"))
    assert joined.common[0] == pytest.approx(error(every), abs=1e-3)
    each = [error(standardisation.cohort([site], ranges[:1], tail)) for site in sites]
    np.testing.assert_allclose(alone.common, each, atol=2e-3)


def test_the_method_runs_at_what_is_left(monkeypatch):
    """The whole budget where standardising is free; else exactly what paying leaves."""
    seen = []
    method = METHODS[LOUD.method]

    def spied(cohort, *, budget, **own):
        seen.append(budget)
        return method.fit(cohort, budget=budget, **own)

    monkeypatch.setitem(METHODS, LOUD.method, replace(method, fit=spied))
    for kind in KINDS:
        joining.measure(LOUD, ("joined", 1.0, kind, 0))
    left = standardisation.remaining_budget(LOUD.budget, LOUD.share)
    assert seen == [LOUD.budget, LOUD.budget, left, left]
    assert left.epsilon < LOUD.epsilon == Budget(1.0, 1e-5).epsilon


def test_a_cell_does_not_depend_on_what_was_measured_before():
    key = ("joined", 0.5, "within-site", 1)
    fresh = joining.measure(LOUD, key)
    found = SiteResults(LOUD)
    for before in (("alone", 0.5, "within-site", 1), ("joined", 0.5, "pooled", 1), key):
        found.try_cell(*before)
    np.testing.assert_array_equal(found.cells[key].own, fresh.own)
    assert not np.array_equal(fresh.own, joining.measure(LOUD, ("joined", 0.5, "within-site", 0)).own)


@pytest.mark.parametrize("kind", ["public", "pooled", "within-site"])
def test_the_tables_truths_are_pca_of_its_own_rows(kind):
    of = SiteRecipe(data=HEART)
    truths = joining.truths(of, 0.0, kind)
    if kind == "public":
        cohort = Cohort.from_rows(list(heart_disease.rows().values()), heart_disease.TABLE.bound)
        for own, provider in zip(truths.own, cohort, strict=True):
            assert sin_theta(own, top_eigenspace(provider.moment.dense(), 2)) < 1e-9
        assert sin_theta(truths.common, top_eigenspace(cohort.pooled.dense(), 2)) < 1e-9
    for own, moment in zip(truths.own, truths.moments, strict=True):
        best = float(np.linalg.eigvalsh(moment)[-2:].sum())
        assert captured_energy(own, moment, best) == pytest.approx(1.0)


def test_the_table_has_its_four_hospitals_and_no_laboratorys_ranges():
    of = SiteRecipe(data=HEART)
    assert of.hospitals == ("Cleveland", "Budapest", "Long Beach", "Zurich/Basel")
    assert of.sizes == (303, 294, 200, 123)
    assert "own-ranges" not in of.kinds
    with pytest.raises(ValueError, match="kind must be one of"):
        joining.measure(of, ("joined", 0.0, "own-ranges", 0))


@pytest.mark.parametrize("data", [SYNTHETIC, HEART])
def test_a_view_completes_and_its_table_is_tidy(data):
    of = SiteRecipe(data=data, method="analyze_gauss_sparse", n=1000, repeats=1)
    found = SiteResults(of)
    strength = 0.25 if of.synthetic else 0.0
    while (key := found.next_missing(strength, "public")) is not None:
        found.try_cell(*key)
    assert set(found.first(strength, "public")) <= set(found.cells)
    table = found.table()
    joined = len(of.kinds) * (6 if of.synthetic else 1)
    assert len(table) == (joined + 1) * len(of.hospitals)
    assert table["captured_energy_own"].between(0, 1 + 1e-9).all()
    assert set(table["patients"]) == set(of.sizes)
    free = table[table["standardisation"] == "public"]
    assert (free["epsilon_of_pca"] == of.epsilon).all()


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
        SiteRecipe(**wrong)


def test_hospitals_of_the_cohort_are_named_as_many_as_they_are():
    assert len(clinical.NAMES) == len(clinical.SHARES) == len(SiteRecipe().sizes)
    assert sum(clinical.SHARES) == pytest.approx(1.0)
