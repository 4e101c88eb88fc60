"""All sliders, whom the hospitals trust, and the chart are on one screen, on a projector too."""

import pytest

from tests.browser.conftest import SMALL

pytestmark = pytest.mark.browser

SLIDERS = ("epsilon", "delta", "n", "providers", "d", "k", "s", "s_hat")
# Boxes of the sliders, and whether a press 12 pixels above or below a thumb still reaches its slider.
BOXES = """(keys) => keys.map((key) => {
  const slider = document.querySelector(`.st-key-${key} [data-testid=stSlider]`);
  const thumb = slider.querySelector('[data-testid=stSliderThumbValue]').parentElement
    .getBoundingClientRect();
  const x = thumb.left + thumb.width / 2, y = thumb.top + thumb.height / 2;
  const reached = [-11.5, 11.5].every((by) => slider.contains(document.elementFromPoint(x, y + by)));
  const { top, bottom } = slider.getBoundingClientRect();
  return { key, top, bottom, reached };
})"""


@pytest.mark.parametrize("view", ["analyst", "plain"])
@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (1920, 1080)])
def test_all_sliders_and_the_chart_are_in_sight(watched, address, size, view):
    width, height = size
    page = watched(viewport={"width": width, "height": height}).open(f"{address}?v=2&view={view}").page
    boxes = page.evaluate(BOXES, list(SLIDERS))
    assert [box["key"] for box in boxes if box["top"] < 0 or box["bottom"] > height] == []
    assert [box["key"] for box in boxes if not box["reached"]] == []
    trust = page.locator(".st-key-trust").bounding_box()
    assert trust["y"] >= 0 and trust["height"] >= 24 and trust["y"] + trust["height"] <= boxes[0]["top"]
    for part in (".chart", ".legend"):  # the chart's box holds its axes
        box = page.locator(f".dppca-live {part}").first.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= height, part


@pytest.mark.parametrize("page_name", ["", "privacy", "story", "your_data"])
def test_no_empty_band_stands_above_the_content(watched, address, page_name):
    """Sixty pixels at most between the menu and what a page begins with."""
    page = watched().page
    page.goto(address + page_name)
    page.get_by_text("Try this").first.wait_for()
    first = page.evaluate(
        "Math.min(...[...document.querySelectorAll('[data-testid=stMain] [data-testid=stElementContainer]')]"
        ".map((e) => e.getBoundingClientRect()).filter((box) => box.height > 0).map((box) => box.top))"
    )
    header = page.get_by_test_id("stHeader").bounding_box()
    assert first - header["y"] - header["height"] <= 60


def test_on_a_telephone_two_settings_stand_under_the_headline_with_the_result(watched, address):
    page = watched(viewport={"width": 390, "height": 844}).open(f"{address}?{SMALL}").page
    live = page.locator(".dppca-live").first
    sliders = [live.get_by_role("slider", name=name) for name in ("Scrub ε", "Patients in total")]
    headline, chart = live.locator(".sentence"), live.locator(".chart")
    tops = [place.bounding_box()["y"] for place in (headline, *sliders, chart)]
    assert tops == sorted(tops) and tops[0] > 0 and tops[-1] < 844 - 250  # a panel of 250 pixels at least
    sliders[1].press("ArrowLeft")
    page.get_by_text("With 5,000 patients").wait_for()
    page.wait_for_url("**n=5000**")
