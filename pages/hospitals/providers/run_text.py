"""Form the sentences about one run, round by round: what is asked and sent, and the error after it."""

import math

from dppca_core.experiments.collaboration.protocols import Protocol
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.federated.exchange import ALL
from dppca_core.federated.record import Round
from dppca_core.methods import METHODS
from pages.hospitals.providers import runs
from pages.hospitals.providers.runs import ShownRun
from pages.shared import text
from pages.shared.charts.metric_axis import QUANTITIES, error_unit, value_text
from pages.shared.settings.catalogue import Settings

MASKED = "Single messages are masked: the server sees their sum, and nothing of any one of them."
NOT_MOVED = "A run that took place has its own settings: the sliders do not move it."
CANNOT_BE_DRAWN = "This run cannot be drawn: numbers in its record are too large, or do not belong together."
_MOST_FAULTS = 5  # written in full
_PRIOR = {"mean": "the mean", "squares": "the mean squares"}  # what is paid for before a method's rounds


def answer_bytes(done: Round) -> int:
    """Return the bytes that each hospital, or the sum of all, sends in this round."""
    return max((answer.message.payload for answer in done.answers.values()), default=0)


def travelled(shown: ShownRun, number: int, answering: bool) -> int:
    """Return the bytes of all hospitals, both ways, up to this step."""
    total = 0
    for done in shown.record.rounds[:number]:
        senders = shown.record.plan.hospitals if ALL in done.answers else len(done.answers)
        silent = 0 if ALL in done.answers else len(done.faults)
        total += (senders + silent) * done.question.payload
        if done.number < number or answering:
            total += senders * answer_bytes(done)
    return total


def tile_titles(shown: ShownRun) -> list[str]:
    """Return the titles of the four figures of `step`."""
    error = "Error" if shown.errors is not None else "Moved by this round"
    last = "An answer with its header" if shown.over_network else "All hospitals, so far"
    return [error, "Asked of each", "Each hospital sends", last]


def _value(shown: ShownRun, value: float, settings: Settings) -> str:
    return value_text("sin" if shown.errors is None else error_unit(settings), value)


def step(shown: ShownRun, number: int, answering: bool, settings: Settings) -> dict[str, object]:
    """Return the sentence, the four figures and the notes of one frame: a round's question or its answers."""
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


def stage(shown: ShownRun, number: int) -> str:
    """Name the stage that a round belongs to, before its number; empty for methods without stages."""
    if shown.chosen_rows(len(shown.record.rounds)) is None:
        return ""
    return "stage 1, " if shown.chosen_rows(number) is None else "stage 2, "


def _asked(done: Round) -> str:
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


def _answered(shown: ShownRun, done: Round, error: str) -> str:
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


def _faults(shown: ShownRun, done: Round) -> str:
    """Say who failed and why, briefly: an uploaded record may hold any words, of any number of hospitals."""
    faults = [
        f"{'The sum' if hospital == ALL else shown.name(hospital)} {text.brief(why)}."
        for hospital, why in done.faults.items()
    ]
    more = len(faults) - _MOST_FAULTS
    return " ".join([*faults[:_MOST_FAULTS], *([f"And {more:,} more."] if more > 0 else [])])


def headline(shown: ShownRun, settings: Settings) -> str:
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


def below_figure(shown: ShownRun) -> str:
    """Say what a real run's error is measured against, and what its messages weigh with their headers."""
    if shown.errors is None:
        known = "Of a real run nobody knows the error: shown is how far each round moved the result."
    else:
        known = "The error is against PCA of the whole table, known here." if shown.over_network else ""
    return f"{known} {overhead(shown)}".strip() or "The result goes to all who joined."


def overhead(shown: ShownRun) -> str:
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
