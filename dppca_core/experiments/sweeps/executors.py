"""Where a sweep runs: here, on all cores of this machine, or on a Dask cluster, all as stdlib executors."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, cast

from joblib import cpu_count
from joblib.externals.loky import get_reusable_executor

from dppca_core.experiments.sweeps import blas

ADDRESS = "DASK_SCHEDULER_ADDRESS"
_CONNECT_SECONDS = 10
_IDLE_SECONDS = 300  # a worker takes seconds to start, most of them imports


class LostError(ConnectionError):
    """The cluster answers no more."""

    def __init__(self) -> None:
        super().__init__("The cluster stopped answering; what was measured before is kept")


class Serial(Executor):
    """Runs what is submitted at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future that is already done."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as reason:  # as every executor: the caller meets it at result()
            future.set_exception(reason)
        return future


class Cores(Executor):
    """Worker processes on this machine, shared and kept between sweeps; a pool that broke is replaced.

    `ahead`: tasks that a sweep hands over at a time. Few, so that sweeps that share the processes take turns.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cpu_count()
        self.ahead = 2 * self.workers + 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A call in one of the processes."""
        pool = get_reusable_executor(max_workers=self.workers, timeout=_IDLE_SECONDS)
        return cast("Future[Any]", pool.submit(fn, *args, **kwargs))

    def warm(self) -> None:
        """Start the processes, which takes seconds, without waiting for them."""
        for _ in range(self.workers):
            self.submit(blas.for_good)

    def kill(self) -> None:
        """End the processes, whoever uses them and whatever they run: for a program that is about to end."""
        get_reusable_executor(max_workers=self.workers).shutdown(wait=True, kill_workers=True)


class _Cluster(Executor):
    """A Dask client's, which fails in many ways once its scheduler is gone."""

    def __init__(self, own: Executor) -> None:
        self._own = own

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A call on the cluster. Raises LostError where there is none any more."""
        try:
            return self._own.submit(fn, *args, **kwargs)
        except Exception as reason:
            raise LostError from reason


@contextmanager
def dask(address: str) -> Iterator[Executor]:
    """The workers of a Dask scheduler, e.g. tcp://10.0.0.1:8786. They must be able to import dppca_core.

    Raises ValueError where `distributed` is not installed, and OSError where nobody answers.
    """
    try:
        from distributed import Client
    except ImportError as reason:
        raise ValueError("a cluster needs: pip install -r requirements-cluster.txt") from reason
    client_of: Callable[..., Any] = Client
    try:
        client = client_of(address, set_as_default=False, timeout=_CONNECT_SECONDS)
    except OSError as reason:
        raise ConnectionError(f"No cluster answers at {address}") from reason
    with client, client.get_executor() as executor:
        yield _Cluster(executor)


@contextmanager
def opened(name: str | None = None) -> Iterator[Executor]:
    """By word: "serial", "cores", or a scheduler's address. None: $DASK_SCHEDULER_ADDRESS, else cores.

    Raises ValueError for another word.
    """
    chosen = name or os.environ.get(ADDRESS) or "cores"
    if chosen == "serial":
        yield Serial()
    elif chosen == "cores":
        yield Cores()
    elif ":" in chosen:
        with dask(chosen) as executor:
            yield executor
    else:
        raise ValueError(f'executor must be "serial", "cores" or the address of a scheduler, got {chosen!r}')
