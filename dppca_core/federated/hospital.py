"""What a hospital keeps on its own disk, so that a restart neither spends nor draws again.

FOLDER/ledger.jsonl       one line for each round that was paid for: run, round, events. Never shortened.
FOLDER/sent/RUN-ROUND.npz the answer to that round, with the fingerprint of its question

A round is paid for before its answer is stored, and the answer stored before it leaves. After a crash in
between, the round is already paid: it is answered with fresh noise, as nothing of the first draw left.
"""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dppca_core import journal
from dppca_core.federated import protocol
from dppca_core.federated.message import Message
from dppca_core.federated.protocol import ProviderState, Sent
from dppca_core.types import Event, Guarantee, Release

LEDGER = "ledger.jsonl"


def restored(state: ProviderState, folder: Path) -> ProviderState:
    """The state with what the folder says was spent and sent. Raises ValueError for a damaged file."""
    spent = {}
    for number, line in enumerate(journal.read(folder / LEDGER), 1):
        try:
            spent[str(line["run"]), int(line["round"])] = tuple(_event(one) for one in line["events"])
        except (KeyError, TypeError, ValueError) as reason:
            raise ValueError(f"line {number} of {LEDGER} is not a round that was paid for") from reason
    paid = sorted(number for run, number in spent if run == state.plan.run)
    sent = {number: _read(state, folder, number) for number in paid if _file(state, folder, number).exists()}
    return replace(state, spent=spent, sent=sent)


def answer(state: ProviderState, folder: Path, question: Message) -> Message:
    """`provider_step` from what is on the disk, and back to it before the answer is returned.

    Raises ValueError as that does, and for a damaged file. One process at a time.
    """
    with journal.locked(folder / LEDGER):
        before = restored(state, folder)
        after, reply = protocol.provider_step(before, question)
        for run, number in after.spent.keys() - before.spent.keys():
            events = [_plain(event) for event in after.spent[run, number]]
            journal.append(folder / LEDGER, {"run": run, "round": number, "events": events})
        for number in after.sent.keys() - before.sent.keys():
            journal.replace(_file(state, folder, number), _bytes(after.sent[number]))
        return reply


def _file(state: ProviderState, folder: Path, number: int) -> Path:
    return folder / "sent" / f"{state.plan.run}-{number}.npz"


def _bytes(sent: Sent) -> bytes:
    stored = io.BytesIO()
    np.savez(stored, allow_pickle=False, question=np.array(sent.question), **_prefixed(sent.answer))
    return stored.getvalue()


def _prefixed(answer: Message) -> dict[str, np.ndarray]:
    return {f"array {name}": array for name, array in answer.arrays.items()}


def _read(state: ProviderState, folder: Path, number: int) -> Sent:
    path = _file(state, folder, number)
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays = {n.removeprefix("array "): stored[n] for n in stored.files if n.startswith("array ")}
            return Sent(str(stored["question"]), Message(state.plan.run, number, arrays))
    except Exception as reason:  # a damaged archive fails in many ways
        raise ValueError(f"{path.name} cannot be read, and its round is not answered anew") from reason


def _plain(event: Event) -> dict[str, float]:
    return dict(vars(event))


def _event(plain: dict[str, Any]) -> Event:
    return Release(**plain) if "noise_multiplier" in plain else Guarantee(**plain)
