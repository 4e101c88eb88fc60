"""What a hospital keeps on disk: nothing is paid or drawn twice, whatever stops in between."""

import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest

from dppca_core import Budget, SpikedModel, journal, power
from dppca_core.federated import hospital, protocol
from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise, ProviderState

D, K, SIZES = 8, 2, (60, 40)
MODEL = SpikedModel(d=D, k=K, s=4, seed=1)
COHORT = MODEL.draw(sum(SIZES), SIZES, np.random.default_rng(1))
START = power.random_start(D, K, np.random.default_rng(2))


def plan(run: str) -> Plan:
    return Plan(run, "dps_pca", SIZES, D, K, Budget(1.0, 1e-5), (("iterations", 3),))


def state(run: str = "trial", limit: Budget | None = None) -> ProviderState:
    return ProviderState(0, plan(run), COHORT[0], Noise(), limit)


def asked(number: int = 1, run: str = "trial") -> Message:
    return Message(run, number, {"block": START, "rows": np.arange(D)})


def lines(folder: Path) -> int:
    return len(journal.read(folder / hospital.LEDGER))


def test_a_restart_repeats_what_was_sent(tmp_path):
    """The noise is the operating system's: an answer that was drawn anew would be another."""
    first = hospital.answer(state(), tmp_path, asked())
    again = hospital.answer(state(), tmp_path, asked())
    np.testing.assert_array_equal(first.arrays["product"], again.arrays["product"])
    assert lines(tmp_path) == 1
    with pytest.raises(ValueError, match="has answered round 1 already, to another question"):
        hospital.answer(
            state(), tmp_path, Message("trial", 1, {"block": START[:, ::-1].copy(), "rows": np.arange(D)})
        )
    hospital.answer(state(), tmp_path, asked(2))
    assert lines(tmp_path) == 2


def test_the_disk_gives_the_state_back(tmp_path):
    now = state()
    for number in (1, 2):
        hospital.answer(now, tmp_path, asked(number))
        now, _ = protocol.provider_step(now, asked(number))
    found = hospital.restored(state(), tmp_path)
    assert found.spent == now.spent
    assert {n: sent.question for n, sent in found.sent.items()} == {
        n: s.question for n, s in now.sent.items()
    }


def test_a_crash_between_paying_and_storing_pays_once(tmp_path, monkeypatch):
    """Nothing has left, so that round is answered with fresh noise, on the same payment."""

    def crash(*_):
        raise OSError("the machine stopped")

    with monkeypatch.context() as stopped:
        stopped.setattr(journal, "replace", crash)
        with pytest.raises(OSError, match="stopped"):
            hospital.answer(state(), tmp_path, asked())
    assert lines(tmp_path) == 1
    hospital.answer(state(), tmp_path, asked())
    assert lines(tmp_path) == 1
    with monkeypatch.context() as stopped:
        stopped.setattr(journal, "append", crash)
        with pytest.raises(OSError, match="stopped"):
            hospital.answer(state(), tmp_path, asked(2))
    assert lines(tmp_path) == 1 and not list(tmp_path.glob("sent/*-2.npz"))  # neither paid nor stored


def test_earlier_runs_count(tmp_path):
    for number in (1, 2, 3):
        hospital.answer(state(), tmp_path, asked(number))
    second = state("second")
    with pytest.raises(ValueError, match="would have spent ε = 1"):
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


def test_a_damaged_answer_is_not_drawn_anew(tmp_path):
    hospital.answer(state(), tmp_path, asked())
    (stored,) = tmp_path.glob("sent/*.npz")
    stored.write_bytes(stored.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"trial-1\.npz cannot be read"):
        hospital.answer(state(), tmp_path, asked())
    assert lines(tmp_path) == 1


def _race(folder: Path, gate, found) -> None:
    gate.wait()
    found.put(hospital.answer(state(), folder, asked()).arrays["product"])


def test_two_processes_asked_at_once_give_one_answer(tmp_path):
    """Both are asked round 1: one draws, the other repeats it, and it is paid for once."""
    context = multiprocessing.get_context("fork")
    gate, found = context.Barrier(4), context.Queue()
    racers = [context.Process(target=_race, args=(tmp_path, gate, found)) for _ in range(4)]
    for racer in racers:
        racer.start()
    answers = [found.get(timeout=30) for _ in racers]
    for racer in racers:
        racer.join()
    assert all(np.array_equal(one, answers[0]) for one in answers)
    assert lines(tmp_path) == 1


def test_a_file_is_replaced_whole(tmp_path, monkeypatch):
    path = tmp_path / "kept"
    journal.replace(path, b"old")

    def crash(*_):
        raise OSError("the machine stopped")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="stopped"):
        journal.replace(path, b"new")
    assert path.read_bytes() == b"old"
