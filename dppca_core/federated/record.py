"""The server's record of a run, as JSON lines: the plan, a line for each round as it ends, and the end.

{"kind": "plan", "plan": {...}, "guarantee": GUARANTEE, "start": ARRAY or null, "about": {...}}
{"kind": "round", "round": 1, "seconds": 0.02, "question": {NAME: ARRAY}, "basis": ARRAY or null, "answers":
 {"0": {"arrays": {NAME: ARRAY}, "wire_bytes": 488, "seconds": 0.01}}, "faults": {"2": "did not answer ..."}}
{"kind": "end", "seconds": 0.1, "ended": ""}

The round of a mean that is paid for has no basis, and "mean": ARRAY beside; that of scales has
"squares", and that of a fitted bound's tails "tails". No other round has these keys.
GUARANTEE follows from the plan, and is for each hospital's patients over all rounds: {"promise": "(ε, δ)",
"mu": 0.27, "why no mu": "", "false alarms": [...], "misses": [...]} (`accounting.trade_off`).
ARRAY is {"dtype": "float64", "shape": [30, 2], "data": BASE64 of the little-endian numbers, row by row}.
Messages carry their noise already, so that a record holds nothing that the server did not see.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.arrays import Array
from dppca_core.federated import prior_round, protocol
from dppca_core.federated.exchange import ALL
from dppca_core.federated.fitted_rounds import FittedRounds
from dppca_core.federated.message import Arrays, Message, array_from_json, array_to_json, arrays_from_json
from dppca_core.federated.plan import Plan, from_dict, to_dict
from dppca_core.mechanisms.paid_scale import ColumnScales
from dppca_core.methods import METHODS

MOST_CHARACTERS = 200 * 2**20
_LONGEST_REASON = 200  # characters of an error's reason that are shown, as it may quote an uploaded file


@dataclass(frozen=True, eq=False)
class RecordedAnswer:
    """Hold one hospital's answer as it arrived at the server.

    wire_bytes: what it took on the network. seconds: from the question to the answer.
    """

    message: Message
    wire_bytes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Round:
    """Hold one round as the server saw it; numbers are from 1.

    answers: by hospital, or the one sum under `ALL`. faults: by hospital that gave no answer, or one that was
    refused, the end of a sentence that says why. basis: that the server made of it, (d, k); None where it
    made none. prior: what it paid for, by name, where it comes before the method's (`Exchange.releases`).
    """

    number: int
    question: Message
    answers: Mapping[int, RecordedAnswer]
    faults: Mapping[int, str]
    basis: Array | None
    seconds: float
    prior: Arrays = field(default_factory=dict)

    @property
    def stands(self) -> bool:
        """Return True where it gave the server a basis, or what it paid for, so that the run could go on."""
        return self.basis is not None or bool(self.prior)


@dataclass(frozen=True, eq=False)
class Record:
    """Hold a run as the server saw it, of whose rounds the last may have failed.

    start: Q(0), (d, k), for a method that begins at a basis. ended: empty for a run that came to its end,
    else the sentence that says why it did not. about: notes by name, such as what carried the messages.
    """

    plan: Plan
    start: Array | None
    rounds: tuple[Round, ...] = ()
    ended: str = ""
    seconds: float = 0.0
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def basis(self) -> Array | None:
        """Return the result, (d, k); None where the run ended before."""
        complete = not self.ended and len(self.rounds) == protocol.exchange_of(self.plan).rounds
        return self.rounds[-1].basis if complete else None

    @property
    def trade_off(self) -> TradeOff:
        """Return what a whole run by the plan lets an attacker learn about a hospital's patient."""
        return TradeOff.from_events(protocol.events(self.plan))

    @property
    def _prior(self) -> Arrays:
        return {name: array for past in self.rounds for name, array in past.prior.items()}

    @property
    def mean(self) -> Array | None:
        """Return the mean at which rows were centred, (d,), or None.

        It is in units of the public row bound; with a fitted bound it is of encoded rows about their middles.
        """
        exchange = protocol.exchange_of(self.plan)
        if isinstance(exchange, FittedRounds) and "mean" in self._prior:
            return exchange.rule.released_frame(self._prior).mean
        return self._prior.get("mean")

    @property
    def scales(self) -> ColumnScales | None:
        """Return the scales that centred rows were divided by, in units of the row bound, or None."""
        if not self.plan.scale_share or "squares" not in self._prior:
            return None
        sealed = protocol.exchange_of(self.plan).sealed
        return prior_round.scales(self.plan.after_mean, self._prior["squares"], sealed)

    @property
    def divisors(self) -> Array | None:
        """Return what columns about the mean were divided by with a fitted bound, (d,), else None."""
        exchange = protocol.exchange_of(self.plan)
        if not isinstance(exchange, FittedRounds) or self.basis is None:
            return None
        answers = {hospital: answer.message.arrays for hospital, answer in self.rounds[-1].answers.items()}
        return exchange.result(self._prior, answers)[1]


def opening_line(record: Record) -> str:
    return _to_line(
        kind="plan",
        plan=to_dict(record.plan),
        guarantee=_guarantee(record),
        start=record.start,
        about=dict(record.about),
    )


def _guarantee(record: Record) -> dict[str, Any]:
    trade_off = record.trade_off.to_json()  # refuses a plan whose method has no exchange
    return {"promise": METHODS[record.plan.method].guarantee, **trade_off}


def round_line(finished: Round) -> str:
    answers = {
        hospital: {
            "arrays": dict(answer.message.arrays),
            "wire_bytes": answer.wire_bytes,
            "seconds": round(answer.seconds, 6),
        }
        for hospital, answer in finished.answers.items()
    }
    return _to_line(
        kind="round",
        round=finished.number,
        seconds=round(finished.seconds, 6),
        question=dict(finished.question.arrays),
        basis=finished.basis,
        answers=answers,
        faults=dict(finished.faults),
        **finished.prior,
    )


def closing_line(record: Record) -> str:
    return _to_line(kind="end", seconds=round(record.seconds, 6), ended=record.ended)


def read(text: str) -> Record:
    """Return the record that JSON lines hold, checked as strictly as the messages were on arrival.

    A record without its last line is of a run that was broken off.
    Raises ValueError, with the number of the line, for anything that is not such a record.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a record may have {MOST_CHARACTERS:,} characters, got {len(text):,}")
    # Not splitlines(), which also splits at characters that a hospital's name may hold.
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise ValueError("a record must have lines, got none")
    plan, start, about = None, None, {}
    rounds: list[Round] = []
    # This stands unless the last line says how the run ended.
    ended, seconds = "The server stopped before the run came to its end.", 0.0
    for number, line in enumerate(lines, 1):
        try:
            json_value = _as_object(_parse_json(line))
            if plan is None:
                _check_keys(json_value, ("plan", "guarantee", "start", "about"), kind="plan")
                plan = from_dict(json_value["plan"])
                _check_guarantee(_as_object(json_value["guarantee"]), _guarantee(Record(plan, None)))
                start = _read_basis(json_value["start"], plan)
                about = {str(key): str(value) for key, value in _as_object(json_value["about"]).items()}
            elif number == len(lines) and json_value.get("kind") == "end":
                _check_keys(json_value, ("seconds", "ended"), kind="end")
                ended, seconds = str(json_value["ended"]), _read_seconds(json_value["seconds"])
            else:
                rounds.append(_read_round(json_value, plan, len(rounds) + 1))
        except (ValueError, TypeError) as reason:
            raise ValueError(f"line {number} is not of a record: {str(reason)[:_LONGEST_REASON]}") from None
    assert plan is not None  # the first line is a plan, or was refused
    return Record(plan, start, tuple(rounds), ended, seconds, about)


def _check_guarantee(given: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Raise ValueError unless a record states the guarantee that its plan gives, up to rounding."""
    _check_keys(dict(given), expected)
    for name, value in expected.items():
        if not _agrees(given[name], value):
            raise ValueError(f"guarantee must be the plan's, but its {name} is not")


def _agrees(given: object, expected: object) -> bool:
    if isinstance(expected, list):
        if not isinstance(given, list) or len(given) != len(expected):
            return False
        return all(map(_agrees, given, expected))
    if isinstance(expected, float):  # another version of SciPy may differ in the last digits
        return isinstance(given, float) and math.isclose(given, expected, rel_tol=1e-9, abs_tol=1e-12)
    return given == expected


def _parse_json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):  # deep nesting recurses; a number of thousands of digits is refused
        raise ValueError("it is not JSON") from None


def _to_line(**json_value: object) -> str:
    return json.dumps(
        json_value, separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=array_to_json
    )


def _read_round(json_value: dict[str, Any], plan: Plan, number: int) -> Round:
    """Return round `number` from its line, after the same checks as on arrival. Raises ValueError."""
    exchange = protocol.exchange_of(plan)
    paid = exchange.releases(number)
    given_prior = [name for name in paid if name in json_value]  # a round that failed has none
    names = ("round", "seconds", "question", "basis", "answers", "faults", *given_prior)
    _check_keys(json_value, names, kind="round")
    if json_value["round"] != number or number > exchange.rounds:
        raise ValueError(f"round must be {min(number, exchange.rounds)}, got {json_value['round']!r}")
    question = Message(plan.run, number, arrays_from_json(json_value["question"]))
    exchange.check_question(number, question.arrays)
    # JSON has text for keys: the numbers of the hospitals, or the one of a sealed sum.
    known = {str(i): i for i in (*range(plan.hospitals), *([ALL] if exchange.sealed else []))}
    answers = {}
    for hospital, given in _as_object(json_value["answers"]).items():
        _check_keys(given, ("arrays", "wire_bytes", "seconds"))
        checks.not_negative(wire_bytes=given["wire_bytes"])
        answer = Message(plan.run, number, arrays_from_json(given["arrays"]))
        from_whom = _hospital_of(hospital, known)
        protocol.check_answer(plan, number, from_whom, answer)
        answers[from_whom] = RecordedAnswer(answer, int(given["wire_bytes"]), _read_seconds(given["seconds"]))
    faults = {_hospital_of(key, known): str(why) for key, why in _as_object(json_value["faults"]).items()}
    basis = _read_basis(json_value["basis"], plan)
    prior = {name: array_from_json(json_value[name]) for name in given_prior}
    for name, array in prior.items():
        if array.shape != paid[name] or not np.isfinite(array).all():
            raise ValueError(f"{name} must be {paid[name][0]} finite numbers")
    return Round(number, question, answers, faults, basis, _read_seconds(json_value["seconds"]), prior)


def _hospital_of(key: str, known: Mapping[str, int]) -> int:
    """Return the number of the hospital, or `ALL`, that a key of a line names; known: these by their keys."""
    if key not in known:
        raise ValueError(f"hospital must be one of {len(set(known) - {str(ALL)})}, got {key!r}")
    return known[key]


def _read_basis(json_value: object, plan: Plan) -> Array | None:
    """Return the basis of a line, (d, k) orthonormal, or None where there is none."""
    if json_value is None:
        return None
    basis = array_from_json(json_value)
    checks.orthonormal(plan.d, plan.k, basis=basis)
    return basis


def _read_seconds(json_value: Any) -> float:
    checks.not_negative(seconds=json_value)
    return float(json_value)


def _as_object(json_value: object) -> dict[str, Any]:
    if not isinstance(json_value, dict):
        raise ValueError(f"it must be an object, got {str(json_value)[:40]!r}")
    return json_value


def _check_keys(json_value: dict[str, Any], names: Iterable[str], kind: str | None = None) -> None:
    if kind is not None and json_value.get("kind") != kind:
        raise ValueError(f"kind must be {kind}, got {json_value.get('kind')!r}")
    expected = {*names, *([] if kind is None else ["kind"])}
    if set(json_value) != expected:
        raise ValueError(
            f"it must have {', '.join(sorted(expected))}, got {', '.join(sorted(json_value))[:80]}"
        )
