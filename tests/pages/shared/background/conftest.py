"""Let the engine prefetch, as on a server."""

import pytest


@pytest.fixture
def prefetching() -> bool:
    return True
