"""A hospital as a process on two pipes: the lighter transport of the fault tests, around the same step.

It says "ready". A question comes as a line of JSON, {"run": RUN, "length": BYTES, "how": HOW}, and its bytes;
the answer goes as {"length": BYTES} or {"refused": REASON}, and its bytes. HOW says what goes wrong, after
the honest step.
"""

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from dppca_core.federated.message import Message
from dppca_core.release import journal
from examples.flower import hospital, wire
from examples.flower.own_files import OwnFiles

LATE_SECONDS = 30.0


def die(*_: object) -> None:
    """Stop as by a power cut."""
    os._exit(1)


def spoilt(answer: Message, how: str) -> bytes:
    """Return what leaves instead of the honest answer."""
    if how == "late":
        time.sleep(LATE_SECONDS)
    if how == "large":
        answer = replace(answer, arrays={"product": np.zeros(10**6)})
    data = wire.encode(answer)
    return data[:-3] if how == "torn" else data


def main() -> None:
    files = OwnFiles.read(Path(sys.argv[1]))
    print("ready", flush=True)
    while line := sys.stdin.buffer.readline():
        asked = json.loads(line)
        question = wire.decode(sys.stdin.buffer.read(asked["length"]), 10**6)
        how = asked["how"]
        if how == "dies before it pays":
            die()
        if how == "dies when it has stored":
            journal.append = die
        try:
            data = spoilt(hospital.answer(files.state(asked["run"]), files.keeps, question), how)
        except ValueError as reason:
            data, header = b"", {"refused": str(reason)}
        else:
            header = {"length": len(data)}
        if how == "dies when it has paid":
            die()
        sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
