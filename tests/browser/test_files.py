"""Test that a page leaves the dashboard as a file whose figures move without it."""

import pytest

from tests.browser.conftest import SMALL, downloaded

pytestmark = pytest.mark.browser

SIZES = "[...document.querySelectorAll('.main-svg')].map((drawn) => drawn.getBoundingClientRect().width)"


def test_the_explorers_file_scrubs_from_disk_and_prints(watched, address, newcomer, tmp_path):
    """It says at each epsilon what the screen says there, and asks nobody."""
    page = watched().open(f"{address}?{SMALL}&first=rounds")
    page.settle()
    file = tmp_path / "dppca-explorer.html"
    file.write_bytes(downloaded(page.page, "Download the page"))
    here = page.sentence()
    page.press("Privacy loss", "ArrowRight")
    page.settle()
    next_one = page.sentence()
    asked, complaints = [], []
    opened = newcomer.new_page()
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(file.as_uri())
    opened.locator(".js-plotly-plot .main-svg").first.wait_for()
    opened.get_by_text(here.split(" finds ")[1][:30]).first.wait_for()
    opened.get_by_role("slider", name="Privacy loss").press("ArrowRight")
    opened.wait_for_function(
        "text => document.querySelector('.sentence').textContent === text", arg=next_one, polling=50
    )
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.wait_for_function(f"Math.max(...{SIZES}) <= 680", polling=50)
    assert asked == [file.as_uri()] and complaints == []
    opened.close()
