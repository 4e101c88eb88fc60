"""The two apps without a network: what they pass on, and what hospitals keep to themselves."""

import errno
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dppca_core import Budget, datasets
from dppca_core.federated import coordinator, in_process, protocol
from dppca_core.federated import message as messages
from dppca_core.federated.coordinator import Policy
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise
from dppca_core.release import journal
from examples.flower import demo, demo_hospitals
from tests.core.full_disk import full_disk

with warnings.catch_warnings():  # of what Flower imports
    warnings.simplefilter("ignore")
    from flwr.app import ConfigRecord, Context, Error, Message, RecordDict
    from flwr.common.constant import ErrorCode
    from flwr.supercore.task_identity import TaskIdentity

    from examples.flower import apps, hospital, wire

PLAN = replace(demo.plans(4.0)[0], options=(("iterations", 2),))
START = coordinator.public_start(PLAN, np.random.default_rng(0))
SUMMED = replace(PLAN, run="summed", options=(("provider_noise", "secure-aggregation"),))
COHORT = datasets.cohort(demo_hospitals.TABLE, demo.SIZES, demo.SEED)


@pytest.fixture(autouse=True)
def in_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flower's messages can be made within one only."""
    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    simulations = [{PLAN.run: {"seed": [4, i]}} for i in range(3)]
    limit = Budget(100.0, demo.DELTA)
    return list(
        demo_hospitals.write_breast_cancer(
            tmp_path, [PLAN, SUMMED], seed=demo.SEED, limit=limit, simulations=simulations
        ).values()
    )


class Loop:
    """Act as a grid whose nodes are here. `spoil` may replace the last hospital's reply."""

    def __init__(self, files: list[Path], spoil: Callable[[Message], Message] | None = None) -> None:
        self.files, self.spoil = files, spoil
        self.asked: dict[str, Message] = {}

    def get_nodes(self):
        return [SimpleNamespace(name=demo.NAMES[i], node_id=i + 1) for i in range(len(self.files))]

    def push_messages(self, messages):
        for message in messages:
            message.metadata.__dict__["_message_id"] = f"id {len(self.asked)}"
            self.asked[message.metadata.message_id] = message
        return list(self.asked)[-len(messages) :]

    def pull_messages(self, ids):
        return [self.reply(self.asked[key]) for key in ids]

    def reply(self, asked: Message) -> Message:
        node = asked.metadata.dst_node_id
        if self.spoil and node == 3:
            return self.spoil(asked)
        config = {"hospital": str(self.files[node - 1])}
        context = Context(run_id=1, node_id=node, node_config=config, state=RecordDict(), run_config={})
        return apps.client_app(asked, context)


def run(plan: Plan, grid: Loop, **policy) -> coordinator.Record:
    return coordinator.run(plan, apps.ask_over(grid, plan), start=START, policy=Policy(**policy))


def test_it_is_the_simulation(files):
    record = run(PLAN, Loop(files))
    expected, _ = in_process.simulate(PLAN, COHORT, [Noise((4, i)) for i in range(3)], START)
    np.testing.assert_allclose(record.basis, expected.basis, rtol=0, atol=1e-10)


def content(**values: str | bytes) -> Callable[[Message], Message]:
    return lambda asked: Message(RecordDict({"dppca": ConfigRecord(values)}), reply_to=asked)


NAN = messages.Message(PLAN.run, 1, {"product": np.full((PLAN.d, PLAN.k), np.nan)})
BROKEN = {
    "nothing": (lambda asked: Message(RecordDict(), reply_to=asked), "sent what is not a message"),
    "no answer": (content(), "sent what is not a message"),
    "text": (content(answer="text"), "sent what is not a message"),
    "too much": (content(answer=bytes(10**6)), "sent 1,000,000 bytes where at most 2,480 are expected"),
    "NaN": (content(answer=wire.encode(NAN)), "sent product with numbers that are not finite"),
    "a refusal": (content(refused="I am\n\nbusy"), "did not answer: I am busy"),
    "a novel": (content(refused="a" * 10**6), "did not answer: " + "a" * apps.MOST_WORDS),
    "its step's error": (
        lambda asked: Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION), reply_to=asked),
        "did not answer: its step failed, and its own log says why",
    ),
    "killed": (
        lambda asked: Message(Error(ErrorCode.CLIENT_APP_CRASHED, "Traceback"), reply_to=asked),
        "did not answer: its step failed, and its own log says why, or it was stopped",
    ),
}


@pytest.mark.parametrize(("spoil", "reason"), BROKEN.values(), ids=list(BROKEN))
def test_a_broken_reply_is_one_sentence_of_the_record(files, spoil, reason):
    record = run(PLAN, Loop(files, spoil), on_fault="continue")
    assert record.rounds[0].faults == {2: reason} and record.basis is not None


def test_a_hospital_that_is_not_there(files, monkeypatch):
    monkeypatch.setattr(apps, "CONNECT_SECONDS", 0.1)
    assert run(PLAN, Loop(files[:2])).ended == "The run ended in round 1: Hospital 3 is not connected."


def test_a_hospital_whose_disk_is_full_sends_nothing_and_says_so_in_its_log(files, caplog, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/a/path/of/its/own")

    monkeypatch.setattr(hospital, "_replace", full)
    record = run(PLAN, Loop(files))
    assert record.ended.startswith(
        f"The run ended in round 1: Hospital 1 did not answer: {apps.CANNOT_TAKE_PART}"
    )
    assert "its files cannot be written: No space left on device" in caplog.text
    assert "/a/path" not in caplog.text


def test_what_a_hospital_says_of_its_rows_stays_there(files, caplog):
    rows = files[2].with_name("patients.csv")
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:-1]))
    record = run(PLAN, Loop(files))
    assert record.ended == (
        "The run ended in round 1: Hospital 3 did not answer: it cannot take part in this run; "
        "its own log says why."
    )
    assert "Hospital 3 has 188 patients where the plan says 189" in caplog.text


def test_too_little_noise_is_not_sent_where_nothing_sums_securely(files, tmp_path):
    """A hospital refuses though it agreed to the plan, and the server does not ask."""
    grid = Loop(files)
    question = protocol.question(SUMMED, protocol.start(SUMMED, START))
    answers = apps.ask_over(grid, SUMMED)(question, range(3), 1.0)
    message = "did not answer: its noise would be too small where answers are not summed securely"
    assert answers == ({}, dict.fromkeys(range(3), message))
    with pytest.raises(ValueError, match="no secure aggregation that withstands a server that cheats"):
        apps.run(grid, tmp_path / "server", f"{SUMMED.run}.json", "record.jsonl")


def test_a_record_in_another_encoding_is_named(files, tmp_path):
    (tmp_path / "server" / "record.jsonl").write_bytes("größe\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"^record\.jsonl cannot be read: it is not in UTF-8$"):
        apps.run(Loop(files), tmp_path / "server", f"{PLAN.run}.json", "record.jsonl")


@pytest.mark.parametrize("lines", [0.5, 1.5, 2.5], ids=["before any round", "in the first", "in the last"])
def test_a_run_whose_record_met_a_full_disk_goes_on_from_it(files, tmp_path, lines):
    """Said in one sentence; hospitals, whose noise is true, send what had left again, and pay once."""
    folder = tmp_path / "server"
    apps.run(Loop(files), folder, f"{PLAN.run}.json", "whole.jsonl")
    sizes = list(map(len, (folder / "whole.jsonl").read_bytes().splitlines(keepends=True)))
    demo_hospitals.write_plan(tmp_path, replace(PLAN, run="second"))
    message = r"^record\.jsonl cannot be written \(File too large\): started again, the run goes on from"
    room = sum(sizes[: int(lines)]) + sizes[int(lines)] // 2
    with full_disk(folder / "nothing", room), pytest.raises(OSError, match=message):
        apps.run(Loop(files), folder, "second.json", "record.jsonl")
    sent = {path: path.read_bytes() for path in tmp_path.glob("*/kept/sent/second-*.npz")}
    assert len(sent) == 3 * int(lines)
    assert apps.run(Loop(files), folder, "second.json", "record.jsonl").basis is not None
    assert all(path.read_bytes() == data for path, data in sent.items())
    for ledger in tmp_path.glob(f"*/kept/{hospital.LEDGER}"):
        assert [line["round"] for line in journal.read(ledger) if line["run"] == "second"] == [1, 2]


def test_a_run_is_resumed_from_the_start_in_its_record(files, tmp_path):
    """Whatever the seed says by then; the record of another run is not written over."""
    item = {"folder": tmp_path / "server", "plan": f"{PLAN.run}.json", "record": "record.jsonl"}
    first = apps.run(Loop(files), **item, seed=1)
    path = tmp_path / "server" / "record.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]) + '{"kind"')
    second = apps.run(Loop(files), **item, seed=2)
    np.testing.assert_array_equal(first.basis, second.basis)
    demo_hospitals.write_plan(tmp_path, replace(PLAN, run="third"))
    whole = path.read_text()
    with pytest.raises(ValueError, match=r"record\.jsonl holds the record of another run: keep it"):
        apps.run(Loop(files), **item | {"plan": "third.json"}, seed=2)
    assert path.read_text() == whole
    third = apps.run(Loop(files), **item | {"plan": "third.json", "record": "third.jsonl"}, seed=2)
    assert third.basis is not None and not np.array_equal(third.start, first.start)
