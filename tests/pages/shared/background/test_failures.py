"""Test that one failure stops nobody else: a run, a prefetch, a table to be forgotten or a thread."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache

import pytest
from starlette.responses import Response

import app
from dppca_core.experiments.collaboration import joining
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.demonstrations.attacks import planted
from dppca_core.experiments.explorer.experiment import DPS_PCA
from dppca_core.experiments.explorer.results import Results
from pages.hospitals.your_data import release_job, session
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session_expiry import SessionExpiry
from pages.shared.background import cache, sessions
from pages.shared.background import engine as engines
from pages.shared.background.engine import Engine
from pages.shared.background.queue import ON_SCREEN, Rank
from pages.shared.background.restarted_thread import RestartedThread
from tests.pages.conftest import Screen
from tests.pages.shared.background.stand_in import StandIn
from tests.waiting import PATIENCE_SECONDS, eventually

SECRET = "patient 17 weighs 71.3 kg"
ERRORS = [ValueError("k must be at most 5"), MemoryError(SECRET), RuntimeError(SECRET), KeyError(SECRET)]


class Panic(BaseException):
    """Stand for what a library in Rust raises where it panics, which is no Exception."""


FATAL = [Panic(SECRET), SystemExit(SECRET)]
SENTENCES = ("k must be at most 5", "not enough memory", "RuntimeError", "KeyError")
FAULTY = 99  # the seed whose runs all fail
SMALL = {"d": "20", "n": "10000", "k": "2", "s": "5", "shat": "10", "T": "3", "N": "2"}


@pytest.fixture
def engine(monkeypatch) -> Engine:
    fresh = Engine()
    monkeypatch.setattr(engines, "engine", lambda: fresh)
    return fresh


def works_for_a_screen(engine: Engine) -> bool:
    return any(entry.rank == Rank.SHOWN for entry in engine._queue.line(*ON_SCREEN))


@pytest.fixture
def visit(monkeypatch, engine, screen) -> Callable[..., Screen]:
    """Open a page as the visitor of this name, and see it once its runs are complete."""
    present = [""]
    monkeypatch.setattr(sessions, "visitor", lambda: present[0])
    methods = DPS_PCA, "sparse_pca"  # so few that there are few runs
    few = lru_cache(lambda experiment: Results(experiment, methods))
    monkeypatch.setattr(cache, "results", few)
    cache.CELLS.clear()

    def opened(name: str, page: str, complete: Callable[[Screen], bool], **link: str) -> Screen:
        present[0] = name
        shown = screen(page, **link)
        for _ in range(300):
            eventually(lambda: not works_for_a_screen(engine))
            shown.run()  # once more in any case: runs may have ended since it was shown
            if complete(shown):
                return shown
        raise AssertionError(f"the runs of {name} did not end")

    return opened


class Faults:
    """Raise each of ERRORS once for four cells of a seed, and always the same for the same cell.

    Each page has a seed of its own: the engine of an earlier test may still measure for another page.
    """

    def __init__(self, page: str) -> None:
        self.seed = FAULTY - 1 - list(PAGES).index(page)
        self.by_cell: dict[object, Exception] = {}

    def __call__(self, seed: int, cell: object, fails: bool = True) -> None:
        if seed == self.seed and fails and len(self.by_cell) < len(ERRORS):
            self.by_cell.setdefault(cell, ERRORS[len(self.by_cell)])
        if seed == self.seed and cell in self.by_cell:
            raise self.by_cell[cell]


def in_differences(monkeypatch, faults: Faults) -> None:
    kept = joining.measure

    def measure(recipe, key):
        faults(recipe.seed, key, key[3] == 2)  # a repeat that no page waits for
        return kept(recipe, key)

    monkeypatch.setattr(joining, "measure", measure)


def in_explorer(monkeypatch, faults: Faults) -> None:
    kept = Results.estimate

    def estimate(self, name, epsilon, repeat):
        faults(self.experiment.seed, (name, epsilon, repeat), repeat == 2)
        return kept(self, name, epsilon, repeat)

    def together(self, *_):
        raise RuntimeError(SECRET)  # then each is tried by itself

    monkeypatch.setattr(Results, "estimate", estimate)
    monkeypatch.setattr(Results, "estimates", together)


def in_providers(monkeypatch, faults: Faults) -> None:
    kept = CollaborationResults.measure

    def measure(self, cell):
        faults(self.recipe.seed, cell, cell[2] == 2)
        return kept(self, cell)

    monkeypatch.setattr(CollaborationResults, "measure", measure)


def in_attacks(monkeypatch, faults: Faults) -> None:
    class Scaled(planted.Scaled):
        def __init__(self, seed, noise_factor):
            if seed:
                faults(seed[0], tuple(seed[1:]), seed[2] == 0)
            super().__init__(seed, noise_factor)

    monkeypatch.setattr(planted, "Scaled", Scaled)


def measured(page: Screen) -> bool:
    return "Measuring" not in page.markdown and "more coming" not in page.captions


PAGES = {
    "hospitals that differ": (
        "hospitals/providers/page.py",
        in_differences,
        measured,
        {"sites.data": "heart", "sites.method": "analyze_gauss_sparse", "sites.kind": "public"},
    ),
    "explorer": ("explore/explorer/page.py", in_explorer, lambda page: page.figure["complete"], SMALL),
    "bounds": ("explore/bounds/page.py", in_explorer, lambda page: page.figure["complete"], SMALL),
    "providers": ("hospitals/providers/page.py", in_providers, measured, SMALL),
    "privacy": ("learn/privacy/page.py", in_attacks, measured, {"attack.draws": "5000"}),
}


@pytest.mark.parametrize("name", PAGES)
def test_runs_that_fail_are_said_once_and_keep_no_other_visitor(name, visit, monkeypatch):
    page, inject, complete, link = PAGES[name]
    faults = Faults(name)
    inject(monkeypatch, faults)
    hers = visit("ann", page, complete, **link, repeats="3", seed=str(faults.seed))
    (warning,) = [box.value for box in hers.app.warning]
    assert len(faults.by_cell) == len(ERRORS)
    assert warning.startswith("4 runs failed and are left out. ")
    assert sum(sentence in warning for sentence in SENTENCES) == 3  # and that there is one more
    assert SECRET not in warning
    his = visit("bob", page, complete, **link, repeats="3", seed="1")
    assert not his.app.warning


@pytest.mark.parametrize("name", PAGES)
def test_a_page_whose_runs_all_fail_is_complete_and_says_why(name, visit, monkeypatch):
    page, inject, complete, link = PAGES[name]
    inject(monkeypatch, raising(KeyError(SECRET)))
    shown = visit("ann", page, complete, **link, repeats="2", seed=str(FAULTY))
    (warning,) = [box.value for box in shown.app.warning]
    assert "KeyError" in warning and "further" not in warning
    drawn = [box.proto.json for box in shown.app.get("bidi_component")]
    assert not any("Measuring" in figure for figure in drawn)


class Broken(StandIn):
    def __init__(self, reason: BaseException) -> None:
        super().__init__()
        self.reason, self.asked = reason, threading.Event()

    def try_cell(self, *cell: object) -> None:
        self.asked.set()
        raise self.reason


class Sound(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.done = threading.Event()

    def try_cell(self, *cell: object) -> None:
        self.done.set()

    def wanted(self) -> tuple[int] | None:
        return None if self.done.is_set() else (1,)


def failing(reason: BaseException) -> Iterator[None]:
    raise reason
    yield


def raising(reason: BaseException) -> Callable[..., None]:
    def step(*_: object) -> None:
        raise reason

    return step


@pytest.mark.parametrize("reason", [*ERRORS, *FATAL], ids=repr)
def test_a_step_that_fails_costs_its_own_visitor_alone(reason, engine, caplog):
    """The failure may be in a cell, in the choice of the next one, or in a prefetch."""
    sound = Sound()
    with engine.yielding():
        engine.complete("bob", sound, sound.wanted)
        engine.prefetch("ann", failing(reason), failing(reason))
        engine.complete("eve", sound, raising(reason))
        engine.complete("ann", Broken(reason), lambda: (1,))
    assert sound.done.wait(PATIENCE_SECONDS)
    assert eventually(lambda: not engine._queue.line("screen"))
    lines = [record.getMessage() for record in caplog.records]
    assert sum(type(reason).__name__ in line for line in lines) == 4
    assert not any(SECRET in line for line in lines)
    assert not engine.revive()


def killed(thread: RestartedThread, monkeypatch) -> None:
    """Let a thread of this name have died, of what no guard within its work holds."""
    with monkeypatch.context() as broken:
        broken.setattr(thread, "_thread", None)
        broken.setattr(thread, "_work", raising(Panic(SECRET)))
        thread.start()
        died = thread._thread
    died.join(PATIENCE_SECONDS)
    thread._thread = died


def test_a_thread_that_dies_says_by_what_and_nothing_of_its_text(caplog, capfd, monkeypatch):
    thread = RestartedThread("engine", lambda: None)
    killed(thread, monkeypatch)
    assert "engine: Panic in " in caplog.text and thread.start()
    assert SECRET not in caplog.text + capfd.readouterr().err


def test_an_engine_that_has_died_is_started_by_the_next_look(engine, monkeypatch):
    killed(engine._threads[0], monkeypatch)
    sound = Sound()
    engine.complete("bob", sound, sound.wanted)
    assert sound.done.wait(PATIENCE_SECONDS)


def health() -> Response:
    return asyncio.run(app.healthz(None))


def test_the_health_check_names_what_has_died_once_and_starts_it_again(engine, monkeypatch, here):
    leaving = SessionExpiry(60, 0.01)
    monkeypatch.setattr(session, "expiry", lambda: leaving)
    assert (health().status_code, health().body) == (200, b"ok")
    holder = Holder()
    leaving.watch("ann", holder)
    assert health().status_code == 200
    killed(engine._threads[0], monkeypatch)
    killed(leaving._thread, monkeypatch)
    answer = health()
    assert (answer.status_code, answer.body) == (503, b"started again: engine, leaving")
    assert (health().status_code, health().body) == (200, b"ok")


class Holder:
    """Hold a table; its first attempts to forget it fail."""

    def __init__(self, reason: BaseException | None = None, failures: int = 0) -> None:
        self.reason, self.failures, self.tries = reason, failures, 0
        self.forgot = threading.Event()

    def forget(self) -> None:
        self.tries += 1
        if self.reason is not None and self.tries <= self.failures:
            raise self.reason
        self.forgot.set()


@pytest.fixture
def here(monkeypatch) -> set[str]:
    names = {"ann", "bob"}
    monkeypatch.setattr(sessions, "is_connected", names.__contains__)
    return names


def over(leaving: SessionExpiry) -> bool:
    return eventually(lambda: not leaving._watched)


@pytest.mark.parametrize("reason", [*ERRORS[1:3], *FATAL], ids=repr)
def test_a_table_whose_forgetting_fails_keeps_no_other(reason, here, caplog):
    """It is tried again, but not for ever."""
    leaving, ann, bob = SessionExpiry(0.0, 0.01), Holder(reason, 2), Holder()
    leaving.watch("ann", ann)
    leaving.watch("bob", bob)
    here.clear()
    assert bob.forgot.wait(PATIENCE_SECONDS) and ann.forgot.wait(PATIENCE_SECONDS) and over(leaving)
    assert ann.tries == 3
    stubborn, late = Holder(reason, 1000), Holder()
    leaving.watch("eve", stubborn)
    assert over(leaving) and stubborn.tries == 5
    leaving.watch("dan", late)
    assert late.forgot.wait(PATIENCE_SECONDS)
    assert SECRET not in "".join(record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("reason", [*ERRORS[1:3], *FATAL], ids=repr)
def test_a_visitor_who_cannot_be_looked_for_keeps_no_other_table(reason, here, monkeypatch, caplog):
    def connected(visitor: str) -> bool:
        if visitor == "ann":
            raise reason
        return visitor in here

    monkeypatch.setattr(sessions, "is_connected", connected)
    leaving, ann, bob = SessionExpiry(0.0, 0.01), Holder(), Holder()
    leaving.watch("ann", ann)
    leaving.watch("bob", bob)
    here.clear()
    assert bob.forgot.wait(PATIENCE_SECONDS) and not ann.forgot.is_set()
    monkeypatch.setattr(sessions, "is_connected", here.__contains__)
    assert ann.forgot.wait(PATIENCE_SECONDS) and SECRET not in caplog.text


def test_a_thread_that_forgets_no_more_is_started_by_the_next_page(here, monkeypatch):
    leaving, ann = SessionExpiry(0.0, 0.01), Holder()
    killed(leaving._thread, monkeypatch)
    here.clear()
    leaving.watch("ann", ann)
    assert ann.forgot.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize("reason", [*ERRORS[1:], *FATAL], ids=repr)
def test_a_release_that_fails_ends_and_the_next_is_made(reason, caplog):
    fails = ReleaseJob(("here",), raising(reason), lambda: True)
    assert fails.confirm()
    fails.wait(PATIENCE_SECONDS)
    assert (fails.state, fails.message) == ("failed", type(reason).__name__)
    assert f"release: {type(reason).__name__} in " in caplog.text and SECRET not in caplog.text
    makes = ReleaseJob(("there",), lambda progress: "made", lambda: True)
    assert makes.confirm()
    makes.wait(PATIENCE_SECONDS)
    assert (makes.state, makes.result) == ("done", "made")


class Threadless:
    def __init__(self, **_: object) -> None:
        pass

    start = raising(RuntimeError("can't start new thread"))


def test_without_a_thread_a_release_has_ended_and_lets_go_of_the_rows(monkeypatch):
    asked = ReleaseJob(("here",), lambda progress: "made", lambda: True)
    monkeypatch.setattr(release_job.threading, "Thread", Threadless)
    assert asked.confirm()
    monkeypatch.undo()
    assert (asked.state, asked.message) == ("failed", "RuntimeError") and asked._make is None


def test_what_is_warmed_up_goes_on_after_what_fails(monkeypatch, caplog):
    warmed = []
    monkeypatch.setattr(app.cache, "warm_up", raising(MemoryError(SECRET)))
    monkeypatch.setattr(app, "FIRST_SCREEN_SECONDS", 0.0)
    monkeypatch.setattr(app, "_compressed_plotly", raising(KeyError(SECRET)))
    monkeypatch.setattr(app.papers, "overview", lambda: warmed.append(True))
    with caplog.at_level(logging.ERROR):
        app._warm_up()
    assert warmed == [True] and "warm-up: MemoryError" in caplog.text
