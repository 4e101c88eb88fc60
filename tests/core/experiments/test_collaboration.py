"""Protocols: the limit without noise, the noise by mode, each hospital alone, and the bytes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import Budget, SpikedModel, sin_theta
from dppca_core.experiments import no_privacy
from dppca_core.experiments.collaboration import experiment
from dppca_core.experiments.collaboration.experiment import ALL, CollaborationExperiment
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.mechanisms.symmetric_gaussian import entry_std
from dppca_core.numerics.linalg import top_eigenspace
from dppca_core.populations.elliptical import hospital_sizes
from dppca_core.records import RELEASED

D, K = 24, 2
MODEL = SpikedModel(d=D, k=K, s=8, spike=100.0, bulk=(0.0, 5.0), seed=3)
SIZES = (4000, 2500, 1000, 500)
FREE = Budget(1e9, 0.5)
LONE = f"alone, {NO_PRIVACY}"


def recipe(**changed):
    fields = {"population": MODEL, "sizes": SIZES, "k": K, "s_hat": D, "rank": 6, "budget": Budget(1.0, 1e-5)}
    return CollaborationExperiment(**{**fields, "repeats": 2, **changed})


def measured(chosen: CollaborationExperiment) -> CollaborationResults:
    results = CollaborationResults(chosen)
    while (cell := results.next_missing(True)) is not None:
        results.try_cell(*cell)
    assert results.failed == {}
    return results


@pytest.mark.parametrize(
    "key", [NO_PRIVACY, "cape", "full", "dps_pca secure", "dps_pca shared", "alone", LONE]
)
def test_without_noise_a_protocol_is_pca_of_its_patients(key):
    """With R = d nothing is compressed either; a hospital alone has its own moment, not its neighbour's."""
    chosen = recipe(budget=FREE, rank=D, iterations=40)
    for hospital in chosen.hospitals if PROTOCOLS[key].alone else (ALL,):
        moment = chosen.cohort(0).pooled if hospital == ALL else chosen.cohort(0)[hospital].moment
        plain = top_eigenspace(moment.dense(), K)
        assert sin_theta(chosen.estimate(PROTOCOLS[key], hospital, 0).basis, plain) < 1e-4
        if PROTOCOLS[key].alone:
            other = top_eigenspace(chosen.cohort(0)[hospital - 1].moment.dense(), K)
            assert sin_theta(chosen.estimate(PROTOCOLS[key], hospital, 0).basis, other) > 1e-3


def test_the_noise_of_each_mode_and_of_each_hospital():
    results = measured(recipe(repeats=1))
    noise = {
        key: results.measured(key, ALL)[0].noise_std
        for key, protocol in PROTOCOLS.items()
        if not protocol.alone
    }
    hospitals = len(SIZES)
    assert noise["dps_pca"] / noise["dps_pca secure"] == pytest.approx(math.sqrt(hospitals), rel=1e-12)
    assert noise["dps_pca shared"] / noise["dps_pca secure"] == pytest.approx(hospitals, rel=1e-12)
    assert noise["full"] / noise["cape"] == pytest.approx(math.sqrt(hospitals), rel=1e-12)
    assert noise[NO_PRIVACY] == 0
    for hospital in results.recipe.hospitals:
        expected = entry_std(results.recipe.budget, SIZES[hospital], None)
        assert results.measured("alone", hospital)[0].noise_std == pytest.approx(expected, rel=1e-12)


def test_without_privacy_the_numbers_are_those_of_every_page():
    """All patients' and one hospital's, at any epsilon: the reference for a population, n and k."""
    chosen = recipe(repeats=3)
    results = measured(chosen)
    for hospital, key in ((ALL, NO_PRIVACY), *((each, LONE) for each in chosen.hospitals)):
        patients = chosen.n if hospital == ALL else chosen.sizes[hospital]
        expected = no_privacy.error(chosen.population, patients, K, seed=chosen.seed, repeats=3)
        assert np.median(results.values(key, hospital)[0]) == pytest.approx(expected, rel=1e-12)


def test_methods_that_choose_their_rows_are_told_to():
    chosen = recipe()
    released = replace(chosen, choose_rows=True)
    assert chosen.options(PROTOCOLS["two_stage"])["s_hat"] == chosen.s_hat
    assert released.options(PROTOCOLS["two_stage"])["s_hat"] == RELEASED
    assert released.options(PROTOCOLS["sealed_sparse"])["s_hat"] == chosen.s_hat


def test_hospitals_alone_stand_for_their_size():
    assert recipe(sizes=(10, 500, 200)).hospitals == (1, 2, 0)
    assert recipe(sizes=hospital_sizes(100_000, 7)).hospitals == (0,)
    assert recipe(sizes=hospital_sizes(100_000, 7, 0.4)).hospitals == (0, 1)
    many = recipe(sizes=tuple(1000 + 100 * i for i in range(9))).hospitals
    assert many == (8, 4, 0)


def test_a_hospital_drawn_by_itself_has_the_law_of_its_part_of_a_draw(monkeypatch):
    """Mean errors over 40 runs within 5 standard errors of their difference: wrong once in 10^6 seeds.

    Half the patients err by sqrt 2 more, which is then refuted.
    """
    chosen = recipe(repeats=40)
    truth = chosen.truth.basis

    def mean(hospital: int) -> tuple[float, float]:
        bases = (chosen.estimate(PROTOCOLS[LONE], hospital, r).basis for r in range(40))
        errors = [sin_theta(basis, truth) for basis in bases]
        return float(np.mean(errors)), float(np.var(errors) / 40)

    dealt = mean(1)
    monkeypatch.setattr(experiment, "_DEAL_SECONDS", 0.0)
    assert not chosen.together
    for hospital, same in ((1, True), (2, False)):
        drawn = mean(hospital)
        apart = abs(drawn[0] - dealt[0]) / math.sqrt(drawn[1] + dealt[1])
        assert (apart < 5) is same


def test_bytes_are_those_of_the_theory():
    chosen = recipe(iterations=7, s_hat=10)
    sent = {key: chosen.traffic(protocol) for key, protocol in PROTOCOLS.items()}
    asked = 8 * (K + 1) * (3 * D + 4 * 10)  # the start and two rounds of burn-in, then ten rows
    assert sent["dps_pca"] == ((8 * D * K,) * 7, asked + 8 * D * K)
    assert sent["dpdis_pca"] == ((8 * D * 6,), 8 * D * K)
    assert {sent[key].most_sent for key in ("full", "cape", NO_PRIVACY)} == {8 * D * (D + 1) // 2}
    assert sent["alone"].total == 0
    for key, protocol in PROTOCOLS.items():
        if not protocol.alone:
            assert chosen.estimate(protocol, ALL, 0).bytes_sent == sum(sent[key].bytes_sent)


def test_every_cell_of_the_table_and_a_cell_does_not_depend_on_the_order():
    results = measured(recipe())
    table = results.table()
    assert (
        set(table["protocol"]) == set(PROTOCOLS)
        and (table.groupby(["protocol", "hospital"])["repeat"].count() == 2).all()
    )
    assert set(table[table["hospital"] != "all"]["patients"]) == set(SIZES)
    assert table["sin_theta"].between(0, math.sqrt(K)).all() and table["captured_energy"].between(0, 1).all()
    again = CollaborationResults(results.recipe)
    again.try_cell("dpdis_pca", ALL, 1)
    assert again.cells["dpdis_pca", ALL, 1] == results.cells["dpdis_pca", ALL, 1]


def test_a_table_is_dealt_and_compared_with_all_its_patients():
    chosen = recipe(population="breast_cancer", sizes=(300, 200), s_hat=30, rank=30, repeats=1, budget=FREE)
    results = measured(chosen)
    assert results.measured(NO_PRIVACY, ALL)[0].sin > 1e-3  # 69 patients are left out
    whole = measured(recipe(population="breast_cancer", sizes=(300, 269), s_hat=30, rank=30, repeats=1))
    assert whole.measured(NO_PRIVACY, ALL)[0].sin < 1e-9
    with pytest.raises(ValueError, match="patients must be between 1 and 569, got 570"):
        recipe(population="breast_cancer", sizes=(300, 270), s_hat=30)


def test_what_would_take_too_long_or_too_much_is_refused_with_its_reason():
    large = SpikedModel(d=2000, k=3, s=10)
    many = CollaborationResults(recipe(population=large, sizes=(1000,) * 200, s_hat=20))
    assert set(many.refused) == {"full", "dpdis_pca", "federated_projector"}
    assert many.refused["full"] == "200 hospitals' own moments take 6.4 GB at 2,000 features"
    assert "alone" in many.live and not many.recipe.together
    few = CollaborationResults(recipe(population=large, sizes=(10_000,) * 10, s_hat=20))
    assert "dpdis_pca" in few.slow and few.refused == {}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"sizes": ()}, "hospitals must be between 1 and 200, got 0"),
        ({"sizes": (10, 0)}, "size must be at least 1, got 0"),
        ({"rank": 1}, "rank must be between 2 and 24, got 1"),
        ({"s_hat": 25}, "s_hat must be between 2 and 24, got 25"),
    ],
)
def test_bad_recipes_are_refused_by_name(wrong, says):
    with pytest.raises(ValueError, match=says):
        recipe(**wrong)
