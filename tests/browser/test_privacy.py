"""Test the animation of releases: a button plays and pauses it; with reduced motion it goes step by step."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

REST_MS = 900  # longer than a frame


def test_releases_play_pause_and_step_by_hand(watched, address):
    page = watched().open(f"{address}privacy?attack.draws=1000").page
    figure = page.locator(".dppca-live:has(.play:not([hidden]))")
    at, slider = figure.locator(".scrub > output"), figure.get_by_role("slider", name="Results")
    page.wait_for_timeout(REST_MS)
    expect(at).to_have_text("20 of 20")  # all results are there, and nothing moves unasked
    figure.get_by_role("button", name="Play").click()
    expect(at).not_to_have_text(re.compile("^([12]|20) of 20"))  # from the first on, however late this looks
    figure.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(REST_MS)
    held = int(slider.input_value())
    page.wait_for_timeout(REST_MS)
    expect(slider).to_have_value(str(held))
    slider.press("ArrowRight")
    expect(at).to_have_text(f"{held + 2} of 20")
    page.wait_for_function(
        "count => document.querySelector('.dppca-live .chart').data[6].x.length === count", arg=held + 2
    )
    page.emulate_media(reduced_motion="reduce")
    figure.get_by_role("button", name="Next").click()
    page.wait_for_timeout(REST_MS)
    expect(at).to_have_text(f"{held + 3} of 20")  # one step, and no more
    expect(figure.get_by_role("button", name="Play")).to_have_count(0)
