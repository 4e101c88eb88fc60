"""Pinning BLAS to one thread wherever cells are run.

Workers that each use all cores slow each other down (60 runs took 10 to 24 s, and 2.5 to 4.9 s pinned), and
two threads change sums in their last digit; with one, a cell has the same bits everywhere.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

from dppca_core.experiments import draws
from dppca_core.populations import elliptical

_LOCK = Lock()
_inside = 0  # callers that want one thread now; the first pins, the last to leave restores
_limits: threadpool_limits | None = None


def use_one_thread() -> None:
    """Pin this process to one BLAS thread until it ends, as a worker or the dashboard's server does.

    The caches of draws are emptied, since what several threads computed differs in its last digits.
    """
    global _inside, _limits
    with _LOCK:
        if _inside == 0:
            _limits = threadpool_limits(1, user_api="blas")
            for cache in (draws.DRAWS, draws.ASSIGNED, draws.TRUTHS, draws.MOMENTS):
                cache.clear()
            elliptical.clear_caches()
        _inside += 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Pin this process to one BLAS thread inside a `with` block; several threads may be inside at once."""
    global _inside
    use_one_thread()
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()
