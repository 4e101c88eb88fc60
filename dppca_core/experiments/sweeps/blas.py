"""Pinning BLAS to one thread wherever cells are run.

Workers that each use all cores slow each other down (60 runs took 10 to 24 s, and 2.5 to 4.9 s pinned), and
two threads change sums in their last digit; with one, a cell has the same bits everywhere.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

from dppca_core.experiments import draws
from dppca_core.populations import spiked

_LOCK = Lock()
_inside = 0
_pinned = False  # until the process ends
_limits: threadpool_limits | None = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Pin this process and empty the caches of draws; the last to leave restores the former limits."""
    global _inside, _limits
    if _pinned:
        yield
        return
    with _LOCK:
        if _inside == 0:
            _limits = threadpool_limits(1, user_api="blas")
            _forget()
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()


def use_one_thread() -> None:
    """Pin a process until it ends: a worker, or the dashboard's server."""
    global _pinned
    with _LOCK:
        if not _pinned:
            threadpool_limits(1, user_api="blas")
            _forget()
            _pinned = True


def _forget() -> None:
    for cache in (draws.DRAWS, draws.DEALS, draws.TRUTHS, draws.MOMENTS):
        cache.clear()
    spiked.clear_caches()
