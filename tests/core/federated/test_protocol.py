"""A hospital's step and the server's: the simulation's numbers, and nothing answered that must not be."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, Release, SpikedModel, sin_theta
from dppca_core.accounting import closed_form
from dppca_core.federated import coordinator, protocol, record
from dppca_core.federated.exchange import ALL
from dppca_core.federated.in_process import InProcess, simulate
from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan, from_dict, to_dict
from dppca_core.federated.protocol import LimitError, Noise, ProviderState, provider_step, server_step
from dppca_core.numerics import block_power

D, K, SIZES = 12, 2, (300, 200, 100)
MODEL = SpikedModel(d=D, k=K, s=5, seed=1)
COHORT = MODEL.draw(sum(SIZES), SIZES, np.random.default_rng(1))
BUDGET = Budget(1.0, 1e-5)
START = block_power.random_start(D, K, np.random.default_rng(2))
SILENT = [Noise(silent=True)] * 3
SEEDED = [Noise((7, i), (9,)) for i in range(3)]
MODES = pytest.mark.parametrize("mode", ["independent", "shared", "secure-aggregation"])


def plan(method: str = "dps_pca", **options: Any) -> Plan:
    return Plan("trial", method, SIZES, D, K, BUDGET, tuple(sorted(options.items())))


def state(hospital: int = 0, noise: Noise = SEEDED[0], **options: Any) -> ProviderState:
    return ProviderState(hospital, plan(iterations=3, **options), COHORT[hospital], noise)


def asked(which: Plan, number: int = 1, **arrays: Any) -> Message:
    usual = {"block": START, "rows": np.arange(D)}
    return Message(which.run, number, usual | arrays)


@pytest.mark.parametrize(
    ("mode", "burn_in"),
    [("independent", 0), ("independent", 2), ("shared", 9), ("secure-aggregation", 2)],
)
def test_without_noise_it_is_the_pooled_iteration(mode, burn_in):
    options = {"iterations": 6, "s_hat": 6, "burn_in": burn_in}
    record, _ = simulate(plan(provider_noise=mode, **options), COHORT, SILENT, START)
    pooled = block_power.iterate(
        lambda block, rows, step: COHORT.pooled.apply(block, rows),
        START,
        s_hat=6,
        steps=6,
        burn_in=burn_in,
    )
    for done, basis in zip(record.rounds, pooled[1:], strict=True):
        assert sin_theta(done.basis, basis) < 1e-12


@pytest.mark.parametrize("method", ["dpdis_pca", "federated_projector"])
@pytest.mark.parametrize("options", [{}, {"rank": D, "send": "basis"}], ids=["default", "other"])
def test_one_round_is_the_methods_own_fit(method, options):
    options = {name: value for name, value in options.items() if (name == "rank") == (method == "dpdis_pca")}
    record, _ = simulate(plan(method, **options), COHORT, SEEDED, None)

    class Each:
        hospitals = count()

        def spawn(self, wanted: int) -> list[np.random.Generator]:
            return [SEEDED[i].for_round(1).rng for i in islice(self.hospitals, wanted)]

    fit = METHODS[method].fit.__wrapped__
    estimate = fit(COHORT, k=K, budget=BUDGET, rng=Each(), **options)
    assert sin_theta(record.basis, estimate.basis) < 1e-12
    sent = record.rounds[0].answers[0].message.payload
    assert sent == estimate.bytes_sent


@MODES
def test_noise_has_the_stated_size_and_is_spent_once_a_round(mode):
    """Each of 3 x 24 entries: within 4.5 standard deviations of a chi-square; twice the noise is rejected."""
    which = replace(plan(iterations=3, provider_noise=mode), sizes=(100,) * 3)
    cohort = Cohort.from_rows([np.zeros((100, D))] * 3, 1.0)
    record, states = simulate(which, cohort, SEEDED, START)
    exchange = protocol.exchange_of(which)
    key, whole = (
        ("weighted product", 300 * math.sqrt(1 / 3)) if mode == "secure-aggregation" else ("product", 1)
    )
    std = exchange.noise_std(0) * (whole if mode == "secure-aggregation" else 1)
    noise = np.array(
        [answer.message.arrays[key] for done in record.rounds for answer in done.answers.values()]
    )
    count = noise.size
    square = float((noise**2).sum()) / std**2
    allowed = 4.5 * math.sqrt(2 * count) * (3 if mode == "shared" else 1)
    assert abs(square - count) < allowed
    assert abs(4 * square - count) > allowed
    spent = [event for events in states[0].spent.values() for event in events]
    assert spent == [Release(spent[0].noise_multiplier)] * 3
    assert closed_form.epsilon_of(spent, BUDGET.delta) == pytest.approx(BUDGET.epsilon, rel=1e-6)


def test_shared_noise_is_undone_by_two_and_own_noise_is_not():
    """n_1 H_1 - n_2 H_2 is exact where all draw alike, as printed."""
    for mode, exact in (("shared", True), ("independent", False)):
        which = plan(iterations=1, provider_noise=mode)
        record, _ = simulate(which, COHORT, SEEDED, START)
        first, second = (record.rounds[0].answers[i].message.arrays["product"] * SIZES[i] for i in (0, 1))
        block = record.rounds[0].question.arrays["block"]
        truth = COHORT[0].moment.apply(block) * SIZES[0] - COHORT[1].moment.apply(block) * SIZES[1]
        off = np.linalg.norm(first - second - truth) / np.linalg.norm(truth)
        assert (off < 1e-12) == exact
        assert exact or off > 0.1


def test_a_round_asked_again_is_repeated_and_costs_nothing():
    question = asked(plan())
    after, first = provider_step(state(noise=Noise()), question)
    again, second = provider_step(after, question)
    assert again is after
    np.testing.assert_array_equal(first.arrays["product"], second.arrays["product"])
    _, other = provider_step(state(noise=Noise()), question)  # the operating system's entropy
    assert not np.array_equal(first.arrays["product"], other.arrays["product"])


OTHER = START[:, ::-1].copy()
REFUSED: Mapping[str, tuple[Message, str]] = {
    "another run": (replace(asked(plan()), run="other"), "did not agree to run 'other'"),
    "round ahead": (asked(plan(), 3), "was asked for round 3, its next is 2 of 3"),
    "round 0": (asked(plan(), 0), "was asked for round 0"),
    "beyond the last": (asked(plan(), 4), "was asked for round 4"),
    "the same round, another question": (asked(plan(), 1, block=OTHER), "has answered round 1 already"),
    "long columns": (asked(plan(), 2, block=START * 1e6), "orthonormal"),
    "NaN": (asked(plan(), 2, block=START * np.nan), "orthonormal"),
    "single precision": (asked(plan(), 2, block=START.astype("float32")), "block of float32"),
    "wrong width": (asked(plan(), 2, block=START[:, :1]), "shape"),
    "a row twice": (asked(plan(), 2, rows=np.array([0, 0, *range(2, D)])), "ascending"),
    "a row beyond": (asked(plan(), 2, rows=np.arange(1, D + 1)), "ascending"),
    "few rows": (asked(plan(), 2, block=START[:1], rows=np.arange(1)), "rows as int64 of shape"),
    "more arrays": (asked(plan(), 2, more=START), "instead of block, rows"),
    "no arrays": (Message("trial", 2, {}), "instead of block, rows"),
}


@pytest.mark.parametrize(("question", "message"), REFUSED.values(), ids=list(REFUSED))
def test_a_hospital_refuses(question, message):
    before, _ = provider_step(state(), asked(plan()))
    with pytest.raises(ValueError, match=message) as refused:
        provider_step(before, question)
    assert str(refused.value).startswith("Hospital 1 ")
    assert len(before.spent) == len(before.sent) == 1


def test_a_hospital_refuses_beyond_its_limit():
    _, states = simulate(plan(iterations=3), COHORT, SEEDED, START)
    second = replace(plan(iterations=3), run="second")
    again = ProviderState(0, second, COHORT[0], SEEDED[0], spent=states[0].spent)
    with pytest.raises(LimitError, match="Hospital 1 has a limit that does not allow round 1") as refused:
        provider_step(again, asked(second))
    assert refused.value.detail.startswith("ε = 1.17")
    assert "1.17" not in str(refused.value)  # what was spent stays at the hospital
    twice = closed_form.epsilon_of([*(e for es in states[0].spent.values() for e in es)] * 2, 1e-5)
    enough = replace(again, limit=Budget(twice, 1e-5))
    for number in (1, 2, 3):
        enough, _ = provider_step(enough, asked(second, number))
    just_short = replace(again, limit=Budget(twice * 0.999, 1e-5))
    for number in (1, 2):
        just_short, _ = provider_step(just_short, asked(second, number))
    with pytest.raises(LimitError):
        provider_step(just_short, asked(second, 3))


def test_a_limit_counts_its_own_neighbours():
    """epsilon = 1 for adding or removing a patient is 1.46 for replacing one."""
    limit = Budget(1.0, 1e-5, "add-remove")
    with pytest.raises(ValueError, match="Hospital 1 counts add-remove in its limit where the plan says"):
        replace(state(), limit=limit)


def test_a_hospital_orthonormalises_what_it_is_asked():
    """The check leaves 1e-6; a server that uses it up moves nothing."""
    stretched = START * (1 + 4e-7)
    exact = provider_step(state(noise=SILENT[0]), asked(plan()))[1].arrays["product"]
    product = provider_step(state(noise=SILENT[0]), asked(plan(), block=stretched))[1].arrays["product"]
    np.testing.assert_allclose(product, exact, rtol=1e-12, atol=1e-15)


def test_nothing_private_leaves_with_the_state_printed():
    assert "array" not in repr(state()) and "7" not in repr(state())


def broken(answer: Message, what: str) -> Message:
    product = answer.arrays["product"]
    changed = {
        "NaN": replace(answer, arrays={"product": product * np.nan}),
        "infinity": replace(answer, arrays={"product": product + np.inf}),
        "wrong shape": replace(answer, arrays={"product": product[:, :1]}),
        "wrong type": replace(answer, arrays={"product": product.astype("float32")}),
        "another name": replace(answer, arrays={"moment": product}),
        "nothing": replace(answer, arrays={}),
        "replayed": replace(answer, round=answer.round - 1),
        "another run": replace(answer, run="other"),
    }
    return changed[what]


FAULT_MESSAGES = {
    "NaN": "sent product with numbers that are not finite",
    "infinity": "sent product with numbers that are not finite",
    "wrong shape": "sent product as float64 of shape (12, 1) instead of float64 of shape (12, 2)",
    "wrong type": "sent product as float32 of shape (12, 2) instead of float64 of shape (12, 2)",
    "another name": "sent moment instead of product",
    "nothing": "sent nothing instead of product",
    "replayed": "sent a message of round 1 in round 2",
    "another run": "sent a message of another run",
}


WORTH = "sent worth with"
TOO_LARGE = {
    "dps_pca": [({"product": np.full((D, K), 1e308)}, "sent product with numbers beyond")],
    "dpdis_pca": [({"directions": np.full((D, 2 * K), 1e200)}, "sent directions with numbers beyond")],
    "federated_projector": [
        ({"projector": np.full(D * (D + 1) // 2, 1e9)}, "sent projector with numbers beyond"),
        ({"worth": np.array([0.0, 1.0, 0.0])}, WORTH),
        ({"worth": np.array([-1.0, 1.0, 1.0])}, WORTH),
        ({"worth": np.array([1e300, 1.0, 1.0])}, WORTH),
        ({"worth": np.array([1.0, 1e308, 1e308])}, WORTH),
        ({"worth": np.array([1.0, 1.0, -1e308])}, WORTH),
    ],
}


@pytest.mark.parametrize(
    ("method", "changed", "message"), [(m, *case) for m, cases in TOO_LARGE.items() for case in cases]
)
def test_a_number_that_no_patients_give_is_its_senders_fault(method, changed, message):
    """Finite, and large enough to drown the others, or to make the next question one that nobody answers."""
    which = plan(method)
    start = START if method == "dps_pca" else None

    class Liar(InProcess):
        def __call__(self, question, hospitals, wait):
            answers = dict(super().__call__(question, hospitals, wait).answers)
            if 1 in answers:
                honest = answers[1].message
                answers[1] = replace(answers[1], message=replace(honest, arrays={**honest.arrays, **changed}))
            return coordinator.Replies(answers, {})

    def carried() -> Liar:
        return Liar([ProviderState(i, which, COHORT[i], SEEDED[i]) for i in range(3)])

    stopped = coordinator.run(which, carried(), start=start)
    assert stopped.ended.startswith(f"The run ended in round 1: Hospital 2 {message}")
    went_on = coordinator.run(which, carried(), start=start, policy=coordinator.Policy("continue"))
    assert went_on.ended == "" and list(went_on.rounds[0].faults) == [1] and went_on.basis is not None


def test_a_tiny_spike_says_nothing_and_divides_nothing():
    """Within the allowed range, and nowhere a division by zero: such a projector counts for nothing."""
    which = plan("federated_projector")
    exchange = protocol.exchange_of(which)
    honest, _ = simulate(which, COHORT, SEEDED, None)
    spikes = (0.1, 1e-300, 0.2)
    answers = {}
    for i, spike in enumerate(spikes):
        sent = honest.rounds[0].answers[i].message
        answers[i] = replace(sent, arrays={**sent.arrays, "worth": np.array([1.0, spike, 0.5])})
        exchange.check_reply(1, i, answers[i].arrays)
    after = server_step(which, protocol.start(which), answers)
    without = server_step(which, protocol.start(which), {i: answers[i] for i in (0, 2)})
    assert sin_theta(after.iterates[-1], without.iterates[-1]) < 1e-12


def test_honest_answers_are_far_from_what_is_refused():
    for epsilon in (0.1, 1.0):
        for method in TOO_LARGE:
            which = replace(plan(method), budget=Budget(epsilon, 1e-5))
            record, _ = simulate(which, COHORT, SEEDED, START if method == "dps_pca" else None)
            assert record.ended == "" and record.basis is not None


def test_foreign_names_are_told_in_plain_letters():
    for name in ("\ud800", "x\u2028y", "n" * 1000, "<b>"):
        with pytest.raises(ValueError, match="instead of product") as refused:
            protocol.check_answer(plan(), 1, 0, Message("trial", 1, {name: np.zeros(1)}))
        assert str(refused.value).isascii() and len(str(refused.value)) < 120


class Faulty(InProcess):
    """Let hospital 2 go wrong in round 2."""

    def __init__(self, which: Plan, what: str) -> None:
        super().__init__([ProviderState(i, which, COHORT[i], SEEDED[i]) for i in range(3)])
        self.what = what
        self.asked: list[tuple[int, tuple[int, ...]]] = []

    def __call__(self, question, hospitals, wait):
        self.asked.append((question.round, tuple(hospitals)))
        answers, faults = map(dict, super().__call__(question, hospitals, wait))
        if question.round == 2 and 1 in hospitals:
            answer = answers.pop(1)
            if self.what == "late":
                faults[1] = f"did not answer within {wait:g} s"
            else:
                answers[1] = replace(answer, message=broken(answer.message, self.what))
        return coordinator.Replies(answers, faults)


@pytest.mark.parametrize("what", [*FAULT_MESSAGES, "late"])
def test_a_faulty_hospital_ends_the_run_or_is_left_out(what):
    which = plan(iterations=4)
    message = FAULT_MESSAGES.get(what, "did not answer within 60 s")
    stopped = coordinator.run(which, Faulty(which, what), start=START)
    assert stopped.ended == f"The run ended in round 2: Hospital 2 {message}."
    assert stopped.basis is None and len(stopped.rounds) == 2 and stopped.rounds[1].basis is None

    carried = Faulty(which, what)
    went_on = coordinator.run(which, carried, start=START, policy=coordinator.Policy("continue"))
    assert went_on.ended == "" and went_on.rounds[1].faults == {1: message}
    assert carried.asked[2:] == [(3, (0, 2)), (4, (0, 2))]
    assert sorted(went_on.rounds[3].answers) == [0, 2] and went_on.basis is not None

    few = coordinator.run(which, Faulty(which, what), start=START, policy=coordinator.Policy("continue", 3))
    assert few.ended.startswith("The run ended in round 2: 2 of 3 hospitals answered, and 3 are needed")


def test_those_that_are_left_have_the_whole_weight():
    which = plan(iterations=1)
    states = [ProviderState(i, which, COHORT[i], SILENT[0]) for i in range(3)]
    question = protocol.question(which, protocol.start(which, START))
    answers = {i: provider_step(states[i], question)[1] for i in (0, 2)}
    basis = server_step(which, protocol.start(which, START), answers).iterates[-1]
    mean = (300 * COHORT[0].moment.apply(START) + 100 * COHORT[2].moment.apply(START)) / 400
    assert sin_theta(basis, np.linalg.qr(mean)[0]) < 1e-12


def test_a_secure_sum_takes_all_hospitals():
    which = plan(iterations=4, provider_noise="secure-aggregation")
    states = [ProviderState(i, which, COHORT[i], SEEDED[i]) for i in range(3)]
    states[1] = replace(states[1], plan=replace(which, run="other"))
    policy = coordinator.Policy("continue")
    record = coordinator.run(which, InProcess(states), start=START, policy=policy)
    assert record.ended.startswith("The run ended in round 1: Hospital 2 did not answer")
    alone = provider_step(states[0], protocol.question(which, protocol.start(which, START)))[1]
    with pytest.raises(ValueError, match="answers must be of hospitals of the plan"):
        server_step(which, protocol.start(which, START), {0: alone})


def test_the_server_sees_one_sum_of_a_secure_aggregation():
    record, _ = simulate(plan(iterations=2, provider_noise="secure-aggregation"), COHORT, SEEDED, START)
    assert [sorted(done.answers) for done in record.rounds] == [[ALL], [ALL]]


def test_a_run_is_resumed_from_what_hospitals_have_sent():
    """The server forgets all; nobody draws or pays again, and the result is the same to the bit."""
    which = plan(iterations=4)
    carried = InProcess([ProviderState(i, which, COHORT[i], Noise()) for i in range(3)])
    whole = coordinator.run(which, carried, start=START)
    spent = [dict(state.spent) for state in carried.states]
    again = coordinator.run(which, carried, start=START)
    np.testing.assert_array_equal(whole.basis, again.basis)
    assert [dict(state.spent) for state in carried.states] == spent


def test_rounds_in_a_record_stand_and_those_left_out_stay_out():
    """Broken off after round 3 of 4, of which the second had lost a hospital: only the fourth is asked."""
    which, policy = plan(iterations=4), coordinator.Policy("continue")
    carried = Faulty(which, "late")
    whole = coordinator.run(which, carried, start=START, policy=policy)
    broken_off = replace(whole, rounds=whole.rounds[:3], ended="The server stopped.")
    carried.asked.clear()
    written: list[str] = []
    again = coordinator.run(
        which, carried, start=None, policy=policy, earlier=broken_off, write=written.append
    )
    assert carried.asked == [(4, (0, 2))]
    np.testing.assert_array_equal(again.basis, whole.basis)
    assert len(written) == 6 and record.read("\n".join(written)).rounds[1].faults == whole.rounds[1].faults
    with pytest.raises(ValueError, match="of the same plan"):
        coordinator.run(plan(iterations=5), carried, start=START, earlier=broken_off)


def test_hospitals_without_a_common_generator_do_not_share_noise():
    which = plan(iterations=1, provider_noise="shared")
    record, _ = simulate(which, COHORT, [Noise()] * 3, START)
    assert "hospitals have no generator in common" in record.ended


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"run": "../etc"}, "run must be"),
        ({"run": ""}, "run must be"),
        ({"sizes": ()}, "hospitals must be"),
        ({"sizes": (0, 1)}, "sizes must be"),
        ({"k": D}, "k must be"),
        ({"names": ("one",)}, "names must be one for each of 3"),
    ],
)
def test_a_plan_checks_itself(changed, message):
    with pytest.raises(ValueError, match=message):
        replace(plan(), **changed)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("pca", {}, "method must be one of"),
        ("dps_pca", {"rank": 3}, "dps_pca has no option 'rank'"),
        ("dps_pca", {"s_hat": 1}, "s_hat must be"),
        ("dps_pca", {"provider_noise": "none"}, "provider_noise must be"),
        ("dpdis_pca", {"rank": 1}, "rank must be"),
        ("dpdis_pca", {"weights": "none"}, "weights must be"),
        ("federated_projector", {"spike": 1.0}, "spike and variance must be given together"),
    ],
)
def test_options_are_checked(method, options, message):
    with pytest.raises(ValueError, match=message):
        protocol.exchange_of(plan(method, **options))


def test_a_plan_is_the_same_from_json():
    which = replace(plan(iterations=3, s_hat=5), names=("A", "B", "C"))
    assert from_dict(to_dict(which)) == which
    assert which.name(1) == "B"


@pytest.mark.parametrize(
    "broken",
    [
        [],
        {},
        {"more": 1},
        {"budget": {}},
        {"budget": 3},
        {"sizes": 3},
        {"options": [1]},
        {"options": {"s_hat": []}},
    ],
    ids=str,
)
def test_a_plan_that_is_none_is_refused(broken):
    with pytest.raises(ValueError, match=r"plan|budget|sizes|options|s_hat"):
        from_dict(to_dict(plan()) | broken if broken and isinstance(broken, dict) else broken)
