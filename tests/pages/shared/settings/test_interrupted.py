"""A move of a control whose run of the page is interrupted by a newer run: it is not lost."""

import pytest

from tests.pages.interruption import Interruption


@pytest.mark.parametrize("chance", [1, 3, 5, 7, 9])  # a slider's move has nine
def test_a_move_is_kept(chance, screen, monkeypatch):
    """The slider went back to where it was: Streamlit calls the callback of a move once, done or not."""
    newer, page = Interruption(monkeypatch, "callback"), screen("learn/privacy/page.py")
    newer.due = chance
    page.move("epsilon", 2.0)
    assert page.link["eps"] == "2" and page.setting("epsilon") == page.shown("epsilon") == 2.0
    assert newer.due == 0


@pytest.mark.parametrize("chance", [1, 3, 5, 6])
def test_a_press_of_next_is_one_step(chance, screen, monkeypatch):
    newer, page = Interruption(monkeypatch, "callback"), screen("learn/story/page.py")
    newer.due = chance
    next(button for button in page.app.button if button.label == "Next").click()
    page.run()
    assert page.setting("story.step") == 2
    assert newer.due == 0
