"""The transcript of a run: what noise hides, and what two who compare their messages recover."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import Budget, SpikedModel, sin_theta
from dppca_core.byte_cache import ByteCache
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.transcript import (
    MESSAGE_PROTOCOLS,
    difference,
    message_matrix,
    noise_std,
    simulate,
)
from dppca_core.federated.exchange import ALL
from dppca_core.numerics.linalg import top_eigenspace
from dppca_core.populations import gaussian_patients
from dppca_core.populations.gaussian_patients import GaussianPatients

draw = GaussianPatients._draw
D, K = 40, 3
MODEL = SpikedModel(d=D, k=K, s=10, spike=100.0, bulk=(0.0, 5.0), seed=3)
SIZES = (4000, 2500, 1000)


def small_setting(**changed):
    fields = {
        "population": MODEL,
        "sizes": SIZES,
        "k": K,
        "s_hat": 16,
        "rank": 8,
        "budget": Budget(1.0, 1e-5),
    }
    return CollaborationExperiment(**{**fields, "repeats": 1, "iterations": 6, **changed})


@pytest.mark.parametrize("key", MESSAGE_PROTOCOLS)
def test_bytes_of_a_run_are_those_of_the_table(key):
    """Beside the result, d k numbers, which the table counts and the server keeps."""
    setting = small_setting()
    sent, run = setting.traffic(PROTOCOLS[key]), simulate(setting, key)
    for done, size in zip(run.record.rounds, sent.bytes_sent, strict=True):
        assert {answer.message.payload for answer in done.answers.values()} == {size}
    asked = sum(done.question.payload for done in run.record.rounds)
    assert asked + 8 * D * K == sent.bytes_received
    assert set(run.record.rounds[0].answers) == ({ALL} if PROTOCOLS[key].sees == "sum" else {0, 1, 2})


@pytest.mark.parametrize(
    "key", [key for key in MESSAGE_PROTOCOLS if key != "federated_projector" and "two_stage" not in key]
)
def test_without_noise_nothing_is_hidden_and_the_run_is_pca_of_all(key):
    setting = small_setting(budget=Budget(1e9, 0.5), rank=D, s_hat=D, iterations=40)
    run = simulate(setting, key)
    for done, hidden in zip(run.record.rounds, run.noiseless, strict=True):
        for hospital, answer in done.answers.items():
            sent, exact = (
                message_matrix(a, run.record.plan, hospital)
                for a in (answer.message.arrays, hidden[hospital])
            )
            np.testing.assert_allclose(sent, exact, atol=1e-3 * np.abs(exact).max())
    plain = top_eigenspace(setting.cohort(0).pooled.dense(), K)
    assert sin_theta(run.record.basis, plain) < 1e-4


@pytest.mark.parametrize("key", ["dps_pca", "dps_pca shared", "dps_pca secure"])
def test_the_noise_has_the_stated_std(key):
    """720 entries a hospital: a std within 5 standard errors (13 %), wrong once in 10^6; sqrt 2 is caught."""
    setting = small_setting()
    run = simulate(setting, key)
    for hospital in run.record.rounds[0].answers:
        rest = [
            message_matrix(done.answers[hospital].message.arrays, run.record.plan, hospital)
            - message_matrix(hidden[hospital], run.record.plan, hospital)
            for done, hidden in zip(run.record.rounds, run.noiseless, strict=True)
        ]
        ratio = np.std(rest) / noise_std(run.record.plan, 1, hospital)
        assert abs(ratio - 1) < 5 / math.sqrt(2 * np.size(rest)) < math.sqrt(2) - 1
    exact = setting.cohort(0)[1].moment.dense() @ run.record.start
    hidden = message_matrix(run.noiseless[0][1], run.record.plan, 1)
    np.testing.assert_allclose(hidden, exact, rtol=1e-10, atol=1e-14)
    assert noise_std(run.record.plan, 1, 0) < noise_std(run.record.plan, 1, 2)


def test_two_messages_undo_shared_noise_exactly_and_independent_noise_not_at_all():
    """120 entries: their std within 5 standard errors of sigma sqrt 2, wrong once in 10^6 seeds."""
    setting = small_setting()
    shared, independent = simulate(setting, "dps_pca shared"), simulate(setting, "dps_pca")
    for number in range(1, 7):
        undone = difference(shared, number, 0, 2)
        assert undone.relative < 1e-12 and undone.expected == 0
        kept = difference(independent, number, 0, 2)
        assert kept.relative > 1e-3
        assert abs(kept.std / kept.expected - 1) < 5 / math.sqrt(2 * D * K)
    cohort, asked = setting.cohort(0), shared.record.start
    sums = [cohort[i].n * cohort[i].moment.dense() for i in (0, 2)]
    np.testing.assert_allclose(
        difference(shared, 1, 0, 2).observed, (sums[0] - sums[1]) @ asked, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("key", ["two_stage_own_noise", "two_stage_sealed"])
def test_both_stages_are_shown_with_the_noise_they_have(key):
    """480 entries of rounds, 1,200 of stage 2: stds within 5 standard errors; a factor sqrt 2 is beyond."""
    runs = [simulate(small_setting(seed=seed), key) for seed in range(10)]
    for number in (1, 5):
        rest = []
        for run in runs:
            plan, done = run.record.plan, run.record.rounds[number - 1]
            hospital = min(done.answers)
            sent, exact = (
                message_matrix(arrays, plan, hospital)
                for arrays in (done.answers[hospital].message.arrays, run.noiseless[number - 1][hospital])
            )
            noise = sent - exact
            rest.append(noise[np.triu_indices(len(noise), 1)] if number == 5 else noise.ravel())
        ratio = np.std(rest) / noise_std(plan, number, hospital)
        assert abs(ratio - 1) < 5 / math.sqrt(2 * np.size(rest)) < math.sqrt(2) - 1
    assert exact.shape == (16, 16) and len(run.errors) == 6


def test_errors_of_the_rounds_are_those_of_the_bases():
    setting = small_setting()
    run = simulate(setting, "dps_pca")
    basis = setting.truth.basis
    assert len(run.errors) == 7
    assert run.errors[-1] == pytest.approx(sin_theta(run.record.basis, basis))
    assert run.errors[0] == pytest.approx(sin_theta(run.record.start, basis))
    moved = transcript.basis_moves(run.record)
    assert moved[0] == pytest.approx(sin_theta(run.record.rounds[0].basis, run.record.start))
    assert np.isnan(transcript.basis_moves(simulate(setting, "full").record)).all()


def test_rows_are_drawn_once_where_they_fit_into_memory(monkeypatch):
    """Their cache has room for the newest hospital alone, as it has at d = 800."""
    drawn = []
    monkeypatch.setattr(gaussian_patients, "SAMPLES", ByteCache(1))
    monkeypatch.setattr(GaussianPatients, "_draw", lambda *_: (drawn.append(1), draw(*_))[1])
    setting, chosen = small_setting(seed=5), PROTOCOLS["two_stage_sealed"]
    rounds, hospitals = setting.traffic(chosen).rounds, len(SIZES)
    held = simulate(setting, "two_stage_sealed")
    assert len(drawn) == hospitals
    held_seconds = transcript.seconds(setting, chosen)
    monkeypatch.setattr(transcript, "_HELD_BYTES", 0)
    other = simulate(replace(setting, budget=Budget(1.0, 1e-6)), "two_stage_sealed")
    assert len(drawn) == hospitals + (rounds + 1) * hospitals
    assert transcript.seconds(setting, chosen) > held_seconds
    first, again = (run.noiseless[0][ALL]["weighted product"] for run in (held, other))
    np.testing.assert_array_equal(first, again)


def test_impossible_runs_are_refused():
    with pytest.raises(ValueError, match="protocol must be one of"):
        simulate(small_setting(), "cape")
    with pytest.raises(ValueError, match="single messages"):
        difference(simulate(small_setting(), "dps_pca secure"), 1, 0, 1)
    with pytest.raises(ValueError, match="another hospital"):
        difference(simulate(small_setting(), "dps_pca"), 1, 1, 1)
    large = small_setting(population=SpikedModel(d=2000, k=3, s=10), sizes=(1000,) * 200)
    assert "6.4 GB" in transcript.why_refused(large, PROTOCOLS["dps_pca"])
    assert transcript.why_refused(small_setting(), PROTOCOLS["dps_pca"]) is None
