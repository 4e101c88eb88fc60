"""Say what is asked and sent in each round of a run.

In each round the server asks all hospitals, and they answer with messages that carry noise. In a run with
secure aggregation (*sealed*) the messages are masked, and the server sees their sum alone, under `ALL`. A run
*over the network* took place between processes; any other is simulated, so that its error and its messages
without noise are known. Tiles are the figures above a chart, each a pair: a value, and what is said below it.
"""

import math

from dppca_core.experiments.collaboration.transcript import Transcript
from dppca_core.federated.exchange import ALL
from dppca_core.federated.record import Round
from dppca_core.methods import METHODS
from pages.hospitals.who_sees_what import model
from pages.shared import text
from pages.shared.charts.metric_axis import QUANTITIES, error_unit, value_text
from pages.shared.settings.catalogue import Settings

_MOST_FAULTS = 5  # written in full
# What rounds before the method's may pay for.
_PRIOR_WORDS = {"mean": "the mean", "squares": "the mean squares", "tails": "the tails of lengths"}


def answer_bytes(round_: Round) -> int:
    """Return the bytes of an answer in this round, of the largest if they differ; 0 where none arrived."""
    return max((answer.message.payload for answer in round_.answers.values()), default=0)


def travelled(shown: Transcript, number: int, answering: bool) -> int:
    """Return the bytes that travelled both ways up to a round's question or, if `answering`, its answers."""
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
    error = "Error" if shown.errors is not None else "Moved by this round"
    last = "An answer with its header" if shown.over_network else "All hospitals, so far"
    return [error, "Asked of each", "Each hospital sends", last]


def _value(shown: Transcript, value: float, settings: Settings) -> str:
    return value_text("sin" if shown.errors is None else error_unit(settings), value)


def step(shown: Transcript, number: int, answering: bool, settings: Settings) -> dict[str, object]:
    """Return the words of one frame of the diagram: a round's question or, if `answering`, its answers."""
    round_, round_count = shown.record.rounds[number - 1], len(shown.record.rounds)
    errors = dict(zip(*model.curve_in_unit(shown, settings), strict=True))  # by round
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
    names = set(round_.question.arrays)
    if not names:
        return "nothing is asked"
    prior = [f"{called} of all" for name, called in _PRIOR_WORDS.items() if name in names]
    names -= set(_PRIOR_WORDS)
    if not names:
        return prior[0]
    words = {"block": "the present directions", "rows": "which features to release"}
    both = "the directions within the features kept, and which these are"
    return ", and ".join([words[names.pop()] if len(names) == 1 else both, *prior])


def _answered(shown: Transcript, round_: Round, error: str) -> str:
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
        f"{'The sum' if hospital == ALL else model.name(shown, hospital)} {model.brief(why)}."
        for hospital, why in round_.faults.items()
    ]
    more = len(faults) - _MOST_FAULTS
    return " ".join([*faults[:_MOST_FAULTS], *([f"And {more:,} more."] if more > 0 else [])])


def headline(shown: Transcript, settings: Settings) -> str:
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
        _rounds, errors = model.curve_in_unit(shown, settings)
        last_error = _value(shown, float(errors[-1]), settings)
        return f"{run} This one run ends with {QUANTITIES.get(error_unit(settings), 'error')} {last_error}."
    return run


def below_figure(shown: Transcript) -> str:
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
