"""The server's end of the pipes to `pipe_hospital` processes."""

import multiprocessing
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from dppca_core.federated.coordinator import Replies
from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import exchange_of
from dppca_core.federated.record import RecordedAnswer
from examples.flower import wire
from tests.federated import pipe_hospital

# Hospitals are forked from a process that has imported all they need, and nothing of the test.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["__main__", pipe_hospital.__name__])


class Hospital:
    """Hold one process, which is started when there is none."""

    def __init__(self, files: Path) -> None:
        self.files = files
        self._pipe: Connection | None = None

    def stop(self) -> None:
        if self._pipe is not None:
            self._process.kill()
            self._process.join()
            self._pipe = None

    def start(self) -> None:
        if self._pipe is None:
            self._pipe, other = _PROCESSES.Pipe()
            self._process = _PROCESSES.Process(target=pipe_hospital.serve, args=(self.files, other))
            self._process.start()
            other.close()

    def ask(self, question: Message, how: str, into: "queue.Queue[tuple[bytes, str] | None]") -> None:
        """Put what comes back into a queue; of a process that died, None."""
        assert self._pipe is not None
        try:
            self._pipe.send((question.run, wire.encode(question), how))
            into.put(self._pipe.recv())
        except (EOFError, OSError):
            into.put(None)


class Pipes:
    """Ask hospitals over pipes. `how`: what goes wrong, by hospital and round."""

    def __init__(self, plan: Plan, hospitals: Sequence[Hospital], how: Mapping[tuple[int, int], str]) -> None:
        self.plan, self.hospitals, self.how = plan, hospitals, how

    def __call__(self, question: Message, asked: Sequence[int], wait: float) -> Replies:
        answers: dict[int, queue.Queue[tuple[bytes, str] | None]] = {i: queue.Queue() for i in asked}
        for i in asked:
            self.hospitals[i].start()
        for i in asked:
            given = (question, self.how.get((i, question.round), ""), answers[i])
            threading.Thread(target=self.hospitals[i].ask, args=given, daemon=True).start()
        begun = time.perf_counter()
        payload = wire.most_bytes(exchange_of(self.plan).reply_to(question.round))
        read: dict[int, RecordedAnswer] = {}
        faults: dict[int, str] = {}
        for i in asked:
            try:
                read[i] = self._read(i, answers[i], payload, begun, wait)
            except ValueError as reason:
                faults[i] = str(reason)
        return Replies(read, faults)

    def _read(
        self,
        i: int,
        answer: "queue.Queue[tuple[bytes, str] | None]",
        payload: int,
        begun: float,
        wait: float,
    ) -> RecordedAnswer:
        try:
            came = answer.get(timeout=max(0.0, begun + wait - time.perf_counter()))
        except queue.Empty:
            raise ValueError(f"did not answer within {wait:g} s") from None
        if came is None:
            self.hospitals[i].stop()
            raise ValueError("went away")
        data, refused = came
        if refused:
            raise ValueError(f"did not answer: {refused}")
        return RecordedAnswer(wire.decode(data, payload), len(data), time.perf_counter() - begun)
