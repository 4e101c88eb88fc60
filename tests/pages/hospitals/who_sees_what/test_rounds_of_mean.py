"""A run whose first round pays for the mean, as the page of rounds reads it from a record."""

import math

import numpy as np
import pytest

from dppca_core import Budget, Cohort
from dppca_core.accounting import gaussian
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.transcript import Transcript
from dppca_core.federated import coordinator
from dppca_core.federated.in_process import simulate
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise
from pages.hospitals.who_sees_what import model
from pages.hospitals.who_sees_what.charts import network
from pages.hospitals.who_sees_what.sentences import rounds as sentences
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
