"""Test a whole meeting of a board: a scene, sizes typed, the story presented, the verdict and the papers."""

import io
import re
import zipfile
from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError, expect

from pages.learn.story.sentences.steps import QUESTIONS
from tests.browser.conftest import AT_REST, PATIENCE_MS, SMALL, downloaded, go_to

pytestmark = pytest.mark.browser

SCENES = {
    "Hospitals that measure differently": "6 hospitals, 10,000 patients.",
    "Heart disease, four real hospitals": "4 hospitals, 920 patients.",
}
HEAD, LINE = 35, 35  # pixels: heights of the table's head and of a line
TRIES = 8


def type_patients(page, line, patients):
    """Type how many patients the hospital of a line has, as a hand would: the table is one canvas."""
    table = page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    cell = page.locator("#portal input")
    for _ in range(TRIES):  # a table that is drawn anew in between drops what was pressed
        # Names, patients, privacy losses and marks share its width.
        page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + HEAD + (line + 0.5) * LINE)
        page.keyboard.press("Enter")
        with suppress(TimeoutError):
            cell.wait_for(timeout=PATIENCE_MS / TRIES)
            break
    cell.fill(patients)
    cell.press("Enter")


def verdict(page):
    """Return the verdict and its numbers, once all is measured."""
    page.locator(".dppca-live[data-complete=true]").first.wait_for()
    page.wait_for_selector(AT_REST)
    headline = page.locator(".st-key-headline").inner_text()
    return headline.strip(), page.get_by_text("we recover").first.inner_text()


def test_a_board_decides_from_the_scene_to_the_signed_page(watched, address, newcomer, tmp_path):
    seen = watched(viewport={"width": 1920, "height": 1080})
    page = seen.page
    seen.open(f"{address}?{SMALL}&view=plain")
    go_to(page, "Should we join?")
    page.get_by_role("radio", name="To publish").click()
    for scene, facts in SCENES.items():  # a control of one scene sets nothing in the next
        page.get_by_role("button", name=scene).click()
        page.get_by_text(facts).wait_for()
        page.wait_for_selector(AT_REST)
    page.get_by_role("radio", name="For our own use").click()
    page.get_by_text("For our own use, we recover").first.wait_for()
    expect(page.get_by_text(facts)).to_be_visible()
    page.get_by_role("button", name="Five large hospitals").click()
    page.get_by_text("5 hospitals, 20,000 patients.").wait_for()
    page.wait_for_selector(AT_REST)
    type_patients(page, 0, "900")
    page.get_by_text("5 hospitals, 16,900 patients.").wait_for()
    page.get_by_role("radio", name="To publish").click()
    page.get_by_text("To publish, we recover").first.wait_for()
    decided, numbers = verdict(page)
    assert decided.startswith("Join")

    go_to(page, "Story")
    page.get_by_role("button", name="Present").click()
    page.get_by_role("button", name="Leave").wait_for()
    for number, question in enumerate(QUESTIONS, start=1):
        expect(page.get_by_role("heading", name=question)).to_be_visible()
        page.locator(f"[class*='st-key-story-{number}'] .dppca-live[data-complete=true]").wait_for()
        page.wait_for_selector(AT_REST)
        if number < len(QUESTIONS):
            page.keyboard.press("ArrowRight")
    shown = page.locator("[data-testid=stColumn]").first.inner_text()
    assert decided == page.locator(".st-key-headline").inner_text().strip()
    assert all(share in shown for share in re.findall(r"[\d.]+ %", numbers))
    page.get_by_role("button", name="Leave").click()
    page.get_by_test_id("stTopNavLink").first.wait_for()

    go_to(page, "Should we join?")
    page.get_by_text("5 hospitals, 16,900 patients.").wait_for()
    assert verdict(page) == (decided, numbers)
    paper = tmp_path / "paper.html"
    paper.write_bytes(downloaded(page, "One page to sign (HTML)"))
    dossier = zipfile.ZipFile(io.BytesIO(downloaded(page, "The dossier behind it (ZIP)")))
    assert dossier.testzip() is None and dossier.read("paper.html") == paper.read_bytes()
    assert seen.errors == []

    opened, asked = newcomer.new_page(), []
    newcomer.set_offline(True)
    try:
        opened.on("request", lambda request: asked.append(request.url))
        opened.goto(paper.as_uri())
        opened.locator(".js-plotly-plot .main-svg").first.wait_for()
        words = opened.inner_text("main")
        assert "900 of 16,900 patients in 5 hospitals" in words
        assert decided.split(":")[0].split(" only")[0] in words
        for share in re.findall(r"[\d.]+ %", numbers):
            assert share in words
        assert asked == [paper.as_uri()]
    finally:
        newcomer.set_offline(False)
        opened.close()
