"""All hospitals in one process: the same steps, without a network. For simulation, and to compare with."""

import time
from collections.abc import Sequence

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.federated import coordinator, protocol
from dppca_core.federated.coordinator import Replies
from dppca_core.federated.exchange import ALL
from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan
from dppca_core.federated.record import Record, RecordedAnswer


class InProcess:
    """Carry questions to hospitals that live in this process, and keep their states.

    It is called as a transport of `coordinator`.
    """

    def __init__(self, states: Sequence[protocol.ProviderState]) -> None:
        self.states = list(states)

    def __call__(self, question: Message, hospitals: Sequence[int], wait: float) -> Replies:
        """Run each hospital's step in turn; `wait` plays no part, as nothing is waited for."""
        answers: dict[int, RecordedAnswer] = {}
        refused: dict[int, str] = {}
        for hospital in hospitals:
            begun = time.perf_counter()
            try:
                self.states[hospital], answer = protocol.provider_step(self.states[hospital], question)
                answers[hospital] = RecordedAnswer(answer, answer.payload, time.perf_counter() - begun)
            except ValueError as reason:
                refused[hospital] = f"did not answer: {reason}"
        if not protocol.exchange_of(self.states[0].plan).sealed:
            return Replies(answers, refused)
        # A sealed sum needs every hospital's part: where one refused there is no sum at all.
        return Replies({} if refused else {ALL: add_answers(list(answers.values()))}, refused)


def add_answers(answers: Sequence[RecordedAnswer]) -> RecordedAnswer:
    """Return what an ideal secure aggregation hands to the server: the sum of all answers alone."""
    first = answers[0].message
    arrays = {name: np.sum([a.message.arrays[name] for a in answers], axis=0) for name in first.arrays}
    message = Message(first.run, first.round, arrays)
    return RecordedAnswer(message, message.payload, max(answer.seconds for answer in answers))


def simulate(
    plan: Plan, cohort: Cohort, noise: Sequence[protocol.Noise], start: Array | None
) -> tuple[Record, tuple[protocol.ProviderState, ...]]:
    """Run all rounds in this process; return the record, and each hospital's state afterwards.

    noise: of each hospital, in the plan's order. start: Q(0), (d, k), for a method that begins at a basis.
    Raises ValueError where plan and cohort do not fit.
    """
    # A state is of a hospital's number, the plan, its patients and its noise.
    patients_and_noise = enumerate(zip(cohort, noise, strict=True))
    carrier = InProcess([protocol.ProviderState(i, plan, *pair) for i, pair in patients_and_noise])
    record = coordinator.run(plan, carrier, start=start)
    return record, tuple(carrier.states)
