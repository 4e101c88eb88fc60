"""The providers page in a real browser: a run plays without the server, and the link keeps its round."""

import pytest

pytestmark = pytest.mark.browser

SMALL = "providers?repeats=1&d=30&n=10000&k=2&s=6&shat=10&T=2&"


def test_a_run_plays_and_its_round_is_kept(watched, address):
    page = watched()
    page.page.goto(f"{address}{SMALL}join.panel=rounds")
    shown = page.page.locator(".dppca-live output").first
    page.page.get_by_text("round 2: answers").wait_for()
    page.page.get_by_role("button", name="Play").click()
    page.page.get_by_text("round 1: answers").wait_for()
    page.page.get_by_role("button", name="Play").wait_for()  # at the end it is "Stop" no more
    assert shown.inner_text() == "round 2: answers"
    for _ in range(2):
        page.page.get_by_role("slider", name="Round by round").press("ArrowLeft")
    page.page.get_by_role("button", name="Keep this").click()
    page.page.wait_for_url("**join.round=1**")
    page.page.get_by_text("round 1: answers").wait_for()
    assert page.page.get_by_test_id("stException").count() == 0
    assert page.remote() == []
