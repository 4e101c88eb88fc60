"""The files on a hospital's own disk, which let no round be drawn or paid for twice.

FOLDER/sent/RUN-ROUND.npz  the answer to that round, the fingerprint of its question, its price, and the mean
                           that the question gave, where rows are centred
FOLDER/ledger.jsonl        one line for each round that was paid for: run, round, neighbours, events

An answer is stored first, then paid for, and only then does it leave. So after a crash anywhere in between it
is there already: asked the same, the hospital pays for it where it has not, and sends that very answer. Noise
is drawn once for a round, or never: an answer that was paid for and is gone from the disk is not drawn anew,
since a server that saw two would see through both. What was spent is what either file tells, so that losing
one of them gives no budget back; where they disagree, nothing is answered.
"""

import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dppca_core.accounting.events_json import from_plain, to_plain
from dppca_core.accounts.book import sync_folder
from dppca_core.federated import protocol
from dppca_core.federated.message import Message
from dppca_core.federated.protocol import ProviderState, SentMessage
from dppca_core.privacy import Event
from dppca_core.release import journal

LEDGER = "ledger.jsonl"


class DamagedError(ValueError):
    """Say that files of this hospital do not fit each other. Its message must not leave the hospital."""


def load_state(state: ProviderState, folder: Path) -> ProviderState:
    """Return the state with what the folder says was spent and sent."""
    paid = _ledger(state, folder)
    spent, sent = dict(paid), {}
    for path in sorted((folder / "sent").glob("*.npz")):
        header, stored = _read(path)
        key, events = _payment(path.name, header, state)
        if spent.setdefault(key, events) != events:
            raise DamagedError(f"round {key[1]} of {key[0]} has another price in {LEDGER} than its answer")
        if key[0] == state.plan.run:
            sent[key[1]] = stored
    if gone := [number for run, number in paid if run == state.plan.run and number not in sent]:
        raise DamagedError(f"the answer to round {gone[0]} was paid for and is gone: it is not drawn anew")
    return replace(state, spent=spent, sent=sent)


def answer(state: ProviderState, folder: Path, question: Message) -> Message:
    """Run `provider_step` from what is on the disk, and store its result before the answer is returned.

    Raises ValueError as that does, and DamagedError. One process at a time.
    """
    with journal.locked(folder / LEDGER):
        before = load_state(state, folder)
        after, reply = protocol.provider_step(before, question)
        run, number, neighbours = state.plan.run, question.round, state.allowed.neighbours
        events = to_plain(after.spent[run, number])
        line = {"run": run, "round": number, "neighbours": neighbours, "events": events}
        if number not in before.sent:
            header, file = line | {"question": question.digest}, io.BytesIO()
            arrays = {f"array {name}": array for name, array in reply.arrays.items()}
            arrays |= {f"kept {name}": array for name, array in after.sent[number].kept.items()}
            np.savez(file, allow_pickle=False, said=np.array(json.dumps(header)), **arrays)
            _replace(folder / "sent" / f"{run}-{number}.npz", file.getvalue())
        if (run, number) not in _ledger(state, folder):
            journal.append(folder / LEDGER, line)
        return reply


def _replace(path: Path, data: bytes) -> None:
    """Replace a whole file: after a crash, or on a full disk, it is there in full, or as it was before."""
    draft = path.with_name(path.name + ".draft")
    try:
        with journal.open_private(draft, "w") as file:
            journal.write(file, data)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _ledger(state: ProviderState, folder: Path) -> dict[tuple[str, int], tuple[Event, ...]]:
    try:
        lines = journal.read(folder / LEDGER)
    except ValueError as reason:
        raise DamagedError(str(reason)) from None
    paid = {}
    for number, line in enumerate(lines, 1):
        key, events = _payment(f"line {number} of {LEDGER}", line, state)
        if key in paid:
            raise DamagedError(f"line {number} of {LEDGER} pays for a round again")
        paid[key] = events
    return paid


def _payment(
    where: str, line: dict[str, Any], state: ProviderState
) -> tuple[tuple[str, int], tuple[Event, ...]]:
    try:
        key, events = (str(line["run"]), int(line["round"])), from_plain(line["events"])
        neighbours = line["neighbours"]
    except (KeyError, TypeError, ValueError):
        raise DamagedError(f"{where} is not a round that was paid for") from None
    if neighbours != state.allowed.neighbours:
        raise DamagedError(f"{where} counts {neighbours}, which the limit does not")
    return key, events


def _read(path: Path) -> tuple[dict[str, Any], SentMessage]:
    """Return what a stored answer says of its round, and the answer with the fingerprint of its question."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays, kept = (
                {n.removeprefix(kind): stored[n] for n in stored.files if n.startswith(kind)}
                for kind in ("array ", "kept ")
            )
            header = json.loads(str(stored["said"]))
        answer = Message(header["run"], header["round"], arrays)
        return header, SentMessage(header["question"], answer, kept)
    except Exception as reason:  # a damaged archive fails in many ways
        raise DamagedError(f"{path.name} cannot be read, and its round is not answered anew") from reason
