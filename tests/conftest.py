"""Give all tests one BLAS thread, and a Hypothesis that draws the same examples every time."""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from dppca_core.experiments.sweeps import run_cells

settings.register_profile("repeatable", max_examples=30, derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread() -> Iterator[None]:
    """Use one thread: two slow small kernels down and change sums in their last digit."""
    with threadpool_limits(limits=1):
        yield


@pytest.fixture(scope="session", autouse=True)
def caches_stay_large() -> Iterator[None]:
    """Keep a worker that runs in a thread here from shrinking the caches of all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_cells, "_WORKER_BYTES", 2**62)
        yield


def pytest_collection_finish() -> None:
    """Freeze what was collected, so that garbage collection does not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
