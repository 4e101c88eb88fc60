"""What is said of one run, round by round: what is asked, what is sent, what the server is left with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dppca_core.experiments.collaboration.protocols import Protocol
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.federated.exchange import ALL
from dppca_core.federated.record import Round
from pages.hospitals.providers import runs
from pages.hospitals.providers.runs import ShownRun
from pages.shared import text
from pages.shared.charts.metric_axis import factor
from pages.shared.settings.catalogue import Settings

_MOST_FAULTS = 5  # told in full
_METHODS = {"dps_pca": "DPS-PCA", "dpdis_pca": "DPdisPCA", "federated_projector": "Averaged projectors"}


def bytes_on(shown: ShownRun, done: Round, who: Sequence[int], answering: bool) -> dict[int, str]:
    """What is written beside the arrow of each hospital."""
    if not answering:
        return dict.fromkeys(who, text.size(done.question.payload))
    if ALL in done.answers:
        return dict.fromkeys(who, text.size(_payload(done)))
    return {i: text.size(done.answers[i].message.payload) for i in who}


def _payload(done: Round) -> int:
    """Bytes that one hospital sends in this round."""
    return max((answer.message.payload for answer in done.answers.values()), default=0)


def message_bytes(done: Round) -> int:
    """Bytes of the largest answer as a message: its numbers and its header, nothing of a network's own."""
    return max((answer.wire_bytes for answer in done.answers.values()), default=0)


def travelled(shown: ShownRun, number: int, answering: bool) -> int:
    """Bytes of all hospitals, both ways, up to this step."""
    total = 0
    for done in shown.record.rounds[:number]:
        masked = ALL in done.answers
        asked = shown.record.plan.hospitals if masked else len(done.answers) + len(done.faults)
        senders = shown.record.plan.hospitals if masked else len(done.answers)
        total += asked * done.question.payload
        if done.number < number or answering:
            total += senders * _payload(done)
    return total


def tile_titles(shown: ShownRun, settings: Settings) -> list[str]:
    """What the four figures are."""
    known = shown.errors is not None
    last = "An answer with its header" if shown.over_network else "All hospitals, so far"
    return ["Error" if known else "Moved by this round", "Asked of each", "Each hospital sends", last]


def step(shown: ShownRun, number: int, answering: bool, settings: Settings) -> dict[str, Any]:
    """The sentence, the figures and the notes of one frame."""
    plan, done = shown.record.plan, shown.record.rounds[number - 1]
    times = factor(settings)
    at, values = runs.curve(shown)
    reached = number if answering else number - 1
    now = next((times * float(v) for a, v in zip(at, values, strict=True) if a == reached), math.nan)
    whole, sent = len(shown.record.rounds), _payload(done)
    hospitals = text.count(plan.hospitals, "hospital", "hospitals")
    asked = text.size(done.question.payload) if done.question.payload else "–"
    figure = text.error(now) if math.isfinite(now) else "–"
    if answering:
        sentence = _answered(shown, done, whole, hospitals, figure)
        label = f"round {number}: answers"
    else:
        sentence = (
            f"Round {number} of {whole}: the server sends its present directions to the {hospitals}, "
            f"{asked} each. They are {'random to begin with' if number == 1 else 'made of earlier answers'}."
        )
        label = f"round {number}: asked"
    if shown.over_network:
        weight = (
            [text.size(message_bytes(done)), f"answers after {text.duration(done.seconds)}"]
            if answering
            else ["–", ""]
        )
    else:
        weight = [text.size(travelled(shown, number, answering)), "both ways"]
    return {
        "at": label,
        "sentence": sentence,
        "tiles": [
            [figure, ("before this round" if not answering else f"after {number} of {whole}")],
            [asked, "the rows that are kept, and which" if done.question.payload else "nothing is asked"],
            [text.size(sent) if answering else "–", "masked" if shown.summed and answering else ""],
            weight,
        ],
        "notes": _faults(shown, done) if answering else "",
    }


def _answered(shown: ShownRun, done: Round, whole: int, hospitals: str, figure: str) -> str:
    sent = text.size(_payload(done))
    left = f", and is left with error {figure}" if shown.errors is not None and figure != "–" else ""
    begin = f"Round {done.number} of {whole}: "
    if not done.answers:
        return f"{begin}no hospital's answer could be used."
    several = len(done.answers) > 1 or (shown.summed and shown.record.plan.hospitals > 1)
    if not several:
        own = "masked" if shown.summed else "with noise of its own on top"
        return f"{begin}1 hospital sends {sent}, {own}; the server has nothing else{left}."
    if shown.summed:
        return (
            f"{begin}each of the {hospitals} sends {sent} that is masked; the server sees their sum "
            f"alone{left}."
        )
    if shown.shared:
        return (
            f"{begin}each of the {hospitals} sends {sent}, all with the same noise on top; the server "
            f"averages them by patients{left}."
        )
    return (
        f"{begin}{len(done.answers):,} hospitals send {sent} each, with noise of their own on top; the "
        f"server averages them{left}."
    )


def _faults(shown: ShownRun, done: Round) -> str:
    """Who failed and why; a record may hold any words, of any number of hospitals."""
    said = [
        f"{'The sum' if hospital == ALL else shown.name(hospital)} {text.brief(why)}."
        for hospital, why in done.faults.items()
    ]
    more = len(said) - _MOST_FAULTS
    return " ".join([*said[:_MOST_FAULTS], *([f"And {more:,} more."] if more > 0 else [])])


def headline(shown: ShownRun) -> str:
    """The whole run in a sentence."""
    plan, record = shown.record.plan, shown.record
    rounds = text.count(len(record.rounds), "round", "rounds")
    where = (
        "between separate processes" if shown.over_network else "simulated with the messages of the protocol"
    )
    took = f", in {text.duration(record.seconds)}" if shown.over_network and record.seconds else ""
    said = (
        f"{_METHODS.get(plan.method, plan.method)} with "
        f"{text.count(plan.hospitals, 'hospital', 'hospitals')} and {sum(plan.sizes):,} patients in "
        f"{rounds}, {where}{took}."
    )
    if record.ended:
        return f"{said} It did not come to its end."
    if shown.errors is not None:
        return f"{said} It ends with error {text.error(float(shown.errors[-1]))}."
    return said


def passing(of: CollaborationSetting, way: Protocol) -> str:
    """What is being done until a run can be shown, and for about how long."""
    hospitals = text.count(len(of.sizes), "hospital", "hospitals")
    return (
        f"Passing the messages of {hospitals} with {of.n:,} patients and {of.d:,} measurements of each: "
        f"about {math.ceil(of.seconds(way, with_moments=True))} s."
    )


def overhead(shown: ShownRun) -> str:
    """What messages with their headers weigh beside the numbers in them; empty for a simulation."""
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
