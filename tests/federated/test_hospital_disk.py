"""What a hospital keeps on disk: nothing is paid or drawn twice, whatever stops in between."""

import dataclasses
import json
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest

from dppca_core import Budget, Cohort, SpikedModel
from dppca_core.accounting import closed_form
from dppca_core.arrays import Provider
from dppca_core.federated import protocol
from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan, columns_of
from dppca_core.federated.protocol import LimitError, Noise, ProviderState
from dppca_core.mechanisms.paid_lengths import Layout
from dppca_core.numerics import block_power
from dppca_core.numerics.moments import RowMoment
from dppca_core.release import journal
from examples.flower import hospital
from tests.core.full_disk import full_disk

D, K, SIZES = 8, 2, (60, 40)
MODEL = SpikedModel(d=D, k=K, s=4, seed=1)
COHORT = MODEL.draw(sum(SIZES), SIZES, np.random.default_rng(1))
START = block_power.random_start(D, K, np.random.default_rng(2))


def plan(run: str) -> Plan:
    return Plan(run, "dps_pca", SIZES, D, K, Budget(1.0, 1e-5), (("iterations", 3),))


def state(run: str = "trial", limit: Budget | None = None) -> ProviderState:
    return ProviderState(0, plan(run), COHORT[0], Noise(), limit)


def asked(number: int = 1, run: str = "trial") -> Message:
    return Message(run, number, {"block": START, "rows": np.arange(D)})


OTHER = Message("trial", 1, {"block": START[:, ::-1].copy(), "rows": np.arange(D)})


def lines(folder: Path) -> int:
    return len(journal.read(folder / hospital.LEDGER))


def test_a_restart_repeats_what_was_sent(tmp_path):
    """The noise is the operating system's: an answer that was drawn anew would be another."""
    first = hospital.answer(state(), tmp_path, asked())
    again = hospital.answer(state(), tmp_path, asked())
    np.testing.assert_array_equal(first.arrays["product"], again.arrays["product"])
    assert lines(tmp_path) == 1
    with pytest.raises(ValueError, match="has answered round 1 already, to another question"):
        hospital.answer(state(), tmp_path, OTHER)
    hospital.answer(state(), tmp_path, asked(2))
    assert lines(tmp_path) == 2


def test_the_disk_gives_the_state_back(tmp_path):
    now = state()
    for number in (1, 2):
        hospital.answer(now, tmp_path, asked(number))
        now, _ = protocol.provider_step(now, asked(number))
    restored = hospital.load_state(state(), tmp_path)
    assert restored.spent == now.spent
    assert {n: sent.question for n, sent in restored.sent.items()} == {
        n: s.question for n, s in now.sent.items()
    }


def stored(folder: Path, number: int = 1) -> Path:
    return folder / "sent" / f"trial-{number}.npz"


@pytest.mark.parametrize(
    ("module", "step", "kept"),
    [(hospital, "_replace", False), (journal, "append", True)],
    ids=["store", "pay"],
)
def test_a_crash_before_an_answer_leaves_draws_and_pays_once(tmp_path, monkeypatch, module, step, kept):
    """Stored but not paid: the same answer leaves, once it is paid. Not even stored: nothing had happened."""

    def crash(*_):
        raise OSError("the machine stopped")

    with monkeypatch.context() as stopped:
        stopped.setattr(module, step, crash)
        with pytest.raises(OSError, match="stopped"):
            hospital.answer(state(), tmp_path, asked())
    assert lines(tmp_path) == 0 and stored(tmp_path).exists() is kept
    if kept:
        drawn = hospital.load_state(state(), tmp_path).sent[1].answer.arrays["product"]
        with pytest.raises(ValueError, match="to another question"):
            hospital.answer(state(), tmp_path, OTHER)
        answer = hospital.answer(state(), tmp_path, asked())
        np.testing.assert_array_equal(answer.arrays["product"], drawn)
    else:
        hospital.answer(state(), tmp_path, asked())
    hospital.answer(state(), tmp_path, asked())
    assert lines(tmp_path) == 1


@pytest.mark.parametrize("room", [0, 100], ids=["none", "part of an answer"])
def test_a_full_disk_sends_nothing_and_draws_once(tmp_path, room):
    hospital.answer(state(), tmp_path, asked())
    before = (tmp_path / hospital.LEDGER).read_bytes()
    with full_disk(tmp_path / "nothing", room), pytest.raises(OSError, match="large"):
        hospital.answer(state(), tmp_path, asked(2))
    assert (tmp_path / hospital.LEDGER).read_bytes() == before
    assert [path.name for path in (tmp_path / "sent").iterdir()] == [stored(tmp_path).name]
    hospital.answer(state(), tmp_path, asked(2))
    assert lines(tmp_path) == 2


def test_a_disk_that_is_full_once_an_answer_is_stored_pays_for_that_very_answer_later(tmp_path, monkeypatch):
    append = journal.append

    def full(path, line):
        with full_disk(path, 20):
            append(path, line)

    with monkeypatch.context() as stopped:
        stopped.setattr(journal, "append", full)
        with pytest.raises(OSError, match="large"):
            hospital.answer(state(), tmp_path, asked())
    assert (tmp_path / hospital.LEDGER).read_bytes() == b""
    drawn = np.load(stored(tmp_path))["array product"]
    np.testing.assert_array_equal(hospital.answer(state(), tmp_path, asked()).arrays["product"], drawn)
    assert lines(tmp_path) == 1


def test_the_order_of_lines_does_not_matter(tmp_path):
    for number in (1, 2, 3):
        hospital.answer(state(), tmp_path, asked(number))
    ledger = tmp_path / hospital.LEDGER
    whole = hospital.load_state(state(), tmp_path)
    ledger.write_bytes(b"".join(reversed(ledger.read_bytes().splitlines(keepends=True))))
    assert hospital.load_state(state(), tmp_path).spent == whole.spent


def test_an_answer_that_is_gone_is_not_drawn_anew(tmp_path):
    """A server that saw two could average the noise away."""
    hospital.answer(state(), tmp_path, asked())
    stored(tmp_path).unlink()
    for question in (asked(), OTHER, asked(2)):
        with pytest.raises(hospital.DamagedError, match="round 1 was paid for and is gone"):
            hospital.answer(state(), tmp_path, question)
    assert lines(tmp_path) == 1


def test_a_ledger_that_is_gone_gives_no_budget_back(tmp_path):
    for number in (1, 2, 3):
        hospital.answer(state(), tmp_path, asked(number))
    first = hospital.answer(state(), tmp_path, asked())
    (tmp_path / hospital.LEDGER).unlink()
    with pytest.raises(LimitError):
        hospital.answer(state("second"), tmp_path, asked(1, "second"))
    again = hospital.answer(state(), tmp_path, asked())
    np.testing.assert_array_equal(first.arrays["product"], again.arrays["product"])


def test_a_line_without_its_end_counts(tmp_path):
    for number in (1, 2):
        hospital.answer(state(), tmp_path, asked(number))
    ledger = tmp_path / hospital.LEDGER
    ledger.write_bytes(ledger.read_bytes().removesuffix(b"\n"))
    assert len(hospital.load_state(state(), tmp_path).spent) == 2
    hospital.answer(state(), tmp_path, asked(3))
    assert lines(tmp_path) == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"events": []},
        {"events": [{"noise_multiplier": 1e300, "steps": 1}]},
        {"events": [{"noise_multiplier": 3.0, "steps": 0}]},
        {"events": {"epsilon": 1.0}},
        {"neighbours": "add-remove"},
        {"round": "one"},
        {"run": "trial", "round": 1, "more": 0, "events": 3},
    ],
    ids=str,
)
def test_a_line_that_pays_for_nothing_is_refused(tmp_path, changed):
    hospital.answer(state(), tmp_path, asked())
    ledger = tmp_path / hospital.LEDGER
    ledger.write_text(json.dumps(json.loads(ledger.read_text()) | changed) + "\n")
    with pytest.raises(hospital.DamagedError, match=r"line 1 of ledger\.jsonl"):
        hospital.answer(state(), tmp_path, asked(2))


def test_a_round_paid_twice_is_damage(tmp_path):
    hospital.answer(state(), tmp_path, asked())
    ledger = tmp_path / hospital.LEDGER
    ledger.write_bytes(ledger.read_bytes() * 2)
    with pytest.raises(hospital.DamagedError, match=r"line 2 of ledger\.jsonl pays for a round again"):
        hospital.answer(state(), tmp_path, asked(2))


def test_earlier_runs_count(tmp_path):
    for number in (1, 2, 3):
        hospital.answer(state(), tmp_path, asked(number))
    second = state("second")
    with pytest.raises(LimitError):
        hospital.answer(second, tmp_path, asked(1, "second"))
    assert lines(tmp_path) == 3
    hospital.answer(state("second", Budget(2.0, 1e-5)), tmp_path, asked(1, "second"))
    assert lines(tmp_path) == 4


def test_a_torn_last_line_is_mended_and_any_other_is_refused(tmp_path):
    hospital.answer(state(), tmp_path, asked())
    ledger = tmp_path / hospital.LEDGER
    whole = ledger.read_bytes()
    ledger.write_bytes(whole + b'{"run":"tri')
    hospital.answer(state(), tmp_path, asked(2))
    assert lines(tmp_path) == 2 and ledger.read_bytes().startswith(whole)
    ledger.write_bytes(b'{"run":"tri\n' + whole)
    with pytest.raises(ValueError, match=r"line 1 of ledger\.jsonl cannot be read"):
        hospital.answer(state(), tmp_path, asked(3))
    ledger.write_bytes(b'{"run":"trial","round":1,"events":[{"noise":1}]}\n')
    with pytest.raises(ValueError, match=r"line 1 of ledger\.jsonl is not a round"):
        hospital.answer(state(), tmp_path, asked(3))


def test_a_cheaper_price_in_one_of_two_files_is_refused(tmp_path):
    hospital.answer(state(), tmp_path, asked())
    ledger = tmp_path / hospital.LEDGER
    line = json.loads(ledger.read_text())
    line["events"][0]["noise_multiplier"] *= 50
    ledger.write_text(json.dumps(line) + "\n")
    with pytest.raises(hospital.DamagedError, match=r"round 1 of trial has another price in ledger\.jsonl"):
        hospital.answer(state(), tmp_path, asked(2))
    assert lines(tmp_path) == 1


def test_a_damaged_answer_is_not_drawn_anew(tmp_path):
    hospital.answer(state(), tmp_path, asked())
    stored(tmp_path).write_bytes(stored(tmp_path).read_bytes()[:100])
    with pytest.raises(ValueError, match=r"trial-1\.npz cannot be read"):
        hospital.answer(state(), tmp_path, asked())
    assert lines(tmp_path) == 1


def test_a_hospital_killed_between_mean_and_method_goes_on_about_the_same_mean(tmp_path):
    """Each call starts anew from the disk, with the operating system's noise; round 3 gives no mean again."""
    (site,) = Cohort.from_rows([np.random.default_rng(1).normal(1.0, 0.3, (SIZES[0], D))], 4.0)
    mean = np.full(D, 0.25)

    def ask(number: int, **arrays: np.ndarray) -> Message:
        agreed = dataclasses.replace(plan("trial"), mean_share=0.2)
        return hospital.answer(ProviderState(0, agreed, site), tmp_path, Message("trial", number, arrays))

    basis = {"block": START, "rows": np.arange(D)}
    np.testing.assert_array_equal(ask(1).arrays["mean"], ask(1).arrays["mean"])
    first = ask(2, **basis, mean=mean)
    np.testing.assert_array_equal(ask(2, **basis, mean=mean).arrays["product"], first.arrays["product"])
    with pytest.raises(ValueError, match="has answered round 2 already, to another question"):
        ask(2, **basis, mean=mean / 2)
    ask(3, **basis)
    assert lines(tmp_path) == 3
    (kept,) = hospital.load_state(state(), tmp_path).sent[2].kept.values()
    np.testing.assert_array_equal(kept, mean)
    ask(4, **basis)
    paid = hospital.load_state(state(), tmp_path).spent.values()
    events = [event for round_events in paid for event in round_events]
    assert closed_form.epsilon_of(events, 1e-5) == pytest.approx(1.0, rel=1e-6)


def test_a_hospital_killed_between_steps_of_a_fitted_bound_keeps_what_they_released(tmp_path):
    """Each call starts anew from the disk; what it answers is what a hospital that went on answers."""
    rows = np.random.default_rng(1).uniform(-1, 1, (SIZES[0], D))
    columns = columns_of(Layout.of_numbers(D))
    agreed = Plan("trial", "dpdis_pca", SIZES, D, K, Budget(1.0, 1e-5), fitted="centred", columns=columns)
    begun = now = ProviderState(0, agreed, Provider(len(rows), RowMoment(rows)), Noise((3,)))
    released = ({}, {"squares": np.full(D, 0.3)}, {"mean": np.full(D, 0.1)}, {"tails": np.array([0.1, 0.02])})
    for number, arrays in enumerate(released, 1):
        asked = Message("trial", number, arrays)
        stored = hospital.answer(begun, tmp_path, asked)
        now, kept_in_memory = protocol.provider_step(now, asked)
        assert stored.digest == kept_in_memory.digest == hospital.answer(begun, tmp_path, asked).digest
    assert lines(tmp_path) == 4
    events = [event for price in hospital.load_state(begun, tmp_path).spent.values() for event in price]
    assert closed_form.epsilon_of(events, 1e-5) == pytest.approx(1.0, rel=1e-9)


def _race(folder: Path, gate, results) -> None:
    gate.wait()
    results.put(hospital.answer(state(), folder, asked()).arrays["product"])


def test_two_processes_asked_at_once_give_one_answer(tmp_path):
    context = multiprocessing.get_context("fork")
    gate, results = context.Barrier(4), context.Queue()
    racers = [context.Process(target=_race, args=(tmp_path, gate, results)) for _ in range(4)]
    for racer in racers:
        racer.start()
    answers = [results.get(timeout=30) for _ in racers]
    for racer in racers:
        racer.join()
    assert all(np.array_equal(answer, answers[0]) for answer in answers)
    assert lines(tmp_path) == 1


def test_a_file_is_replaced_whole(tmp_path, monkeypatch):
    path = tmp_path / "kept"
    hospital._replace(path, b"old")

    def crash(*_):
        raise OSError("the machine stopped")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="stopped"):
        hospital._replace(path, b"new")
    with full_disk(path), pytest.raises(OSError, match="large"):
        hospital._replace(path, b"newer")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
