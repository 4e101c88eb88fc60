"""Test the papers page in a real browser: a run continues while another page is looked at."""

import pytest

from tests.browser.conftest import go_to, patient

pytestmark = pytest.mark.browser


def stop_of(page):
    """Return the run's own button; while a page is computed, the header has another of that name."""
    return page.get_by_test_id("stMain").get_by_role("button", name="Stop")


def test_a_run_is_found_again_stopped_and_gone_on_with(watched, address):
    """Figure, seed and link survive leaving, coming back, and the rerun that ends the run."""
    page = watched()
    page.page.goto(f"{address}papers?figure=ge-4a&seed=21")
    page.page.get_by_role("button", name="All of it").click()
    stop = stop_of(page.page)
    stop.wait_for()
    for name in ("Explorer", "Papers"):
        go_to(page.page, name)
        page.page.get_by_role("heading", name=name, exact=True).wait_for()
        page.page.wait_for_timeout(1500)
    stop.click()
    page.page.get_by_text("Stopped: ").wait_for()
    page.page.wait_for_timeout(1000)
    assert page.page.get_by_role("slider", name="Seed").get_attribute("aria-valuetext") == "21"
    assert "figure=ge-4a" in page.page.url and "seed=21" in page.page.url
    assert page.page.get_by_role("heading", name="Figure 4(a)").count() == 1
    page.page.get_by_role("button", name="Go on").click()
    stop.wait_for()
    stop.click()
    assert page.page.get_by_test_id("stException").count() == 0


def test_visitors_have_runs_of_their_own(watched, browser, address):
    """Another browser sees neither the run nor its button, and is not held up by it."""
    page = watched()
    page.page.goto(f"{address}papers?figure=ge-4a&seed=22")
    page.page.get_by_role("button", name="All of it").click()
    stop_of(page.page).wait_for()
    other = patient(browser.new_context()).new_page()
    other.goto(f"{address}papers?figure=ge-4a&seed=22")
    other.get_by_role("button", name="A quick version").wait_for()
    other.wait_for_timeout(500)
    assert stop_of(other).count() == 0
    assert stop_of(page.page).count() == 1
    stop_of(page.page).click()
    other.context.close()
