"""Test the bounds page in a real browser."""

import pytest

pytestmark = pytest.mark.browser

LINK = "bounds?repeats=1&d=50&s=8&shat=16&k=2&show.analyze_gauss_prediction=true&map=theorem"


def text(page):
    page.page.get_by_text("for its error, ").wait_for()
    page.page.get_by_text("Of 4 formulas for its error").wait_for()
    return page.page.get_by_text("Of 4 formulas for its error").inner_text()


def test_a_deep_link_reproduces_the_page_and_sliders_move_it(watched, address):
    page = watched()
    page.page.goto(address + LINK)
    body = text(page)
    page.page.get_by_text("by Theorem 4.3").first.wait_for()
    page.press("Patients in total", "ArrowRight")
    page.page.wait_for_url("**n=200000**")
    page.page.wait_for_function("s => !document.body.innerText.includes(s)", arg=body)
    moved = text(page)
    other = watched()
    other.page.goto(page.page.url)
    assert text(other) == moved
    assert page.page.get_by_test_id("stException").count() == 0
    assert page.remote() == []
