"""Shared by all tests: one BLAS thread, and Hypothesis that draws the same examples every time."""

from collections.abc import Iterator

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread() -> Iterator[None]:
    """Two threads slow small kernels down and change sums in their last digit."""
    with threadpool_limits(limits=1):
        yield
