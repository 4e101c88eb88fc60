"""The interface of an exchange: the questions and answers of one method, round by round."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.federated.message import Arrays, Shapes
from dppca_core.federated.plan import Plan
from dppca_core.numerics.block_power import SparseBasis
from dppca_core.privacy import Event

ALL = -1  # the key of an answer that is the sum of all hospitals'
SPREAD = 50.0  # standard deviations of noise that an honest answer stays within


class NoisyMean(NamedTuple):
    """Hold the mean of a round over all patients, and the std of the noise in each of its entries."""

    mean: Array
    std: float


@dataclass(frozen=True, eq=False)
class ServerState:
    """Hold where the server stands: rounds that are over, Q, and all Q(t) so far, at the end the result.

    received: means of all rounds, for a method that combines them. prior: "mean" and "squares" of the
    rows, where rounds before the method's paid for them.
    """

    rounds: int = 0
    current: SparseBasis | None = None
    iterates: tuple[Array, ...] = ()
    received: tuple[NoisyMean, ...] = ()
    prior: Arrays = field(default_factory=dict)


class RoundNoise(NamedTuple):
    """Hold a hospital's own generator of one round, and the one that all hospitals share, if they do."""

    rng: np.random.Generator
    shared: np.random.Generator | None


def check_magnitude(arrays: Arrays, most: float) -> None:
    """Raise ValueError, as the end of a sentence, for an entry beyond `most`.

    Rows have norm at most 1, so what is made of them is bounded, and noise lies within 50 of its standard
    deviations with a probability that no computer can tell from one. Beyond, an answer is not honest, and a
    single number could drown all hospitals'.
    """
    for name, array in arrays.items():
        if not float(np.abs(array).max(initial=0.0)) <= most:
            raise ValueError(f"sent {name} with numbers beyond {most:.3g}, which no patients can give")


class Exchange(ABC):
    """Exchange messages of one method between the hospitals and the server of a plan.

    Unless a method says otherwise it has one round, in which nothing is asked. defaults: its options where
    the plan says nothing, or None. Raises ValueError for other options.

    `summed`: the server sees the sum of all hospitals' answers and nothing else (secure aggregation).
    `iterates`: it begins at a public basis. `reply`: what an answer holds. `keeps`: arrays of a question that
    a hospital keeps, and is not asked with again, for its answers in later rounds.
    """

    rounds = 1
    summed = False
    iterates = False
    keeps: tuple[str, ...] = ()
    reply: Shapes

    def __init__(self, plan: Plan, **defaults: Any) -> None:
        self.plan, self.settings = plan, defaults
        for name, value in plan.options:
            if name not in defaults:
                raise ValueError(f"{plan.method} has no option {name!r}, only {', '.join(defaults)}")
            defaults[name] = defaults[name] if value is None else value

    @abstractmethod
    def spends(self, number: int) -> tuple[Event, ...]:
        """Return what this round costs each hospital's patients."""

    def check_start(self, start: Array | None) -> Array:
        """Return Q(0), (d, k). Raises ValueError for none, or one that is not orthonormal."""
        if start is None:
            raise ValueError("start must be given: the iteration begins at a basis that all hospitals see")
        checks.orthonormal(self.plan.d, self.plan.k, start=start)
        return start

    def check_block(self, block: Array, rows: int) -> None:
        """Raise ValueError unless the columns of a question's block are orthonormal."""
        try:
            checks.orthonormal(rows, self.plan.k, block=block)
        except ValueError as reason:
            raise ValueError(f"asked with a block that a hospital must not answer: {reason}") from None

    def check_mean(self, hospital: int, arrays: Arrays, noise_std: Callable[[int], float]) -> None:
        """Raise ValueError for a mean, or the weighted sum of all, that rows and noise cannot reach."""
        if hospital == ALL:
            most = sum(n * (1 + SPREAD * noise_std(i)) for i, n in enumerate(self.plan.sizes))
        else:
            most = 1 + SPREAD * noise_std(hospital)
        check_magnitude(arrays, most)

    def mean(self, answers: Mapping[int, Arrays], name: str) -> Array:
        """Return the mean over all patients of what hospitals sent by this name, or of its sealed sum."""
        n = sum(self.plan.sizes if self.summed else self.plan.sizes_of(answers))
        mean = np.zeros(next(iter(answers.values()))[name].shape)
        for hospital in sorted(answers):  # a fixed order makes sums equal to the bit
            mean += answers[hospital][name] * ((1 if self.summed else self.plan.sizes[hospital]) / n)
        return mean

    def reply_to(self, number: int) -> Shapes:
        """Return what an answer holds in this round."""
        return self.reply

    def open(self, start: Array | None) -> ServerState:
        """Return the state before the first round. `start`: (d, k) orthonormal, for a method that has one."""
        return ServerState()

    def question(self, state: ServerState) -> Arrays:
        """Return what the server asks in its next round."""
        return {}

    def check_question(self, number: int, arrays: Arrays) -> None:
        """Raise ValueError for a question that a hospital must not answer in this round."""
        if arrays:
            raise ValueError(f"asked with {', '.join(sorted(arrays))} where nothing is asked")

    @abstractmethod
    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        """Return a hospital's answer in this round."""

    @abstractmethod
    def check_reply(self, hospital: int, arrays: Arrays) -> None:
        """Raise ValueError, as the end of a sentence, for numbers that no such answer can have."""

    @abstractmethod
    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        """Return the server after a round, from the answers of those hospitals that gave one."""
