"""Test that what takes longer than a visitor waits says how long, and is measured once it is asked for."""

import pytest

from dppca_core.experiments.decision.cells import JoiningCells
from dppca_core.experiments.explorer.results import Results
from pages.shared import text
from pages.shared.background import cache, engine
from tests.waiting import eventually

SMALL = {"d": "20", "n": "1000", "k": "2", "s": "5", "shat": "10", "N": "2"}
ASKS = text.first_answer_takes(40.0)


@pytest.fixture
def slow(monkeypatch) -> None:
    cache.CELLS.clear()
    monkeypatch.setattr(Results, "seconds", lambda *_: 40.0)
    monkeypatch.setattr(JoiningCells, "seconds", lambda *_: 40.0)
    monkeypatch.setattr(JoiningCells, "answer_seconds", lambda *_: 40.0)
    monkeypatch.setattr(engine, "_FIRST_STEP_SECONDS", 0.1)
    monkeypatch.setattr(Results, "_seconds_of", lambda *_: 40.0)


@pytest.mark.parametrize(
    ("page", "button", "seed"),
    [
        ("explore/explorer/page.py", "measure explorer", "71"),
        ("hospitals/providers/page.py", "measure answer", "72"),
        ("learn/story/page.py", "measure story", "73"),
    ],
)
def test_nothing_that_takes_long_is_measured_before_it_is_asked_for(page, button, seed, screen, slow):
    shown = screen(page, seed=seed, **SMALL)
    assert ASKS in shown.markdown and text.MEASURING not in shown.markdown
    assert eventually(lambda: not engine.engine()._queue.line("screen", "aside", "slow"))
    buttons = [each for each in shown.app.button if each.label == "Measure it"]
    next(each for each in buttons if each.key == button).click()
    shown.run()
    assert shown.markdown.count(ASKS) < len(buttons)


def test_the_time_is_said_while_the_answer_comes_and_then_no_more(screen, slow, monkeypatch):
    monkeypatch.setattr(engine.Engine, "complete", lambda *_: None)
    shown = screen("explore/explorer/page.py", seed="74", **SMALL)
    shown.app.button(key="measure explorer").click()
    shown.run()
    assert text.first_answer_comes(40.0) in shown.captions and text.MEASURING in shown.words()["sentence"]
    monkeypatch.undo()
    for _ in range(100):
        shown.run()
        if text.MEASURING not in shown.words()["sentence"]:
            break
    assert text.first_answer_comes(40.0) not in shown.captions
