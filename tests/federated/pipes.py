"""The server's end of the pipes to `pipe_hospital` processes."""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from dppca_core.federated.message import Message
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import exchange_of
from dppca_core.federated.record import RecordedAnswer
from examples.flower import wire

ROOT = Path(__file__).parents[2]


class Hospital:
    """Hold one process, which is started when there is none."""

    def __init__(self, files: Path) -> None:
        self.files = files
        self._process: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def start(self) -> None:
        if self._process is None:
            command = [sys.executable, "-m", "tests.federated.pipe_hospital", str(self.files)]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT)
            assert self._process.stdout and self._process.stdout.readline() == b"ready\n"

    def ask(self, question: Message, how: str, into: "queue.Queue[tuple[dict[str, object], bytes]]") -> None:
        """Put what comes back into a queue; of a process that died, {}."""
        assert self._process is not None and self._process.stdin and self._process.stdout
        data = wire.encode(question)
        header = json.dumps({"run": question.run, "length": len(data), "how": how}).encode()
        self._process.stdin.write(header + b"\n" + data)
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        reply = json.loads(line) if line else {}
        into.put((reply, self._process.stdout.read(reply.get("length", 0))))


class Pipes:
    """Ask hospitals over pipes. `how`: what goes wrong, by hospital and round."""

    def __init__(self, plan: Plan, hospitals: Sequence[Hospital], how: Mapping[tuple[int, int], str]) -> None:
        self.plan, self.hospitals, self.how = plan, hospitals, how

    def __call__(
        self, question: Message, asked: Sequence[int], wait: float
    ) -> Mapping[int, RecordedAnswer | str]:
        answers: dict[int, queue.Queue[tuple[dict, bytes]]] = {i: queue.Queue() for i in asked}
        for i in asked:
            self.hospitals[i].start()
        for i in asked:
            given = (question, self.how.get((i, question.round), ""), answers[i])
            threading.Thread(target=self.hospitals[i].ask, args=given, daemon=True).start()
        begun = time.perf_counter()
        payload = wire.most_bytes(exchange_of(self.plan).reply_to(question.round))
        return {i: self._read(i, answers[i], payload, begun, wait) for i in asked}

    def _read(
        self, i: int, answer: "queue.Queue[tuple[dict, bytes]]", payload: int, begun: float, wait: float
    ) -> RecordedAnswer | str:
        try:
            header, data = answer.get(timeout=max(0.0, begun + wait - time.perf_counter()))
        except queue.Empty:
            return f"did not answer within {wait:g} s"
        if not header:
            self.hospitals[i].stop()
            return "went away"
        if "refused" in header:
            return f"did not answer: {header['refused']}"
        try:
            return RecordedAnswer(wire.decode(data, payload), len(data), time.perf_counter() - begun)
        except ValueError as reason:
            return str(reason)
