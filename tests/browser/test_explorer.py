"""Test the front page in a real browser: sliders, links, scrub, both kinds of data, no request outside."""

import json
import math
import urllib.request
from urllib.parse import parse_qsl

import numpy as np
import pytest

from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS
from dppca_core.experiments.explorer.picture import NOISES
from dppca_core.experiments.explorer.results import Results
from pages.shared.settings import catalogue, to_experiment
from scripts.started import serving
from tests.browser.conftest import AT_REST, SMALL
from tests.browser.test_connection import FAR

pytestmark = pytest.mark.browser

SOME_NOISES_MS = 1000  # in which several would be drawn
SLIDERS = (
    *("Privacy loss", "Failure chance", "Patients in total", "Hospitals", "Features"),
    *("Components", "Features that matter"),
)


def test_a_deep_link_is_the_first_thing_a_new_server_shows(watched):
    with serving() as address:
        link = "eps=2&n=1%2C000%2C000&N=20&d=30&repeats=1&method=dps_pca&view=Full"
        page = watched().open(f"{address}?{link}")
        sentence = page.sentence()
        assert sentence.startswith("With 1,000,000 patients in 20 hospitals at ε = 2, DPS-PCA finds")
        page.page.get_by_role("radio", name="Full", checked=True).wait_for()
        assert page.errors == []


def test_each_slider_moves_by_keyboard_and_the_charts_follow(watched, address):
    page = watched().open(f"{address}?{SMALL}")
    for label in SLIDERS:
        before, sentence = page.drawn(), page.sentence()
        page.press(label, "ArrowRight")
        assert page.drawn() != before, label
        assert page.sentence() != sentence or label == "Failure chance", label
    assert page.page.get_by_test_id("stException").count() == 0
    assert page.errors == []
    assert page.remote() == []


def test_a_link_copied_after_moving_reopens_the_same_screen(watched, address):
    page = watched().open(f"{address}?{SMALL}")
    page.press("Patients in total", "ArrowRight")
    page.press("Privacy loss", "ArrowLeft")
    page.page.wait_for_url("**eps=0.8**")
    page.settle()
    other = watched().open(page.page.url)
    other.settle()
    assert other.sentence() == page.sentence()
    assert other.drawn() == page.drawn()


def test_a_presets_link_and_a_reload_keep_the_screen(watched, address):
    """The address bar has what the program sets, not only what a widget was moved to."""
    page = watched().open(f"{address}?repeats=1&d=30&k=2&s=6&shat=10&ghost=true")
    page.page.wait_for_selector(AT_REST)  # else Streamlit drops the press
    page.page.get_by_role("combobox", name="Start from").click()
    page.page.get_by_role("option", name="Rare disease").click()
    page.page.wait_for_url("**preset=rare-disease**")
    page.page.get_by_text("With 10,000 patients in 50 hospitals").wait_for()
    assert "ghost=true" in page.page.url
    for again in (watched().open(page.page.url), page.open(page.page.url)):
        assert again.sentence().startswith("With 10,000 patients in 50 hospitals")
        again.page.get_by_role("switch", name="Keep the last result", checked=True).wait_for()


# Drag a slider to a frame, and hold it there.
DRAGGED = "(slider, frame) => { slider.value = frame; slider.dispatchEvent(new Event('input')); }"


def test_the_scrub_is_live_and_asks_the_server_nothing(watched, address):
    page = watched().open(f"{address}?{SMALL}")
    page.settle()
    sent: list[object] = []
    page.page.on("request", lambda request: sent.append(request.url))
    before, sentence = page.drawn(), page.sentence()
    epsilon = page.page.get_by_role("slider", name="Privacy loss ε")
    epsilon.evaluate(DRAGGED, 10)
    page.page.wait_for_function("document.querySelector('.dppca-live').dataset.drawn.endsWith(':10')")
    assert page.drawn() != before
    assert "at ε = 0.1," in page.sentence() and page.sentence() != sentence
    # A busy page may only now ask what was measured beside its own setting, which names no epsilon.
    assert [url for url in sent if "/ahead?" not in url or "eps=" in url] == []
    assert "eps=" not in page.page.url


# Notes what the figure shows, and where, whenever a frame of the browser differs from the one before.
NOTE = """() => {
  window.noted = [];
  const live = document.querySelector('.dppca-live');
  const look = () => {
    const { top, height } = live.querySelector('.chart').getBoundingClientRect();
    const seen = [live.dataset.drawn, Math.round(top), Math.round(height)].join();
    if (seen !== window.noted.at(-1)) window.noted.push(seen);
    requestAnimationFrame(look);
  };
  look();
}"""


def test_the_released_slider_sets_epsilon_and_the_picture_does_not_jump(watched, address):
    page = watched().open(f"{address}?{SMALL}")
    page.settle()
    epsilon = page.page.get_by_role("slider", name="Privacy loss ε")
    epsilon.evaluate(DRAGGED, 10)
    page.page.wait_for_function("document.querySelector('.dppca-live').dataset.drawn.endsWith(':10')")
    page.page.evaluate(NOTE)
    epsilon.dispatch_event("change")
    page.page.wait_for_url("**eps=0.1**")
    page.page.wait_for_function("document.querySelector('.dppca-live').dataset.answered.endsWith(':10')")
    assert epsilon.get_attribute("aria-valuetext") == "ε = 0.1" and "at ε = 0.1," in page.sentence()
    assert len(noted := page.page.evaluate("window.noted")) == 1, noted
    epsilon.focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight"):
        page.page.keyboard.press(key)
    page.page.wait_for_url("**eps=0.08**")
    # A slow server may answer each key: of the answers the last one counts.
    page.page.wait_for_function(
        "(({ answered, drawn }) => answered.endsWith(':9') && drawn.endsWith(':9'))"
        "(document.querySelector('.dppca-live').dataset)"
    )
    assert epsilon.evaluate("slider => slider === document.activeElement") and page.errors == []


def test_in_plain_view_the_rows_follow_the_scrub_and_the_server_is_asked_nothing(watched, address):
    page = watched(viewport={"width": 390, "height": 844}).open(f"{address}?{SMALL}&view=plain")
    page.settle()
    page.requests.clear()
    before, sentence = page.drawn(), page.sentence()
    scrub = page.page.get_by_role("slider", name="Privacy loss ε")
    scrub.evaluate(DRAGGED, 3)
    page.page.wait_for_function("document.querySelector('.dppca-live').dataset.drawn.endsWith(':3')")
    assert page.drawn() != before and page.sentence() != sentence
    assert scrub.get_attribute("aria-valuetext") == "0.02"
    assert [url for url in page.requests if "/ahead?" not in url] == [] and page.errors == []


OF_DPS_PCA = f"{SMALL}&method=dps_pca"
CHART = "document.querySelector('.dppca-live .chart')"


def test_the_picture_follows_the_scrub_and_its_patients_are_the_cores(watched, address):
    page = watched().open(f"{address}?{OF_DPS_PCA}")
    page.settle()
    page.requests.clear()
    scrub = page.page.get_by_role("slider", name="Privacy loss ε")
    settings = catalogue.open_link(dict(parse_qsl(OF_DPS_PCA)), catalogue.SMALL_STUDY)[0]
    results = Results(to_experiment.from_settings(settings)[0])
    unit = 3 * math.sqrt(results.truth.eigenvalues[0])
    for index in (5, 25):
        scrub.evaluate(DRAGGED, index)
        page.page.wait_for_function(
            f"document.querySelector('.dppca-live').dataset.drawn.endsWith(':{index}')"
        )
        drawn = {name: (x, y) for name, x, y in page.drawn()}
        results.try_cells((DPS_PCA, EPSILONS[index], repeat) for repeat in range(NOISES))
        planes = sorted(results.planes(EPSILONS[index]), key=lambda plane: abs(plane.angle))
        shown = planes[(NOISES - 1) // 2]
        normals = np.round(np.random.default_rng(0).standard_normal((300, 2)), 2)
        along, across = (normals * [shown.along / unit, shown.across / unit]).T
        # The true direction is drawn at 45 degrees.
        expected = np.array([along - across, along + across]) / math.sqrt(2)
        corners = np.array(drawn["patients"], dtype=float).reshape(2, 300, 5)[:, :, :4]  # of squares
        np.testing.assert_allclose(corners.mean(axis=2), expected, rtol=1e-3, atol=2e-3)
    assert [url for url in page.requests if "/ahead?" not in url] == []
    assert page.errors == []


def test_moves_that_outrun_their_answers_are_none_of_them_taken_back(watched, address):
    page = watched()
    page.page.add_init_script(FAR)
    page.open(f"{address}?{SMALL}").settle()
    page.page.evaluate(f"() => {{ window.late = 4000; ({NOTE})() }}")
    epsilon = page.page.get_by_role("slider", name="Privacy loss ε")
    for _ in range(6):  # from 20; each is sent before the one before it is answered
        epsilon.press("ArrowLeft")
        page.page.wait_for_timeout(250)
    page.page.wait_for_url("**eps=0.25**")
    page.page.wait_for_function("document.querySelector('.dppca-live').dataset.answered.endsWith(':14')")
    page.page.wait_for_function("window.noted.at(-1).split(',')[0].endsWith(':14')")
    seen = [int(noted.split(",")[0].rpartition(":")[2]) for noted in page.page.evaluate("window.noted")]
    assert seen == sorted(seen, reverse=True) and page.errors == []


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_play_fans_out_twenty_noises_and_reduced_motion_shows_one_a_press(watched, address, motion):
    page = watched(reduced_motion=motion).open(f"{address}?{SMALL}")
    page.settle()
    legend = page.page.locator(".dppca-live .legend")
    assert "other noises" not in legend.inner_text()
    button, lines = page.page.locator(".dppca-live .noises"), f"{CHART}.data.find(t => t.name === 'noises').x"
    for pressed in range(1, 21 if motion == "reduce" else 2):
        button.click()
        if motion == "reduce":
            page.page.wait_for_function(f"{lines}.length === {3 * pressed}")
    page.page.wait_for_function(f"{lines}.length === 60")
    assert "other noises" in legend.inner_text()
    button.click()  # from the first again
    page.page.wait_for_function(f"{lines}.length < 60")
    assert page.errors == []


NOISES_DRAWN = f"{CHART}.data.find(t => t.name === 'noises')?.x.length"


def test_the_noises_play_by_themselves_on_a_first_visit_alone(newcomer, watched, address):
    newcomer.pages[0].evaluate("localStorage.clear()")
    page, link = watched(), f"{address}?{SMALL}"
    page.open(link).page.wait_for_function(f"{NOISES_DRAWN} === 60")
    again = watched().open(link)
    again.settle()
    newcomer.pages[0].evaluate("localStorage.clear()")
    calm = watched(reduced_motion="reduce").open(link)
    calm.settle()
    calm.page.wait_for_timeout(SOME_NOISES_MS)
    for still in (again, calm):
        assert still.page.evaluate(NOISES_DRAWN) == 0
        assert "other noises" not in still.page.locator(".dppca-live .legend").inner_text()
    assert page.errors == again.errors == calm.errors == []


def test_the_first_panel_is_chosen_and_its_link_restores_it(watched, address):
    page = watched().open(f"{address}?{OF_DPS_PCA}")
    page.page.get_by_role("radio", name="Round by round").click()
    page.page.wait_for_url("**first=rounds**")
    page.page.get_by_text("DPS-PCA, error per iteration", exact=True).wait_for()
    other = watched().open(page.page.url).page
    other.get_by_text("DPS-PCA, error per iteration", exact=True).wait_for()
    assert not other.locator(".dppca-live .noises").is_visible()


def test_the_ghost_holds_the_previous_setting(watched, address):
    page = watched().open(f"{address}?{SMALL}&ghost=true")
    assert not [name for name, *_ in page.drawn() if name.endswith(", before")]
    page.press("Hospitals", "ArrowRight")
    assert len([name for name, *_ in page.drawn() if name.endswith(", before")]) >= 3


def test_a_real_table_works_and_comes_back(watched, address):
    page = watched().open(f"{address}?repeats=1&data=breast_cancer&k=2&d=30&s=6&shat=10")
    page.page.get_by_text("With 569 patients in 5 hospitals").first.wait_for()  # "Measuring" before it
    assert page.page.get_by_label("Patients in total").is_disabled()
    before = page.drawn()
    page.press("Hospitals", "ArrowLeft")
    assert page.drawn() != before
    page.page.get_by_role("combobox", name="Data").click()
    page.page.get_by_role("option", name="Synthetic patients").click()
    page.page.get_by_text("With 2,000 patients").wait_for()  # of the page's own preset
    assert page.errors == [] and page.remote() == []


def test_zoom_survives_an_update(watched, address):
    page = watched().open(f"{address}?{SMALL}&first=rounds")
    page.settle()  # a zoom holds for the range of its data, which more runs may change
    box = page.page.locator(".dppca-live .chart .xy .drag[data-subplot=xy]").first.bounding_box()
    page.page.mouse.move(box["x"] + 60, box["y"] + 40)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 140, box["y"] + 200, steps=5)
    page.page.mouse.up()
    ranges = "document.querySelector('.dppca-live .chart').layout.xaxis.range"
    page.page.wait_for_function(f"{ranges}[1] < 9")
    zoomed = page.page.evaluate(ranges)
    page.press("Hospitals", "ArrowRight")
    assert page.page.evaluate(ranges) == zoomed


def test_of_many_quick_presses_the_last_is_shown_and_the_overtaken_are_left_off(watched, address):
    page = watched()
    page.page.goto(f"{address}?repeats=1&d=1000&n=10000&k=2&s=6&shat=10&N=1")
    page.page.wait_for_selector(".dppca-live[data-drawn]")
    page.page.evaluate(
        """() => {
          const live = document.querySelector('.dppca-live');
          window.shown = new Set();
          new MutationObserver(() => shown.add(live.dataset.drawn)).observe(live, { attributes: true });
        }"""
    )
    slider = page.page.get_by_role("slider", name="Patients in total").first
    presses = 12  # each to patients that must be drawn anew
    for _ in range(presses):
        slider.press("ArrowRight")
    last = slider.get_attribute("aria-valuetext")
    page.page.get_by_text(f"With {last} patients in 1 hospital").wait_for()
    assert last == "100,000,000"
    assert page.page.evaluate("shown.size") < presses
    assert page.errors == []


def near(url: str) -> dict[str, object]:
    """Return what the server holds of the settings one press away."""
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)["near"] if answer.status == 200 else {}


# What came of /ahead, once the page has taken it over: a response alone may lie there unread.
KEEP_AHEAD = """
const json = Response.prototype.json;
Response.prototype.json = async function () {
  const read = await json.call(this);
  if (this.url.includes("/ahead?")) setTimeout(() => { window.ahead = read; });
  return read;
};
"""


def test_the_next_press_is_answered_before_the_server_is_asked(watched, address):
    asked = f"preset=small-study&{SMALL}&seed=7"
    link = f"{address}?{asked}"
    page = watched().open(link)
    page.settle()
    # The server measures what lies one press away for who has just moved: a reload counts as a move.
    while "providers" not in near(f"{address}ahead?{asked}&known=0"):
        page.open(link).settle()
    page.page.add_init_script(KEEP_AHEAD)
    page.open(link)
    page.page.wait_for_function("window.ahead?.near.providers")
    page.page.get_by_text("DPdisPCA, length 1").first.wait_for()  # what is measured last
    sentence, drawn = page.sentence(), page.drawn()
    slider = page.page.get_by_role("slider", name="Hospitals").first
    page.page.evaluate("WebSocket.prototype.send = () => {}")  # the server is asked nothing from here on
    slider.press("ArrowRight")
    page.page.get_by_text("patients in 6 hospitals").wait_for()
    assert page.drawn() != drawn
    slider.press("ArrowLeft")  # where the slider was, the screen is as it was
    page.page.get_by_text(sentence).wait_for()
    page.page.wait_for_function("document.querySelector('.dppca-live .chart').data.length")
    assert page.drawn() == drawn
    assert page.errors == []


def test_a_hostile_link_opens_with_one_sentence_and_no_script(watched, address):
    page = watched()
    page.page.on("dialog", lambda dialog: page.errors.append(dialog.message))
    page.open(f"{address}?eps=0&n=1e40&k=20&s=5&view=%3Cscript%3Ealert(1)%3C%2Fscript%3E&repeats=1&d=30")
    notice = page.page.get_by_test_id("stAlert").inner_text()
    assert (
        "“Privacy loss ε” was 0: we set it to 0.01" in notice
        and "“Patients in total n” was 1e40: we set it to 1,000,000,000" in notice
    )
    assert "We lowered “Components k” to 4" in notice
    assert page.page.get_by_test_id("stException").count() == 0
    assert page.errors == []
    page.page.wait_for_url("**k=4**")  # the address bar shows the settings, not what was asked for
    assert "script" not in page.page.url and "1e40" not in page.page.url


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_nothing_is_cut_off(watched, address, width, scheme):
    """Nothing scrolls sideways, and every panel title is inside the window, at desk and phone width."""
    page = watched(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.open(f"{address}?repeats=1&loadings=true")
    wide = page.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    for title in ("300 patients, the largest of 3 angles", "Error against ε", "Methods side by side"):
        edges = "e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right]"
        left, right = page.page.get_by_text(title, exact=True).evaluate(edges)
        assert left >= 0 and right <= width
    assert page.errors == []


def test_the_figure_is_saved_as_a_picture(watched, address):
    page = watched(color_scheme="dark").open(f"{address}?{SMALL}")
    page.page.get_by_test_id("stPopoverButton").filter(has_text="Download").first.click()
    files = {}
    for kind in ("PNG", "SVG"):  # the menu stays open
        with page.page.expect_download() as saved:
            page.page.get_by_role("button", name=kind, exact=True).click()
        assert saved.value.suggested_filename == f"dppca-explorer.{kind.lower()}"
        files[kind] = saved.value.path().read_bytes()
    width, height = (int.from_bytes(files["PNG"][at : at + 4], "big") for at in (16, 20))
    assert files["PNG"].startswith(b"\x89PNG") and width == 3200 and height >= 1800
    drawn = files["SVG"].decode()
    assert drawn.startswith("<svg") and "rgb(255, 255, 255)" in drawn  # white paper, also of a dark page
    assert all(words in drawn for words in ("Explorer", "random guess", "privacy loss ε"))
    assert page.errors == []
