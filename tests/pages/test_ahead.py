"""What may be asked for next is measured while a visitor looks, and never before what they look at lacks."""

import threading
import time
from collections.abc import Iterator

import pytest

from dppca_core.experiments.live import TRACED, Results
from pages.shared import ahead, cached, choices, readout, scenes

SMALL = choices.defaults() | {"d": 20, "n": 1000, "k": 2, "s": 5, "shat": 10, "repeats": 2}


def changes(found: list[choices.Settings]) -> list[tuple[str, object]]:
    """What each of the settings changes first, of the controls."""
    return [next((key, one[key]) for key in ahead.SLIDERS if one[key] != SMALL[key]) for one in found]


def test_the_slider_that_moved_goes_on_first_then_back_then_the_others():
    found = changes(ahead.one_press_away(SMALL, ("n", -2)))
    assert found[:2] == [("n", 500), ("n", 2000)]
    assert {key for key, _ in found[2:]} == set(ahead.SLIDERS) - {"n"}
    assert len(found) == len(set(found)) == 2 * len(ahead.SLIDERS)


def test_what_a_table_fixes_or_a_slider_has_not_is_not_measured():
    found = ahead.one_press_away(choices.defaults() | {"data": "breast_cancer", "N": 1}, ("N", -1))
    assert {(one["n"], one["d"]) for one in found} == {(100_000, 200)}
    assert min(one["N"] for one in found) == 1 and max(one["N"] for one in found) == 2


def test_a_look_ahead_is_all_that_the_press_needs():
    for _ in ahead.look(SMALL):
        pass
    scene, epsilon = scenes.of(SMALL)
    found = cached.results(scene)
    assert found.missing(found.first(epsilon)) == []
    before = readout.payload(found, epsilon, SMALL)
    assert readout.payload(found, epsilon, SMALL)["frames"] is before["frames"]


def test_steps_can_be_left_off_and_taken_up_again():
    found = Results(scenes.of(SMALL)[0])
    steps = found.steps(found.first(1.0))
    while not found.cells:
        next(steps)
    assert found.missing(found.first(1.0))
    found.try_cells(found.first(1.0))
    assert found.missing(found.first(1.0)) == []


def test_two_that_want_the_same_measure_it_once(monkeypatch):
    found, asked = Results(scenes.of(SMALL)[0]), []
    kept = Results.estimate

    def estimate(self: Results, name: str, epsilon: float, repeat: int) -> object:
        if self is found:  # an earlier test's results may still fill in the background
            asked.append((name, epsilon, repeat))
            time.sleep(0.001)
        return kept(self, name, epsilon, repeat)

    monkeypatch.setattr(Results, "estimate", estimate)
    threads = [threading.Thread(target=lambda: found.try_cells(found.first(1.0))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (TRACED, 1.0, 0) in asked
    assert len(asked) == len(set(asked))


class Cells:
    """A view of three cells."""

    def __init__(self, log: list[str]) -> None:
        self.log, self.left = log, 3

    def try_cell(self, *cell: object) -> None:
        self.left -= 1
        self.log.append("view")

    def wanted(self) -> tuple[object, ...] | None:
        return (self.left,) if self.left else None


def steps(log: list[str], name: str, count: int) -> Iterator[None]:
    """So many steps that say their name."""
    for _ in range(count):
        log.append(name)
        yield


def finished(log: list[str], count: int) -> list[str]:
    """What was done, once it is so much and no more comes."""
    ends = time.monotonic() + 5
    while len(log) < count and time.monotonic() < ends:
        time.sleep(0.005)
    time.sleep(0.05)
    return log


def test_the_next_press_comes_before_the_rest_of_the_view_and_all_else_after_it():
    log: list[str] = []
    worker, view = cached.Completer(), Cells(log)
    with worker.yielding():
        worker.look("one", view, view.wanted)
        worker.ahead("one", steps(log, "next", 2), steps(log, "other", 2))
    assert finished(log, 7) == ["next"] * 2 + ["view"] * 3 + ["other"] * 2


def test_in_a_crowd_nothing_is_measured_ahead():
    log: list[str] = []
    worker, view = cached.Completer(), Cells(log)
    with worker.yielding():
        for visitor in range(5):
            worker.ahead(str(visitor), steps(log, "next", 1), steps(log, "other", 1))
        worker.look("one", view, view.wanted)
    assert finished(log, 3) == ["view"] * 3


@pytest.mark.parametrize("reason", [ValueError, MemoryError])
def test_what_fails_ahead_is_dropped(reason):
    log: list[str] = []

    def fails() -> Iterator[None]:
        raise reason
        yield

    worker, view = cached.Completer(), Cells(log)
    with worker.yielding():
        worker.ahead("one", fails(), steps(log, "other", 1))
        worker.look("one", view, view.wanted)
    assert finished(log, 4) == ["view"] * 3 + ["other"]
