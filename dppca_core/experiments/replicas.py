"""Measure cells in a process of its own, which holds replicas of their stores.

A replica is made from what its store was made from, so that the same cell is the same run, and it keeps what
it has measured. A request names a cell, and the answer holds what the asking store lacks. Nothing but recipes
and results crosses, and no private row. The process ends with the program that started it.

A pool of loky would replace a worker that has grown by 300 MB, and one draw of patients with 2,000 features
is larger: it would be drawn anew for every step.
"""

import os
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from dppca_core.byte_cache import return_large_at_once
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.sweeps.blas import use_one_thread
from dppca_core.experiments.sweeps.executors import end_with

_KEPT = 16  # replicas, each of some megabytes at most
Store = CellStore[Any, Any]


class CellRequest(NamedTuple):
    """Name a cell and its store; known: what the asking store holds, values where cells are linked."""

    make: type[Store]
    made_from: tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]
    cell: tuple[Any, ...]
    known: tuple[Collection[Any], ...]


class CellAnswer(NamedTuple):
    """Hold what the asking store lacks, state by state; once_more: what lacked memory; the step's seconds."""

    states: tuple[Mapping[Any, Any], ...]
    once_more: frozenset[Any]
    seconds: float


_replicas: OrderedDict[Any, Store] = OrderedDict()


def request(store: Store, cell: tuple[Any, ...]) -> CellRequest:
    known = tuple(dict(state) if store.linked else frozenset(state) for state in store.states)
    return CellRequest(type(store), store.made_from, cell, known)


def answer(asked: CellRequest) -> CellAnswer:
    """Try a cell in the replica of its store, made unless it is kept."""
    name = asked.make, asked.made_from
    arguments, named = asked.made_from
    store = _replicas.pop(name, None) or asked.make(*arguments, **dict(named))
    _replicas[name] = store
    while len(_replicas) > _KEPT:
        _replicas.popitem(last=False)
    for state, known in zip(store.states, asked.known, strict=True):
        if isinstance(known, dict):
            state |= known
    store.elsewhere = frozenset().union(*asked.known)
    began = time.monotonic()
    store.try_cell(*asked.cell)
    new = tuple(
        {key: value for key, value in list(state.items()) if key not in known}
        for state, known in zip(store.states, asked.known, strict=True)
    )
    return CellAnswer(new, store.once_more, time.monotonic() - began)


def serve(requests: Connection) -> None:
    """Answer requests until whoever sends them has gone."""
    end_with(os.getppid())
    use_one_thread()
    return_large_at_once()
    while True:
        try:
            requests.send(answer(requests.recv()))
        except (EOFError, OSError):
            return


class Process:
    """Measure cells in one process, started when first needed; one cell at a time.

    nice: added to the process's niceness, so that whoever started it comes first where cores are few.
    """

    def __init__(self, nice: int = 0) -> None:
        self._nice = nice
        self._running: tuple[subprocess.Popen[bytes], Connection] | None = None
        self._one_cell = threading.Lock()
        self.used = time.monotonic()  # when a cell was last asked for

    def try_cell(self, store: Store, cell: tuple[Any, ...]) -> None:
        """Do what `store.try_cell` does, in the process. If that is killed, the cell lacked memory."""
        with self._one_cell:
            self.used = time.monotonic()
            if store.key(cell) in store.cells:  # by now: that it takes no time says nothing of the next
                return
            try:
                _, requests = self._running = self._running or _started(self._nice)
                requests.send(request(store, cell))
                states, once_more, seconds = requests.recv()
            except (EOFError, OSError):  # the process was killed: only the system does that
                self._end()
                store.note_failure(store.key(cell), MemoryError())
                return
            finally:
                self.used = time.monotonic()
            store.adopt(cell, states, once_more)
            store.took[cell[0]] = seconds

    def end_unused(self, seconds: float) -> None:
        """End the process, which gives back all of its memory, if nothing was asked for so long."""
        if self._one_cell.acquire(blocking=False):
            try:
                if time.monotonic() - self.used >= seconds:
                    self._end()
            finally:
                self._one_cell.release()

    def _end(self) -> None:
        if self._running is not None:
            process, requests = self._running
            self._running = None
            requests.close()
            process.kill()
            process.wait()


def _started(nice: int) -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = Pipe()
    with theirs:
        number = theirs.fileno()
        command = [sys.executable, "-m", "dppca_core.experiments.replicas", str(number), str(nice)]
        root = Path(__file__).resolve().parents[2]
        return subprocess.Popen(command, cwd=root, pass_fds=[number]), ours


if __name__ == "__main__":
    # By its own name: requests and answers name this module's classes, which `__main__` would have twice.
    from dppca_core.experiments import replicas

    requests, niceness = map(int, sys.argv[1:])
    os.nice(niceness)
    replicas.serve(Connection(requests))
