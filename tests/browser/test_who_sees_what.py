"""Test the page on messages in a browser: a run plays without the server, and the link keeps its round."""

import pytest

from tests.browser.conftest import SMALL

pytestmark = pytest.mark.browser


def test_a_run_plays_and_its_round_is_kept(watched, address):
    page = watched()
    page.page.goto(f"{address}who_sees_what?{SMALL}&T=2")
    shown = page.page.locator(".dppca-live output").first
    page.page.get_by_text("round 2: answers").wait_for()
    page.page.get_by_role("button", name="Play").click()
    page.page.get_by_text("round 1: answers").wait_for()
    page.page.get_by_role("button", name="Play").wait_for()  # at the end it is "Stop" no more
    assert shown.inner_text() == "round 2: answers"
    for _ in range(2):
        page.page.get_by_role("slider", name="Rounds").press("ArrowLeft")
    page.page.wait_for_url("**join.round=1**")
    page.page.get_by_text("round 1: answers").wait_for()
    assert page.page.get_by_test_id("stException").count() == 0
    assert page.remote() == []
