"""Three steps explain a page on a first visit alone; menu and choice of dark are those of all pages."""

import pytest

from pages import order
from tests.browser.conftest import SMALL

pytestmark = pytest.mark.browser


def test_the_steps_of_a_page_are_closed_for_good(watched, address):
    page = watched(viewport={"width": 1280, "height": 720}).open(f"{address}?preset=large-study&{SMALL}").page
    steps, lead = page.locator(".steps"), page.get_by_text("Why this method?")
    assert steps.get_by_role("listitem").count() == 3 and not lead.is_visible()
    steps.get_by_role("button", name="Close these three steps").press("Enter")
    lead.wait_for()
    assert not steps.is_visible()
    page.reload()
    page.wait_for_selector(".dppca-live[data-drawn]")
    assert lead.is_visible() and not steps.is_visible()
    page.goto(f"{address}privacy?{SMALL}")
    steps.get_by_role("button").wait_for()  # another page has its own


def test_the_steps_of_a_page_are_shown_once(watched, address):
    page = watched().open(f"{address}story?{SMALL}").page
    steps = page.locator(".steps")
    assert steps.is_visible()
    page.keyboard.press("ArrowRight")  # to the second step of the story
    steps.wait_for(state="hidden")
    page.goto(f"{address}privacy?{SMALL}")
    steps.wait_for()
    page.reload()
    page.wait_for_selector(".dppca-live[data-drawn]")
    assert not steps.is_visible()


def test_a_telephone_s_drawer_closes_by_itself(watched, address):
    page = watched(viewport={"width": 390, "height": 844}).open(f"{address}planner?{SMALL}").page
    drawer, opens = page.get_by_test_id("stSidebar"), page.get_by_test_id("stExpandSidebarButton")
    opens.click()
    drawer.get_by_role("link", name="Privacy").click()
    opens.wait_for()
    assert drawer.get_attribute("data-collapsed") == "true"
    opens.click()
    page.reload()
    opens.wait_for()


def test_no_line_begins_with_the_sign_of_a_percentage(watched, address):
    page = watched().open(f"{address}story?{SMALL}").page
    paragraphs = page.get_by_test_id("stMain").locator("p")
    paragraphs.filter(has_text="%").first.wait_for()  # a first drawing may come before the first run
    texts = paragraphs.all_text_contents()
    assert any("\u00a0%" in words for words in texts) and not any(" %" in words for words in texts)


def test_dark_holds_for_every_page_once_it_is_chosen(watched, address):
    page = watched().open(f"{address}privacy?{SMALL}").page
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    page.locator("button, [role=radio], [role=menuitemradio], label").filter(has_text="Dark").last.click()
    scheme = "getComputedStyle(document.querySelector('.stApp')).colorScheme === 'dark'"
    page.wait_for_function(scheme)
    ink = "getComputedStyle(document.querySelector('.dppca-live .xtick text')).fill"
    page.wait_for_function(f"{ink} === 'rgb(230, 237, 243)'")  # the figure follows at once
    page.goto(f"{address}bounds?{SMALL}")
    page.wait_for_selector(".dppca-live[data-drawn]")
    assert page.evaluate(scheme)


def test_the_menu_is_one_row_that_ends_in_a_list_for_statisticians(watched, address):
    page = watched().open(f"{address}?{SMALL}").page
    row = page.get_by_test_id("stTopNavLink")
    names = ["Explorer", "Story", "Privacy", "Should we join?", "How many patients?", "Your data", "Class"]
    assert row.all_inner_texts() == names
    section = page.get_by_test_id("stTopNavSection")
    assert section.all_inner_texts() == [order.STATISTICIANS]
    places = [place.bounding_box() for place in (*row.all(), section)]
    assert len({round(box["y"] + box["height"] / 2) for box in places}) == 1
    assert [box["x"] for box in places] == sorted(box["x"] for box in places)
    section.click()
    links = page.get_by_test_id("stTopNavDropdownLink")
    links.first.wait_for()
    assert links.all_inner_texts() == ["Convergence", "Bounds", "Methods", "Papers", "Who sees what"]
