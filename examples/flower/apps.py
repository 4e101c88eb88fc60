"""Hospitals and server over Flower. This carries messages; `protocol` and `coordinator` decide.

The ServerApp works through an agenda, a JSON list of

    {"plan": "plan.json", "record": "run.jsonl", "seed": 0, "policy": {"on_fault": "continue"}}

with paths seen from its folder. seed: of the public start Q(0). policy: as `coordinator.Policy`. Where the
record is there already, of the same plan and broken off, its rounds stand and the run goes on.

The ClientApp answers one question with what the hospital's own files say (`own_files`); all that it takes
from the message is the question. It never answers for a secure aggregation: Flower's own does not withstand a
server that cheats (docs/federated.md), and without one the noise of each answer would be too small.
"""

import logging
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid, ServerApp

from dppca_core.federated import coordinator, message, protocol
from dppca_core.federated import record as records
from dppca_core.federated.coordinator import Policy, Replies, Transport
from dppca_core.federated.plan import Plan, from_dict
from dppca_core.federated.protocol import exchange_of
from dppca_core.federated.record import Record, RecordedAnswer
from dppca_core.release import journal
from examples.flower import hospital, wire
from examples.flower.own_files import OwnFiles, read_json

POLL_SECONDS = 0.2
CONNECT_SECONDS = 60.0
MOST_WORDS = 300  # characters of a refusal that reach the record
QUERY = "query"
CANNOT_TAKE_PART = "it cannot take part in this run; its own log says why"
STEP_FAILED = "did not answer: its step failed, and its own log says why"
STEP_FAILED_OR_STOPPED = f"{STEP_FAILED}, or it was stopped"
_log = logging.getLogger(__name__)

client_app = ClientApp()
server_app = ServerApp()


def _content(**values: str | bytes) -> RecordDict:
    # Send one record of bytes: Flower sends nested objects one by one, and waits for each.
    return RecordDict({"dppca": ConfigRecord(dict(values))})


@client_app.query()
def step(question: Message, context: Context) -> Message:
    """Return a hospital's answer, or the sentence with which it refuses."""
    try:
        return Message(_content(answer=_answer(question, context)), reply_to=question)
    except ValueError as reason:
        return Message(_content(refused=str(reason)), reply_to=question)


def _answer(question: Message, context: Context) -> bytes:
    content = question.content["dppca"]
    try:
        files = OwnFiles.read(Path(str(context.node_config["hospital"])))
        state = files.state(str(content["run"]))
    except ValueError as reason:  # the message may tell of rows, so it stays here
        _log.error("%s", reason)
        raise ValueError(CANNOT_TAKE_PART) from None
    if exchange_of(state.plan).sealed:
        raise ValueError("its noise would be too small where answers are not summed securely")
    most = 8 * state.plan.d * (state.plan.k + 2)  # a basis, its rows, and the mean
    decoded = wire.decode(cast(bytes, content["question"]), most)
    try:
        return wire.encode(hospital.answer(state, files.keeps, decoded))
    except protocol.LimitError as reason:
        _log.error("%s: %s", reason, reason.detail)
        raise
    except hospital.DamagedError as reason:
        _log.error("%s", reason)
        raise ValueError(CANNOT_TAKE_PART) from None
    except OSError as reason:  # an answer may leave only once it is on the disk
        _log.error("its files cannot be written: %s", reason.strerror)
        raise ValueError(CANNOT_TAKE_PART) from None


@server_app.main()
def work(grid: Grid, context: Context) -> None:
    agenda = Path(str(context.run_config["agenda"]))
    for item in read_json(agenda):
        run(grid, agenda.parent, **item)


def run(grid: Grid, folder: Path, plan: str, record: str, seed: int = 0, policy: Any = None) -> Record:
    """Run one item of an agenda; its record is written line by line as it goes on.

    Raises ValueError for a plan with secure aggregation, which is refused over Flower, and OSError, in one
    sentence, where the record cannot be written: hospitals keep what they sent.
    """
    agreed = from_dict(read_json(folder / plan))
    if exchange_of(agreed).sealed:
        raise ValueError("Flower has no secure aggregation that withstands a server that cheats")
    path = folder / record
    earlier = _earlier(agreed, path)
    start = coordinator.public_start(agreed, np.random.default_rng(seed))
    ask, draft = ask_over(grid, agreed), path.with_name(path.name + ".draft")
    again = 1 + (len(earlier.rounds) if earlier else 0)  # lines of the earlier record, written again first
    with draft.open("wb", buffering=0) as lines:
        written = 0

        def write(line: str) -> None:
            nonlocal written
            try:
                journal.write(lines, line.encode() + b"\n")
            except OSError as reason:
                raise OSError(
                    f"{record} cannot be written ({reason.strerror}): started again, the run goes on from "
                    "its last whole line"
                ) from reason
            written += 1
            if written == again:
                draft.replace(path)  # what is written from now on goes on under that name

        return coordinator.run(
            agreed,
            ask,
            start=start,
            policy=Policy(**(policy or {})),
            write=write,
            about={"engine": f"Flower {version('flwr')}"},
            earlier=earlier,
        )


def _earlier(plan: Plan, path: Path) -> Record | None:
    """Return the record of this plan as far as its lines are whole."""
    try:
        whole = path.read_text(encoding="utf-8").rpartition("\n")[0] if path.exists() else ""
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} cannot be read: it is not in UTF-8") from None
    if not whole:
        return None
    earlier = records.read(whole)
    if earlier.plan != plan:
        raise ValueError(f"{path.name} holds the record of another run: keep it, and name another file")
    return earlier


def _sanitised(refusal: object) -> str:
    """Return a hospital's words as they may stand in a log and a record: short, one line, plain letters."""
    return ascii(" ".join(str(refusal).split())[:MOST_WORDS])[1:-1]


def ask_over(grid: Grid, plan: Plan) -> Transport:
    """Return a function that asks hospitals by their SuperNodes' names; wait until all are there."""
    nodes: dict[str, int] = {}
    names = [plan.name(hospital) for hospital in range(plan.hospitals)]
    until = time.monotonic() + CONNECT_SECONDS
    while not nodes.keys() >= set(names) and time.monotonic() < until:
        nodes |= {node.name: node.node_id for node in grid.get_nodes()}
        time.sleep(POLL_SECONDS)

    def ask(question: message.Message, hospitals: Sequence[int], wait: float) -> Replies:
        begun = time.perf_counter()
        payload = wire.most_bytes(exchange_of(plan).reply_to(question.round))
        there = [hospital for hospital in hospitals if names[hospital] in nodes]
        answers: dict[int, RecordedAnswer] = {}
        content, group = _content(run=plan.run, question=wire.encode(question)), str(question.round)
        ids = grid.push_messages(
            [Message(content, nodes[names[i]], QUERY, ttl=wait, group_id=group) for i in there]
        )
        waiting = {key: hospital for key, hospital in zip(ids, there, strict=True) if key}
        faults = dict.fromkeys(set(hospitals) - set(waiting.values()), "is not connected")
        while waiting and time.perf_counter() - begun < wait:
            for reply in grid.pull_messages(list(waiting)):
                hospital = waiting.pop(reply.metadata.reply_to_message_id)
                try:
                    answers[hospital] = _read(reply, payload, time.perf_counter() - begun)
                except ValueError as reason:
                    faults[hospital] = str(reason)
            time.sleep(POLL_SECONDS if waiting else 0)
        return Replies(answers, faults | dict.fromkeys(waiting.values(), f"did not answer within {wait:g} s"))

    return ask


def _read(reply: Message, payload: int, seconds: float) -> RecordedAnswer:
    """Return a hospital's answer. Raises ValueError, whose text ends a sentence, where there is none."""
    if reply.has_error():
        # `worker` reports what its step raises; another code is Flower's own, as where a process was killed.
        raised = reply.error.code == ErrorCode.CLIENT_APP_RAISED_EXCEPTION
        raise ValueError(STEP_FAILED if raised else STEP_FAILED_OR_STOPPED)
    try:
        content = reply.content["dppca"]
        if "refused" in content:
            raise ValueError("did not answer: " + _sanitised(content["refused"]))
        data = cast(bytes, content["answer"])
        return RecordedAnswer(wire.decode(data, payload), len(data), seconds)
    except (KeyError, TypeError):
        raise ValueError("sent what is not a message") from None
