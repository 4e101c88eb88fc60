"""What a visitor has brought is forgotten once they have left."""

import gc
import threading
import time

import pytest

from pages.shared import visitors
from pages.shared.own.leaving import Leaving


class Holder:
    """What holds a table."""

    def __init__(self) -> None:
        self.forgot = threading.Event()

    def forget(self) -> None:
        self.forgot.set()


@pytest.fixture
def here(monkeypatch) -> set[str]:
    """Who is there."""
    found = {"ann", "bob"}
    monkeypatch.setattr(visitors, "present", found.__contains__)
    return found


def test_a_connection_that_breaks_for_a_moment_ends_no_release(here):
    may_come_back = visitors.returning("ann", 0.2)
    assert may_come_back()
    here.remove("ann")
    assert may_come_back()
    time.sleep(0.15)
    here.add("ann")
    assert may_come_back()
    here.remove("ann")
    assert may_come_back()
    time.sleep(0.1)
    assert may_come_back()
    time.sleep(0.15)
    assert not may_come_back()


def test_a_table_goes_some_time_after_its_owner(here):
    leaving, ann, bob, dropped = Leaving(0.2, 0.01), Holder(), Holder(), []
    for who, holder in (("ann", ann), ("bob", bob)):
        leaving.watch(who, holder, dropped.append)
    here.remove("ann")
    left = time.monotonic()
    assert ann.forgot.wait(5) and time.monotonic() - left >= 0.2
    for _ in range(500):
        if dropped:
            break
        time.sleep(0.01)
    assert dropped == ["ann"] and not bob.forgot.is_set()


def test_who_comes_back_finds_their_table(here):
    leaving, ann = Leaving(0.5, 0.01), Holder()
    leaving.watch("ann", ann, [].append)
    for _ in range(4):
        here.remove("ann")
        time.sleep(0.2)
        here.add("ann")
        time.sleep(0.05)
    assert not ann.forgot.is_set()


def test_nothing_is_held_for_the_sake_of_forgetting_it(here):
    """Nor does a thread look on."""
    leaving, ann = Leaving(60, 0.01), Holder()
    leaving.watch("ann", ann, [].append)
    leaving.watch("ann", ann, [].append)
    del ann
    gc.collect()
    for _ in range(500):
        if not leaving._watched:
            break
        time.sleep(0.01)
    assert not leaving._watched
