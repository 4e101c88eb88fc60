"""Which run the providers page shows: simulated here, stored, or a record that was given. No Streamlit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration import setting, transcript
from dppca_core.experiments.collaboration import transcript as seen
from dppca_core.experiments.collaboration.transcript import Transcript
from dppca_core.experiments.draws import PUBLIC
from dppca_core.federated import protocol, record
from dppca_core.federated.exchange import ALL
from dppca_core.federated.record import Record
from pages.shared import text

STORED = Path(__file__).resolve().parents[3] / "data" / "runs"
MOST_BYTES = 50 * 2**20
_MOST_HOSPITALS = 200
_MOST_NAME = 24


@dataclass(frozen=True, eq=False)
class ShownRun:
    """A run: its record; what its messages hide, if simulated here; the errors, where the truth is known.

    errors: sin Theta of the start, if there is one, and after each round.
    """

    record: Record
    seen: Transcript | None
    errors: Array | None

    @property
    def over_network(self) -> bool:
        """Whether it was carried between processes."""
        return self.seen is None

    @property
    def summed(self) -> bool:
        """Whether the server sees the sum of all messages alone."""
        return protocol.exchange_of(self.record.plan).summed

    @property
    def shared(self) -> bool:
        """Whether all hospitals draw the same noise."""
        return self.record.plan.method_options.get("provider_noise") == "shared"

    def name(self, hospital: int) -> str:
        """What a hospital is called on screen: a record's names may hold anything."""
        if hospital == ALL:
            return "the sum of all"
        kept = re.sub(r"[^\w .,()&'-]|(?<=www)\.", "", self.record.plan.name(hospital))[:_MOST_NAME].strip()
        return kept.replace("&", "and") or f"Hospital {hospital + 1}"


def of_simulation(found: Transcript) -> ShownRun:
    """A run that was simulated here."""
    return ShownRun(found.record, found, found.errors)


def of_record(given: Record, of: str = "") -> ShownRun:
    """A run that was recorded; its truth is known where it is `of` a whole table that is here."""
    plan = given.plan
    table = TABLES.get(of)
    errors = None
    if table is not None and (table.d, table.n) == (plan.d, sum(plan.sizes)):
        truth = setting.truth(table.name, table.n, plan.k, PUBLIC)
        errors = seen.errors(given, truth.basis)
    return ShownRun(given, None, errors)


def stored() -> tuple[str, ...]:
    """The names of the stored runs, each that of its table."""
    return tuple(sorted(path.stem for path in STORED.glob("*.jsonl")))


@lru_cache(maxsize=4)
def open_stored(name: str) -> ShownRun:
    """One of them. Raises ValueError with one sentence for a file that is damaged."""
    try:
        given = record.read((STORED / f"{name}.jsonl").read_text(encoding="utf-8"))
    except ValueError as reason:
        raise ValueError(f"data/runs/{name}.jsonl cannot be read: {text.brief(str(reason))}.") from reason
    return of_record(given, name.replace("-", "_"))


def read(raw: bytes) -> ShownRun:
    """A record from a file. Raises ValueError with one sentence for anything else."""
    if len(raw) > MOST_BYTES:
        raise ValueError(
            f"This file has {text.size(len(raw))}; this page reads up to {text.size(MOST_BYTES)}."
        )
    try:
        given = record.read(raw.decode("utf-8-sig"))  # some editors put a mark before the first letter
    except UnicodeDecodeError:
        raise ValueError("This file is not a run's record: it is not text.") from None
    except ValueError as reason:
        raise ValueError(f"This file is not a run's record: {text.brief(str(reason))}.") from None
    if given.plan.hospitals > _MOST_HOSPITALS:
        raise ValueError(
            f"This page draws up to {_MOST_HOSPITALS} hospitals; this run has {given.plan.hospitals:,}."
        )
    if not given.rounds:
        raise ValueError(f"This run has no round to show. {text.brief(given.ended)}".strip())
    return of_record(given)


def curve(shown: ShownRun) -> tuple[list[int], Array]:
    """By round: the error, where the truth is known (from the start on), else how far the result moved."""
    if shown.errors is not None:
        first = 0 if shown.record.start is not None else 1
        return list(range(first, first + len(shown.errors))), shown.errors
    moved = seen.moves(shown.record)
    return list(range(1, 1 + len(moved))), np.asarray(moved)


class MessagePair:
    """What arrived of a hospital in a round, and the same without noise where it is known."""

    def __init__(self, shown: ShownRun, number: int, hospital: int) -> None:
        done = shown.record.rounds[number - 1]
        plan, answer = shown.record.plan, done.answers.get(hospital)
        self.received = None if answer is None else transcript.matrix(answer.message.arrays, plan, hospital)
        hidden = None if shown.seen is None else shown.seen.hidden[number - 1].get(hospital)
        self.exact = None if hidden is None else transcript.matrix(hidden, plan, hospital)
