"""All sliders, whom the hospitals trust, and the chart are on one screen, also projected; nothing jumps."""

import pytest

from pages import order
from tests.browser.conftest import AT_REST, SMALL, go_to
from tests.waiting import eventually

pytestmark = pytest.mark.browser

SLIDERS = ("epsilon", "delta", "n", "providers", "d", "k", "s", "s_hat")
# Boxes of the sliders, and whether a press 12 pixels above or below a thumb still reaches its slider.
BOXES = """(keys) => keys.map((key) => {
  const slider = document.querySelector(`[data-testid=stSidebar] .st-key-${key} [data-testid=stSlider]`);
  const thumb = slider.querySelector('[data-testid=stSliderThumbValue]').parentElement
    .getBoundingClientRect();
  const x = thumb.left + thumb.width / 2, y = thumb.top + thumb.height / 2;
  const reached = [-11.5, 11.5].every((by) => slider.contains(document.elementFromPoint(x, y + by)));
  const { top, bottom } = slider.getBoundingClientRect();
  return { key, top, bottom, reached };
})"""
# What the first chart is moved and read by: its own slider, ticks and title of its axes, and its legend.
READ_BY = ".scrub, .xaxislayer-above, .g-xtitle, .g-x2title, g.legend, .dppca-live > .under > .legend"
READING = f"""() => [...document.querySelector('.dppca-live').querySelectorAll('{READ_BY}')]
  .map((part) => part.getBoundingClientRect()).filter((box) => box.height > 0)
  .map(({{ top, bottom }}) => [top, bottom])"""
# Pages with shared settings, and how many of their sliders each uses: others are folded.
WITH_SLIDERS = {
    **{"privacy": 4, "convergence": 8, "bounds": 8, "methods": 8, "providers": 8},
    "planner": 8,
}
WITHOUT_TRUST = ("privacy", "convergence", "bounds", "providers")
SHIFTS = """window.shifted = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  if (!entry.hadRecentInput) window.shifted += entry.value;
})).observe({ type: 'layout-shift', buffered: true });"""


FITTED = """() => [...document.querySelectorAll('.dppca-live .chart')].every(
  (chart) => Math.abs(chart.querySelector('.main-svg')?.clientWidth - chart.clientWidth) <= 4)"""


@pytest.fixture(scope="module")
def tour(tabs, address):
    """Yield a tab in which a visitor goes from page to page by the menu, as most do."""
    page = tabs.new_page()
    page.goto(f"{address}?preset=large-study&view=full&{SMALL}")
    yield page
    page.close()


def at(page, place, width, height):
    """Show this page in a window of this size; return once it is drawn so."""
    page.set_viewport_size({"width": width, "height": height})
    title = order.titles()[place or "explorer"]
    if not page.title().startswith(title):
        go_to(page, title)
        page.wait_for_function("title => document.title.startsWith(title)", arg=title)
    page.locator(".unready").wait_for(state="detached")
    page.wait_for_selector(AT_REST)
    page.wait_for_function(FITTED)


def check_in_sight(page, height, sliders, trust):
    """Check that so many sliders, whom to trust where it counts, and what a chart is read by are in sight."""
    keys = [key for key in SLIDERS if page.locator(f".st-key-{key} [data-testid=stSlider]").count()]
    assert len(keys) == sliders
    boxes = page.evaluate(BOXES, keys)
    assert [box["key"] for box in boxes if box["top"] < 0 or box["bottom"] > height] == []
    assert [box["key"] for box in boxes if not box["reached"]] == []
    choice = page.locator(".st-key-trust")
    assert choice.count() == trust
    for box in [place.bounding_box() for place in choice.all()]:
        assert box["y"] >= 0 and box["height"] >= 24 and box["y"] + box["height"] <= boxes[0]["top"]
    parts = page.evaluate(READING)
    assert parts and all(top >= 0 and bottom <= height for top, bottom in parts), parts


@pytest.mark.parametrize(
    ("place", "size"),
    [
        *(("", size) for size in ((1440, 900), (1920, 1080))),
        *((place, (1280, 720)) for place in ("", *WITH_SLIDERS)),
    ],
)
def test_all_sliders_and_the_chart_are_in_sight(tour, place, size):
    at(tour, place, *size)
    sliders = WITH_SLIDERS.get(place, 7)  # the explorer's figure has the one for epsilon
    check_in_sight(tour, size[1], sliders, trust=place not in WITHOUT_TRUST)
    assert tour.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_a_boards_sliders_and_the_chart_are_in_sight(watched, address):
    """A board moves neither delta nor the features kept."""
    page = (
        watched(viewport={"width": 1280, "height": 720})
        .open(f"{address}?preset=large-study&view=plain&{SMALL}")
        .page
    )
    page.locator(".unready").wait_for(state="detached")
    check_in_sight(page, 720, sliders=5, trust=True)


@pytest.mark.parametrize("place", ["", "privacy", "story", "your_data"])
def test_no_empty_band_stands_above_or_below_the_content(tour, place):
    """Sixty pixels at most between the menu and what a page begins with, and eighty below its end."""
    at(tour, place, 1440, 900)
    tour.get_by_text("Try this").first.wait_for()
    first, below = tour.evaluate(
        """() => {
          const main = document.querySelector('[data-testid=stMain]');
          const boxes = [...main.querySelector('[data-testid=stVerticalBlock]').children]
            .map((part) => part.getBoundingClientRect()).filter((box) => box.height > 0);
          const block = main.querySelector('[data-testid=stMainBlockContainer]').getBoundingClientRect();
          const end = Math.max(...boxes.map((box) => box.bottom));
          return [Math.min(...boxes.map((box) => box.top)), block.bottom - end];
        }"""
    )
    header = tour.get_by_test_id("stHeader").bounding_box()
    assert first - header["y"] - header["height"] <= 60
    assert below <= 80


def shifted_at_a_visit(page, address):
    page.goto(f"{address}privacy", wait_until="commit")
    assert page.locator("#first-paint h1").inner_text() == "Privacy"
    page.locator(".unready").wait_for(state="detached")
    page.get_by_text("Try this").first.wait_for()
    assert page.locator("#first-paint").count() == 0
    return page.evaluate("window.shifted")


def test_a_page_has_its_shape_at_first_and_nothing_jumps(watched, address):
    page = watched().page
    # A machine that takes longer than the shape stands (first_paint.js) sends the page in parts: asked again.
    page.goto(f"{address}privacy")
    page.get_by_text("Try this").first.wait_for()
    page.add_init_script(SHIFTS)
    assert eventually(lambda: shifted_at_a_visit(page, address) <= 0.05)


TOPS = """() => {
  window.tops = new Set();
  const look = () => {
    window.tops.add(Math.round(document.querySelector('.dppca-live').getBoundingClientRect().top));
    requestAnimationFrame(look);
  };
  look();
}"""


def test_a_chart_stays_where_it_is_while_its_headline_is_measured_anew(tour):
    """The headline of the methods has three lines, and one while nothing is measured."""
    at(tour, "methods", 1280, 720)
    headline = tour.locator(".st-key-headline")
    before = headline.inner_text()
    tour.evaluate(TOPS)
    tour.get_by_test_id("stSidebar").get_by_role("slider", name="Patients").press("ArrowLeft")
    tour.wait_for_function(
        "old => ![old, 'Measuring …'].includes(document.querySelector('.st-key-headline').innerText.trim())",
        arg=before.strip(),
    )
    assert tour.evaluate("[...window.tops].length") == 1


def test_on_a_telephone_two_settings_stand_under_the_headline_with_the_result(watched, address):
    page = watched(viewport={"width": 390, "height": 844}).open(f"{address}?{SMALL}").page
    live = page.locator(".dppca-live").first
    sliders = [live.get_by_role("slider", name=name) for name in ("Privacy loss ε", "Patients in total")]
    headline, chart, tiles = (live.locator(part) for part in (".sentence", ".chart", ".tiles"))
    tops = [place.bounding_box()["y"] for place in (headline, *sliders, chart, tiles)]
    assert tops == sorted(tops) and tops[0] > 0 and tops[-2] < 844 - 250  # a panel of 250 pixels at least
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sliders[1].press("ArrowLeft")
    page.get_by_text("With 5,000 patients").wait_for()
    page.wait_for_url("**n=5000**")


@pytest.mark.parametrize("place", WITH_SLIDERS)
def test_on_a_telephone_each_page_has_two_settings_between_title_and_result(watched, address, place):
    visitor = watched(viewport={"width": 390, "height": 844}).open(f"{address}{place}?{SMALL}")
    page = visitor.page
    page.locator(".unready").wait_for(state="detached")
    sliders = page.locator(".st-key-main-settings").get_by_role("slider")
    parts = (page.locator(".st-key-title"), sliders.nth(0), page.locator(".dppca-live .chart").first)
    tops = [part.bounding_box()["y"] for part in parts]
    assert sliders.count() == 2
    assert tops == sorted(tops) and tops[0] > 0 and tops[-1] < 844 - 200  # with the steps of a first visit
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    visitor.settle()  # of a page that still draws itself Streamlit may drop a press
    sliders.nth(0).press("ArrowLeft")
    page.wait_for_url("**eps=**")


@pytest.fixture(scope="module")
def story(tabs, address):
    """Yield a telephone on a first visit of the story, whose three steps stand above."""
    page = tabs.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}story?preset=large-study&repeats=2")
    yield page
    page.close()


@pytest.mark.parametrize("step", [1, 5, 7, 8])
def test_on_a_telephone_a_step_of_the_story_has_its_first_setting_and_its_chart_on_one_screen(story, step):
    story.get_by_role("radio", name=str(step), exact=True).click()
    story.locator(f"[class*='st-key-story-{step}'] .dppca-live[data-drawn]").wait_for()
    parts = (".st-key-story-controls", ".st-key-headline", ".dppca-live .chart")
    boxes = [story.locator(part).first.bounding_box() for part in parts]
    tops = [box["y"] for box in boxes]
    assert tops == sorted(tops) and tops[0] > 0
    assert boxes[-1]["y"] + boxes[-1]["height"] <= 844 and boxes[-1]["height"] >= 300
    assert story.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("place", ["", "convergence"])
def test_a_chart_follows_the_window_when_a_tablet_is_turned(watched, address, place):
    page = (
        watched(viewport={"width": 1180, "height": 820})
        .open(f"{address}{place}?preset=large-study&{SMALL}")
        .page
    )
    for width, height in ((820, 1180), (1180, 820)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(FITTED)


@pytest.mark.parametrize(("width", "step"), [(390, 1), (1440, 3)])
def test_the_outline_does_not_wait_for_an_introduction_that_is_not_shown(watched, address, width, step):
    """The story has none on a telephone, and none after its first step; patience never ends here."""
    page = watched(viewport={"width": width, "height": 844}).page
    page.add_init_script("performance.now = () => 0")
    page.goto(f"{address}story?{SMALL}&story.step={step}")
    page.locator(".dppca-live[data-drawn]").first.wait_for(state="attached")
    page.locator("#first-paint").wait_for(state="detached")
