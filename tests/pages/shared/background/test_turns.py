"""Test that pages run one at a time, whole pages first, and that none waits for one that takes long."""

import threading
import time
from collections.abc import Callable

import pytest

from pages.shared.background import turns as turns_module
from pages.shared.background.turns import Turns
from tests.waiting import PATIENCE_SECONDS, eventually


def begun(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("later", "expected"),
    [(PATIENCE_SECONDS, ["first", "second", "refresh"]), (0.0, ["refresh", "first", "second"])],
)
def test_one_runs_at_a_time_in_the_order_of_asking_and_refreshes_come_later(later, expected, monkeypatch):
    monkeypatch.setattr(turns_module, "REFRESH_SECONDS", later)
    turns, order, inside = Turns(PATIENCE_SECONDS), list[str](), list[int]()
    running = 0

    def run(name: str, refresh: bool) -> None:
        nonlocal running
        with turns.taken(refresh):
            running += 1
            inside.append(running)
            order.append(name)
            running -= 1

    threads = []
    with turns.taken():
        for i, (name, refresh) in enumerate([("refresh", True), ("first", False), ("second", False)]):
            threads.append(begun(lambda name=name, refresh=refresh: run(name, refresh)))
            assert eventually(lambda i=i: sum(map(len, turns._waiting)) == i + 1)
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert order == expected and inside == [1, 1, 1]


def test_who_holds_the_turn_takes_it_again_and_gives_it_away_while_waiting():
    turns, done = Turns(PATIENCE_SECONDS), threading.Event()

    def other() -> None:
        with turns.taken():
            done.set()

    with turns.taken(), turns.taken():
        begun(other)
        assert not done.is_set()
        with turns.given_away():
            assert done.wait(PATIENCE_SECONDS)
    with turns.taken():
        pass
    with turns.given_away():  # who holds none has nothing to give
        pass


def test_a_run_knows_how_long_it_has_waited():
    turns = Turns(PATIENCE_SECONDS)
    with turns.taken():
        assert turns.waited() == 0.0
        for _ in range(2):
            before = turns.waited()
            with turns.given_away():
                time.sleep(0.01)
            assert turns.waited() >= before + 0.01
    with turns.taken():
        assert turns.waited() == 0.0


def test_who_is_interrupted_while_waiting_ends_without_a_turn():
    turns, held, done = Turns(PATIENCE_SECONDS), threading.Event(), threading.Event()

    def other() -> None:
        with turns.taken():
            held.set()
            done.wait(PATIENCE_SECONDS)

    with pytest.raises(KeyError), turns.taken(), turns.given_away():  # noqa: PT012
        begun(other)
        assert held.wait(PATIENCE_SECONDS)
        raise KeyError
    assert turns._holder is not None  # the turn of the other, which is still inside
    done.set()
    with turns.taken():
        pass


def test_one_that_takes_long_keeps_nobody_waiting():
    turns, done = Turns(0.01), threading.Event()

    def other() -> None:
        with turns.taken():
            done.set()

    with turns.taken():
        begun(other)
        assert done.wait(PATIENCE_SECONDS)
    with turns.taken():  # the turn that was lost is not given twice
        pass


def test_a_run_that_fails_gives_its_turn_away():
    turns = Turns(PATIENCE_SECONDS)
    try:
        with turns.taken():
            raise KeyError
    except KeyError:
        pass
    began = time.monotonic()
    with turns.taken():
        assert time.monotonic() - began < PATIENCE_SECONDS
