"""Keep work away from tests that look at none of it, so that the processor's time is that of the test."""

import pytest

from pages.learn.story import model as story
from pages.shared.background import engine


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure what a page measures itself, and nothing after it is shown."""
    monkeypatch.setattr(engine.Engine, "_show", lambda *_: None)


@pytest.fixture
def unmeasured(without_engine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing: for settings and their controls alone."""
    monkeypatch.setattr(engine, "FIRST_SECONDS", 0.0)


@pytest.fixture
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the story's curves as few points as those of many measurements have."""
    monkeypatch.setattr(story, "_WIDE", 0)
