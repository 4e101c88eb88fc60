"""Work in another process ends once nobody wants it."""

import time
from contextlib import suppress

import pytest

from dppca_core.experiments.sweeps import cancellation

HANGS = 3600.0  # seconds, beyond the limit of every test


def busy(seconds: float) -> str:
    """Past every `except Exception`."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(Exception):
            time.sleep(0.01)
    return "done"


@pytest.fixture
def mark():
    made = cancellation.Mark()
    yield made
    made.remove()


def test_wanted_work_is_done_and_its_faults_are_its_own(mark):
    assert cancellation.run(mark.path, busy, 0.4) == "done"
    for reason in (ValueError("bad"), TimeoutError("late")):
        with pytest.raises(type(reason), match=str(reason)):
            cancellation.run(mark.path, _raise, reason)
    assert cancellation.run("", busy, 0.0) == "done"


def _raise(reason: Exception) -> None:
    raise reason


def test_work_that_nobody_wants_ends_or_does_not_begin(mark):
    def left_off() -> str:
        mark.remove()
        return busy(HANGS)

    with pytest.raises(cancellation.UnwantedError):
        cancellation.run(mark.path, left_off)
    with pytest.raises(cancellation.UnwantedError):
        cancellation.run(mark.path, busy, HANGS)
    mark.remove()  # as often as one likes


def test_without_a_place_for_the_file_work_runs_to_its_end(monkeypatch):
    def refuses(*_: object, **__: object):
        raise OSError("read-only")

    monkeypatch.setattr("tempfile.mkstemp", refuses)
    made = cancellation.Mark()
    assert made.path == ""
    made.remove()
