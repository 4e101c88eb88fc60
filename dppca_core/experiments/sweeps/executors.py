"""The executors of a sweep: all cores of this machine, or a Dask cluster. A sweep without one runs here.

A task that a pool has started cannot be cancelled from outside. So a sweep keeps an empty file as long as it
wants its tasks, and a worker stops before its next cell where the file is gone.
"""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, cast

from joblib import cpu_count
from joblib.externals.loky import get_reusable_executor

from dppca_core.experiments.sweeps import blas

ADDRESS = "DASK_SCHEDULER_ADDRESS"
LOST = "The cluster stopped answering; what was measured before is kept"
_CONNECT_SECONDS = 10
_IDLE_SECONDS = 300  # a worker takes seconds to start, most of them imports
_NICE = 10
_PARENT_SECONDS = 1.0  # between two looks of a worker whether the program that started it still runs


def end_with(parent: int) -> None:
    """End this process when its parent has: else a worker would wait for tasks for minutes.

    Ctrl-C in a terminal reaches the workers as well, which leave it to their parent.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _begin_worker(parent: int) -> None:
    """Prepare a worker: whoever waits for a page on the same machine comes first."""
    end_with(parent)
    os.nice(_NICE)


class Cores(Executor):
    """Run calls in worker processes on this machine, which all sweeps share.

    loky replaces the pool when a worker has died. `ahead` is the number of tasks that a sweep submits at a
    time: enough to keep every worker busy, but few, so that sweeps which share the workers alternate.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cpu_count()
        self.ahead = 2 * self.workers + 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return cast("Future[Any]", self.pool().submit(fn, *args, **kwargs))

    def pool(self) -> Any:
        # For other arguments loky waits until the former pool has ended its tasks, and makes another.
        return get_reusable_executor(
            max_workers=self.workers,
            timeout=_IDLE_SECONDS,
            initializer=_begin_worker,
            initargs=(os.getpid(),),
        )

    def warm(self) -> None:
        """Start the processes without waiting, since starting takes seconds."""
        for _ in range(self.workers):
            self.submit(blas.use_one_thread)

    def kill(self) -> None:
        """Kill the processes, whatever they run: else a program that ends would wait for their tasks."""
        self.pool().shutdown(wait=True, kill_workers=True)


@contextmanager
def _all_cores() -> Iterator[Executor]:
    cores = Cores()
    try:
        yield cores
    except KeyboardInterrupt:
        cores.kill()
        raise


class _Cluster(Executor):
    """Run calls on a Dask cluster, and raise ConnectionError for whatever Dask raises when it is lost."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        try:
            return self._executor.submit(fn, *args, **kwargs)
        except Exception as reason:
            raise ConnectionError(LOST) from reason


@contextmanager
def dask(address: str) -> Iterator[Executor]:
    """Connect to the workers of a Dask scheduler, e.g. tcp://10.0.0.1:8786, which must have dppca_core.

    Raises ValueError where `distributed` is not installed, and OSError where nobody answers.
    """
    try:
        from distributed import Client
    except ImportError as reason:
        raise ValueError("a cluster needs: pip install -r requirements-cluster.txt") from reason
    untyped: Callable[..., Any] = Client  # not annotated, and the strict type checker refuses such calls
    try:
        client = untyped(address, set_as_default=False, timeout=_CONNECT_SECONDS)
    except OSError as reason:
        raise ConnectionError(f"No cluster answers at {address}") from reason
    # pure: a task that is submitted again would get the failure of the first time.
    with client, client.get_executor(pure=False) as executor:
        yield _Cluster(executor)


def opened(name: str | None = None) -> AbstractContextManager[Executor | None]:
    """Return an executor for the length of a `with` block.

    Args:
        name: "serial", "cores", or the address of a Dask scheduler. None: $DASK_SCHEDULER_ADDRESS, else
            "cores".

    Returns:
        The executor, for `sweep`; None for "serial".

    Raises:
        ValueError: For another word, or where the package for clusters is not installed.
        ConnectionError: Where no cluster answers.
    """
    chosen = name or os.environ.get(ADDRESS) or "cores"
    if ":" in chosen:
        return dask(chosen)
    if chosen not in ("serial", "cores"):
        raise ValueError(f'executor must be "serial", "cores" or the address of a scheduler, got {chosen!r}')
    return _all_cores() if chosen == "cores" else nullcontext(None)


class UnwantedError(Exception):
    """Stop a worker's task whose result nobody waits for: its sweep removed the cancellation file."""


@contextmanager
def cancellation_file() -> Iterator[str]:
    """Yield the path of a file that cancels tasks once it is gone; "" where none can be written."""
    path = ""
    with suppress(OSError):
        handle, path = tempfile.mkstemp(prefix="dppca-wanted-")
        os.close(handle)
    try:
        yield path
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def check_wanted(path: str) -> None:
    """Raise UnwantedError where the cancellation file at `path` is gone; "" stands for no such file."""
    if path and not os.path.exists(path):
        raise UnwantedError
