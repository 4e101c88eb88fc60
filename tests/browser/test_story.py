"""Test the story on a projector: arrow keys turn pages unless a slider has them; a step fills the screen."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

SMALLEST = """() => Math.min(...[...document.querySelectorAll('[data-testid=stColumn] *')]
  .filter(e => !e.closest('.dppca-live') && e.checkVisibility({opacityProperty: true}))
  .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
  .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
IN_CHART = """() => Math.min(...[...document.querySelectorAll('.dppca-live .chart svg text')]
  .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
SCROLLS = """() => { const main = document.querySelector('[data-testid=stMain]');
  return main.scrollHeight - main.clientHeight; }"""
HIDDEN = ("stHeader", "stExpander", "stDownloadButton", "stSidebar")
QUICK = "d=30&k=2&s=6&shat=10"


def step(page, number):
    page.get_by_role("radio", name=str(number), exact=True).click()
    page.locator(f"[class*='st-key-story-{number}'] .dppca-live[data-drawn][data-complete=true]").wait_for()


def test_arrow_keys_turn_pages_unless_a_slider_has_them(watched, address):
    page = watched(viewport={"width": 1920, "height": 1080}).page
    page.goto(f"{address}story?{QUICK}")
    page.locator(".dppca-live[data-drawn]").first.wait_for()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Why not just share the totals?")).to_be_visible()
    step(page, 7)
    slider = page.get_by_role("slider", name="Hospitals")
    before = slider.get_attribute("aria-valuetext")
    slider.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    page.wait_for_url(re.compile("[?&]N="))
    expect(page.get_by_role("heading", name="Who sees what?")).to_be_visible()
    page.locator(".dppca-live .chart").click()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="Can more patients make up for the noise?")).to_be_visible()


# Of a window that is presented: width and height, and the least size of letters.
PROJECTORS = [(1280, 720, 13), (1920, 1080, 20)]


def test_presented_a_step_fills_the_screen_without_menu_or_scrolling(watched, address):
    page = watched(viewport={"width": 1280, "height": 720}).page
    page.goto(f"{address}story?{QUICK}")
    page.locator(".dppca-live[data-drawn]").first.wait_for()
    assert page.locator(".steps").is_visible() and page.get_by_test_id("stHeader").is_visible()
    page.get_by_role("button", name="Present").click()
    page.get_by_role("button", name="Leave").wait_for()
    page.wait_for_function("document.fullscreenElement !== null")
    for number in range(1, 9):
        step(page, number)
        for hidden in HIDDEN:
            assert not [each for each in page.get_by_test_id(hidden).all() if each.is_visible()], hidden
        for hidden in (".steps", ".st-key-title", ".st-key-scenes"):
            assert not [each for each in page.locator(hidden).all() if each.is_visible()], hidden
        for width, height, least in PROJECTORS:
            page.set_viewport_size({"width": width, "height": height})
            # The chart follows the window.
            page.wait_for_function(f"({SCROLLS})() <= 0 && ({IN_CHART})() >= {least}")
            assert page.evaluate(SMALLEST) >= least, number
    page.get_by_role("heading", name="What would we release").click()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="Who sees what?")).to_be_visible()
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    page.wait_for_function("document.fullscreenElement === null")


def test_escape_leaves_where_the_browser_refuses_the_full_screen(watched, address):
    page = watched(viewport={"width": 1280, "height": 720}).page
    page.add_init_script("Element.prototype.requestFullscreen = () => Promise.reject(new Error('refused'))")
    page.goto(f"{address}story?{QUICK}&story.step=2")
    page.locator(".dppca-live[data-drawn]").first.wait_for()
    page.get_by_role("button", name="Present").click()
    page.get_by_role("button", name="Leave").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Present").wait_for()
    expect(page.get_by_test_id("stHeader")).to_be_visible()
