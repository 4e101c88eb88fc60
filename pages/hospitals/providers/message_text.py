"""What a message tells the server, and what two messages tell those who compare them, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.transcript import Difference
from dppca_core.federated.exchange import ALL
from pages.hospitals.providers.runs import MessagePair, ShownRun
from pages.shared import text
from pages.shared.settings.catalogue import Settings

MESSAGE_TILES = ("Noise in an entry", "What it hides, an entry", "Entries above the noise", "Bytes")
PLAIN_TILES = ("Noise beside what it hides", "Numbers above the noise", "Numbers sent", "Bytes")
PAIR_TILES = ("Shared noise: off by", "Own noise: off by", "Noise measured", "Noise expected")
_EXACT = 1e-10  # relative: what rounding leaves


def message(
    shown: ShownRun, of: MessagePair, number: int, hospital: int, settings: Settings
) -> dict[str, Any]:
    """The sentence and the figures of one round's message."""
    done, whole = shown.record.rounds[number - 1], len(shown.record.rounds)
    at = f"round {number} of {whole}"
    if of.received is None:
        why = "sent no message that could be used."
        return {"at": at, "sentence": f"{shown.name(hospital)} {why}", "tiles": [["–", ""]] * 4}
    size = text.size(done.answers[hospital].message.payload)
    std = transcript.noise_std(shown.record.plan, hospital)
    if of.exact is None:
        unknown = ["–", "not known here"]
        sentence = (
            f"{_sender(shown, hospital)} in round {number}: {_shape(of.received)}. What it hides stayed in "
            "the hospital: no record of a real run holds it."
        )
        if settings["view"] == "board":
            tiles = [unknown, unknown, [f"{of.received.size:,}", _shape(of.received)], [size, ""]]
        else:
            tiles = [[text.short(std), "by the plan"] if std is not None else unknown, unknown, unknown]
            tiles += [[size, _shape(of.received)]]
        return {"at": at, "sentence": sentence, "tiles": tiles}
    rest = of.received - of.exact
    noise, signal = float(rest.std()), float(np.sqrt(np.mean(of.exact**2)))
    told = float((np.abs(of.exact) > 2 * noise).mean())
    promised = f"{text.short(std)} by the plan" if std is not None else "after the method's own steps"
    ratio = noise / signal if signal else np.inf
    sentence = f"{_sender(shown, hospital)} in round {number}: the noise is {_times(ratio)} what it hides."
    if settings["view"] == "board":
        tiles = [
            [_short_times(ratio), "number by number"],
            [text.percent(told), "more than twice the noise"],
            [f"{of.received.size:,}", _shape(of.received)],
            [size, ""],
        ]
    else:
        tiles = [
            [text.short(noise), promised],
            [text.short(signal), "root mean square"],
            [text.percent(told), "beyond two standard deviations"],
            [size, _shape(of.received)],
        ]
    return {"at": at, "sentence": sentence, "tiles": tiles}


def _sender(shown: ShownRun, hospital: int) -> str:
    if hospital == ALL:
        return "All that the server sees, the sum of all messages,"
    return f"What the server sees of {shown.name(hospital)}"


def _shape(matrix: Array) -> str:
    rows, columns = matrix.shape
    return f"{rows:,} × {columns:,} numbers"


def pair(shared: Difference, own: Difference, number: int, whole: int, settings: Settings) -> dict[str, Any]:
    """What two messages of a round recover, with shared noise and with noise of their own."""
    exact, plain = shared.relative < _EXACT, settings["view"] == "board"
    recovered = "exactly" if exact else f"up to {text.short(shared.relative)}"
    said = (
        f"Round {number}: with shared noise, two messages give the difference of the two hospitals' sums "
        f"{recovered}; with noise of their own, only up to an error that is {_times(own.relative)} that "
        "difference."
    )
    return {
        "at": f"round {number} of {whole}",
        "sentence": said,
        "tiles": [
            ["nothing", "exact, but for rounding"]
            if exact and plain
            else [_small(shared.relative), "of the difference: rounding" if exact else "of the difference"],
            [_short_times(own.relative), "the difference"],
            [text.short(own.std), "own noise, an entry"],
            [text.short(own.expected), "" if plain else "σ√2"],
        ],
    }


def _times(ratio: float) -> str:
    if ratio < 1:
        return f"{text.percent(ratio)} of"
    return f"{text.short(ratio) if ratio < 10 else f'{ratio:,.0f}'} times"


def _short_times(ratio: float) -> str:
    return _times(ratio).removesuffix(" of").replace(" times", " ×")


def _small(value: float) -> str:
    if value == 0:
        return "0"
    if value > 1e-3:
        return text.percent(value)
    return f"{value:.0e}"


def what_it_means(one: str, other: str) -> str:
    """What an exact difference does to a patient."""
    return (
        f"Who holds the messages of {one} and {other} knows the exact difference of their patients' sums, in "
        "every round and however strong the noise. Whoever knows one of the two sums, as that hospital "
        "itself does, subtracts it and has the other hospital's sum without any noise; and whoever knows all "
        "its patients but one, as the promise of privacy allows an attacker to, then has that one's part "
        "exactly. So shared noise keeps the promise for one message alone, not against a server that "
        "receives them all."
    )


def secure() -> str:
    """What secure aggregation leaves to compare."""
    return (
        "With secure sums there is nothing to compare: each message is masked, the masks cancel in the sum "
        "alone, and the sum is all that the server learns."
    )
