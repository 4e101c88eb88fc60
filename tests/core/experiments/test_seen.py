"""A run message by message: what it hides, and what two who compare their messages recover of it."""

import math

import numpy as np
import pytest

from dppca_core import Budget, SpikedModel, sin_theta
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import CollaborationSetting, truth
from dppca_core.experiments.collaboration.transcript import CARRIED, difference, matrix, noise_std, simulate
from dppca_core.federated.exchange import ALL
from dppca_core.numerics.linalg import top_eigenspace

D, K = 40, 3
MODEL = SpikedModel(d=D, k=K, s=10, spike=100.0, bulk=(0.0, 5.0), seed=3)
SIZES = (4000, 2500, 1000)


def recipe(**changed):
    own = {"population": MODEL, "sizes": SIZES, "k": K, "s_hat": 16, "rank": 8, "budget": Budget(1.0, 1e-5)}
    return CollaborationSetting(**{**own, "repeats": 1, "iterations": 6, **changed})


@pytest.mark.parametrize("key", CARRIED)
def test_bytes_of_a_run_are_those_of_the_table(key):
    """Beside the result, d k numbers, which the table counts and the server keeps."""
    of = recipe()
    sent, run = of.traffic(PROTOCOLS[key]), simulate(of, key)
    for done in run.record.rounds:
        assert {answer.message.payload for answer in done.answers.values()} == {sent.up}
    asked = sum(done.question.payload for done in run.record.rounds)
    assert (len(run.record.rounds), asked + 8 * D * K) == (sent.rounds, sent.received)
    assert set(run.record.rounds[0].answers) == ({ALL} if PROTOCOLS[key].sees == "sum" else {0, 1, 2})


@pytest.mark.parametrize("key", [key for key in CARRIED if key != "federated_projector"])
def test_without_noise_nothing_is_hidden_and_the_run_is_pca_of_all(key):
    of = recipe(budget=Budget(1e9, 0.5), rank=D, s_hat=D, iterations=40)
    run = simulate(of, key)
    for done, hidden in zip(run.record.rounds, run.hidden, strict=True):
        for hospital, answer in done.answers.items():
            one, other = (matrix(a, run.plan, hospital) for a in (answer.message.arrays, hidden[hospital]))
            np.testing.assert_allclose(one, other, atol=1e-3 * np.abs(other).max())
    plain = top_eigenspace(of.cohort(0).pooled.dense(), K)
    assert sin_theta(run.record.basis, plain) < 1e-4


@pytest.mark.parametrize("key", ["dps_pca", "dps_pca shared", "dps_pca secure"])
def test_what_is_hidden_is_noise_of_the_std_that_is_told(key):
    """720 entries a hospital: a std within 5 standard errors (13 %), wrong once in 10^6; sqrt 2 is caught."""
    of = recipe()
    run = simulate(of, key)
    for hospital in run.record.rounds[0].answers:
        rest = [
            matrix(done.answers[hospital].message.arrays, run.plan, hospital)
            - matrix(hidden[hospital], run.plan, hospital)
            for done, hidden in zip(run.record.rounds, run.hidden, strict=True)
        ]
        found = np.std(rest) / noise_std(run.plan, hospital)
        assert abs(found - 1) < 5 / math.sqrt(2 * np.size(rest)) < math.sqrt(2) - 1
    exact = of.cohort(0)[1].moment.dense() @ run.record.start
    hidden = matrix(run.hidden[0][1], run.plan, 1)
    np.testing.assert_allclose(hidden, exact, rtol=1e-10, atol=1e-14)
    assert noise_std(run.plan, 0) < noise_std(run.plan, 2)


def test_two_messages_undo_shared_noise_exactly_and_noise_of_their_own_not_at_all():
    """120 entries: their std within 5 standard errors of sigma sqrt 2, wrong once in 10^6 seeds."""
    of = recipe()
    shared, own = simulate(of, "dps_pca shared"), simulate(of, "dps_pca")
    for number in range(1, 7):
        undone = difference(shared, number, 0, 2)
        assert undone.relative < 1e-12 and undone.expected == 0
        kept = difference(own, number, 0, 2)
        assert kept.relative > 1e-3
        assert abs(kept.std / kept.expected - 1) < 5 / math.sqrt(2 * D * K)
    cohort, asked = of.cohort(0), shared.record.start
    sums = [cohort[i].n * cohort[i].moment.dense() for i in (0, 2)]
    np.testing.assert_allclose(
        difference(shared, 1, 0, 2).observed, (sums[0] - sums[1]) @ asked, rtol=1e-9, atol=1e-9
    )


def test_errors_on_the_way_are_those_of_the_bases():
    of = recipe()
    run = simulate(of, "dps_pca")
    basis = truth(MODEL, of.n, K, of.scaling).basis
    assert len(run.errors) == 7
    assert run.errors[-1] == pytest.approx(sin_theta(run.record.basis, basis))
    assert run.errors[0] == pytest.approx(sin_theta(run.record.start, basis))
    moved = transcript.moves(run.record)
    assert moved[0] == pytest.approx(sin_theta(run.record.rounds[0].basis, run.record.start))
    assert np.isnan(transcript.moves(simulate(of, "full").record)).all()


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="protocol must be one of"):
        simulate(recipe(), "cape")
    with pytest.raises(ValueError, match="single messages"):
        difference(simulate(recipe(), "dps_pca secure"), 1, 0, 1)
    with pytest.raises(ValueError, match="another hospital"):
        difference(simulate(recipe(), "dps_pca"), 1, 1, 1)
    large = recipe(population=SpikedModel(d=2000, k=3, s=10), sizes=(1000,) * 200)
    assert "6.4 GB" in transcript.refused(large, PROTOCOLS["dps_pca"])
    assert transcript.refused(recipe(), PROTOCOLS["dps_pca"]) is None
