"""Test that a page leaves the planner in a real browser, and opens from disk by itself."""

import pytest
from playwright.sync_api import Error

from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.browser

SMALL = "d=30&k=2&s=6&shat=12&n=20000"
SIZES = "[...document.querySelectorAll('.main-svg')].map((drawn) => drawn.getBoundingClientRect().width)"


def test_a_confirmed_plan_leaves_as_a_file_that_needs_nothing(newcomer, address, tmp_path):
    """The file has the simulation that the planner's button began, and loads nothing.

    Its link has the name under which the visitor opened the page, not the server's.
    """
    file, asked, complaints = tmp_path / "report.html", [], []
    address = address.replace("127.0.0.1", "localhost")
    page = newcomer.new_page()
    page.goto(f"{address}planner?{SMALL}")
    page.get_by_role("button", name="by simulation").click()
    page.get_by_role("button", name="Leave simulation out").wait_for()
    page.get_by_text("Simulation agrees").first.wait_for()

    def saved() -> str:
        """Return the downloaded file: a click builds it of what the page had last.

        Streamlit drops a click that meets the end of a run, or the file: nothing is downloaded then.
        """
        try:
            with page.expect_download(timeout=1000 * PATIENCE_SECONDS / 4) as got:
                page.get_by_role("button", name="Download the page").click()
            got.value.save_as(file)
        except Error:
            return ""
        assert got.value.suggested_filename == "dppca-plan.html"
        return file.read_text(encoding="utf-8")

    assert eventually(lambda: "Simulation agrees" in saved())
    report = file.read_text(encoding="utf-8")
    assert f'<a href="{address}planner?' in report and "127.0.0.1" not in report
    page.close()
    page = newcomer.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.get_by_text("Simulation agrees").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    spot = page.locator(".scatterlayer .points path").last
    spot.scroll_into_view_if_needed()
    box = spot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator(".hoverlayer .hovertext").first.wait_for()
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF") and max(page.evaluate(SIZES)) < 390
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert max(page.evaluate(SIZES)) == 680
    assert asked == [file.as_uri()] and not complaints
    refused = f"fetch('{address}healthz', {{mode: 'no-cors'}}).then(() => 'sent', () => 'refused')"
    assert page.evaluate(refused) == "refused"
    page.close()
