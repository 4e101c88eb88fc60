"""Walk through the exercises to hand in, and read each number where the exercise says."""

import re

import pytest

from pages.learn.classroom.exercises import EXERCISES
from tests.browser.conftest import DESK, PATIENCE_MS

pytestmark = pytest.mark.browser

NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
# What shows that a page has all that is read from it.
READY = {
    "privacy": "Measured, ",
    "bounds": "for its error, ",
    "providers": "all recover",
    "": "directions with error",
}


def number(pattern: str, body: str) -> float:
    match = re.search(pattern, body)
    assert match, body
    return float(match[1])


def attack(before: str, after: str) -> float:
    assert all("Without noise the attacker is right in every test" in body for body in (before, after))
    assert number(rf"This attack was right {NUMBER}\s%", before) == pytest.approx(53, abs=3)
    return number(rf"This attack was right {NUMBER}\s%", after)


def free(before: str, after: str) -> float:
    was, now = (number(rf"has error {NUMBER}", body) for body in (before, after))
    return was / now


def joining(before: str, after: str) -> float:
    was, now = (number(rf"all recover {NUMBER}\s% together", body) for body in (before, after))
    return was - now


def as_printed(before: str, after: str) -> float:
    was, now = (number(rf"Noise σ per entry\s+{NUMBER}", body) for body in (before, after))
    return now / was


READERS = {"privacy": attack, "bounds": free, "providers": joining, "": as_printed}
ON_PAGES = [exercise for exercise in EXERCISES if exercise.page is not None]


@pytest.fixture(scope="module")
def page(tabs):
    """Share one tab between all, as a class does."""
    opened = tabs.new_page()
    opened.set_viewport_size(DESK)
    yield opened
    opened.close()


def read(page, exercise, url: str) -> str:
    """Return the screen's text once it has what is asked for, and no more of it is coming."""
    page.goto(url)
    page.get_by_test_id("stMain").get_by_text(READY[exercise.page]).first.wait_for(timeout=2 * PATIENCE_MS)
    if exercise.page == "bounds":
        for _ in range(2):  # a page that has just opened may not say yet that more is coming
            page.wait_for_function("!document.body.innerText.includes('runs measured')")
            page.wait_for_timeout(2000)
    return page.get_by_test_id("stMain").inner_text()


@pytest.mark.timeout(600)  # a decision takes hundreds of runs, which other tests may delay
@pytest.mark.parametrize("exercise", ON_PAGES, ids=[exercise.title for exercise in ON_PAGES])
def test_the_number_is_on_the_page(page, address, exercise):
    before, after = (
        read(page, exercise, address + exercise.link(moved).removeprefix(".")) for moved in (False, True)
    )
    assert READERS[exercise.page](before, after) == pytest.approx(exercise.answer, abs=exercise.tolerance)
    assert page.get_by_test_id("stException").count() == 0


def test_the_numbers_are_in_the_lesson(page, address):
    """The slider is moved by keys, to the option that the exercise names."""

    def sentence(option: str) -> str:
        slider = page.locator("#slider")
        slider.press("Home")
        while slider.get_attribute("aria-valuetext") != option:
            slider.press("ArrowRight")
        return page.locator("#says").inner_text()

    count, mean = EXERCISES[:2]
    page.goto(f"{address}lesson.html")
    page.get_by_role("spinbutton").fill("50")
    page.get_by_role("button", name="This is my guess").click()
    right = number(rf"right {NUMBER} times in 100", sentence("2"))
    assert right == pytest.approx(count.answer, abs=count.tolerance)
    page.locator("#steps button").nth(1).click()
    page.get_by_label("between").check()
    page.get_by_role("button", name="This is my guess").click()
    large, small = (number(rf"Noise {NUMBER}", sentence(cap)) for cap in ("600", "300"))
    assert large / small == pytest.approx(mean.answer, abs=mean.tolerance)


def test_a_link_of_the_class_opens_its_page_by_a_click(page, address):
    page.goto(f"{address}classroom")
    with page.context.expect_page() as opened:
        page.get_by_test_id("stMain").get_by_role("link", name="Bounds").click()
    other = opened.value
    other.get_by_text("for its error, ").wait_for()
    assert other.get_by_role("slider", name="Patients in total").get_attribute("aria-valuetext") == "100,000"
    assert "d=50" in other.url
    other.close()
