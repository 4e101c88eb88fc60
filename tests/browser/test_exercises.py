"""Follow the links of the exercises for a class, and read off the screen what is to be observed."""

import re
from decimal import Decimal

import pytest

from pages.explore.explorer import exercises
from pages.explore.explorer.exercises import EXERCISES
from scripts.started import COMPLETE
from tests.browser.conftest import DESK, SMALL

pytestmark = pytest.mark.browser

# What shows that a page has all that is read from it.
READY = {"privacy": "Measured, ", "bounds": "for its error, ", "differences": "joined without privacy"}
# What the map has at the cross: the nearest of its cells, on its log axes.
REGION = """() => {
  const data = [...document.querySelectorAll('.dppca-live .chart')].flatMap((chart) => chart.data ?? []);
  const map = data.find((trace) => trace.type === 'heatmap');
  const cross = data.find((trace) => trace.name === 'this setting' && trace.marker?.symbol === 'x');
  const near = (values, at) => {
    const off = values.map((value) => Math.abs(Math.log(value / at)));
    return off.indexOf(Math.min(...off));
  };
  return map && cross && map.text[near(map.y, cross.y[0])][near(map.x, cross.x[0])];
}"""


NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"


def number(pattern: str, body: str) -> float:
    match = re.search(pattern, body)
    assert match, body
    return float(match[1])


def attack(before: str, after: str) -> tuple[float, ...]:
    assert all("Without noise the attacker is right in every test" in body for body in (before, after))
    return tuple(number(rf"This attack was right {NUMBER} %", body) for body in (before, after))


def free(before: str, after: str) -> tuple[float, ...]:
    assert before.endswith("privacy costs") and after.endswith("privacy is free here")
    return tuple(number(rf"has error {NUMBER}", body) for body in (before, after))


def joining(before: str, after: str) -> tuple[float, ...]:
    assert re.search("Joining helps hospitals (A, )?B, C, D, E and F, ", before)
    assert "Joining harms hospitals A, B, C, D, E and F, " in after
    pattern = rf"\({NUMBER} alone, {NUMBER} joined; joined without privacy {NUMBER}\)"
    alone, joined, plain = map(float, re.search(pattern, after).groups())
    assert plain == pytest.approx(joined, rel=0.05)
    return alone, joined


def error(body: str) -> float:
    return number(rf"directions with error {NUMBER}", body)


def within(body: str) -> tuple[float, float]:
    """Return the least and the largest error that is rounded to the one on screen."""
    written = re.search(rf"directions with error {NUMBER}", body)[1]
    half = float(Decimal((0, (5,), Decimal(written).as_tuple().exponent - 1)))
    return float(written) - half, float(written) + half


def less_privacy(before: str, after: str) -> tuple[float, ...]:
    shares = [number(r"Share of the true features found\s+(\d+) %", body) for body in (before, after)]
    assert shares == [100, 0]
    assert error(after) >= number(rf"A random guess has {NUMBER}", after)
    return error(before), error(after)


def as_printed(before: str, after: str) -> tuple[float, ...]:
    was, now = (number(rf"Noise σ per entry\s+{NUMBER}", body) for body in (before, after))
    return (now / was,)


def metric(before: str, after: str) -> tuple[float, ...]:
    guesses = [number(rf"A random guess has {NUMBER}", body) for body in (before, after)]
    assert guesses[1] / guesses[0] == pytest.approx(2**0.5, rel=0.01)
    (least, most), (before_least, before_most) = (within(body) for body in (after, before))
    assert least / before_most <= 2**0.5 <= most / before_least
    return (error(after) / error(before),)


READERS = (attack, free, joining, less_privacy, as_printed, metric)


@pytest.fixture(scope="module")
def page(tabs):
    """Share one tab between all, as a class does."""
    opened = tabs.new_page()
    opened.set_viewport_size(DESK)
    yield opened
    opened.close()


def read(page, url: str, title: str) -> str:
    """Return the screen's text, and which region the cross is in."""
    page.goto(url)
    if title in READY:
        page.get_by_test_id("stMain").get_by_text(READY[title]).first.wait_for()
    else:
        page.get_by_text("directions with error").first.wait_for()
    region = ""
    if title == "bounds":
        for _ in range(2):  # a page that has just opened may not say yet that more is coming
            page.wait_for_function("!document.body.innerText.includes('runs measured')")
            page.wait_for_timeout(2000)
        region = page.wait_for_function(REGION).json_value()
    return page.get_by_test_id("stMain").inner_text() + region


@pytest.mark.parametrize(
    ("exercise", "reader"),
    list(zip(EXERCISES, READERS, strict=True)),
    ids=[reader.__name__ for reader in READERS],
)
def test_what_is_to_be_observed_is_on_the_screen(page, address, exercise, reader):
    before, after = (
        read(page, address + exercise.link(moved).removeprefix("."), exercise.page) for moved in (False, True)
    )
    assert reader(before, after) == pytest.approx(exercise.numbers, rel=0.05)
    assert page.get_by_test_id("stException").count() == 0


def test_the_links_of_the_front_page_open_by_a_click(page, address):
    page.goto(f"{address}?{SMALL}")
    page.wait_for_selector(COMPLETE)  # until then the link may move while it is clicked
    page.get_by_text(exercises.TITLE).click()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="or open it already moved").nth(1).click()
    other = opened.value
    other.get_by_text("for its error, ").wait_for()
    assert (
        other.get_by_role("slider", name="Patients in total").get_attribute("aria-valuetext") == "10,000,000"
    )
    other.close()
