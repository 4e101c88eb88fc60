"""Test the lesson's file as a class opens it: from disk, in Chromium and in Firefox, by keys alone."""

import math
import re
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from dppca_core.numerics import linalg
from pages.learn.classroom import lesson_file, text
from pages.learn.classroom.exercises import EXERCISES
from pages.learn.classroom.lesson import build, frames, screens
from scripts.firefox import PROGRAM, firefox
from tests.browser.conftest import SMALL, go_to
from tests.waiting import eventually

pytestmark = pytest.mark.browser

FOLDER = Path(lesson_file.__file__).parent
FILE = (FOLDER / "lesson.html").as_uri()
SCREENS = build.stored()["screens"]
PHONE, PROJECTOR = {"width": 390, "height": 844}, {"width": 1920, "height": 1080}
LOOKS = [(PHONE, "dark"), (PROJECTOR, "light")]
SLOWER, MOST_MS = 4, 40.0  # a telephone's processor, and what nine of ten frames may take on it
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
NUMBER = r"(\d+(?:\.\d+)?)"
DRAWN = "document.getElementById('picture').innerHTML"
# Milliseconds from a move of the slider until it is on the screen, for every position.
TIMED = """async () => {
  const slider = document.getElementById('slider'), times = [];
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage('');
  }));
  for (let position = 0; position <= slider.max; position++) {
    await painted();
    const began = performance.now();
    slider.value = position;
    slider.dispatchEvent(new Event('input'));
    await painted();
    times.push(performance.now() - began);
  }
  return times;
}"""


def number(pattern: str, words: str) -> float:
    match = re.search(pattern, words)
    assert match, words
    return float(match[1])


def right_position(screen) -> int:
    """Return the first position of a slider at which the screen's second question is answered."""
    right = next(i for i, outcome in enumerate(screen["task"]["outcomes"]) if outcome["right"])
    return screen["draws"][0]["answers"][0].index(right)


def turning_point() -> tuple[int, str]:
    """Return a point, and the two keys that move it to a corner where the line has turned enough."""
    cloud, reach = frames.cloud(frames.DRAWS[0]), SCREENS[2]["setup"]["reach"]
    for i in range(frames.POINTS):
        for keys, corner in (("Left Up", (-reach, reach)), ("Right Down", (reach, -reach))):
            points = cloud.points.copy()
            points[i] = corner
            x, y = linalg.top_eigenspace(np.cov(points.T), 1)[:, 0]
            turned = abs(math.degrees(math.atan2(y, x)) - cloud.component) % 180
            if min(turned, 180 - turned) > frames.TURNED + 5:
                return i, keys
    raise AssertionError("no point turns the line")


class Student:
    """Answer the lesson by keys alone."""

    def __init__(self, page) -> None:
        self.page = page

    def go(self, selector: str, most: int = 60) -> None:
        """Press Tab until the element has the focus."""
        for _ in range(most):
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab reaches {selector}")

    def press(self, keys: str) -> None:
        for key in keys.split():
            self.page.keyboard.press(key)

    def predict(self, screen) -> None:
        """Give the right prediction."""
        asked = screen["predict"]
        right = next(i for i, outcome in enumerate(asked["outcomes"]) if outcome["right"])
        if asked["kind"] == "choice":
            self.go("#predict input")
            self.press("Space " + "ArrowDown " * right)
        elif asked["kind"] == "number":
            self.go("#predict input")
            self.page.keyboard.type(f"{asked['outcomes'][right]['from'] + 1:.1f}")
        else:
            self.go("#predict input")
            self.press("ArrowRight " * round(screen["draws"][0]["component"]))
        self.go("#predict button")
        self.press("Enter")

    def move(self, screen) -> None:
        """Find what the second question asks for."""
        if screen["ways"]:
            self.go("#slider")
            self.press("Home " + "ArrowRight " * right_position(screen))
        else:
            point, keys = turning_point()
            self.page.evaluate("document.activeElement.blur()")
            self.go(f"[data-i='{point}']")
            self.press(" ".join(f"Arrow{key}" for key in keys.split() * 40))
        self.go("#check")
        self.press("Enter")


@pytest.fixture
def open_lesson(watched):
    """Return a function that opens the file; check at the end that it asked for nothing and broke nowhere."""
    opened = []

    def open_file(viewport=PHONE, scheme="light", **media):
        visitor = watched(viewport=viewport, color_scheme=scheme, **media)
        opened.append(visitor)
        visitor.page.goto(FILE)
        visitor.page.evaluate("sessionStorage.clear()")
        visitor.page.reload()
        return visitor.page

    yield open_file
    for visitor in opened:
        assert set(visitor.requests) == {FILE} and visitor.errors == []
        visitor.requests.clear()


@pytest.mark.parametrize(("viewport", "scheme"), LOOKS, ids=["telephone", "projector"])
def test_keys_alone_lead_through_the_lesson_to_a_code(open_lesson, viewport, scheme):
    page = open_lesson(viewport, scheme)
    student = Student(page)
    for i, screen in enumerate(SCREENS, 1):
        assert page.locator("#title").inner_text() == f"{i}. {screen['title']}"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        student.predict(screen)
        assert page.locator("#predicted").inner_text().startswith("Right.")
        student.move(screen)
        assert page.locator("#checked").inner_text().startswith("Right.")
        assert page.locator("#explain > p").all_inner_texts() == screen["explain"]
        assert page.locator("#picture").get_attribute("aria-label") == page.locator("#says").inner_text()
        student.go("#explain button")
        student.press("Enter")
    code = page.locator("#code").inner_text()
    assert code[0] == "1" and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()  # what was answered stays in the tab
    assert page.locator("#code").inner_text() == code
    assert page.locator("#own").inner_text().count("right at try 1") == len(SCREENS)


def test_the_teachers_screen_adds_up_codes(open_lesson):
    page = open_lesson()
    page.get_by_role("spinbutton").fill("73")
    page.get_by_role("button", name="This is my guess").click()
    page.locator("#steps button").last.click()
    wrong = page.locator("#code").inner_text()
    page.get_by_role("button", name="Start again").click()
    page.get_by_role("spinbutton").fill("55")
    page.get_by_role("button", name="This is my guess").click()
    page.locator("#steps button").last.click()
    right = page.locator("#code").inner_text()
    mistyped = right[:5] + ("A" if right[5] != "A" else "B") + right[6:]
    page.get_by_text("For the teacher").click()
    page.locator("#codes").fill("\n".join([wrong, right, right.lower(), mistyped, "nothing"]))
    page.get_by_role("button", name="Add up").click()
    assert page.locator("#sum-says").inner_text() == f"2 students. Not read: {mistyped}, nothing."
    first = page.locator("#sum tr").first.locator("td").all_inner_texts()
    assert first == ["1", "73, the most allowed: 1", "0"]


def test_each_number_gets_its_message(open_lesson):
    page = open_lesson()
    for value in (0, 50, 55, 60, 73, 99):
        page.get_by_role("spinbutton").fill(str(value))
        page.get_by_role("button", name="This is my guess").click()
        assert page.locator("#predicted").inner_text().endswith(screens.judged(SCREENS[0], value)["says"])
        page.locator("#steps button").last.click()
        page.get_by_role("button", name="Start again").click()
    for unread in ("", "101", "-1"):
        page.get_by_role("spinbutton").fill(unread)
        page.get_by_role("button", name="This is my guess").click()
        assert page.locator("#predicted").inner_text() == SCREENS[0]["predict"]["missing"]
        assert page.locator("#move").is_hidden()


def test_something_moves_within_the_first_second(open_lesson):
    page = open_lesson(PROJECTOR)
    seen = {page.evaluate(DRAWN)}
    for _ in range(5):
        page.wait_for_timeout(150)
        seen.add(page.evaluate(DRAWN))
    assert len(seen) >= 3


def test_nothing_moves_for_who_wants_no_motion(open_lesson):
    page = open_lesson(PROJECTOR, reduced_motion="reduce")
    first = page.evaluate(DRAWN)
    page.wait_for_timeout(400)
    assert page.evaluate(DRAWN) == first and 'visibility="hidden"' not in first


def test_a_new_draw_shows_its_seed_and_other_results(open_lesson):
    page = open_lesson(reduced_motion="reduce")
    pictures, seeds = [], []
    for _ in frames.DRAWS:
        page.locator("#steps button").nth(1).click()
        pictures.append(page.evaluate(DRAWN))
        seeds.append(page.locator("#seed").inner_text())
        page.get_by_role("button", name="New draw").click()
    assert len(set(pictures)) == len(frames.DRAWS)
    assert seeds[0] == f"Draw 1 of {len(frames.DRAWS)} (seed {frames.DRAWS[0]})."
    assert seeds[1].startswith("Draw 2 of ") and seeds[1].endswith("Numbers in the text are those of draw 1.")


def test_a_frame_takes_forty_milliseconds_on_a_slow_telephone(open_lesson):
    page = open_lesson(reduced_motion="reduce")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    for i, screen in enumerate(SCREENS):
        page.locator("#steps button").nth(i).click()
        if not screen["ways"]:
            continue
        Student(page).predict(screen)
        # The median: a busy machine makes some frames wait.
        assert eventually(lambda: np.median(page.evaluate(TIMED)) <= MOST_MS), screen["key"]


def test_the_pages_own_component_is_the_cores(open_lesson):
    page = open_lesson()
    for seed in range(20):
        points = np.random.default_rng(seed).standard_normal((12, 2)) * (1.5, 0.7)
        shown = page.evaluate("points => component(points)", points.tolist())
        x, y = linalg.top_eigenspace(np.cov(points.T), 1)[:, 0]
        assert shown["degrees"] == pytest.approx(math.degrees(math.atan2(y, x)) % 180, abs=1e-6)
        values = np.linalg.eigvalsh(np.cov(points.T))
        assert shown["kept"] == pytest.approx(values[-1] / values.sum())


def test_a_point_is_dragged(open_lesson):
    page = open_lesson(PROJECTOR, reduced_motion="reduce")
    page.locator("#steps button").nth(2).click()
    page.get_by_role("slider").fill("90")
    page.get_by_role("button", name="This is my guess").click()
    before = page.locator("#says").inner_text()
    box = page.locator(".point").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 5, box["y"] - 150, steps=5)
    page.mouse.up()
    after = page.locator("#says").inner_text()
    assert after != before
    page.set_viewport_size({**PROJECTOR, "height": PROJECTOR["height"] - 60})  # as an address bar does
    page.wait_for_timeout(100)
    assert page.locator("#says").inner_text() == after
    page.set_viewport_size(PROJECTOR)
    moved = page.locator(".point").first.bounding_box()
    assert moved["y"] == pytest.approx(box["y"] - 150 - box["height"] / 2, abs=2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screen_readers_find_no_serious_fault(open_lesson, scheme):
    page = open_lesson(PHONE, scheme, reduced_motion="reduce")
    axe = Axe()

    def faults() -> list[str]:
        answer = axe.run(page, options={"runOnly": TAGS, "resultTypes": ["violations"]}).response
        return [f"{v['id']} {node['target']}" for v in answer["violations"] for node in v["nodes"]]

    for screen in SCREENS:
        Student(page).predict(screen)
        page.locator("#check").click()
        page.locator("#check").click()
        page.locator("#check").click()
        page.get_by_text("The formula").click()
        assert faults() == [], screen["key"]
        page.locator("#explain button").click()
    page.get_by_text("For the teacher").click()
    assert faults() == []


@pytest.mark.parametrize("name", ["worksheet", "key"])
def test_papers_print_on_two_pages(tabs, name):
    page = tabs.new_page()
    page.goto((FOLDER / f"{name}.html").as_uri())
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 2
    page.close()


def test_the_class_page_shows_it_in_a_frame(watched, address):
    visitor = watched().open(f"{address}?{SMALL}")
    go_to(visitor.page, text.TITLE)
    frame = visitor.page.frame_locator("iframe[title='The lesson']")
    frame.locator("#says").filter(has_text="right").wait_for()
    frame.get_by_role("spinbutton").fill("55")
    frame.get_by_role("button", name="This is my guess").click()
    frame.locator("#slider").wait_for()
    assert visitor.page.get_by_text(text.ON_THIS_MACHINE).is_visible()
    assert visitor.errors == []


def test_the_server_hands_the_file_out_as_it_is(address):
    for encoding, wanted in (("gzip", lesson_file.packed()), ("identity", lesson_file.whole())):
        headers = {"Accept": "text/html", "Accept-Encoding": encoding}
        with urllib.request.urlopen(urllib.request.Request(f"{address}lesson.html", headers=headers)) as got:
            assert got.headers["Content-Encoding"] == encoding and got.read() == wanted
            assert got.headers["Set-Cookie"] is None


@pytest.mark.skipif(PROGRAM is None, reason="Firefox is not installed")
def test_firefox_shows_the_same():
    """Firefox opens it at both sizes, answers keys, asks for nothing and logs no error."""
    with firefox() as tab:
        for size in (PHONE, PROJECTOR):
            tab.open(FILE, **size)
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
            tab.evaluate("document.querySelector('#predict input').focus()")
            tab.press("55\ue007")  # Enter
            assert tab.evaluate("document.getElementById('predicted').textContent").startswith("Right.")
            tab.evaluate("document.getElementById('slider').focus()")
            tab.press("\ue011" + "\ue014" * right_position(SCREENS[0]))  # Home, then to the right
            tab.evaluate("document.getElementById('check').click()")
            assert tab.evaluate("document.getElementById('checked').textContent").startswith("Right.")
            assert tab.evaluate("document.querySelectorAll('#picture circle').length") == 2 * frames.RELEASES
            tab.evaluate("sessionStorage.clear()")
        notices = [event["params"] for event in tab.events if event["method"].startswith(("log", "network"))]
        notes = [params.get("text") or params["request"]["url"] for params in notices]
        assert [each for each in notes if not each.startswith("data:")] == []  # a font of Firefox's own


def test_the_numbers_of_the_exercises_are_in_the_lesson(open_lesson):
    """The slider is moved by keys, to the option that the exercise names."""

    def sentence(option: str) -> str:
        slider = page.locator("#slider")
        slider.press("Home")
        while slider.get_attribute("aria-valuetext") != option:
            slider.press("ArrowRight")
        return page.locator("#says").inner_text()

    page = open_lesson(PROJECTOR)
    count, mean = EXERCISES[:2]
    page.get_by_role("spinbutton").fill("50")
    page.get_by_role("button", name="This is my guess").click()
    right = number(rf"right {NUMBER} times in 100", sentence("2"))
    assert right == pytest.approx(count.answer, abs=count.tolerance)
    page.locator("#steps button").nth(1).click()
    page.get_by_label("between").check()
    page.get_by_role("button", name="This is my guess").click()
    large, small = (number(rf"Noise {NUMBER}", sentence(cap)) for cap in ("600", "300"))
    assert large / small == pytest.approx(mean.answer, abs=mean.tolerance)


def test_a_link_of_the_class_opens_its_page_by_a_click(watched, address):
    page = watched().page
    page.goto(f"{address}classroom")
    with page.context.expect_page() as opened:
        page.get_by_test_id("stMain").get_by_role("link", name="Bounds").click()
    other = opened.value
    other.get_by_text("for its error, ").wait_for()
    assert other.get_by_role("slider", name="Patients in total").get_attribute("aria-valuetext") == "100,000"
    assert "d=50" in other.url
    other.close()
