"""The two steps: what a hospital does with a question, and what the server does with the answers.

Plain functions from a state to the next one. The simulation calls them in one process, the network calls
them in many: there is no other implementation.

A hospital's state (its patients' moment, its noise, what it has spent and sent) never leaves it; only the
`Message` that `provider_step` returns does. It answers each round once: asked the same again, as after a
restart, it repeats its message bit for bit and pays nothing; asked something else in that round, it refuses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form, numerical
from dppca_core.arrays import Array, Provider
from dppca_core.federated import fitted_rounds, message, one_round, power_rounds, prior_round, two_stages
from dppca_core.federated.exchange import ALL, Exchange, RoundNoise, ServerState
from dppca_core.federated.message import Arrays, Message
from dppca_core.federated.plan import Plan
from dppca_core.privacy import Budget, Event

EXCHANGES: dict[str, type[Exchange]] = {
    "dps_pca": power_rounds.PowerRounds,
    "dpdis_pca": one_round.CompressedMoments,
    "federated_projector": one_round.AveragedProjectors,
    "two_stage_own_noise": two_stages.TwoStages,
    "two_stage_sealed": two_stages.SealedTwoStages,
}


class Silent(np.random.Generator):
    """Draw zeros where noise is drawn: to test without noise, never for patients."""

    # NumPy overloads this method by dtype and out; nothing here asks for anything but sizes.
    def standard_normal(self, size=None, dtype=np.float64, out=None):  # type: ignore[no-untyped-def]
        return np.zeros(() if size is None else size, dtype)


@dataclass(frozen=True)
class Noise:
    """Give the generators of a hospital's noise, seeded by the operating system unless it is a simulation.

    Attributes:
        seed: Of a simulation's noise, which also depends on the round; None for real noise.
        shared: A seed that all hospitals hold, for the mode in which all add the same noise, as DPS-PCA's
            paper prints it; None where they have none.
        silent: Whether there is no noise at all, for tests.
    """

    seed: tuple[int, ...] | None = None
    shared: tuple[int, ...] | None = None
    silent: bool = False

    def for_round(self, number: int) -> RoundNoise:
        """Return fresh generators for round `number`.

        The number is part of every seed: if two rounds had the same noise, their difference would have none.
        """
        if self.silent:
            silent = Silent(np.random.default_rng(0).bit_generator)
            return RoundNoise(silent, silent)
        rng = np.random.default_rng() if self.seed is None else np.random.default_rng([*self.seed, number])
        return RoundNoise(rng, None if self.shared is None else np.random.default_rng([*self.shared, number]))


class LimitError(ValueError):
    """Refuse a question that would spend more than the hospital's limit allows.

    detail: a sentence with the numbers, for the hospital's own log. The server is not told it.
    """

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message)
        self.detail = detail


class SentMessage(NamedTuple):
    """Hold a round that a hospital has answered.

    question: the fingerprint of the question. answer: what was sent. kept: the arrays of the question that
    answers in later rounds need.
    """

    question: str
    answer: Message
    kept: Arrays = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class ProviderState:
    """Hold one hospital, by its number in the plan from 0, in one run.

    plan: its own copy. provider: its patients; for a fitted bound it holds their encoded rows, which nothing
    has shortened. limit: what all runs together may spend of its patients' privacy; None for the plan's
    budget. spent: the privacy events so far by run and round, those of earlier runs too, all counted for the
    neighbours of the limit. sent: the rounds of this run that it answered, by number. Raises ValueError where
    patients, plan and limit do not fit.
    """

    hospital: int
    plan: Plan
    provider: Provider = field(repr=False)
    noise: Noise = field(default=Noise(), repr=False)
    limit: Budget | None = None
    spent: Mapping[tuple[str, int], tuple[Event, ...]] = field(default_factory=dict)
    sent: Mapping[int, SentMessage] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plan, limit_neighbours = self.plan, self.allowed.neighbours
        for sentence, actual, planned in (
            ("has {:,} patients where the plan says {:,}", self.provider.n, plan.sizes[self.hospital]),
            ("has {} features where the plan says {}", self.provider.moment.features, plan.d),
            ("counts {} in its limit where the plan says {}", limit_neighbours, plan.budget.neighbours),
        ):
            if actual != planned:
                raise ValueError(f"{plan.name(self.hospital)} {sentence.format(actual, planned)}")

    @property
    def allowed(self) -> Budget:
        return self.limit or self.plan.budget


def exchange_of(plan: Plan) -> Exchange:
    """Return the exchange of a plan: of its method, with rounds for mean and scales before it if paid for.

    Or that of a moment with a fitted bound. Raises ValueError for a method without one, or bad options.
    """
    if plan.fitted:
        return fitted_rounds.FittedRounds(plan)
    checks.one_of(EXCHANGES, method=plan.method)
    # The mean comes first, then scales, then the method: each round wraps those that follow it.
    method = EXCHANGES[plan.method](plan.after_scales)
    if plan.scale_share:
        method = prior_round.PriorRound(plan.after_mean, method, name="squares")
    return prior_round.PriorRound(plan, method, name="mean") if plan.mean_share else method


def events(plan: Plan) -> tuple[Event, ...]:
    """Return the privacy events that a whole run costs each hospital's patients."""
    exchange = exchange_of(plan)
    return tuple(event for number in range(1, exchange.rounds + 1) for event in exchange.spends(number))


def provider_step(state: ProviderState, question: Message) -> tuple[ProviderState, Message]:
    """Return a hospital's next state and its answer. This is the only step that reads private rows.

    Raises ValueError, and leaves nothing spent, for a question of another run, out of turn, or with other
    arrays than the method asks, and LimitError beyond the hospital's limit. Their sentences may be told to
    the server: they hold nothing that it does not know.
    """
    plan, number = state.plan, question.round
    exchange, hospital_name = exchange_of(plan), plan.name(state.hospital)
    if question.run != plan.run:
        raise ValueError(f"{hospital_name} did not agree to run {question.run!r}")
    if number in state.sent:
        if state.sent[number].question != question.digest:
            raise ValueError(f"{hospital_name} has answered round {number} already, to another question")
        return state, state.sent[number].answer
    if number != len(state.sent) + 1 or number > exchange.rounds:
        expected = min(len(state.sent) + 1, exchange.rounds)
        raise ValueError(
            f"{hospital_name} was asked for round {number}, its next is {expected} of {exchange.rounds}"
        )
    try:
        exchange.check_question(number, question.arrays)
    except ValueError as reason:
        raise ValueError(f"{hospital_name} was {reason}") from None
    limit = state.allowed
    spent = {**state.spent, (plan.run, number): exchange.spends(number)}
    epsilon = closed_form.epsilon_of((event for events in spent.values() for event in events), limit.delta)
    if not numerical.within(epsilon, limit.epsilon):
        raise LimitError(
            f"{hospital_name} has a limit that does not allow round {number}",
            f"ε = {epsilon:.4g} with round {number}, the limit is {limit.epsilon:.4g} at δ = {limit.delta:g}",
        )
    noise = state.noise.for_round(number)
    # What the hospital kept of earlier questions is not sent again, and belongs to this one as well.
    given = dict(question.arrays)
    for earlier in state.sent.values():
        given |= earlier.kept
    arrays = exchange.answer(number, state.hospital, state.provider, given, noise)
    answer = Message(plan.run, number, arrays)
    kept = {name: array for name, array in question.arrays.items() if name in exchange.keeps}
    sent = {**state.sent, number: SentMessage(question.digest, answer, kept)}
    return replace(state, spent=spent, sent=sent), answer


def start(plan: Plan, basis: Array | None = None) -> ServerState:
    """Return the server before the first round. basis: Q(0), (d, k), for a method that begins at one."""
    return exchange_of(plan).initial_state(basis)


def question(plan: Plan, state: ServerState) -> Message:
    """Return the question with which the server opens its next round, the same for all hospitals."""
    return Message(plan.run, state.rounds + 1, exchange_of(plan).question(state))


def check_answer(plan: Plan, number: int, hospital: int, answer: Message) -> None:
    """Raise ValueError for an answer that must not be used.

    The error's text ends a sentence about the sender.
    number: that of the round. hospital: its number, or `ALL` for a sealed sum.
    """
    exchange = exchange_of(plan)
    message.check(answer, plan.run, number, exchange.reply_to(number))
    exchange.check_reply(number, hospital, answer.arrays)


def server_step(plan: Plan, state: ServerState, answers: Mapping[int, Message]) -> ServerState:
    """Return the server after one more round; after the last, its last iterate is the result.

    A round that comes before the method's adds no iterate. Hospitals without an answer are left out: the
    others' weights then add up to one.

    plan: the server's copy. answers: by hospital; of a secure aggregation the one sum, under `ALL`. Raises
    ValueError for no answer, one that `check_answer` refuses, or a run that is over.
    """
    exchange = exchange_of(plan)
    if state.rounds == exchange.rounds:
        raise ValueError(f"run {plan.run} is over after {state.rounds} rounds")
    allowed = {ALL} if exchange.sealed else set(range(plan.hospitals))
    if not answers or not set(answers) <= allowed:
        raise ValueError(f"answers must be of hospitals of the plan, got {sorted(answers)}")
    for hospital, answer in answers.items():
        try:
            check_answer(plan, state.rounds + 1, hospital, answer)
        except ValueError as reason:
            name = "The sum" if hospital == ALL else plan.name(hospital)
            raise ValueError(f"{name} {reason}") from None
    after = exchange.combine(state, {hospital: answer.arrays for hospital, answer in answers.items()})
    if len(after.iterates) > len(state.iterates):  # a round before the method's adds no basis
        checks.orthonormal(plan.d, plan.k, result=after.iterates[-1])
    return after
