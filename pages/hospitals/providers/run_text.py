"""Form the sentences about one run: what is asked and sent in each round, what a message tells the server.

Also what two messages tell those who compare them. A run has rounds: the server asks all hospitals, they
answer, each with a message that carries noise. In a run with secure aggregation (*summed*) the messages are
masked, and the server sees their sum alone, under `ALL`. A run *over the network* took place between
processes; any other is simulated, so that its error and its messages without noise are known. Tiles are the
figures above a chart, each a pair: a value, and what is said below it.
"""

import math

import numpy as np

from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.protocols import Protocol
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.experiments.collaboration.transcript import Difference, Transcript
from dppca_core.federated.exchange import ALL
from dppca_core.federated.record import Round
from dppca_core.methods import METHODS
from pages.hospitals.providers import runs
from pages.shared import text
from pages.shared.charts.metric_axis import QUANTITIES, error_unit, value_text
from pages.shared.settings.catalogue import Settings

MASKED = "Single messages are masked: the server sees their sum, and nothing of any one of them."
NOT_MOVED = "A run that took place has its own settings: the sliders do not move it."
CANNOT_BE_DRAWN = "This run cannot be drawn: numbers in its record are too large, or do not belong together."
MESSAGE_TILES = ("Noise in an entry", "What it hides, an entry", "Entries above the noise", "Bytes")
PAIR_TILES = ("Shared noise: off by", "Own noise: off by", "Noise measured", "Noise expected")
NOBODY_TO_COMPARE = "One hospital has nobody to compare its messages with: raise the number of hospitals."
_EXACT = 1e-10  # relative: what rounding leaves
_MOST_FAULTS = 5  # written in full
_PRIOR = {"mean": "the mean", "squares": "the mean squares"}  # what is paid for before a method's rounds


def answer_bytes(done: Round) -> int:
    """Return the bytes of an answer in this round, the largest if they differ; 0 where none arrived."""
    return max((answer.message.payload for answer in done.answers.values()), default=0)


def travelled(shown: Transcript, number: int, answering: bool) -> int:
    """Return the bytes of all hospitals, both ways, up to this step.

    number: the round. answering: whether its answers are counted as well as its question.
    """
    total = 0
    for done in shown.record.rounds[:number]:
        # A sum is recorded as one answer, though every hospital was asked and sent its part of it.
        senders = shown.record.plan.hospitals if ALL in done.answers else len(done.answers)
        silent = 0 if ALL in done.answers else len(done.faults)
        total += (senders + silent) * done.question.payload
        if done.number < number or answering:
            total += senders * answer_bytes(done)
    return total


def tile_titles(shown: Transcript) -> list[str]:
    """Return the titles of the four tiles of `step`."""
    error = "Error" if shown.errors is not None else "Moved by this round"
    last = "An answer with its header" if shown.over_network else "All hospitals, so far"
    return [error, "Asked of each", "Each hospital sends", last]


def _value(shown: Transcript, value: float, settings: Settings) -> str:
    """Return an error in the unit on screen, or how far a round moved the result, as a text."""
    return value_text("sin" if shown.errors is None else error_unit(settings), value)


def step(shown: Transcript, number: int, answering: bool, settings: Settings) -> dict[str, object]:
    """Return the words of one frame of the diagram: a round's question or, if `answering`, its answers.

    They are its place ("at"), a sentence, the values of four tiles, and notes on hospitals that failed.
    """
    done, whole = shown.record.rounds[number - 1], len(shown.record.rounds)
    errors = dict(zip(*runs.curve_in_unit(shown, settings), strict=True))
    error = _value(shown, errors.get(number if answering else number - 1, math.nan), settings)
    asked, sent, weight = "–", ["–", ""], ["–", ""]
    if done.question.payload:
        asked = text.size(done.question.payload)
    if answering:
        sentence = _answered(shown, done, error)
        sent = [text.size(answer_bytes(done)), "masked" if shown.summed else ""]
        # Bytes of the largest answer with its header; what the network adds is not in the record.
        message = max((answer.wire_bytes for answer in done.answers.values()), default=0)
        weight = [text.size(message), f"answers after {text.duration(done.seconds)}"]
    else:
        hospitals = text.count(shown.record.plan.hospitals, "hospital", "hospitals")
        rows = shown.chosen_rows(number)
        sentence = f"Round {number} of {whole}: the server "
        if rows is not None:
            sentence += (
                f"names the {len(rows)} features that stood out most to the {hospitals}, {asked} each."
            )
        elif len(names := set(done.question.arrays)) == 1 and names <= set(_PRIOR):
            sentence += f"sends {_PRIOR[names.pop()]} of all patients to the {hospitals}, {asked} each."
        else:
            first = all(earlier.basis is None for earlier in shown.record.rounds[: number - 1])
            made = "random to begin with" if first else "made of earlier answers"
            sentence += f"sends its present directions to the {hospitals}, {asked} each. They are {made}."
    if not shown.over_network:
        weight = [text.size(travelled(shown, number, answering)), "both ways"]
    return {
        "at": f"round {number}: {'answers' if answering else 'asked'}",
        "sentence": sentence,
        "tiles": [
            [error, f"after {number} of {whole}" if answering else "before this round"],
            [asked, _asked(done)],
            sent,
            weight,
        ],
        "notes": _faults(shown, done) if answering else "",
    }


def stage(shown: Transcript, number: int) -> str:
    """Return "stage 1, " or "stage 2, " for a round; empty for methods that do not work in two stages.

    Only the last round of two stages asks for chosen rows.
    """
    if shown.chosen_rows(len(shown.record.rounds)) is None:
        return ""
    return "stage 1, " if shown.chosen_rows(number) is None else "stage 2, "


def _asked(done: Round) -> str:
    """Return what the server's question of a round holds, in words."""
    names = set(done.question.arrays)
    if not names:
        return "nothing is asked"
    prior = [f"{called} of all" for name, called in _PRIOR.items() if name in names]
    names -= set(_PRIOR)
    if not names:
        return prior[0]
    asked = {"block": "the present directions", "rows": "which features to release"}
    first = (
        asked[names.pop()]
        if len(names) == 1
        else "the directions within the features kept, and which these are"
    )
    return ", and ".join([first, *prior])


def _answered(shown: Transcript, done: Round, error: str) -> str:
    """Return the sentence on a round's answers: from whom, of what size, with what noise. error: after it."""
    begin = f"{stage(shown, done.number)}round {done.number} of {len(shown.record.rounds)}: ".capitalize()
    if not done.answers:
        return f"{begin}no hospital's answer could be used."
    count = shown.record.plan.hospitals if shown.summed else len(done.answers)
    who = "1 hospital" if count == 1 else f"each of {count:,} hospitals"
    left = f", and is left with error {error}" if shown.errors is not None and error != "–" else ""
    noise = "with noise of its own on top; the server averages them"
    if shown.summed:
        noise = "masked; the server sees the sum alone"
    elif shown.shared:
        noise = "all with the same noise on top; the server averages them by patients"
    return f"{begin}{who} sends {text.size(answer_bytes(done))}, {noise}{left}."


def _faults(shown: Transcript, done: Round) -> str:
    """Say who failed and why, briefly: an uploaded record may hold any words, of any number of hospitals."""
    faults = [
        f"{'The sum' if hospital == ALL else runs.name(shown, hospital)} {text.brief(why)}."
        for hospital, why in done.faults.items()
    ]
    more = len(faults) - _MOST_FAULTS
    return " ".join([*faults[:_MOST_FAULTS], *([f"And {more:,} more."] if more > 0 else [])])


def headline(shown: Transcript, settings: Settings) -> str:
    """Return the whole run in a sentence, and the error with which it ends."""
    plan, record = shown.record.plan, shown.record
    where = "simulated with the messages of the protocol"
    if shown.over_network:
        took = f", in {text.duration(record.seconds)}" if record.seconds else ""
        where = f"between separate processes{took}"
    hospitals = text.count(plan.hospitals, "hospital", "hospitals")
    who = f"{METHODS[plan.method].title} with {hospitals} and {sum(plan.sizes):,} patients"
    run = f"{who} in {text.count(len(record.rounds), 'round', 'rounds')}, {where}."
    if record.ended:
        return f"{run} It did not come to its end."
    if shown.errors is not None:
        end = _value(shown, float(runs.curve_in_unit(shown, settings)[1][-1]), settings)
        return f"{run} This one run ends with {QUANTITIES.get(error_unit(settings), 'error')} {end}."
    return run


def passing(recipe: CollaborationSetting, protocol: Protocol) -> str:
    """Say which run is being simulated, and for about how long."""
    hospitals = text.count(len(recipe.sizes), "hospital", "hospitals")
    return (
        f"Passing the messages of {hospitals} with {recipe.n:,} patients and {recipe.d:,} measurements of "
        f"each: about {math.ceil(recipe.seconds(protocol, with_moments=True))} s."
    )


def below_figure(shown: Transcript) -> str:
    """Say what a real run's error is measured against, and what its messages weigh with their headers."""
    if shown.errors is None:
        known = "Of a real run nobody knows the error: shown is how far each round moved the result."
    else:
        known = "The error is against PCA of the whole table, known here." if shown.over_network else ""
    return f"{known} {overhead(shown)}".strip() or "The result goes to all who joined."


def overhead(shown: Transcript) -> str:
    """Say what messages weigh with their headers beside the numbers in them; empty for a simulation."""
    if not shown.over_network:
        return ""
    answers = [answer for done in shown.record.rounds for answer in done.answers.values()]
    payload = sum(answer.message.payload for answer in answers)
    whole = sum(answer.wire_bytes for answer in answers)
    if not payload or whole < payload:
        return ""
    return (
        f"The answers hold {text.size(payload)} of numbers, {text.size(whole)} with their headers. What the "
        "network's engine and its encryption add to a round is not in the record, but in docs/federated.md."
    )


def message(pair: runs.MessagePair) -> dict[str, object]:
    """Return the words of one frame of a message: its place ("at"), a sentence, and the values of four tiles.

    They compare the noise with what it hides, where that is known.
    """
    shown, number, hospital = pair.shown, pair.number, pair.hospital
    done = shown.record.rounds[number - 1]
    at = f"round {number} of {len(shown.record.rounds)}"
    if pair.received is None:
        sentence = f"{runs.name(shown, hospital)} sent no message that could be used."
        return {"at": at, "sentence": sentence, "tiles": [["–", ""]] * 4}
    sees = f"What the server sees of {runs.name(shown, hospital)}"
    if hospital == ALL:
        sees = "All that the server sees, the sum of all messages,"
    rows, columns = pair.received.shape
    shape = f"{rows:,} × {columns:,} numbers"
    size = text.size(done.answers[hospital].message.payload)
    std = transcript.noise_std(shown.record.plan, number, hospital)
    noise = signal = above = ["–", "not known here"]
    if pair.exact is None:
        end = f"{shape}. What it hides stayed in the hospital: no record of a real run holds it."
        noise = noise if std is None else [text.short(std), "by the plan"]
    else:
        spread = float((pair.received - pair.exact).std())
        size_hidden = float(np.sqrt(np.mean(pair.exact**2)))
        times = spread / size_hidden if size_hidden else np.inf
        end = f"the noise is {_times(times)} what it hides."
        planned = "after the method's own steps" if std is None else f"{text.short(std)} by the plan"
        noise = [text.short(spread), planned]
        signal = [text.short(size_hidden), "root mean square"]
        visible = text.percent(float((np.abs(pair.exact) > 2 * spread).mean()))
        above = [visible, "beyond two standard deviations"]
    tiles = [noise, signal, above, [size, shape]]
    return {"at": at, "sentence": f"{sees} in {stage(shown, number)}round {number}: {end}", "tiles": tiles}


def message_note(shown: Transcript, most_rows: int) -> str:
    """Return the note under a message's picture: which rows it shows and, in a simulation, what it hides."""
    if shown.over_network:
        return "The rows of the picture are the features with the largest numbers in the last round."
    plan = shown.record.plan
    compressed = plan.method == "dpdis_pca" and plan.method_options.get("rank", 2 * plan.k) < plan.d
    signs = " Compressed directions are shown multiplied with themselves, where signs do not matter."
    return (
        "Not private: what is without noise never leaves a hospital; it is here as this is a simulation."
        f"{signs if compressed else ''} {text.count(most_rows, 'feature', 'features')} at most are shown, "
        "the heaviest without noise."
    )


def pair(shared: Difference, independent: Difference, number: int, rounds: int) -> dict[str, object]:
    """Return the words of one frame: what two messages of a round tell, by shared and by independent noise.

    They are its place ("at"), a sentence, and the values of four tiles. rounds: how many there are.
    """
    exact, times = shared.relative < _EXACT, _times(independent.relative)
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
            [times.removesuffix(" of").replace(" times", " ×"), "the difference"],
            [text.short(independent.std), "own noise, an entry"],
            [text.short(independent.expected), "σ√2"],
        ],
    }


def _times(ratio: float) -> str:
    """Return a ratio before what it multiplies: "30 % of", "3.2 times" or "120 times"."""
    if ratio < 1:
        return f"{text.percent(ratio)} of"
    return f"{text.short(ratio) if ratio < 10 else f'{ratio:,.0f}'} times"


def below_pair(first: str, second: str) -> str:
    """Say what an exact difference reveals about a patient, and that secure sums leave nothing to compare."""
    return (
        f"Who holds the messages of {first} and {second} knows the exact difference of their patients' sums, "
        "in every round and however strong the noise. Who also knows one of the sums, as that hospital does, "
        "has the other's without any noise; and who knows all its patients but one has that one's part. "
        "So shared noise protects one message alone, not against a server that receives them all. Secure "
        "sums leave nothing to compare: masks cancel in the sum alone, and that is all the server learns."
    )
