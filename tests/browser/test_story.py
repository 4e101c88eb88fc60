"""Test the story on a projector: arrow keys turn pages unless a slider has them; it fits; it prints."""

import re

import pytest
from playwright.sync_api import expect

from pages.learn.story import handout, view
from pages.shared.settings import catalogue

pytestmark = pytest.mark.browser

SMALLEST = """() => Math.min(...[...document.querySelectorAll('.st-key-story [data-testid=stColumn] *')]
  .filter(e => !e.closest('.dppca-live') && e.checkVisibility({opacityProperty: true}))
  .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
  .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
IN_CHART = """() => Math.min(...[...document.querySelectorAll('.st-key-story .chart svg text')]
  .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
LOWEST = """() => Math.max(...[...document.querySelectorAll(
  '.st-key-story h1, .st-key-story .chart, .st-key-story-steps button, .st-key-story [data-testid=stColumn]')]
  .map(e => e.getBoundingClientRect().bottom))"""


def fits(page, step):
    page.wait_for_selector(f".st-key-story-{step} .dppca-live[data-drawn]")
    assert page.evaluate(SMALLEST) >= 24 and page.evaluate(IN_CHART) >= 20
    assert page.evaluate(LOWEST) <= 1080


def test_arrow_keys_turn_pages_and_the_fullest_steps_fit_a_projector(watched, address):
    page = watched(viewport={"width": 1920, "height": 1080}).page
    page.goto(f"{address}story?repeats=2")
    fits(page, 1)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Step 2 of 8.")).to_be_visible()
    for step in (5, 6):
        page.get_by_role("radio", name=str(step), exact=True).click()
        fits(page, step)
    page.get_by_role("radio", name="7", exact=True).click()
    fits(page, 7)
    slider = page.get_by_role("slider", name="Hospitals")
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "75")
    page.wait_for_url(re.compile("[?&]N=75"))
    expect(page.get_by_text("Step 7 of 8.")).to_be_visible()
    page.locator(".st-key-story .chart").click()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Step 6 of 8.")).to_be_visible()


@pytest.mark.parametrize(
    "changes", [{}, {"data": "breast_cancer", "s_hat": 30, "epsilon": 0.01}], ids=["usual", "long"]
)
def test_the_summary_prints_on_one_page(tabs, changes):
    asked, _ = catalogue.reconcile(catalogue.defaults() | changes)
    sheet = handout.html(
        view.measure_decision(asked), asked, f"https://example.org/story?{'key=value&' * 30}", "Today."
    )
    page = tabs.new_page()
    page.set_content(sheet)
    printed = page.pdf(prefer_css_page_size=True)
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
