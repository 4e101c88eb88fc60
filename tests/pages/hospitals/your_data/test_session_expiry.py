"""A table is forgotten once its visitor has left."""

import gc
import threading

import pytest

from pages.hospitals.your_data import session_expiry
from pages.hospitals.your_data.session_expiry import SessionExpiry
from pages.shared.background import sessions
from tests.waiting import PATIENCE_SECONDS, Clock, eventually

NEVER = 3600.0  # seconds between checks of a thread: the test checks itself


class Holder:
    """Stand in for a session that holds a table."""

    def __init__(self) -> None:
        self.forgot = threading.Event()

    def forget(self) -> None:
        self.forgot.set()


@pytest.fixture
def here(monkeypatch) -> set[str]:
    visitors = {"ann", "bob"}
    monkeypatch.setattr(sessions, "is_connected", visitors.__contains__)
    return visitors


@pytest.fixture
def clock(monkeypatch) -> Clock:
    """Replace the clock by which it is measured how long somebody has been away."""
    made = Clock()
    for module in (sessions, session_expiry):
        monkeypatch.setattr(module, "time", made)
    return made


def test_a_connection_that_breaks_for_a_moment_ends_no_release(here, clock):
    may_come_back = sessions.return_check("ann", 20)
    assert may_come_back()
    here.remove("ann")
    assert may_come_back()
    clock.now += 15
    here.add("ann")
    assert may_come_back()
    here.remove("ann")
    assert may_come_back()
    clock.now += 10
    assert may_come_back()
    clock.now += 15
    assert not may_come_back()


def test_a_table_goes_some_time_after_its_owner(here):
    """By the thread that looks, without anybody asking."""
    watching, ann, bob = SessionExpiry(0.0, 0.01), Holder(), Holder()
    for who, holder in (("ann", ann), ("bob", bob)):
        watching.watch(who, holder)
    here.remove("ann")
    assert ann.forgot.wait(PATIENCE_SECONDS) and not bob.forgot.is_set()


def test_who_comes_back_finds_their_table(here, clock):
    watching, ann = SessionExpiry(50, NEVER), Holder()
    watching.watch("ann", ann)
    for _ in range(4):
        here.remove("ann")
        assert not watching.check()
        clock.now += 40
        assert not watching.check() and not ann.forgot.is_set()
        here.add("ann")
        assert not watching.check()
    here.clear()
    watching.check()
    clock.now += 50
    assert watching.check() and ann.forgot.is_set()


def test_nothing_is_held_for_the_sake_of_forgetting_it(here):
    """Nor does a thread look on."""
    watching, ann = SessionExpiry(60, 0.01), Holder()
    watching.watch("ann", ann)
    watching.watch("ann", ann)
    del ann
    gc.collect()
    assert eventually(lambda: not watching._watched)
