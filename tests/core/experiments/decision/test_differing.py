"""Test decisions where hospitals measure differently, each by its own pattern, against known numbers.

Seeds are fixed, so that these tests come out alike each time.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import METHODS
from dppca_core.bounds.recommendation import TRUSTS, recommend
from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.collaboration import joining
from dppca_core.experiments.collaboration.site_experiment import HEART, SYNTHETIC, SiteExperiment
from dppca_core.experiments.decision import hospitals, outcomes
from dppca_core.experiments.decision.cells import TURNS, VERDICTS, JoiningCells
from dppca_core.experiments.decision.decision import decide_all
from dppca_core.experiments.decision.hospitals import (
    changed,
    halved,
    without,
)
from dppca_core.experiments.decision.outcomes import ALONE_AT, TOGETHER, WITHOUT, JoiningRuns
from dppca_core.experiments.decision.predictions import Anchor
from dppca_core.experiments.decision.rule import Answer
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe, from_dict
from dppca_core.numerics.subspace_metrics import share_recovered, sin_theta
from dppca_core.populations import clinical, measurements, standardisation
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.differing import DifferingHospitals
from tests.core.experiments.decision.settings import differing

NOBODY = "untrusted server"
SMALL = DifferingHospitals(columns=20)


REAL = differing(DifferingHospitals("heart"))


@pytest.mark.parametrize("data", [SYNTHETIC, HEART])
def test_patients_and_patterns_are_those_of_the_page_of_differences(data):
    """PCA without privacy of all rows, at every hospital, as that page measures it; to the last digits."""
    recipe = SiteExperiment(data=data, n=1000, seed=4)
    synthetic = recipe.synthetic
    population = DifferingHospitals(data, columns=100, seed=4)
    runs = JoiningRuns(differing(population, *recipe.sizes, seed=4))
    strength, kind = (1.0, "own-ranges") if synthetic else (0.0, "public")
    patterns = joining.truths(recipe, strength, kind).local
    for i, pattern in enumerate(patterns):
        np.testing.assert_array_equal(outcomes.truth(runs.setting, i), pattern)
    for draw in (0, 3):
        plain = joining.measure(recipe, ("joined", strength, kind, draw)).no_privacy
        (basis,) = runs._free_bases((WITHOUT, ""), draw, no_privacy.ways(population).index(("pca", "inside")))
        sines = [sin_theta(basis, pattern) for pattern in patterns]
        np.testing.assert_allclose(sines, plain.local, atol=1e-12)


def test_each_hospital_is_measured_by_its_own_pattern():
    """By runs put together here from the populations: together under each trust, and alone, published."""
    setting = differing(SMALL, 900, 500, 300, seed=2, use="publish")
    runs, model, draw = JoiningRuns(setting), ClinicalModel(d=20), 3
    patients = clinical.draw(model, setting.sizes, 2, draw)
    printed = [clinical.hospital(model, i).printed for i in range(3)]

    def share(name, who, rng, budget, i):
        chosen, ranges = ([each[j] for j in who] for each in (patients, printed))
        cohort = standardisation.cohort(chosen, ranges, 0.01 / sum(site.n for site in chosen))
        options = setting.experiment.options(name)
        basis = METHODS[name].fit(cohort, k=3, budget=budget, rng=rng, **options).basis
        _, vectors = np.linalg.eigh(clinical.hospital(model, i).covariance_without_effects)
        return 100 * float(share_recovered(sin_theta(basis, vectors[:, -3:]), 3))

    for i in range(3):
        for trust in TRUSTS:
            name = runs.plan(trust).method
            rng = draws.generator(2, draw, name)
            expected = share(name, range(3), rng, setting.budgets[0], i)
            assert runs.run((TOGETHER, trust), draw, i) == pytest.approx(expected, abs=1e-6)
            assert runs.together(trust, i)[draw] == pytest.approx(expected, abs=1e-6)
        name = hospitals.alone(setting, i).method
        rng = draws.generator(2, draw, outcomes.ALONE[name].key, (1 + i,))
        expected = share(name, [i], rng, setting.budgets[i], i)
        assert runs.alone(i)[draw] == pytest.approx(expected, abs=1e-6)


def test_with_nothing_in_the_way_everyone_recovers_all():
    """No differences, next to no noise, patients beyond counting; and with differences not."""
    alike = DifferingHospitals(strength=0.0, columns=20)
    sizes = (10**8, 4 * 10**7, 10**7)
    for use in ("in-house", "publish"):
        runs = JoiningRuns(differing(alike, *sizes, epsilon=1e6, use=use))
        for i in range(3):
            for shares in (*(runs.together(trust, i) for trust in TRUSTS), runs.alone(i)):
                assert shares.min() > 99.9
    apart = JoiningRuns(differing(replace(alike, strength=1.0), *sizes, epsilon=1e6))
    assert max(apart.without_privacy(i).max() for i in range(3)) < 99


@pytest.mark.parametrize("use", ["in-house", "publish"])
@pytest.mark.parametrize("setting", [differing(SMALL, 900, 500, 300, 200, ours=2), replace(REAL, ours=3)])
def test_a_hospital_that_leaves_changes_nothing_that_others_do_alone(setting, use):
    """Reject a planted bug: those who are left are taken for the first ones."""
    setting = replace(setting, use=use)
    before, after = JoiningRuns(setting), JoiningRuns(without(setting, 1))
    for i, was in enumerate((0, 2, 3)):
        np.testing.assert_array_equal(after.alone(i), before.alone(was))
        np.testing.assert_array_equal(outcomes.truth(after.setting, i), outcomes.truth(setting, was))
    assert after.setting.hospitals[after.setting.ours] == setting.hospitals[setting.ours]
    assert not np.array_equal(after.together(NOBODY), before.together(NOBODY))
    if setting.population == SMALL:
        forgotten = JoiningRuns(replace(after.setting, population=SMALL))
        assert not np.array_equal(forgotten.alone(1), before.alone(2))


def real_hospitals_recover_all_alone():
    runs = JoiningRuns(replace(REAL, repeats=8))
    return all(runs.alone(i) == pytest.approx(100, abs=1e-9) for i in range(4))


def test_a_planted_pattern_of_another_hospital_is_seen(monkeypatch):
    assert real_hospitals_recover_all_alone()
    right = outcomes.truth
    monkeypatch.setattr(outcomes, "truth", lambda setting, hospital: right(setting, (hospital + 1) % 4))
    assert not real_hospitals_recover_all_alone()


def test_all_are_measured_up_to_eight_and_each_is_a_part():
    assert JoiningRuns(differing(SMALL, 300, 100, 300, 200)).measured == (1, 3, 0, 2)
    many = differing(SMALL, *[100] * 5, *range(200, 700, 100), ours=6)
    runs = JoiningRuns(many)
    assert len(runs.measured) == 8
    assert {0, 6, 9} <= set(runs.measured)
    assert runs.parts == tuple((i,) for i in range(10))
    (unmeasured, *_) = set(range(10)) - set(runs.measured)
    for asked in (runs.alone, runs.without_privacy, runs.quantities, lambda i: runs.together(NOBODY, i)):
        with pytest.raises(ValueError, match="hospital must be one of"):
            asked(unmeasured)


def test_verdicts_are_each_hospital_s_own_and_none_is_predicted():
    """Published, a small hospital joins large ones that are hardly different; the largest stays."""
    population = DifferingHospitals(columns=20, strength=0.5)
    runs = JoiningRuns(differing(population, 6000, 3000, 1500, 200, use="publish", repeats=40))
    decisions = [each[0] for each in decide_all(runs)]
    assert [each.hospital for each in decisions] == [0, 1, 2, 3]
    assert decisions[0].answer == Answer.STAY
    assert decisions[3].answer == Answer.JOIN
    for i, each in enumerate(decisions):
        assert each.evidence[NOBODY].median == np.median(runs.together(NOBODY, i) - runs.alone(i))
        anchor = Anchor.of_runs(runs, i)
        assert anchor.turns("patients") == anchor.turns("epsilon") == ()
        assert anchor.patients_to_join() is None


def test_a_stricter_hospital_weighs_less_so_that_others_patterns_weigh_more():
    """Where hospitals differ, noise is not all that counts: the stricter one loses and ours gains."""
    setting = differing(SMALL, 900, 500, 300, use="publish")
    stricter = halved(setting)
    assert [each.epsilon for each in stricter.hospitals] == [1.0, 0.5, 1.0]
    before, after = JoiningRuns(setting), JoiningRuns(stricter)
    weights = hospitals.arrangement(stricter, NOBODY).weights
    assert weights[1] < 500 / 1700
    assert (after.together(NOBODY) > before.together(NOBODY)).all()
    assert (after.together(NOBODY, 1) < before.together(NOBODY, 1)).all()
    cohort = outcomes.joined(after._cohort(0), after.parts, stricter.sizes, weights)
    expected = sum(w * part.moment.dense() for w, part in zip(weights, after._cohort(0), strict=True))
    np.testing.assert_allclose(cohort.pooled.dense(), expected, atol=1e-12)


@pytest.mark.parametrize("use", ["in-house", "publish"])
@pytest.mark.parametrize("setting", [differing(SMALL, 900, 500, 300), REAL])
def test_the_basis_of_a_run_is_the_one_measured(setting, use):
    runs, k = JoiningRuns(replace(setting, use=use)), setting.k
    for arm in ((TOGETHER, NOBODY), (TOGETHER, "central"), (WITHOUT, ""), (ALONE_AT, 2)):
        pattern = outcomes.truth(setting, 2 if arm[0] == ALONE_AT else 0)
        for draw in (0, 7):
            basis = runs.basis(arm, draw)
            assert basis.shape == (setting.experiment.d, k)
            share = 100 * float(share_recovered(sin_theta(basis, pattern), k))
            assert runs.run(arm, draw) == pytest.approx(share, abs=1e-6)
    with pytest.raises(ValueError, match="arm must be one of"):
        runs.basis(("apart", 0), 0)


@pytest.mark.parametrize("trust", TRUSTS)
def test_the_recommendation_is_that_of_the_page_of_differences(trust):
    """By the public population without differences; of real hospitals, by none."""
    for setting, model in ((differing(SMALL, 900, 500), ClinicalModel(d=20, strength=0.0)), (REAL, None)):
        d, k = setting.experiment.d, setting.k
        expected = recommend(
            trust, n=setting.n, d=d, k=k, budget=setting.budgets[0], providers=len(setting.sizes), model=model
        )
        assert hospitals.arrangement(setting, trust).method == expected.method


def test_a_page_measures_it_cell_by_cell():
    cells = JoiningCells(differing(SMALL, 900, 500, 300, use="publish"))
    while (cell := cells.next_missing()) is not None:
        cells.try_cell(*cell)
    assert not cells.failed
    np.testing.assert_array_equal(cells.shares((TOGETHER, "central")), cells.runs.together("central"))
    assert [each[0].hospital for each in cells.cells[VERDICTS,]] == [0, 1, 2]
    assert cells.cells[TURNS, "patients"] == ()


@pytest.mark.parametrize("setting", [without(differing(SMALL, 900, 500, 300), 1), REAL])
def test_a_figure_can_be_taken_along(setting):
    recipe = FigureRecipe("decision.shares", {"setting": setting, "trust": "central"})
    again = from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert again == recipe
    assert list(again.table()["index"]) == ["alone", "together", "together, no privacy"]


def test_real_hospitals_are_a_table_and_simulated_are_none():
    assert REAL.experiment.table.features == measurements.names(REAL.population, 22)
    assert differing(SMALL, 900, 500).experiment.table is None


def test_a_real_hospital_has_no_more_patients_than_rows():
    with pytest.raises(ValueError, match="patients must be between 1 and 294"):
        changed(REAL, 1, patients=295)
    with pytest.raises(ValueError, match="hospitals must be"):
        differing(DifferingHospitals("heart"), 100, 100)
