"""A mean that is paid for between hospitals: its law and price, the runs after it, and who lies about it."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import count, islice
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dppca_core import METHODS, Budget, Cohort, sin_theta
from dppca_core.accounting import closed_form, gaussian
from dppca_core.federated import coordinator, protocol, record
from dppca_core.federated.in_process import InProcess, simulate
from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan, from_dict, to_dict
from dppca_core.federated.protocol import Noise, ProviderState, provider_step
from dppca_core.mechanisms import paid_centre
from dppca_core.numerics import block_power, linalg, moments

ALPHA = 1e-6  # of each statistical test here; its noise comes from the operating system
D, K, SIZES, SHARE = 8, 2, (300, 200, 100), 0.2
BUDGET = Budget(1.0, 1e-5)
RNG = np.random.default_rng(3)
SPREAD = np.array([0.3, 0.25] + [0.03] * (D - 2))
ROWS = moments.clip_rows((0.5 + SPREAD * RNG.standard_normal((sum(SIZES), D))) / 2.5, 1.0)
COHORT = Cohort.from_rows(np.split(ROWS, np.cumsum(SIZES)[:-1]), 1.0)
START = block_power.random_start(D, K, np.random.default_rng(2))
SEEDED = [Noise((7, i), (9,)) for i in range(3)]
SECURE = {"provider_noise": "secure-aggregation"}
RUNS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "power": ("dps_pca", {"iterations": 3, "s_hat": 5, "burn_in": 1}),
    "sum": ("dps_pca", {"iterations": 3, **SECURE}),
    "compressed": ("dpdis_pca", {}),
    "projectors": ("federated_projector", {}),
    "stages": ("two_stage_own_noise", {"iterations": 2, "s_hat": 6}),
    "sealed stages": ("two_stage_sealed", {"iterations": 2, "s_hat": 6}),
}
EACH = pytest.mark.parametrize("key", RUNS)


def plan(key: str = "power", budget: Budget = BUDGET, **options: Any) -> Plan:
    method, given = RUNS[key]
    return Plan("trial", method, SIZES, D, K, budget, tuple(sorted((given | options).items())), (), SHARE)


def start(which: Plan) -> np.ndarray | None:
    return START if protocol.exchange_of(which).needs_start else None


def centred(mean: np.ndarray) -> Cohort:
    return Cohort.from_rows([paid_centre.centred(site.moment.rows, mean) for site in COHORT], 1.0)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("key", "hospitals"), [("power", (0,)), ("stages", (0, 1, 2)), ("sum", (0, 1, 2))])
def test_the_mean_has_noise_of_the_stated_size(key, hospitals, neighbours):
    """Kolmogorov-Smirnov at ALPHA of patients who are all zero; 20 % more or less is rejected.

    One hospital's std is D z/(n_i sqrt w); that of the mean of all D z sqrt(N)/(n sqrt w), of sealed sums
    without sqrt(N).
    """
    which = plan(key, Budget(1.0, 1e-5, neighbours))
    exchange, silent = protocol.exchange_of(which), Cohort.from_rows([np.zeros((n, D)) for n in SIZES], 1.0)
    drawn = []
    for _ in range(600):
        sent = [
            next(iter(exchange.answer(1, i, silent[i], {}, Noise().for_round(1)).values())) for i in hospitals
        ]
        weights = [1 if exchange.sealed else SIZES[i] for i in hospitals]
        drawn.append(
            sum(w * part for w, part in zip(weights, sent, strict=True)) / sum(SIZES[i] for i in hospitals)
        )
    z = gaussian.noise_multiplier(which.budget)
    trust = 1.0 if exchange.sealed else math.sqrt(len(hospitals))
    std = (
        (2 if neighbours == "replace-one" else 1)
        * z
        * trust
        / sum(SIZES[i] for i in hospitals)
        / math.sqrt(SHARE)
    )
    scaled = np.concatenate(drawn) / std
    assert stats.kstest(scaled, "norm").pvalue > ALPHA
    assert all(stats.kstest(scaled * wrong, "norm").pvalue < ALPHA for wrong in (0.8, 1.25))


@EACH
def test_mean_and_method_cost_what_was_planned_and_a_limit_at_it_is_enough(key):
    which = plan(key)
    states = [ProviderState(i, which, COHORT[i], Noise()) for i in range(3)]
    carried = InProcess(states)
    run = coordinator.run(which, carried, start=start(which))
    assert run.ended == "" and len(run.rounds) == protocol.exchange_of(which).rounds
    events = [event for paid in carried.states[0].spent.values() for event in paid]
    assert closed_form.epsilon_of(events, 1e-5) == pytest.approx(1.0, rel=1e-6)
    assert closed_form.epsilon_of(events, 1e-5) <= 1.0
    whole = gaussian.noise_multiplier(BUDGET)
    assert (whole / events[0].noise_multiplier) ** 2 == pytest.approx(SHARE)
    last = len(run.rounds)
    dear = [replace(state, limit=Budget(0.99, 1e-5)) for state in states]
    assert f"does not allow round {last}" in coordinator.run(which, InProcess(dear), start=start(which)).ended


@EACH
def test_the_run_is_the_methods_own_on_rows_centred_at_the_mean(key):
    """With noise in the mean alone, and the method's after it: two independent ways to the same numbers."""
    which = plan(key, Budget(4.0, 1e-5))
    run, _ = simulate(which, COHORT, SEEDED, start(which))
    rest, moved = which.after_mean, centred(run.mean)

    class Later(Noise):
        def for_round(self, number: int):
            return super().for_round(number + 1)

    alone, _ = simulate(rest, moved, [Later((7, i), (9,)) for i in range(3)], start(rest))
    assert sin_theta(run.basis, alone.basis) < 1e-12
    assert [done.question.payload for done in run.rounds[2:]] == [
        d.question.payload for d in alone.rounds[1:]
    ]
    assert run.rounds[1].question.payload == alone.rounds[0].question.payload + 8 * D
    assert [sorted(done.answers) for done in run.rounds[1:]] == [
        sorted(done.answers) for done in alone.rounds
    ]


@pytest.mark.parametrize("key", ["compressed", "projectors"])
def test_after_the_mean_one_round_is_fit_on_centred_rows(key):
    which = plan(key)
    run, _ = simulate(which, COHORT, SEEDED, None)

    class Each:
        hospitals = count()

        def spawn(self, wanted: int) -> list[np.random.Generator]:
            return [SEEDED[i].for_round(2).rng for i in islice(self.hospitals, wanted)]

    fit = METHODS[which.method].fit.__wrapped__
    estimate = fit(centred(run.mean), k=K, budget=gaussian.remaining(BUDGET, SHARE), rng=Each())
    assert sin_theta(run.basis, estimate.basis) < 1e-12


@EACH
def test_without_noise_it_is_pca_of_centred_rows(key):
    """Without it the first direction is the mean's, (1, ..., 1)/sqrt(d): it hides the pattern."""
    exact, whole = key in ("power", "sum", "compressed"), {"s_hat": D}
    options = {"compressed": {"rank": D}, "projectors": {}, "stages": whole, "sealed stages": whole}
    which = plan(key, Budget(1e6, 1e-5), **options.get(key, {"iterations": 60, **whole}))
    silent = [Noise(silent=True)] * 3
    begin = start(which)
    run, _ = simulate(which, COHORT, silent, begin)
    np.testing.assert_allclose(run.mean, ROWS.mean(axis=0), atol=1e-14)
    truth = linalg.top_eigenspace(centred(ROWS.mean(axis=0)).pooled.dense(), K)
    # Averaged projectors, and patients of length 1 in two stages, only come close to the pooled PCA.
    assert sin_theta(run.basis, truth) < (1e-9 if exact else 0.3)
    hidden, _ = simulate(replace(which, mean_share=0.0), COHORT, silent, begin)
    assert np.linalg.norm(hidden.basis.T @ np.full(D, D**-0.5)) > 0.95


def asked(number: int, **arrays: Any) -> Message:
    return Message("trial", number, arrays)


MEAN = ROWS.mean(axis=0)
BASIS = {"block": START, "rows": np.arange(D)}
REFUSED: Mapping[str, tuple[Message, str]] = {
    "not finite": (asked(2, **BASIS, mean=MEAN * np.nan), "a mean that is not finite or longer than"),
    "infinite": (asked(2, **BASIS, mean=MEAN + np.inf), "a mean that is not finite or longer than"),
    "too long": (asked(2, **BASIS, mean=MEAN * 1e4), "a mean that is not finite or longer than"),
    "another shape": (asked(2, **BASIS, mean=MEAN[1:]), r"a mean as float64 of shape \(7,\)"),
    "whole numbers": (asked(2, **BASIS, mean=np.zeros(D, np.int64)), "a mean as int64"),
    "none": (asked(2, **BASIS), "go on without the mean"),
    "before its round": (asked(1, mean=MEAN), "asked with mean where nothing is asked"),
    "a round ahead": (asked(3, **BASIS), "was asked for round 3"),
}


@pytest.mark.parametrize(("question", "message"), REFUSED.values(), ids=REFUSED)
def test_a_hospital_refuses_a_lying_server(question, message):
    before = ProviderState(0, plan(), COHORT[0], SEEDED[0])
    if question.round > 1:
        before, _ = provider_step(before, asked(1))
    with pytest.raises(ValueError, match=message):
        provider_step(before, question)
    assert len(before.spent) == len(before.sent) == question.round - 1 or question.round == 3


def test_the_mean_is_fixed_once_it_was_used():
    """Asked again, the same bits; another mean in its round, or any in a later one, gets no answer."""
    state = ProviderState(0, plan(), COHORT[0], Noise())
    state, first = provider_step(state, asked(1))
    again, second = provider_step(state, asked(1))
    assert again is state and first is second
    state, _ = provider_step(state, asked(2, **BASIS, mean=MEAN))
    with pytest.raises(ValueError, match="has answered round 2 already, to another question"):
        provider_step(state, asked(2, **BASIS, mean=MEAN / 2))
    for mean in (MEAN, MEAN / 2):
        with pytest.raises(ValueError, match="asked with block, mean, rows instead of block, rows"):
            provider_step(state, asked(3, **BASIS, mean=mean))
    assert len(provider_step(state, asked(3, **BASIS))[0].spent) == 3


def test_a_hospital_whose_mean_no_patients_give_is_left_out_and_stays_out():
    asked_of = []

    class Liar(InProcess):
        def __call__(self, question, hospitals, wait):
            asked_of.append((question.round, tuple(hospitals)))
            answers = dict(super().__call__(question, hospitals, wait).answers)
            if question.round == 1:
                far = Message("trial", 1, {"mean": np.full(D, 1e3)})
                answers[1] = replace(answers[1], message=far)
            return coordinator.Replies(answers, {})

    which = plan()
    carried = Liar([ProviderState(i, which, COHORT[i], SEEDED[i]) for i in range(3)])
    run = coordinator.run(which, carried, start=START, policy=coordinator.Policy("continue"))
    assert run.rounds[0].faults[1].startswith("sent a mean longer than")
    parts = {i: run.rounds[0].answers[i].message.arrays["mean"] for i in (0, 2)}
    np.testing.assert_allclose(run.mean, (300 * parts[0] + 100 * parts[2]) / 400)
    assert run.basis is not None and [sorted(done.answers) for done in run.rounds] == [[0, 2]] * 4
    asked_of.clear()
    broken_off = replace(run, rounds=run.rounds[:1], ended="The server stopped.")
    again = coordinator.run(which, carried, start=None, earlier=broken_off)
    assert asked_of == [(number, (0, 2)) for number in (2, 3, 4)]
    np.testing.assert_array_equal(again.basis, run.basis)


@EACH
def test_a_run_that_broke_off_after_the_mean_is_resumed_to_the_same_bit(key):
    """The server forgets all but two lines; hospitals draw nothing again and pay once. Records read back."""
    which = plan(key)
    carried = InProcess([ProviderState(i, which, COHORT[i], Noise()) for i in range(3)])
    written: list[str] = []
    whole = coordinator.run(which, carried, start=start(which), write=written.append)
    spent = [dict(state.spent) for state in carried.states]
    earlier = record.read("\n".join(written[:2]))
    assert len(earlier.rounds) == 1 and earlier.basis is None
    np.testing.assert_array_equal(earlier.mean, whole.mean)
    carried.states = [replace(state, noise=SEEDED[i]) for i, state in enumerate(carried.states)]
    again = coordinator.run(which, carried, start=None, earlier=earlier)
    np.testing.assert_array_equal(again.basis, whole.basis)
    assert [dict(state.spent) for state in carried.states] == spent
    read = record.read("\n".join(written))
    assert [record.opening_line(read), *map(record.round_line, read.rounds)] == written[:-1]
    plain = json.loads(written[1])
    plain["mean"]["shape"], plain["mean"]["data"] = [1], plain["mean"]["data"][:8] + "AAA="
    with pytest.raises(ValueError, match="mean must be 8 finite numbers"):
        record.read("\n".join([written[0], json.dumps(plain)]))


def test_a_plan_without_a_mean_does_not_mention_it():
    without = replace(plan(), mean_share=0.0)
    assert "mean_share" not in to_dict(without) and from_dict(to_dict(without)) == without
    assert from_dict(to_dict(plan())) == plan() != without
    run = record.Record(without, None)
    line = record.opening_line(run)
    of_plan, _, after = line.partition(',"guarantee":')
    assert of_plan + after[after.index("}") + 1 :] == (
        '{"kind":"plan","plan":{"run":"trial","method":"dps_pca","sizes":[300,200,100],"d":8,"k":2,'
        '"budget":{"epsilon":1.0,"delta":1e-05,"neighbours":"replace-one","accounting":"exact"},'
        '"options":{"burn_in":1,"iterations":3,"s_hat":5},"names":[]},"start":null,"about":{}}'
    )
    assert json.loads(line)["guarantee"] == {"promise": "(ε, δ)"} | run.trade_off.to_json()


@pytest.mark.parametrize("share", [-0.1, 1.0, math.nan, "0.1", None])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match="share must"):
        replace(plan(), mean_share=share)


def test_patients_of_whom_only_a_moment_is_kept_cannot_be_centred():
    held = replace(COHORT[0], moment=moments.DenseMoment(COHORT[0].moment.dense().copy()))
    with pytest.raises(ValueError, match="cannot centre its patients"):
        provider_step(ProviderState(0, plan(), held), asked(1))
