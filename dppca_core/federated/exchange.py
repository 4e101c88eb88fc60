"""The interface of an exchange: the questions and answers of one method, round by round.

A question holds arrays that the server sends to all hospitals; an answer holds those that a hospital sends
back, noise included. Rounds count from 1. Hospitals are numbered from 0 in the plan's order. Sums are sealed
where the server sees the sum of all hospitals' answers and no single one (secure aggregation).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.federated.message import Arrays, Shapes
from dppca_core.federated.plan import Plan
from dppca_core.numerics.block_power import SparseBasis
from dppca_core.privacy import Event

ALL = -1  # the key of an answer that is the sum of all hospitals'
SPREAD = 50.0  # standard deviations of noise, within which an honest answer stays


class NoisyMean(NamedTuple):
    """Hold the mean of a round's answers over all patients, and the std of the noise in each entry."""

    mean: Array
    std: float


@dataclass(frozen=True, eq=False)
class ServerState:
    """Hold where the server stands between two rounds.

    Attributes:
        rounds: The number of rounds that are over.
        current: The basis Q that is asked with next, for a method that truncates it.
        iterates: All bases Q(t) so far, (d, k) each; after the last round the last one is the result.
        received: The means of all rounds, for a method that combines them.
        prior: What rounds before the method's paid for, by name (`Exchange.releases`).
    """

    rounds: int = 0
    current: SparseBasis | None = None
    iterates: tuple[Array, ...] = ()
    received: tuple[NoisyMean, ...] = ()
    prior: Arrays = field(default_factory=dict)


class RoundNoise(NamedTuple):
    """Hold the generators of a hospital's noise in one round: its own, and one that all hospitals share.

    The latter is None unless all are to add the same noise.
    """

    rng: np.random.Generator
    shared: np.random.Generator | None


def check_magnitude(arrays: Arrays, most: float) -> None:
    """Raise ValueError for an entry that is larger than `most`; its text ends a sentence about the sender.

    Rows have norm at most 1, so what is made of them is bounded, and noise lies within 50 of its standard
    deviations with a probability that no computer can tell from one. Beyond, an answer is not honest, and a
    single number could drown all hospitals'.
    """
    for name, array in arrays.items():
        if not float(np.abs(array).max(initial=0.0)) <= most:  # NaN fails as well
            raise ValueError(f"sent {name} with numbers beyond {most:.3g}, which no patients can give")


def check_released(name: str, array: NDArray[Any], shape: tuple[int, ...], most: float) -> None:
    """Raise ValueError for a mean, sent by the server, of another shape or longer than `most`.

    Its text ends a sentence about the hospital that was asked.
    """
    if array.dtype != np.float64 or array.shape != shape:
        raise ValueError(f"asked with a {name} as {array.dtype} of shape {array.shape}")
    if not float(np.linalg.norm(array)) <= most:  # NaN fails as well
        raise ValueError(f"asked with a {name} that is not finite or longer than {most:.3g}")


def check_sent(name: str, array: Array, most: float) -> None:
    """Raise ValueError for a mean or sum that is longer than `most`; it ends a sentence on the sender."""
    if not float(np.linalg.norm(array)) <= most:  # NaN fails as well
        raise ValueError(f"sent a {name} longer than {most:.3g}, which no patients can give")


class Exchange(ABC):
    """Exchange messages of one method between the hospitals and the server of a plan.

    Hospitals and server each make their own from their copy of the plan. It keeps no state of a run. Unless a
    method says otherwise it has one round, in which nothing is asked.

    Args:
        plan: What hospitals and server agreed on.
        defaults: The method's options by name, with their values where the plan says nothing, or None.

    Attributes:
        rounds: The number of rounds.
        sealed: Whether the server sees the sum of all hospitals' answers and nothing else.
        needs_start: Whether the method begins at a public basis.
        keeps: Names of arrays in a question that a hospital keeps for its answers in later rounds, so that
            these need not be sent again.
        reply: The names and shapes of an answer's arrays, for a method whose rounds are alike.
        settings: The method's options, by name.

    Raises:
        ValueError: For options that the method does not have.
    """

    rounds = 1
    sealed = False
    needs_start = False
    keeps: tuple[str, ...] = ()
    reply: Shapes

    def __init__(self, plan: Plan, **defaults: Any) -> None:
        self.plan, self.settings = plan, defaults
        # The plan's options replace the defaults; an option that is None keeps its default.
        for name, value in plan.options:
            if name not in defaults:
                known = ", ".join(defaults) or "none"
                raise ValueError(f"{plan.method} has no option {name!r}, only {known}")
            self.settings[name] = defaults[name] if value is None else value

    @abstractmethod
    def spends(self, number: int) -> tuple[Event, ...]:
        """Return the privacy events that round `number` costs each hospital's patients."""

    def check_start(self, start: Array | None) -> Array:
        """Return Q(0), (d, k), once it is checked. Raises ValueError unless it is there and orthonormal."""
        if start is None:
            raise ValueError("start must be given: the iteration begins at a basis that all hospitals see")
        checks.orthonormal(self.plan.d, self.plan.k, start=start)
        return start

    def check_block(self, block: Array, rows: int) -> None:
        """Raise ValueError unless the columns of a question's block, (rows, k), are orthonormal.

        A hospital checks them since the sensitivity, by which its noise is set, is proved for such columns.
        """
        try:
            checks.orthonormal(rows, self.plan.k, block=block)
        except ValueError as reason:
            raise ValueError(f"asked with a block that a hospital must not answer: {reason}") from None

    def check_mean(self, hospital: int, arrays: Arrays, noise_std: Callable[[int], float]) -> None:
        """Raise ValueError for a mean, or with `ALL` a sum, that rows and noise cannot reach.

        noise_std: returns, for a hospital's number, the std of the noise in each entry of its mean.
        """
        # Rows have length 1 at most, and so have their means; in a sealed sum a mean counts n times.
        if hospital == ALL:
            most = sum(n * (1 + SPREAD * noise_std(i)) for i, n in enumerate(self.plan.sizes))
        else:
            most = 1 + SPREAD * noise_std(hospital)
        check_magnitude(arrays, most)

    def mean(self, answers: Mapping[int, Arrays], name: str) -> Array:
        """Return the mean over all patients of the array of this name, from the hospitals' answers.

        Each answer counts by its hospital's size; a sealed sum holds answers that were weighted already.
        """
        n = sum(self.plan.sizes if self.sealed else self.plan.sizes_of(answers))
        mean = np.zeros(next(iter(answers.values()))[name].shape)
        for hospital in sorted(answers):  # a fixed order makes sums equal to the bit
            mean += answers[hospital][name] * ((1 if self.sealed else self.plan.sizes[hospital]) / n)
        return mean

    def reply_to(self, number: int) -> Shapes:
        """Return the names and shapes of an answer's arrays in round `number`."""
        return self.reply

    def releases(self, number: int) -> Shapes:
        """Return the name and shape of what round `number` pays for before the method's rounds, if any."""
        return {}

    def initial_state(self, start: Array | None) -> ServerState:
        """Return the server before the first round.

        start: Q(0), (d, k), for a method that begins at a public basis; others do not read it.
        """
        return ServerState()

    def question(self, state: ServerState) -> Arrays:
        """Return the arrays with which the server asks in its next round."""
        return {}

    def check_question(self, number: int, arrays: Arrays) -> None:
        """Raise ValueError for a question that a hospital must not answer.

        A hospital calls it, since a server may lie. The error's text ends a sentence about the hospital.
        number: of the round. arrays: those of the question.
        """
        if arrays:
            raise ValueError(f"asked with {', '.join(sorted(arrays))} where nothing is asked")

    @abstractmethod
    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        """Return a hospital's answer in round `number`; it reads private rows and adds the noise.

        arrays: those of the question, and those that the hospital kept of earlier ones.
        """

    @abstractmethod
    def check_reply(self, number: int, hospital: int, arrays: Arrays) -> None:
        """Raise ValueError for numbers that no honest answer can have in round `number`.

        The error's text ends a sentence about the sender.
        hospital: its number, or `ALL` for a sealed sum. arrays: of the names and shapes of `reply_to`.
        """

    @abstractmethod
    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        """Return the server after a round, from the answers of those hospitals that gave one.

        answers: by hospital, or the one sum under `ALL`.
        """
