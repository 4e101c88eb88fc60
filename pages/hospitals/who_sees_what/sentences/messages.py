"""Say what a message tells the server, and what two tell those who compare them."""

import numpy as np

from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.transcript import Difference, Transcript
from dppca_core.federated.exchange import ALL
from pages.hospitals.who_sees_what import model
from pages.hospitals.who_sees_what.sentences.rounds import stage
from pages.shared import text

MASKED = "Single messages are masked: the server sees their sum, and nothing of any one of them."
MESSAGE_TILES = ("Noise in an entry", "What it hides, an entry", "Entries above the noise", "Bytes")
PAIR_TILES = ("Shared noise: off by", "Own noise: off by", "Noise measured", "Noise expected")
_ROUNDING = 1e-10  # a relative error up to which a difference is exact but for rounding


def message(pair: model.MessagePair) -> dict[str, object]:
    """Return the words of one frame of a message: its place ("at"), a sentence, and the `MESSAGE_TILES`.

    Tiles compare the noise with what it hides, if that is known.
    """
    shown, number, hospital = pair.shown, pair.number, pair.hospital
    round_ = shown.record.rounds[number - 1]
    at = f"round {number} of {len(shown.record.rounds)}"
    if pair.received is None:
        sentence = f"{model.name(shown, hospital)} sent no message that could be used."
        return {"at": at, "sentence": sentence, "tiles": [["–", ""]] * 4}
    sees = f"What the server sees of {model.name(shown, hospital)}"
    if hospital == ALL:
        sees = "All that the server sees, the sum of all messages,"
    rows, columns = pair.received.shape
    shape = f"{rows:,} × {columns:,} numbers"
    size = text.size(round_.answers[hospital].message.payload)
    std = transcript.noise_std(shown.record.plan, number, hospital)
    noise = signal = above = ["–", "not known here"]  # the first three tiles
    if pair.exact is None:
        end = f"{shape}. What it hides stayed in the hospital: no record of a real run holds it."
        noise = noise if std is None else [text.short(std), "by the plan"]
    else:
        spread = float((pair.received - pair.exact).std())
        size_hidden = float(np.sqrt(np.mean(pair.exact**2)))
        times = spread / size_hidden if size_hidden else np.inf
        end = f"the noise is {_times(times)} what it hides."
        by_plan = "after the method's own steps" if std is None else f"{text.short(std)} by the plan"
        noise = [text.short(spread), by_plan]
        signal = [text.short(size_hidden), "root mean square"]
        visible = text.percent(float((np.abs(pair.exact) > 2 * spread).mean()))
        above = [visible, "beyond two standard deviations"]
    tiles = [noise, signal, above, [size, shape]]
    return {"at": at, "sentence": f"{sees} in {stage(shown, number)}round {number}: {end}", "tiles": tiles}


def message_note(shown: Transcript, most_rows: int) -> str:
    if shown.over_network:
        return "The rows of the picture are the features with the largest numbers in the last round."
    plan = shown.record.plan
    # DPdisPCA sends directions; with all of them it sends the whole moment.
    compressed = plan.method == "dpdis_pca" and int(plan.method_options.get("rank") or 2 * plan.k) < plan.d
    signs = " Compressed directions are shown multiplied with themselves, where signs do not matter."
    return (
        "Not private: what is without noise never leaves a hospital; it is here as this is a simulation."
        f"{signs if compressed else ''} {text.count(most_rows, 'feature', 'features')} at most are shown, "
        "the heaviest without noise."
    )


def pair(shared: Difference, independent: Difference, number: int, rounds: int) -> dict[str, object]:
    """Return the words of one frame: what two messages of a round tell, by both kinds of noise."""
    exact, times = shared.relative < _ROUNDING, _times(independent.relative)
    recovered = "exactly" if exact else f"up to {text.short(shared.relative)}"
    difference = "of the difference: rounding" if exact else "of the difference"
    return {
        "at": f"round {number} of {rounds}",
        "sentence": (
            f"Round {number}: with shared noise, two messages give the difference of the two hospitals' sums "
            f"{recovered}; with noise of their own, only up to an error that is "
            f"{times} that difference."
        ),
        "tiles": [
            [text.short(shared.relative), difference],
            [times.removesuffix(" of").replace(" times", " ×"), "the difference"],  # "30 %" or "3.2 ×"
            [text.short(independent.std), "own noise, an entry"],
            [text.short(independent.expected), "σ√2"],
        ],
    }


def _times(ratio: float) -> str:
    """Return a ratio before what it multiplies: "30 % of", "3.2 times" or "120 times"."""
    if ratio < 1:
        return f"{text.percent(ratio)} of"
    return f"{text.short(ratio) if ratio < 10 else f'{ratio:,.0f}'} times"


def alone(other: int) -> str:
    return f"A hospital and itself have nothing to compare: shown beside hospital {other + 1}."


def below_pair(first: str, second: str) -> str:
    return (
        f"Who holds the messages of {first} and {second} knows the exact difference of their patients' sums, "
        "in every round and however strong the noise. Who also knows one of the sums, as that hospital does, "
        "has the other's without any noise; and who knows all its patients but one has that one's part. "
        "So shared noise protects one message alone, not against a server that receives them all. Secure "
        "sums leave nothing to compare: masks cancel in the sum alone, and that is all the server learns."
    )
