"""Test that the next settings are measured while a visitor looks, and never before what the screen lacks."""

import json
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
import starlette.requests
import starlette.responses

import app
from dppca_core.experiments.explorer.experiment import DPS_PCA
from dppca_core.experiments.explorer.results import Results
from pages.explore.explorer.model import Explorer, PlainExplorer
from pages.shared.background import cache, prefetch, sessions
from pages.shared.background.engine import Engine
from pages.shared.settings import catalogue, to_experiment
from tests.pages.shared.background.stand_in import StandIn
from tests.waiting import PATIENCE_SECONDS, eventually

SMALL = catalogue.defaults() | {"d": 20, "n": 1000, "k": 2, "s": 5, "s_hat": 10, "repeats": 2}


def test_the_slider_that_moved_goes_on_first_then_back_then_the_others():
    neighbours = prefetch.one_press_away(SMALL, ("n", -2))
    assert [(key, settings["n"]) for (key, _), settings in neighbours.items()][:2] == [
        ("n", 500),
        ("n", 2000),
    ]
    assert {key for key, _ in list(neighbours)[2:]} == set(prefetch.SLIDERS) - {"n"}
    assert len(neighbours) == 2 * len(prefetch.SLIDERS)
    assert all(settings[key] != SMALL[key] for (key, _), settings in neighbours.items())


def test_what_a_table_fixes_or_a_slider_has_not_is_not_measured():
    neighbours = prefetch.one_press_away(
        catalogue.defaults() | {"data": "breast_cancer", "providers": 1}, ("providers", -1)
    ).values()
    assert {(settings["n"], settings["d"]) for settings in neighbours} == {(100_000, 200)}
    assert (
        min(settings["providers"] for settings in neighbours) == 1
        and max(settings["providers"] for settings in neighbours) == 2
    )


def test_a_look_ahead_is_all_that_the_press_needs():
    for _ in prefetch.measure(SMALL, Explorer):
        pass
    view = Explorer(SMALL)
    assert view.results.missing(view.results.first(view.epsilon, view.shown)) == []
    assert view.payload()["frames"] is view.payload()["frames"]


def test_steps_can_be_left_off_and_taken_up_again():
    results = Results(to_experiment.from_settings_with_method(SMALL)[0])
    steps = results.steps(results.first(1.0))
    while not results.cells:
        next(steps)
    assert results.missing(results.first(1.0))
    results.try_cells(results.first(1.0))
    assert results.missing(results.first(1.0)) == []


def test_two_that_want_the_same_measure_it_once(monkeypatch):
    results, asked = Results(to_experiment.from_settings_with_method(SMALL)[0]), []
    kept = Results.estimate

    def estimate(self: Results, name: str, epsilon: float, repeat: int) -> object:
        if self is results:  # an earlier test's results may still fill in the background
            asked.append((name, epsilon, repeat))
            time.sleep(0.001)
        return kept(self, name, epsilon, repeat)

    monkeypatch.setattr(Results, "estimate", estimate)
    threads = [threading.Thread(target=lambda: results.try_cells(results.first(1.0))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (DPS_PCA, 1.0, 0) in asked
    assert len(asked) == len(set(asked))


class Cells(StandIn):
    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self.log, self.left = log, 3

    def try_cell(self, *cell: object) -> None:
        self.left -= 1
        self.log.append("view")

    def wanted(self) -> tuple[object, ...] | None:
        return (self.left,) if self.left else None


def steps(log: list[str], name: str, count: int) -> Iterator[None]:
    for _ in range(count):
        log.append(name)
        yield


def finished(log: list[str], count: int) -> list[str]:
    assert eventually(lambda: len(log) >= count)
    time.sleep(0.05)
    return log


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Let the engine wait for a page as long as the page takes."""
    monkeypatch.setattr("pages.shared.background.engine._YIELD_SECONDS", PATIENCE_SECONDS)


def test_the_next_press_comes_before_the_rest_of_the_view_and_all_else_after_it():
    log: list[str] = []
    beside, view = Engine(), Cells(log)
    with beside.yielding():
        beside.complete("one", view, view.wanted)
        beside.prefetch("one", steps(log, "next", 2), steps(log, "other", 2))
    assert finished(log, 7) == ["next"] * 2 + ["view"] * 3 + ["other"] * 2


@pytest.mark.parametrize(
    ("d", "move", "waits"), [(20, "n", True), (1000, "n", False), (1000, "epsilon", True)]
)
def test_the_next_press_waits_for_the_screen_unless_that_takes_long(d, move, waits, monkeypatch):
    """Also after it: rows of length 1 of the screen itself, then the other presses."""
    log: list[str] = []
    monkeypatch.setattr(prefetch, "measure", lambda settings, view: steps(log, f"n = {settings['n']}", 1))
    monkeypatch.setattr(Explorer, "next_after", lambda view: log.append("after"))
    asked: list[Iterator[None]] = []
    monkeypatch.setattr(Engine, "prefetch", lambda engine, visitor, *parts: asked.extend(parts))
    prefetch.begin(SMALL | {"d": d}, (move, 1), Explorer)
    urgent, other = asked
    assert len(list(urgent)) == (not waits)
    del log[:]
    next(other)
    next(other)
    assert (log[0] == "n = 2000") == (move == "n") and log[1] == "after"


def test_nothing_is_measured_for_who_has_gone(monkeypatch):
    """Neither their view nor their next settings are measured; other visitors are served."""
    monkeypatch.setattr(sessions, "is_connected", lambda who: who != "gone")
    log: list[str] = []
    hers: list[str] = []
    beside, view, other = Engine(), Cells(log), Cells(hers)
    with beside.yielding():
        beside.complete("gone", view, view.wanted)
        beside.prefetch("gone", steps(log, "next", 2), steps(log, "other", 2))
        beside.complete("here", other, other.wanted)
    assert finished(hers, 3) == ["view"] * 3 and log == []


def test_in_a_crowd_nothing_is_measured_ahead():
    log: list[str] = []
    beside, view = Engine(), Cells(log)
    with beside.yielding():
        for visitor in range(5):
            beside.prefetch(str(visitor), steps(log, "next", 1), steps(log, "other", 1))
        beside.complete("one", view, view.wanted)
    assert finished(log, 3) == ["view"] * 3


@pytest.mark.parametrize("reason", [ValueError, MemoryError])
def test_what_fails_ahead_is_dropped(reason):
    log: list[str] = []

    def fails() -> Iterator[None]:
        raise reason
        yield

    beside, view = Engine(), Cells(log)
    with beside.yielding():
        beside.prefetch("one", fails(), steps(log, "other", 1))
        beside.complete("one", view, view.wanted)
    assert finished(log, 4) == ["view"] * 3 + ["other"]


def served(known: str = "0", **link: str) -> starlette.responses.Response:
    query = urlencode(catalogue.to_link(SMALL) | link | {"known": known})
    return app.prefetched(starlette.requests.Request({"type": "http", "query_string": query.encode()}))


def test_what_was_measured_ahead_is_handed_out_and_nothing_else(monkeypatch):
    cache.CELLS.clear()
    assert served().status_code == 204  # nothing new: the browser knows none and there is none
    more = prefetch.one_press_away(SMALL, None)["providers", 1]
    for _ in prefetch.measure(more, Explorer):
        pass
    monkeypatch.setattr(Results, "estimate", None)  # handing out measures nothing
    answer = json.loads(served().body)
    options = catalogue.CHOICES["providers"].options
    shown = options.index(more["providers"])
    assert list(answer["near"]) == ["providers"] and list(answer["near"]["providers"]) == [str(shown)]
    assert answer["here"] == {"providers": options.index(SMALL["providers"])}
    assert (answer["known"], answer["all"]) == (1, len(prefetch.one_press_away(SMALL, None)))
    assert served("1").status_code == 204
    assert served(eps="2").status_code == 204  # measured at another epsilon


@pytest.mark.parametrize(("word", "view"), [("full", Explorer), ("plain", PlainExplorer)])
def test_a_figure_ahead_is_the_server_s_own_at_its_epsilon(word, view):
    cache.CELLS.clear()
    settings = SMALL | {"view": word}
    for _ in prefetch.measure(settings, view):
        pass
    figure = cache.CELLS.peek(prefetch._key(settings))
    whole = view(settings).payload()
    at = whole["active"]
    assert figure["scene"] == whole["scene"] and figure["data"] == whole["data"]
    assert figure["frames"][at] == whole["frames"][at] and figure["words"][at] == whole["words"][at]
    assert [i for i, frame in enumerate(figure["frames"]) if frame] == [at]


def test_hostile_queries_are_read_as_links_are():
    for raw in ("nan", "-1", "1e308", "<script>", "../../etc/passwd", "\x00"):
        assert served(d=raw, eps=raw, known=raw).status_code in (200, 204)
