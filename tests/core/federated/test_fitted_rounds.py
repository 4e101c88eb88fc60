"""A fitted bound between hospitals: its law, price and result, and who lies about it."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget, Cohort
from dppca_core.accounting import closed_form, gaussian
from dppca_core.arrays import Array, Provider
from dppca_core.experiments import fitted_release
from dppca_core.federated import coordinator, protocol, record
from dppca_core.federated.exchange import RoundNoise
from dppca_core.federated.fitted_rounds import FittedRounds
from dppca_core.federated.in_process import InProcess, simulate
from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan, PlannedColumn, columns_of, from_dict, to_dict
from dppca_core.federated.protocol import Noise, ProviderState, provider_step
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.numerics import linalg
from dppca_core.numerics.moments import DenseMoment, RowMoment
from tests.core.laws import ALPHA
from tests.core.mechanisms.test_paid_lengths import LAYOUT, Late, draw_rows, vars_of

D, K, SIZES = LAYOUT.d, 2, (300, 200, 100)
BUDGET = Budget(1.0, 1e-5)
ROWS = draw_rows(sum(SIZES), np.random.default_rng(0), corners=0.1)
SEEDED = [Noise((7, i)) for i in range(3)]
METHOD = pytest.mark.parametrize("method", ["dpdis_pca", "cape"])  # own noise, and sealed sums
FITTED = pytest.mark.parametrize("fitted", ["centred", "standardised"])


def plan(
    method: str = "dpdis_pca",
    fitted: str = "centred",
    budget: Budget = BUDGET,
    sizes: tuple[int, ...] = SIZES,
) -> Plan:
    return Plan("trial", method, sizes, D, K, budget, fitted=fitted, columns=columns_of(LAYOUT))


def exchange_of(which: Plan) -> FittedRounds:
    exchange = protocol.exchange_of(which)
    assert isinstance(exchange, FittedRounds)
    return exchange


def provider(rows: Array) -> Provider:
    return Provider(len(rows), RowMoment(rows.copy()))


COHORT = Cohort.together(map(provider, np.split(ROWS, np.cumsum(SIZES)[:-1])))


class InTurn(np.random.Generator):
    """Draw each time from the generator of the next round of one hospital."""

    def __init__(self, noise: Noise) -> None:
        super().__init__(np.random.PCG64(0))
        self.rounds = (noise.for_round(number).rng for number in count(1))

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        return next(self.rounds).standard_normal(size)


class Ones(np.random.Generator):
    """Draw ones: what noise adds is its std."""

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        return np.ones(size)


@FITTED
@METHOD
@pytest.mark.parametrize("complete", [True, False])
def test_one_hospital_gives_the_release_of_one_place_with_the_same_draws(complete, method, fitted):
    """Also where a tenth of the patients are left out, and counted."""
    which = replace(plan(method, fitted, Budget(4.0, 1e-5), (len(ROWS),)), complete=complete)
    rows = ROWS * (np.arange(len(ROWS)) % 10 > 0 if not complete else np.ones(len(ROWS)))[:, None]
    run, _ = simulate(which, Cohort.together([provider(rows)]), SEEDED[:1], None)
    rule = FittedBound(which.layout, which.budget, len(rows), fitted == "standardised")
    out = fitted_release.fitted_moment(rows, rule, InTurn(SEEDED[0]))
    for number, step in enumerate(("squares", "mean", "tails")):
        np.testing.assert_allclose(run.rounds[number].prior[step], getattr(out, step), atol=1e-12)
    np.testing.assert_allclose(run.mean, out.frame.mean, atol=1e-12)
    answers = {i: answer.message.arrays for i, answer in run.rounds[3].answers.items()}
    prior = {name: array for done in run.rounds for name, array in done.prior.items()}
    moment, _divisors = exchange_of(which).result(prior, answers)
    np.testing.assert_allclose(moment, out.moment, atol=1e-12)
    np.testing.assert_allclose(np.abs(run.basis), np.abs(linalg.top_eigenspace(out.moment, K)), atol=1e-10)
    np.testing.assert_allclose(run.divisors, out.divisors, atol=1e-12)
    assert run.scales is None and (fitted == "standardised") == bool((run.divisors != 1).all())


@METHOD
def test_several_hospitals_have_the_noise_of_the_rule(method):
    """Kolmogorov-Smirnov at ALPHA of what noise adds in each step; sqrt 3 times or less of it is rejected.

    It is that of `fitted_release.fitted_moment` of as many hospitals, or of one where sums are sealed. Each
    step has 2,000 numbers, off the moment's diagonal in units of a noise sqrt 2 smaller; 1,000 are enough.
    """
    which = plan(method, sizes=(3, 2, 1))
    exchange, rule = exchange_of(which), exchange_of(which).rule
    assert rule.hospitals == (1 if exchange.sealed else 3)
    prior = {"squares": np.full(3, 0.2), "mean": ROWS.mean(axis=0), "tails": np.array([0.1, 0.02])}
    bounds = {"mean": rule.mean_bound(prior["squares"]), "moment": 1.0}
    few = [provider(rows) for rows in np.split(ROWS[:6], (3, 5))]
    on = np.eye(D)[np.triu_indices(D)]

    def mean_of_all(number: int, noise: RoundNoise) -> Array:
        sent = {i: exchange.answer(number, i, few[i], prior, noise) for i in range(3)}
        (name,) = exchange.reply_to(number)
        answers = {-1: {name: sum(part[name] for part in sent.values())}} if exchange.sealed else sent
        return exchange.mean(answers, name)

    for number, step in enumerate(rule.steps, 1):
        silent = mean_of_all(number, Noise(silent=True).for_round(number))
        times = range(2000 // len(silent))
        noises = np.array([mean_of_all(number, Noise().for_round(number)) - silent for _ in times])
        if step == "moment":
            noises *= np.where(on, 1.0, math.sqrt(2))
        scaled = noises.ravel() / rule.mean_std(step, bounds.get(step, 0.0))
        assert stats.kstest(scaled, "norm").pvalue > ALPHA, step
        assert all(stats.kstest(scaled * wrong, "norm").pvalue < ALPHA for wrong in (3**-0.5, 3**0.5)), step


@FITTED
@METHOD
def test_the_rounds_cost_what_was_planned_and_a_limit_at_it_is_enough(method, fitted):
    which = plan(method, fitted)
    states = [ProviderState(i, which, COHORT[i], Noise()) for i in range(3)]
    carried = InProcess(states)
    run = coordinator.run(which, carried, start=None)
    assert run.ended == "" and run.basis is not None and len(run.rounds) == 4
    paid = carried.states[0].spent
    assert [paid["trial", number] for number in (1, 2, 3, 4)] == [
        (exchange_of(which).rule.price(step),) for step in ("squares", "mean", "tails", "moment")
    ]
    events = [event for price in paid.values() for event in price]
    assert closed_form.epsilon_of(events, 1e-5) == pytest.approx(1.0, rel=1e-9)
    dear = InProcess([replace(state, limit=Budget(0.99, 1e-5)) for state in states])
    assert "does not allow round 4" in coordinator.run(which, dear, start=None).ended


def test_messages_have_the_bytes_that_are_planned():
    """Nothing goes down that the round before did not release."""
    run, _ = simulate(plan(), COHORT, SEEDED, None)
    down = [{name: array.shape for name, array in done.question.arrays.items()} for done in run.rounds]
    assert down == [{}, {"squares": (3,)}, {"mean": (D,)}, {"tails": (2,)}]
    assert [done.answers[0].message.payload // 8 for done in run.rounds] == [3, D, 2, D * (D + 1) // 2]


# --- who lies -------------------------------------------------------------------------------------------


def lies_of(rng: np.random.Generator, about: Array) -> dict[str, Array]:
    """Return what a server may send: any numbers, and half the time a mean near one patient."""
    size, sizes = 10 ** rng.uniform(-3, 3), {"squares": 3, "mean": D, "tails": 2}
    lies = {name: size * rng.standard_normal(numbers) for name, numbers in sizes.items()}
    if rng.random() < 0.5:
        lies["mean"] = about + lies["mean"] / 1e3
    return lies


def largest_moves(exchange: FittedRounds, rounds: int) -> dict[str, float]:
    """Return for each step how far one patient moves an answer, over what was paid for, at most of many lies.

    The noise's std is read off answers, not off the rule.
    """
    rng, rule = np.random.default_rng(1), exchange.rule
    z, largest = gaussian.noise_multiplier(rule.budget), dict.fromkeys(rule.steps, 0.0)
    part = 3**-0.5 if exchange.sealed else 1.0
    silent, ones = Noise(silent=True).for_round(1), RoundNoise(Ones(np.random.PCG64(0)), None)
    # In the length that the std is for, entries off a moment's diagonal are there twice.
    weights = {"moment": np.where(np.eye(D)[np.triu_indices(D)], 1.0, math.sqrt(2))}
    for _ in range(rounds):
        table, row, other = draw_rows(20, rng), draw_rows(1, rng, corners=1.0), draw_rows(1, rng, corners=1.0)
        if rule.budget.neighbours == "add-remove":
            other = np.zeros((1, D))
        elif rng.random() < 0.5:  # in the middle of its ranges
            other[:, LAYOUT.numbers] = 0.0
        lies = lies_of(rng, about=other[0] if other.any() else -row[0])
        for number, step in enumerate(rule.steps, 1):
            first, second, noisy = (
                next(iter(exchange.answer(number, 0, provider(np.vstack([table, at])), lies, noise).values()))
                for at, noise in ((row, silent), (other, silent), (row, ones))
            )
            moved = np.linalg.norm((first - second) * weights.get(step, 1.0)) / (noisy - first).max() * part
            largest[step] = max(largest[step], float(moved) * z / math.sqrt(rule.shares[step]))
    return largest


@FITTED
@METHOD
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_whatever_a_server_sends_no_answer_moves_further_than_was_paid_for(neighbours, method, fitted):
    exchange = exchange_of(plan(method, fitted, Budget(1.0, 1e-5, neighbours)))
    largest = largest_moves(exchange, 160)
    assert all(0.8 < moved <= 1 + 1e-6 for moved in largest.values()), largest


def test_rows_that_are_shortened_too_late_are_seen_at_a_server_that_lies():
    exchange = exchange_of(plan(budget=Budget(1.0, 1e-5, "add-remove")))
    exchange.rule = Late(**vars_of(exchange.rule))
    largest = largest_moves(exchange, 160)
    assert largest["moment"] > 1.05 and largest["mean"] > 1.04, largest


def asked(number: int, **arrays: Any) -> Message:
    return Message("trial", number, arrays)


SQUARES = np.full(3, 0.2)
REFUSED: Mapping[str, tuple[Message, str]] = {
    "nan": (asked(2, squares=SQUARES * np.nan), "a squares that is not finite or longer than"),
    "too long": (asked(2, squares=SQUARES * 1e4), "a squares that is not finite or longer than"),
    "another shape": (asked(2, squares=SQUARES[1:]), r"a squares as float64 of shape \(2,\)"),
    "whole numbers": (asked(2, squares=np.zeros(3, np.int64)), "a squares as int64"),
    "none": (asked(2), "asked with nothing instead of squares"),
    "more": (asked(2, squares=SQUARES, tails=np.zeros(2)), "asked with squares, tails instead of squares"),
    "before its round": (asked(1, squares=SQUARES), "asked with squares instead of nothing"),
    "a round ahead": (asked(3, mean=np.zeros(D)), "was asked for round 3"),
}


@METHOD
@pytest.mark.parametrize(("question", "message"), REFUSED.values(), ids=REFUSED)
def test_a_hospital_refuses_what_rows_and_noise_cannot_give(question, message, method):
    before = ProviderState(0, plan(method), COHORT[0], SEEDED[0])
    if question.round > 1:
        before, _ = provider_step(before, asked(1))
    with pytest.raises(ValueError, match=message):
        provider_step(before, question)


def test_what_was_released_is_fixed_once_it_was_used():
    """Squares are kept for the mean, frame and moment; other ones, in their round or later, get no answer."""
    state = ProviderState(0, plan(), COHORT[0], Noise())
    for question in (asked(1), asked(2, squares=SQUARES)):
        state, _ = provider_step(state, question)
    with pytest.raises(ValueError, match="has answered round 2 already, to another question"):
        provider_step(state, asked(2, squares=SQUARES / 2))
    with pytest.raises(ValueError, match="asked with mean, squares instead of mean"):
        provider_step(state, asked(3, mean=np.zeros(D), squares=SQUARES / 2))


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_hospital_whose_numbers_no_patients_give_is_left_out_and_stays_out(number):
    class Liar(InProcess):
        def __call__(self, question, hospitals, wait):
            answers = dict(super().__call__(question, hospitals, wait).answers)
            if question.round == number:
                ((name, sent),) = answers[1].message.arrays.items()
                far = Message("trial", number, {name: np.full(sent.shape, 1e3)})
                answers[1] = replace(answers[1], message=far)
            return coordinator.Replies(answers, {})

    carried = Liar([ProviderState(i, plan(), COHORT[i], SEEDED[i]) for i in range(3)])
    run = coordinator.run(plan(), carried, start=None, policy=coordinator.Policy("continue"))
    assert "longer than" in run.rounds[number - 1].faults[1] and run.basis is not None
    assert [sorted(done.answers) for done in run.rounds] == [[0, 1, 2]] * (number - 1) + [[0, 2]] * (
        5 - number
    )


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        (DenseMoment(np.eye(D)), "it holds their moment, and not their rows"),
        (RowMoment(np.full((300, D), 0.9)), "rows must be encoded as their layout says"),
        (RowMoment(ROWS[:300] * np.where(np.arange(D), 1.0, np.nan)), "rows must be finite numbers"),
    ],
)
def test_rows_that_the_layout_does_not_describe_are_refused(moment, message):
    with pytest.raises(ValueError, match=message):
        provider_step(ProviderState(0, plan(), Provider(300, moment)), asked(1))


# --- records and plans ----------------------------------------------------------------------------------


@FITTED
@METHOD
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_run_that_broke_off_is_resumed_to_the_same_bit(method, fitted, rounds):
    which = plan(method, fitted)
    carried = InProcess([ProviderState(i, which, COHORT[i], Noise()) for i in range(3)])
    written: list[str] = []
    whole = coordinator.run(which, carried, start=None, write=written.append)
    spent = [dict(state.spent) for state in carried.states]
    earlier = record.read("\n".join(written[: 1 + rounds]))
    assert earlier.basis is None and earlier.divisors is None and (earlier.mean is None) == (rounds == 1)
    again = coordinator.run(which, carried, start=None, earlier=earlier)
    np.testing.assert_array_equal(again.basis, whole.basis)
    assert [dict(state.spent) for state in carried.states] == spent
    read = record.read("\n".join(written))
    assert [record.opening_line(read), *map(record.round_line, read.rounds)] == written[:-1]
    np.testing.assert_array_equal(read.divisors, whole.divisors)
    plain = json.loads(written[3])
    plain["tails"]["shape"], plain["tails"]["data"] = [1], plain["tails"]["data"][:8] + "AAA="
    with pytest.raises(ValueError, match="tails must be 2 finite numbers"):
        record.read("\n".join([*written[:3], json.dumps(plain)]))


def test_a_plan_of_a_fitted_bound_reads_back():
    layout = Layout.of_columns((0, 3, 1, 0), (True, False, True, True), np.array([0.5, *[0.1] * 3, 0, -0.5]))
    which = replace(plan(), d=6, columns=columns_of(layout))
    for agreed in (which, replace(which, complete=False)):
        assert (
            from_dict(json.loads(json.dumps(to_dict(agreed))))
            == agreed
            != replace(agreed, fitted="standardised")
        )
    np.testing.assert_array_equal(which.layout.middle, layout.middle)
    np.testing.assert_array_equal(which.layout.numbers, layout.numbers)
    assert (which.layout.blocks, which.layout.answered) == (layout.blocks, layout.answered)
    assert columns_of(which.layout) == which.columns


def test_a_table_without_numbers_has_no_round_of_squares():
    layout = Layout.of_columns((3, 2), (True, True), np.zeros(5))
    which = replace(plan(), d=5, k=1, columns=columns_of(layout))
    rows = ROWS[:, [1, 2, 3, 7, 8]]
    sites = Cohort.together(map(provider, np.split(rows, np.cumsum(SIZES)[:-1])))
    run, _ = simulate(which, sites, SEEDED, None)
    assert [list(done.prior) for done in run.rounds] == [["mean"], ["tails"], []] and run.basis is not None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"fitted": "scaled"}, "fitted must be one of"),
        ({"mean_share": 0.1}, "a fitted bound has shares of its own"),
        ({"budget": Budget(1.0, 1e-5, accounting="as-printed")}, "accounting must be one of exact"),
        ({"fitted": ""}, "columns, and complete, are stated for a fitted bound alone"),
        ({"columns": columns_of(LAYOUT)[:-1]}, "columns must be encoded as 9"),
        ({"k": 7}, "k must be between 1 and 6"),
        ({"columns": (*columns_of(LAYOUT)[:-1], PlannedColumn(2, 1, (0.0, 0.0)))}, "answered must be a bool"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        replace(plan(), **changed)


@pytest.mark.parametrize("column", [[0, True], 3, [2, True, [0.0]], [0, True, ["a"]], [0.5, True, [0.0]]])
def test_a_column_of_a_plan_that_is_none_is_refused(column):
    plain = to_dict(plan())
    with pytest.raises(ValueError, match=r"(columns|middle|categories) must"):
        from_dict(plain | {"columns": [*plain["columns"][:-1], column]})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"method": "dps_pca"}, "method must be one of cape, dpdis_pca"),
        ({"options": (("rank", 3),)}, "dpdis_pca has no option 'rank', only none"),
    ],
)
def test_a_method_that_releases_no_whole_moment_has_no_fitted_bound(changed, message):
    with pytest.raises(ValueError, match=message):
        protocol.exchange_of(replace(plan(), **changed))
