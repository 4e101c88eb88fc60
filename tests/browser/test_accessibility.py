"""Test every page with axe-core, and the keyboard: order, reach, and visible focus."""

import itertools

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import AT_REST, MENU, SMALL, go_to
from tests.waiting import eventually

pytestmark = pytest.mark.browser

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# Streamlit loads what sets formulas when it meets the first, and shows a grey bar in its place until then.
DRAWN = """() => [...document.querySelectorAll('.dppca-live')].every((live) => live.dataset.drawn)
  && !document.querySelector('[data-testid=stSkeleton]') && document.fonts.status === 'loaded'"""
NAMED = (
    "() => [...document.querySelectorAll('.dppca-live .chart')].every("
    "(chart) => chart.ariaLabel && chart.ariaLabel !== 'A chart that is being drawn')"
)
THEMED = "scheme => getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme"
# Streamlit shows stale elements faintly for a moment, which is no violation of ours.
STEADY = "[data-stale=true] { opacity: 1 !important } * { transition: none !important }"


def ours(violations):
    """Return the violations of this run that are serious, and headings out of order."""
    serious = (
        violation
        for violation in violations["violations"]
        if violation["impact"] in ("serious", "critical") or violation["id"] == "heading-order"
    )
    return [
        (each["id"], node["target"], node["failureSummary"]) for each in serious for node in each["nodes"]
    ]


def test_no_page_has_a_serious_violation_of_ours(watched, address):
    """All rules are checked in the light theme, contrast in the dark as well."""
    page = watched().page
    page.goto(f"{address}?{SMALL}")
    page.wait_for_selector("[data-testid=stTopNavSection]")
    page.add_style_tag(content=STEADY)
    axe, mine = Axe(), {}
    schemes = [
        ("light", {"runOnly": TAGS, "rules": {"heading-order": {"enabled": True}}}),
        ("dark", {"runOnly": ["color-contrast"]}),
    ]
    for name in MENU:
        go_to(page, name)
        page.wait_for_function("name => document.title.startsWith(name)", arg=name)
        page.get_by_role("heading", level=1, name=name).wait_for()
        page.wait_for_selector(AT_REST)
        page.wait_for_function(DRAWN)
        for scheme, options in schemes:
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(THEMED, arg=scheme)

            def clean(where=(name, scheme), options=options):
                """Return whether axe finds nothing of ours: during a run Streamlit greys what is stale."""
                page.wait_for_selector(AT_REST)
                violations = axe.run(page, options=options | {"resultTypes": ["violations"]}).response
                mine[where] = ours(violations)
                return not mine[where]

            eventually(clean)
        page.wait_for_function(NAMED)
        schemes.reverse()  # the next page opens in the scheme that is on
    assert {where: what for where, what in mine.items() if what} == {}


# Notes every element that gets the focus, where it is, and how it and its neighbours look while they have it.
NOTE = """() => {
  const kin = (e) => [e, e.parentElement, e.parentElement.parentElement, ...e.querySelectorAll('*'),
    e.nextElementSibling, e.previousElementSibling].filter(Boolean);
  const look = (e) => kin(e).flatMap((k) => ['', '::after'].map((part) => {
    const s = getComputedStyle(k, part);
    return [s.outline, s.boxShadow, s.borderColor, s.backgroundColor, s.textDecoration, s.content];
  })).join();
  const visited = new Map();
  document.addEventListener('focusin', ({ target }) => {
    const side = target.closest('[data-testid=stSidebarContent]'), box = target.getBoundingClientRect();
    const main = target.closest('[data-testid=stMain]'), down = (side ?? main)?.scrollTop;
    const said = (target.ariaLabel || target.innerText || target.outerHTML).slice(0, 90);
    const place = [side ? 0 : 1, box.top + down, box.bottom + down, box.left, box.right];
    if ((side || main) && target !== main) visited.set(target, { said, place, focused: '' });
  });
  document.addEventListener('keydown', () => {
    const note = visited.get(document.activeElement);
    if (note) note.focused = look(document.activeElement);
  }, true);
  const group = (e) => e.closest('[role=radiogroup]'); // arrows move inside of it
  const reached = (e) => visited.has(e)
    || (group(e) && [...visited.keys()].some((v) => group(v) === group(e)));
  const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const here = (e) => e.closest('[data-testid=stMain], [data-testid=stSidebar]');
  const controls = 'a[href], button, input, select, textarea, [tabindex="0"]';
  window.missed = () => [...document.querySelectorAll(controls)]
    .filter((e) => e.tabIndex >= 0 && !e.disabled && here(e) && !e.matches('[data-testid=stMain]') && seen(e)
      && !reached(e)).map((e) => e.outerHTML.slice(0, 250));
  window.visited = () => [...visited].map(([element, { said, place, focused }]) =>
    ({ said, place, unseen: element.isConnected && focused === look(element) }));
}"""

CHART = "document.querySelector('.dppca-live .chart')"
SPAN = "chart => chart._fullLayout.xaxis.range"


def upwards(before, after):
    """Return whether the second stands wholly above the first and not to its right, against reading order."""
    (column, top, _, _, right), (other, _, bottom, left, _) = before, after
    return other < column or (other == column and bottom <= top and left < right)


@pytest.mark.parametrize(
    ("place", "has"),
    [
        ("", {"Download", "Privacy loss ε"}),
        ("planner", {"Method", "Download"}),
    ],
)
def test_the_keyboard_reaches_every_control_in_reading_order_and_is_seen(watched, address, place, has):
    page = watched().page
    page.goto(f"{address}{place}?{SMALL}")
    page.wait_for_selector(".dppca-live[data-drawn]")
    page.add_style_tag(content=STEADY)
    page.evaluate(NOTE)
    skip = page.get_by_text("Skip to main content")
    skip.focus()
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate("visited().length > 20") and skip.evaluate("e => e === document.activeElement"):
            break
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(200)
    visited = page.evaluate("visited()")
    assert page.evaluate("missed()") == []
    assert [control["said"] for control in visited if control["unseen"]] == []
    assert has <= {control["said"].partition("\n")[0] for control in visited}  # a menu has an icon below
    steps = itertools.pairwise(visited)
    assert [(a["said"], b["said"]) for a, b in steps if upwards(a["place"], b["place"])] == []


def test_keys_do_what_the_mouse_does_to_a_chart(watched, address):
    """Zoom, pan, reset, and a line of the legend out and in."""
    page = watched().page
    page.goto(f"{address}bounds?{SMALL}")
    page.wait_for_selector(".dppca-live[data-drawn]")
    chart = page.locator(".dppca-live .chart").first
    spans = [chart.evaluate(SPAN)]
    for key, change in (("+", 0.7), ("ArrowLeft", 1), ("-", 1 / 0.7), ("0", None)):
        chart.press(key)
        page.wait_for_function(f"last => String(({SPAN})({CHART})) !== String(last)", arg=spans[-1])
        spans.append(chart.evaluate(SPAN))
        (low, high), (left, right) = spans[-2:]
        assert change is None or right - left == pytest.approx(change * (high - low))
    assert spans[-1] == spans[0]
    hidden = f"() => {CHART}._fullData.filter((t) => t.visible !== true).length"
    assert page.evaluate(hidden) == 0
    chart.press("2")
    page.wait_for_function(f"() => ({hidden})() > 0")
    out = page.evaluate(hidden)
    drawn = page.locator(".dppca-live").first.get_attribute("data-drawn")
    page.get_by_role("slider", name="Hospitals").press("ArrowRight")
    page.wait_for_function(
        "drawn => document.querySelector('.dppca-live').dataset.drawn !== drawn", arg=drawn
    )
    assert page.evaluate(hidden) == out  # what was hidden stays so when the figure changes
    chart.press("2")
    page.wait_for_function(f"() => ({hidden})() === 0")
