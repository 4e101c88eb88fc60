"""A run whose first round pays for the mean, as the page of rounds reads it from a record."""

import math

import numpy as np
import pytest

from dppca_core import Budget, Cohort
from dppca_core.accounting import gaussian
from dppca_core.arrays import Provider
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.transcript import Transcript
from dppca_core.federated import coordinator
from dppca_core.federated.in_process import simulate
from dppca_core.federated.plan import Plan, columns_of
from dppca_core.federated.protocol import Noise
from dppca_core.numerics.moments import RowMoment
from pages.hospitals.who_sees_what import model
from pages.hospitals.who_sees_what.charts import messages, network
from pages.hospitals.who_sees_what.sentences import rounds as sentences
from tests.core.mechanisms.test_paid_lengths import LAYOUT, draw_rows
from tests.pages.hospitals.who_sees_what.test_runs import settings

D, SIZES, SHARE, BUDGET = 8, (300, 200, 100), 0.2, Budget(1.0, 1e-5)
COHORT = Cohort.from_rows([np.random.default_rng(n).normal(1.0, 0.3, (n, D)) for n in SIZES], 4.0)


@pytest.mark.parametrize(
    ("method", "asked", "rounds"),
    [
        ("two_stage_sealed", "the present directions, and the mean of all", [2, 3, 4, 5, 6]),
        (
            "dps_pca",
            "the directions within the features kept, and which these are, and the mean of all",
            list(range(2, 12)),
        ),
        ("dpdis_pca", "the mean of all", [2]),
    ],
)
def test_the_mean_is_a_round_without_a_basis(method, asked, rounds):
    plan = Plan("trial", method, SIZES, D, 2, BUDGET, mean_share=SHARE)
    start = coordinator.public_start(plan, np.random.default_rng(1))
    run, _ = simulate(plan, COHORT, [Noise((7, i)) for i in range(3)], start)
    shown = Transcript(run)
    hospital = min(run.rounds[0].answers)
    assert transcript.message_matrix(
        run.rounds[0].answers[hospital].message.arrays, plan, hospital
    ).shape == (D, 1)
    n = sum(SIZES) if shown.sealed else SIZES[hospital]
    std = 2 * gaussian.noise_multiplier(BUDGET) / n / math.sqrt(SHARE)
    assert transcript.noise_std(plan, 1, hospital) == pytest.approx(std)
    assert transcript.noise_std(plan, 2, hospital) == transcript.noise_std(plan.after_mean, 1, hospital)
    assert model.curve(shown)[0] == rounds and len(model.curve(shown)[1]) == len(rounds)
    assert (shown.chosen_rows(len(run.rounds)) is None) == (method != "two_stage_sealed")
    assert sentences.step(shown, 2, False, settings())["tiles"][1][1] == asked
    assert network.figure(shown, settings())


def test_mean_and_scales_are_two_rounds_without_a_basis():
    plan = Plan("trial", "two_stage_sealed", SIZES, D, 2, BUDGET, mean_share=SHARE, scale_share=0.3)
    start = coordinator.public_start(plan, np.random.default_rng(1))
    run, _ = simulate(plan, COHORT, [Noise((7, i)) for i in range(3)], start)
    shown = Transcript(run)
    std = math.sqrt(2) * gaussian.noise_multiplier(BUDGET) / sum(SIZES) / math.sqrt(0.3)
    assert transcript.noise_std(plan, 2, -1) == pytest.approx(std)
    assert transcript.noise_std(plan, 3, -1) == transcript.noise_std(plan.after_scales, 1, -1)
    assert transcript.message_matrix(run.rounds[1].answers[-1].message.arrays, plan, -1).shape == (D, 1)
    assert model.curve(shown)[0] == [3, 4, 5, 6, 7] and shown.chosen_rows(7) is not None
    asked = [sentences.step(shown, number, False, settings())["tiles"][1][1] for number in (2, 3)]
    assert asked == ["the mean of all", "the present directions, and the mean squares of all"]
    assert "random to begin with" in sentences.step(shown, 3, False, settings())["sentence"]
    assert network.figure(shown, settings())


@pytest.mark.parametrize("method", ["dpdis_pca", "cape"])
def test_the_steps_of_a_fitted_bound_are_rounds_without_a_basis(method):
    """Squares are of numbers alone, and tails of no feature: a picture of messages leaves these out."""
    columns = columns_of(LAYOUT)
    plan = Plan("trial", method, SIZES, LAYOUT.d, 2, BUDGET, fitted="centred", columns=columns)
    rng = np.random.default_rng(1)
    sites = Cohort.together(Provider(n, RowMoment(draw_rows(n, rng))) for n in SIZES)
    run, _ = simulate(plan, sites, [Noise((7, i)) for i in range(3)], None)
    shown, hospital = Transcript(run), min(run.rounds[0].answers)
    matrices = [
        transcript.message_matrix(done.answers[hospital].message.arrays, plan, hospital)
        for done in run.rounds
    ]
    assert [matrix.shape for matrix in matrices] == [(3, 1), (9, 1), (2, 1), (9, 9)]
    assert model.curve(shown)[0] == [4]
    asked = [sentences.step(shown, number, False, settings()) for number in (1, 2, 3, 4)]
    assert [step["tiles"][1][1] for step in asked] == [
        "nothing is asked",
        "the mean squares of all",
        "the mean of all",
        "the tails of lengths of all",
    ]
    assert "sends the tails of lengths of all patients to the 3 hospitals" in asked[3]["sentence"]
    assert network.figure(shown, settings())
    frames = messages.message(shown, hospital, settings())["frames"]
    shapes = [np.shape(frame["traces"]["0"]["z"]) for frame in frames]
    assert shapes == [(9, 1), (9, 1), (0,), (9, 9)]
