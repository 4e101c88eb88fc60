"""The server's loop over rounds, whatever carries its messages, and a policy for what goes wrong.

In a round the server asks all hospitals one question, and makes the next basis, or the result, of their
answers. A record holds the plan and all rounds, and is written as lines of JSON while the run goes on
(`record`).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.federated import protocol
from dppca_core.federated.exchange import ALL, ServerState
from dppca_core.federated.message import Arrays, Message
from dppca_core.federated.plan import Plan
from dppca_core.federated.record import Record, RecordedAnswer, Round, closing_line, opening_line, round_line
from dppca_core.numerics import block_power


class Replies(NamedTuple):
    """Hold what a question brought back.

    answers: by hospital; where the server may see only the sum of all answers, that alone, under ALL. faults:
    for each hospital without an answer the end of a sentence that says why.
    """

    answers: Mapping[int, RecordedAnswer]
    faults: Mapping[int, str]


# A transport, ask(question, hospitals, seconds to wait), carries a question to hospitals.
Transport = Callable[[Message, Sequence[int], float], Replies]


@dataclass(frozen=True)
class Policy:
    """Say what happens when a hospital fails: the run stops, or goes on with those that are left.

    A hospital that failed once is asked no more in that run. A secure aggregation always stops: without one
    hospital's part, the sum has less noise than was promised.

    fewest: the number of answers below which the run stops anyway, unless all of the plan answer.
    wait_seconds: for the answers of one round. Raises ValueError for a value out of range.
    """

    on_fault: Literal["stop", "continue"] = "stop"
    fewest: int = 2
    wait_seconds: float = 60.0

    def __post_init__(self) -> None:
        checks.one_of(("stop", "continue"), on_fault=self.on_fault)
        checks.whole(1, fewest=self.fewest)
        checks.positive(wait_seconds=self.wait_seconds)


def public_start(plan: Plan, rng: np.random.Generator) -> Array | None:
    """Return a random Q(0), (d, k) orthonormal, for a method that starts from a basis, else None.

    It depends on no patient, so it may be public.
    """
    needs_start = protocol.exchange_of(plan).needs_start
    return block_power.random_start(plan.d, plan.k, rng) if needs_start else None


def run(
    plan: Plan,
    ask: Transport,
    *,
    start: Array | None,
    policy: Policy = Policy(),
    write: Callable[[str], object] | None = None,
    about: Mapping[str, str] | None = None,
    earlier: Record | None = None,
) -> Record:
    """Run all rounds of a plan, or as many as the policy allows, and return the record.

    start: Q(0), (d, k) orthonormal, for a method that starts from a basis, else None. write: gets the record
    line by line, as the run goes on; None for a record that is not written. about: what the record is to say
    about the run, by name. earlier: the record of this run, broken off. Its start and its finished rounds
    stand, hospitals that failed in them stay left out, and those that had answered the next one repeat what
    they had sent. Raises ValueError for a start that does not suit the method, or the record of another run.
    """
    if earlier is not None:
        if earlier.plan != plan:
            raise ValueError("earlier must be the record of the same plan")
        start = earlier.start
    # `ended` stays empty until a round returns the sentence that says why the run cannot go on.
    state, begun, ended = protocol.start(plan, start), time.perf_counter(), ""
    rounds = [past for past in earlier.rounds if past.stands] if earlier else []
    # The server's state is not recorded: it follows from the recorded answers.
    for past in rounds:
        state = protocol.server_step(plan, state, {i: answer.message for i, answer in past.answers.items()})
    if write:
        for line in (opening_line(Record(plan, start, about=about or {})), *map(round_line, rounds)):
            write(line)
    while state.rounds < protocol.exchange_of(plan).rounds and not ended:
        failed = {hospital for past in rounds for hospital in past.faults}
        remaining = [hospital for hospital in range(plan.hospitals) if hospital not in failed]
        finished, state, ended = _run_round(plan, ask, state, remaining, policy)
        rounds.append(finished)
        if write:
            write(round_line(finished))
    record = Record(plan, start, tuple(rounds), ended, time.perf_counter() - begun, about or {})
    if write:
        write(closing_line(record))
    return record


def _run_round(
    plan: Plan, ask: Transport, state: ServerState, remaining: list[int], policy: Policy
) -> tuple[Round, ServerState, str]:
    """Run one round; return it, the server after it, and the sentence with which the run ends, or ""."""
    begun = time.perf_counter()
    question = protocol.question(plan, state)
    answers: dict[int, RecordedAnswer] = {}
    faults: dict[int, str] = {}
    replies = ask(question, remaining, policy.wait_seconds)
    for hospital, answer in replies.answers.items():
        try:
            protocol.check_answer(plan, question.round, hospital, answer.message)
            answers[hospital] = answer
        except ValueError as reason:
            faults[hospital] = str(reason)
    faults |= replies.faults
    # `prior` is what the round paid for if it comes before the method's (`Exchange.releases`).
    prior: Arrays = {}
    basis, ended = None, _reason_to_end(plan, question.round, faults, len(answers), policy)
    if not ended:
        try:
            after = protocol.server_step(plan, state, {i: answer.message for i, answer in answers.items()})
            if len(after.iterates) > len(state.iterates):
                basis = after.iterates[-1]
            prior = {name: array for name, array in after.prior.items() if name not in state.prior}
            state = after
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as reason:
            ended = f"The run ended in round {question.round}: the answers do not combine ({reason})."
    seconds = time.perf_counter() - begun
    return Round(question.round, question, answers, faults, basis, seconds, prior), state, ended


def _reason_to_end(plan: Plan, number: int, faults: Mapping[int, str], answered: int, policy: Policy) -> str:
    """Return the sentence with which the policy ends the run in round `number`, or nothing."""
    sealed = protocol.exchange_of(plan).sealed
    failed = "; ".join(
        f"{'the sum' if hospital == ALL else plan.name(hospital)} {why}" for hospital, why in faults.items()
    )
    # A sealed sum without one hospital's part has less noise than was promised, so it ends the run.
    if faults and (sealed or policy.on_fault == "stop"):
        return f"The run ended in round {number}: {failed}."
    # A plan of fewer hospitals than `fewest` goes on as long as all of them answer.
    if not sealed and answered < policy.fewest and answered < plan.hospitals:
        few = f"{answered} of {plan.hospitals} hospitals answered, and {policy.fewest} are needed"
        return f"The run ended in round {number}: {few} ({failed})."
    return ""
