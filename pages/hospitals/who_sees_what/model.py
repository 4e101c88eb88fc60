"""Read the run that the page shows: simulated here, stored or uploaded.

A record is what a server wrote during a run between processes: its questions and the noisy answers. A
transcript is a run as the page shows it: a record and, where the truth is known, the errors. A simulated one
also has the messages without noise (`noiseless`).
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments import draws
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.transcript import Transcript
from dppca_core.federated import record
from dppca_core.federated.exchange import ALL
from dppca_core.numerics.subspace_metrics import runs_in_unit
from pages.shared import text
from pages.shared.background import cache, refresh
from pages.shared.charts.metric_axis import error_unit
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

STORED = Path(__file__).resolve().parents[3] / "data" / "runs"
MOST_BYTES = 50 * 2**20
_MOST_HOSPITALS = 200
_MOST_NAME = 24  # letters
# The protocols whose messages are compared in pairs: with one noise for all hospitals, and one for each.
_PAIR = ("dps_pca shared", "dps_pca")


class NoRunError(Exception):
    """Say in a sentence why there is no run; in none where a visitor must upload a file or ask for it."""


@dataclass(frozen=True)
class Recorded:
    """Hold a run that took place. stored: its name among those stored with the program, if it is one."""

    run: Transcript
    stored: str = ""


class Messages:
    """Hold the page at these settings: one run, or the two whose messages are compared.

    It holds no simulated run: a page's buttons live as long as its visitor's session, and the cache could not
    free the run's memory.

    recorded: the run that took place, if one is shown. why_none: why there is none to show, as `NoRunError`
    says; None where there is one. simulated: the protocols that are simulated, keys of `PROTOCOLS`. on_page:
    whether a visitor waits for it, who must ask for a run that takes long.
    """

    def __init__(
        self,
        settings: Settings,
        recorded: Recorded | None = None,
        why_none: str | None = None,
        on_page: bool = False,
    ) -> None:
        self.settings, self.recorded, self.why_none, self.on_page = settings, recorded, why_none, on_page
        self.experiment, self.epsilon = to_experiment.from_settings(settings)
        rank = settings["join.rank"]
        recipe = CollaborationExperiment.from_experiment(self.experiment, self.epsilon, rank)
        # Only the first repeat is simulated: ask the cache with one for any number of repeats.
        self.recipe = replace(recipe, repeats=1)
        self.simulated: tuple[str, ...] = ()
        if recorded is None and why_none is None:
            self.simulated = (settings["join.way"],)
        if settings["sees.panel"] == "pair":
            self.simulated = _PAIR

    def hospital(self, key: str, count: int) -> int:
        """Return the index of the hospital of a setting; a number beyond the last is the last."""
        return min(int(self.settings[key]), count) - 1

    def run(self) -> Transcript:
        """Return the run that is shown. Raises NoRunError."""
        return self.recorded.run if self.recorded else self.simulate(*self.simulated)

    @property
    def ask(self) -> refresh.Ask:
        """Return what a visitor must ask for: the simulated runs that are not kept."""
        missing = [key for key in self.simulated if cache.TRANSCRIPTS.peek((self.recipe, key)) is None]
        runs = [PROTOCOLS[key] for key in missing if not transcript.why_refused(self.recipe, PROTOCOLS[key])]
        return refresh.Ask((self.recipe, *missing), sum(transcript.seconds(self.recipe, run) for run in runs))

    def simulate(self, key: str) -> Transcript:
        """Return a protocol's run, from the cache if it is there. Raises NoRunError."""
        refusal = transcript.why_refused(self.recipe, PROTOCOLS[key])
        if refusal:
            raise NoRunError(f"Not simulated message by message: {refusal}.")
        if self.on_page and self.ask.open:
            raise NoRunError
        try:
            return cache.transcript(self.recipe, key)
        except MemoryError as reason:
            no_room = "This server has no memory left for this run: try again later."
            raise NoRunError(str(reason) or no_room) from None


def table(shown: Transcript) -> pd.DataFrame:
    """Return a row for each round and answer: its bytes, its seconds, and the error after the round.

    Where the truth is not known, how far the round moved the result stands in place of the error.
    """
    errors = dict(zip(*curve(shown), strict=True))
    column = "sin_theta" if shown.errors is not None else "moved_sin_theta"
    rows = [
        {
            "round": round_.number,
            "hospital": "sum" if hospital == ALL else name(shown, hospital),
            "bytes_asked": round_.question.payload,
            "bytes_sent": answer.message.payload,
            "bytes_of_message": answer.wire_bytes,
            "seconds": answer.seconds,
            column: errors.get(round_.number),
        }
        for round_ in shown.record.rounds
        for hospital, answer in round_.answers.items()
    ]
    return pd.DataFrame(rows)


def differences(m: Messages, first: int, second: int) -> pd.DataFrame:
    """Return a row for each kind of noise and round: how well two messages give the hospitals' difference."""
    rows = []
    for noise, key in zip(("shared", "independent"), _PAIR, strict=True):
        shown = m.simulate(key)
        for round_ in shown.record.rounds:
            result = transcript.difference(shown, round_.number, first, second)
            rows.append((noise, round_.number, result.relative, result.std, result.expected))
    return pd.DataFrame(rows, columns=["noise", "round", "relative_error", "std", "expected_std"])


def name(shown: Transcript, hospital: int) -> str:
    """Return a hospital's name, safe to show: an uploaded record's names may hold markup or links."""
    if hospital == ALL:
        return "the sum of all"
    # Without markup, and without the dot after "www" that would make a link of it.
    safe = re.sub(r"[^\w .,()&'-]|(?<=www)\.", "", shown.record.plan.name(hospital))[:_MOST_NAME].strip()
    return safe.replace("&", "and") or f"Hospital {hospital + 1}"


def from_record(recorded: record.Record, table_name: str = "") -> Transcript:
    """Return a recorded run, with its errors if its patients are all those of the bundled table of this name.

    Sizes are compared, as a record holds no patients; the truth is then PCA without privacy of that table.
    """
    plan = recorded.plan
    table = TABLES.get(table_name)
    if table is None or (table.d, table.n) != (plan.d, sum(plan.sizes)):
        return Transcript(recorded)
    truth = draws.truth(table.name, (table.n,), plan.k, draws.PUBLIC, seed=0)
    no_messages = ()  # without noise: those of a recorded run are not known
    return Transcript(recorded, no_messages, *transcript.errors(recorded, truth.basis))


def stored() -> tuple[str, ...]:
    """Return the names of the stored runs, each that of its table."""
    return tuple(sorted(path.stem for path in STORED.glob("*.jsonl")))


@lru_cache(maxsize=4)
def open_stored(name: str) -> Transcript:
    """Read a stored run. Raises ValueError, with one sentence, for a file that is damaged."""
    try:
        recorded = _recorded((STORED / f"{name}.jsonl").read_bytes())
    except ValueError as reason:
        raise ValueError(f"data/runs/{name}.jsonl cannot be read: {brief(str(reason))}.") from reason
    return from_record(recorded, name.replace("-", "_"))  # "breast-cancer" is of the table "breast_cancer"


def brief(words: str, most: int = 160) -> str:
    line = " ".join(words[: 4 * most].split())  # no need to split a text that may be very long
    return line if len(line) <= most else f"{line[:most].rstrip()} …"


def _recorded(raw: bytes) -> record.Record:
    try:
        return record.read(raw.decode("utf-8-sig"))  # some editors write a byte order mark
    except UnicodeDecodeError:
        raise ValueError("it is not in UTF-8") from None


def read(raw: bytes) -> Transcript:
    """Read a run from an uploaded file. Raises ValueError, with one sentence, for anything else."""
    if len(raw) > MOST_BYTES:
        size, most = text.size(len(raw)), text.size(MOST_BYTES)
        raise ValueError(f"This file has {size}; this page reads up to {most}.")
    try:
        recorded = _recorded(raw)
    except ValueError as reason:
        raise ValueError(f"This file is not a run's record: {brief(str(reason))}.") from None
    count = recorded.plan.hospitals
    if count > _MOST_HOSPITALS:
        raise ValueError(f"This page draws up to {_MOST_HOSPITALS} hospitals; this run has {count:,}.")
    if not recorded.rounds:
        raise ValueError(f"This run has no round to show. {brief(recorded.ended)}".strip())
    return from_record(recorded)


def curve(shown: Transcript) -> tuple[list[int], Array]:
    """Return the rounds that have a result, 0 being the start, and the error ‖sin Θ‖ after each.

    Where the truth is unknown it is ‖sin Θ‖ between the results before and after each round.
    """
    rounds = [0] if shown.record.start is not None else []
    rounds += [round_.number for round_ in shown.record.rounds if round_.basis is not None]
    if shown.errors is not None:
        return rounds, shown.errors
    moved = transcript.basis_moves(shown.record)
    # There is no move to the start, so the moves belong to the rounds after it.
    return rounds[-len(moved) :] if len(moved) else [], moved


def curve_in_unit(shown: Transcript, settings: Settings) -> tuple[list[int], Array]:
    """Return `curve` in the unit on screen; how far a round moved the result stays a distance."""
    rounds, values = curve(shown)
    if shown.errors is None or shown.angles is None:
        return rounds, values
    return rounds, runs_in_unit(error_unit(settings), values, shown.angles, shown.record.plan.k)


class MessagePair:
    """Hold the message that arrived from a hospital in a round, or the sum of `ALL`, with and without noise.

    Attributes:
        received: The message as a matrix; None where none arrived that could be used.
        exact: The same without noise; None for a run over a network.
        features: The indices of the features that the matrix's rows stand for; none of the tails of lengths.
    """

    def __init__(self, shown: Transcript, number: int, hospital: int) -> None:
        self.shown, self.number, self.hospital = shown, number, hospital
        plan, answer = shown.record.plan, shown.record.rounds[number - 1].answers.get(hospital)
        self.received: Array | None = None
        if answer is not None:
            self.received = transcript.message_matrix(answer.message.arrays, plan, hospital)
        self.exact: Array | None = None
        if shown.noiseless:
            without_noise = shown.noiseless[number - 1][hospital]
            self.exact = transcript.message_matrix(without_noise, plan, hospital)
        chosen = shown.chosen_rows(number)  # None in a round whose message has all features
        self.features = np.arange(plan.d) if chosen is None else chosen
        if plan.fitted and "squares" in shown.record.rounds[number - 1].prior:
            self.features = np.flatnonzero(plan.layout.numbers)
        elif "tails" in shown.record.rounds[number - 1].prior:
            self.features = np.arange(0)
