"""A hospital as a process on a pipe: the lighter transport of the fault tests, around the same step.

A question comes as (RUN, BYTES, HOW); the answer goes as (BYTES, ""), or (b"", REASON) where it is refused.
HOW says what goes wrong, after the honest step.
"""

import os
import time
from dataclasses import replace
from multiprocessing.connection import Connection
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


def serve(path: Path, pipe: Connection) -> None:
    files = OwnFiles.read(path)
    while True:
        run, asked, how = pipe.recv()
        question = wire.decode(asked, 10**6)
        if how == "dies before it pays":
            die()
        if how == "dies when it has stored":
            journal.append = die
        try:
            answer = spoilt(hospital.answer(files.state(run), files.keeps, question), how), ""
        except ValueError as reason:
            answer = b"", str(reason)
        if how == "dies when it has paid":
            die()
        pipe.send(answer)
