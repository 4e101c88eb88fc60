"""A disk that is full: the kernel writes as much as there is room for, then refuses."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def full_disk(path: Path, more: int = 0) -> Iterator[None]:
    """This process may make no file longer than this one and so many bytes more: "File too large"."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = (path.stat().st_size if path.exists() else 0) + more
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
