"""Form the sentences about one run: what is asked and sent in each round, what a message tells the server.

Also what two messages tell those who compare them. A run has rounds: the server asks all hospitals, they
answer, each with a message that carries noise. In a run with secure aggregation (*sealed*) the messages are
masked, and the server sees their sum alone, under `ALL`. A run *over the network* took place between
processes; any other is simulated, so that its error and its messages without noise are known. Tiles are the
figures above a chart, each a pair: a value, and what is said below it.
"""

import math

import numpy as np

from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.protocols import PROTOCOLS, Protocol
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.experiments.collaboration.transcript import Difference, Transcript
from dppca_core.federated.exchange import ALL
from dppca_core.federated.record import Round
from dppca_core.methods import METHODS
from pages.hospitals.who_sees_what import runs
from pages.shared import text
from pages.shared.charts.metric_axis import QUANTITIES, error_unit, value_text
from pages.shared.settings.catalogue import CHOICES, Settings

TITLE = "Who sees what"
STEPS = (
    "The server asks in rounds; arrows are its questions and the hospitals' answers.",
    "What the server sees sets one message beside what its noise hides.",
    "Two who compare messages shows why each hospital needs noise of its own.",
)
INTRODUCTION = "What leaves a hospital in each round, and what that tells the server and the others."
ABOUT = (
    "Messages are those of the program's own protocol, passed in one process; in a stored or given run, "
    "between processes. Second moments are drawn from their exact (Wishart) law."
)
_TRY = {
    "rounds": "press *Play*; then choose *DPS-PCA, sealed sums*: what does the server still see?",
    "sees": "move *{}* to the left, round by round: the more noise, the less of the pattern can be told.",
    "pair": "move *{}* to the left: with shared noise all points stay on the line, however much there is.",
}
MASKED = "Single messages are masked: the server sees their sum, and nothing of any one of them."
SLIDERS_DO_NOT_MOVE_IT = "A run that took place has its own settings: the sliders do not move it."
CANNOT_BE_DRAWN = "This run cannot be drawn: numbers in its record are too large, or do not belong together."
MESSAGE_TILES = ("Noise in an entry", "What it hides, an entry", "Entries above the noise", "Bytes")
PAIR_TILES = ("Shared noise: off by", "Own noise: off by", "Noise measured", "Noise expected")
NOBODY_TO_COMPARE = "One hospital has nobody to compare its messages with: raise the number of hospitals."
_ROUNDING = 1e-10  # a relative error up to which a difference is exact but for rounding
_MOST_FAULTS = 5  # written in full
# What rounds before the method's may pay for.
_PRIOR_WORDS = {"mean": "the mean", "squares": "the mean squares"}


def try_this(recipe: CollaborationSetting, settings: Settings) -> str:
    """Return a suggestion of what to do next in this panel: one that is possible and changes what is seen."""
    panel, names = settings["sees.panel"], {key: CHOICES[key].label for key in ("providers", "d", "epsilon")}
    if panel == "pair" and len(recipe.sizes) == 1:
        return f"move *{names['providers']}* to 5: then hospitals have somebody to compare with."
    if panel != "pair" and settings["join.source"] != "simulated":
        return "press *Play*, then set *Run* to a simulated one, whose privacy and hospitals you can move."
    simulated = ("dps_pca shared", "dps_pca") if panel == "pair" else (settings["join.way"],)
    # What is too large cannot be simulated message by message.
    if any(transcript.why_refused(recipe, PROTOCOLS[key]) for key in simulated):
        sliders = f"*{names['providers']}* or *{names['d']}*"
        return f"move {sliders} to the left: then every message is simulated here."
    return _TRY[panel].format(names["epsilon"])


def answer_bytes(round_: Round) -> int:
    """Return the bytes of an answer in this round, of the largest if they differ; 0 where none arrived."""
    return max((answer.message.payload for answer in round_.answers.values()), default=0)


def travelled(shown: Transcript, number: int, answering: bool) -> int:
    """Return the bytes that travelled between the server and all hospitals, both ways, up to this step.

    number: the round. answering: whether its answers are counted as well as its question.
    """
    total = 0
    for round_ in shown.record.rounds[:number]:
        # A sum is recorded as one answer, though every hospital was asked and sent its part of it.
        senders = shown.record.plan.hospitals if ALL in round_.answers else len(round_.answers)
        # These were asked, but gave no answer that could be used.
        silent = 0 if ALL in round_.answers else len(round_.faults)
        total += (senders + silent) * round_.question.payload
        if round_.number < number or answering:
            total += senders * answer_bytes(round_)
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

    Args:
        shown: The run.
        number: The round, from 1 on.
        answering: Whether the frame shows the answers.
        settings: Of the page.

    Returns:
        The frame's place in the run ("at"), a sentence, the four tiles that `tile_titles` names, each a value
        and what is said below it, and notes on hospitals that failed.
    """
    round_, round_count = shown.record.rounds[number - 1], len(shown.record.rounds)
    errors = dict(zip(*runs.curve_in_unit(shown, settings), strict=True))  # by round
    error = _value(shown, errors.get(number if answering else number - 1, math.nan), settings)
    asked, sent_tile, last_tile = "–", ["–", ""], ["–", ""]
    if round_.question.payload:
        asked = text.size(round_.question.payload)
    if answering:
        sentence = _answered(shown, round_, error)
        sent_tile = [text.size(answer_bytes(round_)), "masked" if shown.sealed else ""]
        # Bytes of the largest answer with its header; what the network adds is not in the record.
        with_header = max((answer.wire_bytes for answer in round_.answers.values()), default=0)
        last_tile = [text.size(with_header), f"answers after {text.duration(round_.seconds)}"]
    else:
        hospitals = text.count(shown.record.plan.hospitals, "hospital", "hospitals")
        chosen_rows = shown.chosen_rows(number)
        sentence = f"Round {number} of {round_count}: the server "
        if chosen_rows is not None:  # stage 2 of a method in two stages
            sentence += (
                f"names the {len(chosen_rows)} features that stood out most to the {hospitals}, {asked} each."
            )
        elif len(names := set(round_.question.arrays)) == 1 and names <= set(_PRIOR_WORDS):
            sentence += f"sends {_PRIOR_WORDS[names.pop()]} of all patients to the {hospitals}, {asked} each."
        else:
            first = all(earlier.basis is None for earlier in shown.record.rounds[: number - 1])
            origin = "random to begin with" if first else "made of earlier answers"
            sentence += f"sends its present directions to the {hospitals}, {asked} each. They are {origin}."
    if not shown.over_network:  # nothing has a header or takes time
        last_tile = [text.size(travelled(shown, number, answering)), "both ways"]
    return {
        "at": f"round {number}: {'answers' if answering else 'asked'}",
        "sentence": sentence,
        "tiles": [
            [error, f"after {number} of {round_count}" if answering else "before this round"],
            [asked, _asked(round_)],
            sent_tile,
            last_tile,
        ],
        "notes": _faults(shown, round_) if answering else "",
    }


def stage(shown: Transcript, number: int) -> str:
    """Return "stage 1, " or "stage 2, " for a round; empty for methods that do not work in two stages."""
    # Only the last round of two stages asks for chosen rows.
    if shown.chosen_rows(len(shown.record.rounds)) is None:
        return ""
    return "stage 1, " if shown.chosen_rows(number) is None else "stage 2, "


def _asked(round_: Round) -> str:
    """Return what the server's question of a round holds, in words."""
    names = set(round_.question.arrays)
    if not names:
        return "nothing is asked"
    prior = [f"{called} of all" for name, called in _PRIOR_WORDS.items() if name in names]
    names -= set(_PRIOR_WORDS)
    if not names:
        return prior[0]
    words = {"block": "the present directions", "rows": "which features to release"}
    first = (
        words[names.pop()]
        if len(names) == 1
        else "the directions within the features kept, and which these are"
    )
    return ", and ".join([first, *prior])


def _answered(shown: Transcript, round_: Round, error: str) -> str:
    """Return the sentence on a round's answers: from whom, of what size, with what noise.

    error: the error after the round, in words; "–" where the round has none.
    """
    begin = f"{stage(shown, round_.number)}round {round_.number} of {len(shown.record.rounds)}: ".capitalize()
    if not round_.answers:
        return f"{begin}no hospital's answer could be used."
    count = shown.record.plan.hospitals if shown.sealed else len(round_.answers)
    who = "1 hospital" if count == 1 else f"each of {count:,} hospitals"
    result = f", and is left with error {error}" if shown.errors is not None and error != "–" else ""
    noise = "with noise of its own on top; the server averages them"
    if shown.sealed:
        noise = "masked; the server sees the sum alone"
    elif shown.shared:
        noise = "all with the same noise on top; the server averages them by patients"
    return f"{begin}{who} sends {text.size(answer_bytes(round_))}, {noise}{result}."


def _faults(shown: Transcript, round_: Round) -> str:
    """Return who failed and why, in brief: an uploaded record may hold any words, of many hospitals."""
    faults = [
        f"{'The sum' if hospital == ALL else runs.name(shown, hospital)} {runs.brief(why)}."
        for hospital, why in round_.faults.items()
    ]
    more = len(faults) - _MOST_FAULTS
    return " ".join([*faults[:_MOST_FAULTS], *([f"And {more:,} more."] if more > 0 else [])])


def headline(shown: Transcript, settings: Settings) -> str:
    """Return a sentence on the whole run, and the error with which it ends or that it broke off."""
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
        _rounds, errors = runs.curve_in_unit(shown, settings)
        last_error = _value(shown, float(errors[-1]), settings)
        return f"{run} This one run ends with {QUANTITIES.get(error_unit(settings), 'error')} {last_error}."
    return run


def passing(recipe: CollaborationSetting, protocol: Protocol) -> str:
    """Return which run is being simulated, and for about how long."""
    hospitals = text.count(len(recipe.sizes), "hospital", "hospitals")
    return (
        f"Passing the messages of {hospitals} with {recipe.n:,} patients and {recipe.d:,} measurements of "
        f"each: about {math.ceil(recipe.seconds(protocol, with_moments=True))} s."
    )


def below_figure(shown: Transcript) -> str:
    """Return what a real run's error is measured against, and how many bytes its headers add to messages."""
    if shown.errors is None:
        known = "Of a real run nobody knows the error: shown is how far each round moved the result."
    else:
        known = "The error is against PCA of the whole table, known here." if shown.over_network else ""
    return f"{known} {overhead(shown)}".strip() or "The result goes to all who joined."


def overhead(shown: Transcript) -> str:
    """Return the bytes of a real run's answers with and without their headers; empty for a simulation."""
    if not shown.over_network:
        return ""
    answers = [answer for round_ in shown.record.rounds for answer in round_.answers.values()]
    payload = sum(answer.message.payload for answer in answers)
    whole = sum(answer.wire_bytes for answer in answers)
    if not payload or whole < payload:  # the record does not tell what headers took
        return ""
    return (
        f"The answers hold {text.size(payload)} of numbers, {text.size(whole)} with their headers. What the "
        "network's engine and its encryption add to a round is not in the record, but in docs/federated.md."
    )


def message(pair: runs.MessagePair) -> dict[str, object]:
    """Return the words of one frame of a message: its place ("at"), a sentence, and its four tiles.

    The tiles are those of `MESSAGE_TILES`, each a value and what is said below it. They compare the noise
    with what it hides, where that is known.
    """
    shown, number, hospital = pair.shown, pair.number, pair.hospital
    round_ = shown.record.rounds[number - 1]
    at = f"round {number} of {len(shown.record.rounds)}"
    if pair.received is None:
        sentence = f"{runs.name(shown, hospital)} sent no message that could be used."
        return {"at": at, "sentence": sentence, "tiles": [["–", ""]] * 4}
    sees = f"What the server sees of {runs.name(shown, hospital)}"
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
    """Return the note under a message's picture: which rows it shows and, in a simulation, what it hides."""
    if shown.over_network:
        return "The rows of the picture are the features with the largest numbers in the last round."
    plan = shown.record.plan
    # DPdisPCA sends directions; with all of them it sends the whole moment.
    compressed = plan.method == "dpdis_pca" and plan.method_options.get("rank", 2 * plan.k) < plan.d
    signs = " Compressed directions are shown multiplied with themselves, where signs do not matter."
    return (
        "Not private: what is without noise never leaves a hospital; it is here as this is a simulation."
        f"{signs if compressed else ''} {text.count(most_rows, 'feature', 'features')} at most are shown, "
        "the heaviest without noise."
    )


def pair(shared: Difference, independent: Difference, number: int, rounds: int) -> dict[str, object]:
    """Return the words of one frame: what two messages of a round tell, by shared and by independent noise.

    Args:
        shared: The difference of two messages of this round where both hospitals draw the same noise.
        independent: The same where each draws its own.
        number: The round, from 1 on.
        rounds: How many rounds there are.

    Returns:
        The frame's place in the run ("at"), a sentence, and the four tiles that `PAIR_TILES` names, each a
        value and what is said below it.
    """
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


def below_pair(first: str, second: str) -> str:
    """Return what an exact difference reveals of a patient, and that secure sums leave nothing to compare.

    first, second: the names of two hospitals.
    """
    return (
        f"Who holds the messages of {first} and {second} knows the exact difference of their patients' sums, "
        "in every round and however strong the noise. Who also knows one of the sums, as that hospital does, "
        "has the other's without any noise; and who knows all its patients but one has that one's part. "
        "So shared noise protects one message alone, not against a server that receives them all. Secure "
        "sums leave nothing to compare: masks cancel in the sum alone, and that is all the server learns."
    )
