"""Faults between real processes: one clear sentence, or the rest go on; nothing is paid or drawn twice.

Hospitals are processes of their own with their own files, on pipes instead of Flower, whose rounds take 4 s.
`test_flower` has a crash and a resumption over Flower itself, `test_flower_app` NaN.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dppca_core import Budget, Release, datasets
from dppca_core.accounting import closed_form
from dppca_core.federated import coordinator, in_process
from dppca_core.federated.coordinator import Policy
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise
from dppca_core.federated.record import Record
from examples.flower import demo, demo_hospitals
from tests.federated.pipes import Hospital, Pipes

ROUNDS = 3
FIRST = replace(demo.plans(4.0)[0], options=(("iterations", ROUNDS),))
START = coordinator.public_start(FIRST, np.random.default_rng(0))
COHORT = datasets.cohort(demo_hospitals.TABLE, demo.SIZES, demo.SEED)
MANY = Budget(1000.0, demo.DELTA)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def hospitals(folder: Path) -> Iterator[list[Hospital]]:
    files = demo_hospitals.write_breast_cancer(folder, [FIRST], seed=demo.SEED, limit=MANY)
    running = [Hospital(path) for path in files.values()]
    yield running
    for hospital in running:
        hospital.stop()


def agreed(folder: Path, name: str) -> Plan:
    plan = replace(FIRST, run=name.replace(" ", "-"))
    demo_hospitals.write_plan(folder, plan)
    return plan


def ledger(folder: Path, hospital: int, plan: Plan) -> list[dict]:
    text = (folder / demo.NAMES[hospital] / "kept" / "ledger.jsonl").read_text(encoding="utf-8")
    return [line for line in map(json.loads, text.splitlines()) if line["run"] == plan.run]


def product(record: Record, number: int, hospital: int) -> np.ndarray:
    return record.rounds[number - 1].answers[hospital].message.arrays["product"]


FAULT_MESSAGES = {
    "large": "sent 8,000,",
    "torn": "sent what is not a message",
    "dies before it pays": "went away",
    "late": "did not answer within 2.5 s",
}


@pytest.mark.parametrize("how", FAULT_MESSAGES)
def test_a_fault_ends_the_run_or_the_rest_go_on(folder, hospitals, how):
    wait = 2.5 if how == "late" else 20.0
    plan = agreed(folder, f"{how} ends it")
    ended = coordinator.run(
        plan, Pipes(plan, hospitals, {(2, 2): how}), start=START, policy=Policy("stop", 2, wait)
    )
    assert ended.ended.startswith(f"The run ended in round 2: Hospital 3 {FAULT_MESSAGES[how]}")
    assert "\n" not in ended.ended and ended.basis is None

    if how == "late":
        hospitals[2].stop()  # it is still busy
    plan = agreed(folder, f"{how} is left out")
    record = coordinator.run(
        plan, Pipes(plan, hospitals, {(2, 2): how}), start=START, policy=Policy("continue", 2, wait)
    )
    assert record.ended == "" and record.basis is not None
    assert [sorted(done.answers) for done in record.rounds] == [[0, 1, 2], [0, 1], [0, 1]]
    assert [len(ledger(folder, i, plan)) for i in range(2)] == [ROUNDS, ROUNDS]
    if how == "late":
        hospitals[2].stop()


@pytest.mark.parametrize(
    ("how", "paid"),
    [("dies before it pays", 1), ("dies when it has stored", 1), ("dies when it has paid", 2)],
)
def test_a_resumed_run_neither_pays_nor_draws_again(folder, hospitals, how, paid):
    """True noise. Wherever in round 2 a hospital died, what had left comes again to the bit."""
    plan = agreed(folder, f"{how} and comes back")
    first = coordinator.run(plan, Pipes(plan, hospitals, {(2, 2): how}), start=START)
    assert first.ended == "The run ended in round 2: Hospital 3 went away."
    lines = ledger(folder, 2, plan)
    assert [line["round"] for line in lines] == list(range(1, paid + 1))
    stored = folder / demo.NAMES[2] / "kept" / "sent" / f"{plan.run}-2.npz"
    drawn = np.load(stored)["array product"] if stored.exists() else None
    assert (drawn is None) == (how == "dies before it pays")

    second = coordinator.run(plan, Pipes(plan, hospitals, {}), start=START)
    assert second.ended == "" and second.basis is not None
    for number, hospital in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]:
        np.testing.assert_array_equal(product(first, number, hospital), product(second, number, hospital))
    if drawn is not None:
        np.testing.assert_array_equal(product(second, 2, 2), drawn)
    for hospital in range(3):
        lines = ledger(folder, hospital, plan)
        assert [line["round"] for line in lines] == [1, 2, 3]
        spent = [Release(**event) for line in lines for event in line["events"]]
        assert closed_form.epsilon_of(spent, demo.DELTA) == pytest.approx(plan.budget.epsilon, rel=1e-6)


@pytest.mark.parametrize(
    ("how", "paid"),
    [
        ("dies before it pays", ROUNDS),
        ("dies when it has stored", ROUNDS),
        ("dies when it has paid", ROUNDS + 1),
    ],
)
def test_a_hospital_killed_between_the_stages_neither_pays_nor_draws_again(folder, hospitals, how, paid):
    """True noise. The rows named once stay named: another server's are refused."""
    stages = replace(FIRST, method="two_stage_own_noise", options=(("iterations", ROUNDS), ("s_hat", 10)))
    plan = replace(stages, run=f"{how} between stages".replace(" ", "-"))
    demo_hospitals.write_plan(folder, plan)
    last = ROUNDS + 1
    first = coordinator.run(plan, Pipes(plan, hospitals, {(2, last): how}), start=START)
    assert first.ended == f"The run ended in round {last}: Hospital 3 went away."
    assert [line["round"] for line in ledger(folder, 2, plan)] == list(range(1, paid + 1))

    second = coordinator.run(plan, Pipes(plan, hospitals, {}), start=None, earlier=first)
    assert second.ended == "" and second.basis is not None
    sent = [done.rounds[-1].answers[0].message.arrays["moment"] for done in (first, second)]
    np.testing.assert_array_equal(*sent)
    for hospital in range(3):
        lines = ledger(folder, hospital, plan)
        assert [line["round"] for line in lines] == list(range(1, last + 1))
        spent = [Release(**event) for line in lines for event in line["events"]]
        assert closed_form.epsilon_of(spent, demo.DELTA) == pytest.approx(plan.budget.epsilon, rel=1e-6)
    asked = second.rounds[-1].question
    others = np.setdiff1d(np.arange(plan.d), asked.arrays["rows"])[:10]
    refused = Pipes(plan, hospitals, {})(replace(asked, arrays={"rows": others}), range(3), 20.0).faults
    assert len(refused) == 3
    assert all("has answered round 4 already, to another question" in why for why in refused.values())


def test_a_hospital_that_lost_its_disk_would_draw_again(folder, hospitals):
    """So that equal answers in the test above say something."""
    plan = agreed(folder, "forgetful")
    first = coordinator.run(plan, Pipes(plan, hospitals, {}), start=START)
    kept = folder / demo.NAMES[2] / "kept"
    kept.rename(kept.with_name("lost"))
    question = first.rounds[0].question
    again = Pipes(plan, hospitals, {})(question, [2], 20.0).answers[2]
    assert not np.array_equal(again.message.arrays["product"], product(first, 1, 2))


def test_two_servers_cannot_make_a_hospital_spend_twice(folder, hospitals):
    plan = agreed(folder, "two servers")
    coordinator.run(plan, Pipes(plan, hospitals, {}), start=START)
    other = coordinator.public_start(plan, np.random.default_rng(1))
    record = coordinator.run(plan, Pipes(plan, hospitals, {}), start=other)
    assert "has answered round 1 already, to another question" in record.ended
    assert [len(ledger(folder, i, plan)) for i in range(3)] == [ROUNDS] * 3


def test_processes_find_what_one_process_finds(folder, hospitals):
    plan = replace(agreed(folder, "seeded"), names=demo.NAMES)
    noise = [Noise((5, i)) for i in range(3)]
    for i, name in enumerate(demo.NAMES):
        path = folder / name / "hospital.json"
        says = json.loads(path.read_text()) | {"simulation": {plan.run: {"seed": [5, i]}}}
        path.write_text(json.dumps(says))
        hospitals[i].stop()
    record = coordinator.run(plan, Pipes(plan, hospitals, {}), start=START)
    expected, _ = in_process.simulate(plan, COHORT, noise, START)
    for finished_round, other in zip(record.rounds, expected.rounds, strict=True):
        np.testing.assert_allclose(finished_round.basis, other.basis, rtol=0, atol=1e-10)
