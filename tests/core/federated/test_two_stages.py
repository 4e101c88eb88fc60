"""Two stages between hospitals: the method's own numbers, and nothing answered that the plan does not fix."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, SpikedModel, sin_theta
from dppca_core.accounting import closed_form
from dppca_core.federated import coordinator, protocol, record
from dppca_core.federated.exchange import ALL
from dppca_core.federated.in_process import InProcess, simulate
from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import LimitError, Noise, ProviderState, Silent, provider_step
from dppca_core.numerics import block_power

D, K, S_HAT, T, SIZES = 12, 2, 6, 3, (300, 200, 100)
MODEL = SpikedModel(d=D, k=K, s=5, seed=1)


def rows(n: int) -> np.ndarray:
    """Draw patients with the model's directions."""
    rng = np.random.default_rng(n)
    return 10 * rng.standard_normal((n, K)) @ MODEL.basis.T + 2 * rng.standard_normal((n, D))


COHORT = Cohort.from_rows([rows(n) for n in SIZES], 40.0)
BUDGET = Budget(4.0, 1e-5)
START = block_power.random_start(D, K, np.random.default_rng(2))
SEEDED = [Noise((7, i)) for i in range(3)]
METHODS_HERE = pytest.mark.parametrize("method", ["two_stage_own_noise", "two_stage_sealed"])
ROWS = np.arange(S_HAT)


def plan(method: str = "two_stage_own_noise", budget: Budget = BUDGET, **options: Any) -> Plan:
    given = {"s_hat": S_HAT, "iterations": T} | options
    return Plan("trial", method, SIZES, D, K, budget, tuple(sorted(given.items())))


def question(number: int, **arrays: Any) -> Message:
    return Message("trial", number, arrays or ({"block": START} if number <= T else {"rows": ROWS}))


def after_rounds(noise: Noise = SEEDED[0]) -> ProviderState:
    state = ProviderState(0, plan(), COHORT[0], noise)
    for number in range(1, T + 1):
        state, _ = provider_step(state, question(number))
    return state


@METHODS_HERE
def test_without_noise_it_is_the_methods_own_fit(method):
    silent = Silent(np.random.default_rng(0).bit_generator)
    run, _ = simulate(plan(method), COHORT, [Noise(silent=True)] * 3, START)
    options = {"s_hat": S_HAT, "iterations": T, "start": START}
    fitted = METHODS[method].fit(COHORT, k=K, budget=BUDGET, rng=silent, **options)
    bases = [START, *(done.basis for done in run.rounds)]
    for basis, expected in zip(bases, fitted.iterates, strict=True):
        assert sin_theta(basis, expected) < 1e-10
    assert np.array_equal(run.basis.any(axis=1), fitted.basis.any(axis=1))
    assert sum(done.question.payload for done in run.rounds) == 8 * (T * D * K + S_HAT)
    up = 8 * (T * D * K + S_HAT * (S_HAT + 1) // 2)
    assert sum(next(iter(done.answers.values())).message.payload for done in run.rounds) == up
    assert up == fitted.bytes_sent


@METHODS_HERE
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_noise_has_the_size_of_the_methods_and_the_rounds_cost_the_budget(method, neighbours):
    """Of rows of zeros only noise is sent: chi-squares within 4.5 sd; 1.5 times the noise is not."""
    budget = Budget(1.0, 1e-5, neighbours)
    cohort = Cohort.from_rows([np.zeros((n, D)) for n in SIZES], 1.0)
    seeded = ([Noise((run, i)) for i in range(3)] for run in range(40))
    runs = [simulate(plan(method, budget), cohort, noise, START) for noise in seeded]
    fitted = METHODS[method].fit(
        cohort, k=K, budget=budget, rng=np.random.default_rng(0), s_hat=S_HAT, iterations=T, declared_n=600
    )
    exchange = protocol.exchange_of(plan(method, budget))
    for number in (1, T, T + 1):
        means = []
        for run, _ in runs:
            answers = run.rounds[number - 1].answers
            weights = {ALL: 1 / 600} if exchange.sealed else {i: n / 600 for i, n in enumerate(SIZES)}
            means.append(sum(next(iter(a.message.arrays.values())) * weights[i] for i, a in answers.items()))
        if number <= T:
            noise, std = np.array(means), exchange.noise_std(number, 0) * SIZES[0] / 600
            std *= math.sqrt(3)  # of three sums: whole noise each, or a third of the variance
        else:  # entries off the diagonal of a packed triangle
            above, beside = np.triu_indices(S_HAT)
            noise, std = np.array(means)[:, above != beside], fitted.noise_std
        square, allowed = float(np.square(noise / std).sum()), 4.5 * math.sqrt(2 * noise.size)
        assert abs(square - noise.size) < allowed < abs(1.5**2 * square - noise.size), number
    spent = [event for events in runs[0][1][0].spent.values() for event in events]
    assert len(spent) == T + 1
    assert closed_form.epsilon_of(spent, 1e-5) == pytest.approx(1.0, rel=1e-6)


REFUSED: Mapping[str, tuple[Message, str]] = {
    "J of another size": (question(T + 1, rows=np.arange(S_HAT + 1)), "where the plan says 6 rows"),
    "a row twice": (question(T + 1, rows=np.array([0, 0, 1, 2, 3, 4])), "not ascending"),
    "a row beyond": (question(T + 1, rows=np.arange(D - S_HAT + 1, D + 1)), "not ascending within 12"),
    "rows that are no numbers of rows": (question(T + 1, rows=ROWS.astype(float)), "float64"),
    "another round in place of J": (question(T + 1, block=START), "asked with block instead of rows"),
    "a round beyond": (question(T + 2, rows=ROWS), "was asked for round 5"),
    "a round over again": (question(T, block=START[:, ::-1].copy()), "has answered round 3 already"),
}


@pytest.mark.parametrize(("asked", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_hospital_answers_nothing_but_its_plan(asked, message):
    state = after_rounds()
    with pytest.raises(ValueError, match=message):
        provider_step(state, asked)


def test_rows_are_named_once_and_only_after_all_rounds():
    begun = ProviderState(0, plan(), COHORT[0], Noise())
    with pytest.raises(ValueError, match="was asked for round 4, its next is 1 of 4"):
        provider_step(begun, question(T + 1))
    with pytest.raises(ValueError, match="asked with rows instead of block"):
        provider_step(begun, question(1, rows=ROWS))
    state, first = provider_step(after_rounds(Noise()), question(T + 1))
    again, second = provider_step(state, question(T + 1))  # a replayed J
    assert again is state
    np.testing.assert_array_equal(first.arrays["moment"], second.arrays["moment"])
    with pytest.raises(ValueError, match="has answered round 4 already, to another question"):
        provider_step(state, question(T + 1, rows=ROWS + 1))


def test_a_server_that_names_other_rows_loses_accuracy_and_learns_no_more():
    model = SpikedModel(d=40, k=2, s=6, seed=3)
    cohort = model.draw(60_000, 3, np.random.default_rng(0))
    sizes = tuple(provider.n for provider in cohort)
    start = block_power.random_start(40, 2, np.random.default_rng(1))
    which = Plan("trial", "two_stage_own_noise", sizes, 40, 2, BUDGET, (("s_hat", 8),))

    class Lying(InProcess):
        def __call__(self, asked, hospitals, wait):
            if "rows" in asked.arrays:
                silent = np.flatnonzero(~model.basis.any(axis=1))[:8]
                asked = replace(asked, arrays={"rows": silent})
            return super().__call__(asked, hospitals, wait)

    honest, states = simulate(which, cohort, SEEDED, start)
    carried = Lying([ProviderState(i, which, cohort[i], SEEDED[i]) for i in range(3)])
    fooled = coordinator.run(which, carried, start=start)
    assert sin_theta(honest.basis, model.basis) < 0.1
    assert sin_theta(fooled.basis, model.basis) > 0.9
    assert [dict(state.spent) for state in carried.states] == [dict(state.spent) for state in states]


def test_a_run_that_broke_off_between_the_stages_is_resumed_to_the_same_bit():
    carried = InProcess([ProviderState(i, plan(), COHORT[i], Noise()) for i in range(3)])
    written: list[str] = []
    whole = coordinator.run(plan(), carried, start=START, write=written.append)
    spent = [dict(state.spent) for state in carried.states]
    earlier = record.read("\n".join(written[: T + 1]))  # the plan, and the rounds of stage 1
    again = coordinator.run(plan(), carried, start=None, earlier=earlier)
    np.testing.assert_array_equal(again.basis, whole.basis)
    assert [dict(state.spent) for state in carried.states] == spent
    np.testing.assert_array_equal(record.read("\n".join(written)).basis, whole.basis)


def test_a_limit_below_the_budget_stops_the_second_stage():
    tight = Budget(BUDGET.epsilon * 0.95, BUDGET.delta)
    state = ProviderState(0, plan(), COHORT[0], SEEDED[0], tight)
    for number in range(1, T + 1):
        state, _ = provider_step(state, question(number))
    with pytest.raises(LimitError, match="does not allow round 4"):
        provider_step(state, question(T + 1))


def test_those_that_are_left_have_the_whole_weight_and_their_own_noise():
    which = plan()
    exchange, state = protocol.exchange_of(which), protocol.start(which, START)
    answers = {
        i: provider_step(ProviderState(i, which, COHORT[i], SEEDED[i]), question(1))[1] for i in (0, 2)
    }
    received = protocol.server_step(which, state, answers).received[0]
    mean = sum(SIZES[i] / 400 * answers[i].arrays["product"] for i in (0, 2))
    np.testing.assert_allclose(received.mean, mean)
    assert received.std == pytest.approx(math.sqrt(2) * exchange.noise_std(1, 0) * SIZES[0] / 400)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"s_hat": 1}, "s_hat must be"),
        ({"s_hat": "released"}, "s_hat must be"),
        ({"iterations": 0}, "iterations must be"),
        ({"share": 1.0}, "share must lie"),
        ({"signal": 0.0}, "signal must lie"),
        ({"burn_in": 2}, "has no option 'burn_in'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        protocol.exchange_of(plan(**options))
