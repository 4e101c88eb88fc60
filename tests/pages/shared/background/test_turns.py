"""The queue of sweeps: first come, first served, one of each visitor at a time; nobody waits for the gone."""

import threading
import time

import pytest

from pages.shared.background import sweep_jobs
from pages.shared.background.queue import LONG_SECONDS, Turn, Turns
from tests.waiting import eventually

QUICK, LONG = 1.0, 10 * LONG_SECONDS


def never() -> bool:
    return False


def waiting(turns: Turns, turn: Turn) -> threading.Thread:
    """One who waits in a thread of their own."""
    thread = threading.Thread(target=turns.wait, args=(turn, never), daemon=True)
    thread.start()
    return thread


def test_first_come_first_served():
    turns = Turns(1)
    ann, bob, eve = (turns.join(who, QUICK) for who in ("ann", "bob", "eve"))
    assert turns.wait(ann, never)
    threads = [waiting(turns, one) for one in (eve, bob)]
    assert [turns.ahead(one) for one in (ann, bob, eve)] == [(0, 0), (1, 0), (2, 0)]
    turns.leave(ann)
    assert eventually(lambda: bob.running) and not eve.running
    assert turns.ahead(eve) == (1, 0)
    turns.leave(bob)
    assert eventually(lambda: eve.running)
    for thread in threads:
        thread.join(5)


def test_one_of_each_visitor_at_a_time():
    """Whoever asks for ten has one place, and others pass."""
    turns = Turns(2)
    first, *mine = (turns.join("ann", QUICK) for _ in range(5))
    bob = turns.join("bob", QUICK)
    assert turns.wait(first, never) and turns.wait(bob, never)
    assert [turns.ahead(one) for one in mine[:2]] == [(1, 1), (1, 2)]
    turns.leave(bob)
    assert turns.ahead(mine[0]) == (0, 1)
    thread = waiting(turns, mine[0])
    time.sleep(0.05)
    assert not mine[0].running
    turns.leave(first)
    assert eventually(lambda: mine[0].running)
    thread.join(5)


def test_one_that_was_told_to_stop_holds_up_nobody():
    """A slider moves on: the next sweep begins while the former finishes its task."""
    turns = Turns(1)
    former, following = turns.join("ann", QUICK), turns.join("ann", QUICK)
    assert turns.wait(former, never)
    turns.end(former)
    assert turns.ahead(following) == (0, 0) and turns.wait(following, never)


def test_long_sweeps_have_a_line_of_their_own():
    turns = Turns(1)
    hour = turns.join("ann", LONG)
    assert turns.wait(hour, never)
    for who in ("ann", "bob"):
        quick = turns.join(who, QUICK)
        assert turns.ahead(quick) == (0, 0) and turns.wait(quick, never)
        turns.leave(quick)
    assert turns.ahead(turns.join("bob", LONG)) == (1, 0)


def test_the_line_moves_on_when_somebody_leaves_it():
    turns, gone = Turns(1), threading.Event()
    ann, bob, eve = (turns.join(who, QUICK) for who in ("ann", "bob", "eve"))
    assert turns.wait(ann, never)
    found = []

    def leaves() -> None:
        found.append(turns.wait(bob, gone.is_set))
        turns.leave(bob)

    thread = threading.Thread(target=leaves)
    thread.start()
    gone.set()
    thread.join(5)
    assert found == [False] and turns.ahead(eve) == (1, 0)
    turns.leave(ann)
    assert turns.wait(eve, never)


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        ((0, 0), "Waiting to begin"),
        ((1, 0), "In the queue: 1 sweep of other visitors runs before yours"),
        ((2, 0), "In the queue: 2 sweeps of other visitors run before yours"),
        ((0, 1), "In the queue: 1 sweep of your own runs before this one"),
        ((2, 1), "In the queue: 2 sweeps of other visitors and 1 of your own run before this one"),
    ],
    ids=str,
)
def test_the_place_in_the_queue_is_said(ahead, said):
    assert sweep_jobs.said_ahead(*ahead) == said
