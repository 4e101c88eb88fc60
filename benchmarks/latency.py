"""Time a key press to updated panels in headless Chromium, beside the same page with stored results.

    python -m benchmarks.latency [--json FILE] [--quick] [--corner NAME] [--complete | --core]

Every slider that is free at a corner of the settings is pressed, each press to a setting that the server has
not shown before, two seconds after the one before it: a visitor looks before moving on. A press counts until
the panels are drawn (on the page with one slider, until its text is there). Presses alternate between the
pages of `latency_pages`, whose other servers are held still meanwhile: a drift of the machine's speed cancels
in the ratios.

Then twenty presses in two seconds: from the last of them until its setting is on the screen, beside single
presses of the same slider, and how many of the twenty settings were begun to be measured.

`--complete` times each slider's press, at four sizes, until the figure says that it is complete: settings of
which nothing was measured, nor ahead. `--core` does so without server and browser, on one core.
"""

import os
import statistics
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from playwright.sync_api import Browser, Locator, Page

from benchmarks import measure
from benchmarks.latency_pages import Server, served
from benchmarks.measure import Row, Times
from dppca_core.experiments.sweeps.blas import use_one_thread
from pages.explore.explorer.model import Explorer
from pages.shared.background.engine import missing_cells
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import open_link
from scripts.started import COMPLETE, PLAYED, chromium

SLIDERS = {
    "epsilon": "Privacy loss",
    "delta": "Failure chance",
    "n": "Patients in total",
    "providers": "Hospitals",
    "d": "Features",
    "k": "Components",
    "s": "Features that matter",
}
PRESSES = 5
LOOK_MS = 2000  # between presses of a visitor
CALM_MS = 500  # for pages whose servers do nothing in between
BURST, EVERY_MS = 20, 100


@dataclass(frozen=True)
class Corner:
    """Hold a corner of the settings, and the allowed ratio of a press there to the stored page's median."""

    link: str
    target: float
    sliders: tuple[str, ...] = tuple(SLIDERS)

    def start(self, key: str) -> Any:
        return catalogue.open_link(dict(parse_qsl(self.link)), catalogue.SMALL_STUDY)[0][key]

    def arrow(self, key: str) -> str:
        """Return the arrow key towards the farther end of the slider."""
        options = catalogue.CHOICES[key].options
        return "ArrowRight" if 2 * options.index(self.start(key)) < len(options) else "ArrowLeft"


CORNERS = {
    "default": Corner("", 1.2),
    "d = 1000": Corner("preset=large-study&d=1000&n=100000&k=5&N=5", 1.5),
    "d = 2000": Corner("preset=large-study&d=2000&n=1000000000&k=10&N=100&s=20&shat=40", 2.5),
    "real table": Corner(
        "preset=large-study&data=breast_cancer", 1.2, ("epsilon", "delta", "providers", "k")
    ),
}
# By size a corner, and the seconds after which its screen is complete.
SIZES = {
    "n = 2,000, d = 50": (Corner("preset=small-study", 1.0), 1.0),
    "n = 100,000, d = 200": (Corner("preset=large-study", 1.0), 1.5),
    "d = 1000": (CORNERS["d = 1000"], 4.0),
    "d = 2000": (CORNERS["d = 2000"], 10.0),
}
AGAINST_ONE_SLIDER = 3.0
BURST_TARGET = 1.5

# Identifies what is on screen: a figure's mark, or the text of the page with one slider.
SHOWN = """() => document.querySelector('.dppca-live')?.dataset.drawn
    ?? document.body.innerText.match(/value (\\d+)/)?.[1]"""

# `window.took`: milliseconds from the next key press until something else is on screen, complete where asked.
ONE_PRESS = f"""complete => {{
  const shown = {SHOWN};
  const rests = () => !complete || document.querySelector({COMPLETE!r}) !== null;
  const before = shown();
  window.took = null;
  document.addEventListener('keydown', () => {{
    const began = performance.now();
    const look = () => {{
      if (![before, undefined].includes(shown()) && rests()) window.took = performance.now() - began;
      else requestAnimationFrame(look);
    }};
    requestAnimationFrame(look);
  }}, {{once: true, capture: true}});
}}"""

# The same from the last of `presses` key presses until the sentence is of the setting that the slider shows.
LAST_PRESS = f"""([slider, presses]) => {{
  const shown = {SHOWN};
  let pressed = 0, began = null, before;
  window.took = null;
  document.addEventListener('keydown', () => {{
    pressed += 1;
    if (pressed === presses) began = performance.now();
  }}, {{capture: true}});
  const look = () => {{
    const sentence = document.querySelector('.dppca-live .sentence')?.textContent ?? '';
    const there = sentence.includes(` in ${{slider.getAttribute('aria-valuetext')}} hospital`);
    if (!there) before = shown();
    else if (began !== null && shown() !== before) {{
      window.took = Math.max(0, performance.now() - began);
      return;
    }}
    requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
}}"""


def opened(browser: Browser, address: str, link: str) -> Page:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(PLAYED)
    page.goto(f"{address}?{link}")
    page.locator(".dppca-live[data-drawn]").or_(page.get_by_text("value 500")).first.wait_for(timeout=180_000)
    return page


def slider_of(page: Page, key: str) -> Locator:
    """Return the page's slider for this setting, or the only one of the page that has just one."""
    slider = page.get_by_role("slider")
    slider.first.wait_for()
    named = page.get_by_role("slider", name=SLIDERS[key])
    return named.first if named.count() else slider.first


def press(page: Page, slider: Locator, key: str, complete: bool = False) -> float:
    page.bring_to_front()
    page.evaluate(ONE_PRESS, complete)
    slider.press(key)
    page.wait_for_function("window.took !== null", polling=20, timeout=120_000)
    return float(page.evaluate("window.took"))


def presses(
    browser: Browser, servers: dict[str, Server], corner: Corner, key: str, count: int
) -> dict[str, Times]:
    """Return the milliseconds of presses of one slider on the page of each server, the first not counted."""
    pages, sliders = {}, {}
    for name, server in servers.items():
        with server.running():
            pages[name] = opened(browser, server.address, corner.link)
            sliders[name] = slider_of(pages[name], key)
    took: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(count + 1):
        for name, page in pages.items():
            with servers[name].running():
                page.bring_to_front()
                page.wait_for_timeout(LOOK_MS if name == "live" else CALM_MS)
                took[name].append(press(page, sliders[name], corner.arrow(key)))
    for page in pages.values():
        page.close()
    return {name: np.array(values[1:]) for name, values in took.items()}


def burst(browser: Browser, server: Server, corner: Corner, away: int) -> tuple[float, int]:
    """Return the milliseconds from the last of BURST presses to its answer, and the settings begun."""
    with server.running():
        page = opened(browser, server.address, f"{corner.link}&N=1&seed={away + 1}")
        slider = slider_of(page, "providers")
        page.wait_for_timeout(LOOK_MS)
        before = server.begun()
        page.evaluate(LAST_PRESS, [slider.element_handle(), BURST])
        for _ in range(BURST):
            slider.press("ArrowRight")
            page.wait_for_timeout(EVERY_MS)
        page.wait_for_function("window.took !== null", polling=20, timeout=120_000)
        took = float(page.evaluate("window.took"))
        measured = server.begun() - before
        page.close()
    return took, measured


def completed(browser: Browser, server: Server, corner: Corner) -> Times:
    took = []
    with server.running():
        for key in corner.sliders:
            page = opened(browser, server.address, corner.link)
            page.locator(COMPLETE).wait_for(timeout=180_000)
            page.wait_for_timeout(CALM_MS)
            took.append(press(page, slider_of(page, key), corner.arrow(key), complete=True))
            page.close()
    return np.array(took)


def completed_in_core(corner: Corner, seed: int) -> float:
    """Return the milliseconds of one core until the figure of new settings is complete, and built."""
    link = dict(part.split("=") for part in f"{corner.link}&seed={seed}".split("&"))
    view = Explorer(open_link(link)[0])
    began = time.process_time()
    for steps in (view.first(), missing_cells(view.results, view.next_cell)):
        for _ in steps:
            pass
        view.payload()
    return 1e3 * (time.process_time() - began)


def complete_rows(in_core: bool, rounds: int) -> list[Row]:
    """Return how long screens take to be complete, by size, with the time that is allowed as the floor."""
    if in_core:
        use_one_thread()
        took = {
            name: np.array([completed_in_core(corner, seed) for seed in range(1, rounds + 1)])
            for name, (corner, _) in SIZES.items()
        }
    else:
        with served() as servers, chromium() as browser:
            took = {name: completed(browser, servers["cold"], corner) for name, (corner, _) in SIZES.items()}
    allowed = {name: np.full(len(times), 1e3 * SIZES[name][1]) for name, times in took.items()}
    return [measure.row(name, times, "the time allowed", allowed[name], 1.0) for name, times in took.items()]


def rows_of(took: dict[str, dict[str, Times]], corner: Corner, default: bool) -> list[Row]:
    """Return the figures of each slider's presses, in milliseconds by page, then of all sliders together."""
    rows = []
    for key, times in took.items():
        rows += [
            measure.row(SLIDERS[key], times["live"], "stored", times["stored"]),
            measure.row("  nothing measured ahead", times["cold"], "stored", times["stored"]),
        ]
    every = {name: np.concatenate([times[name] for times in took.values()]) for name in ("live", "stored")}
    single = np.concatenate([times["slider"] for times in took.values()])
    rows.append(measure.row("all sliders", every["live"], "stored", every["stored"], corner.target))
    target = AGAINST_ONE_SLIDER if default else None
    return [*rows, measure.row("  the same", every["live"], "one slider", single, target)]


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--slider", choices=SLIDERS, action="append", help="only this one")
    parser.add_argument("--corner", choices=CORNERS, action="append", help="only this one; may be repeated")
    parser.add_argument("--complete", action="store_true", help="time until screens are complete")
    parser.add_argument("--core", action="store_true", help="the same without a browser")
    asked = parser.parse_args()
    count, bursts = (1, 1) if asked.quick else (PRESSES, 4)
    if asked.complete or asked.core:
        rows = complete_rows(asked.core, count)
        measure.show(f"complete, load {os.getloadavg()[0]:.1f}", rows)
        measure.keep(asked.json, "complete", rows)
        return
    figures: dict[str, object] = {}
    with served() as servers, chromium() as browser:
        for name in asked.corner or CORNERS:
            corner = CORNERS[name]
            took = {
                key: presses(browser, servers, corner, key, count)
                for key in corner.sliders
                if not asked.slider or key in asked.slider
            }
            presses_alone = took.get("providers", next(iter(took.values())))
            last = [burst(browser, servers["live"], corner, i) for i in range(bursts)]
            rows = rows_of(took, corner, name == "default")
            ms = np.array([ms for ms, _ in last])
            # Nothing is prefetched for a burst, so compare it with a press that was not prefetched either.
            for title, page, floor, most in (
                (f"last of {BURST}", "cold", "one that nothing was measured ahead of", BURST_TARGET),
                ("  the same", "stored", "one of the stored page", None),
                ("  the same", "live", "one that was measured ahead", None),
            ):
                single = np.full(bursts, statistics.median(presses_alone[page]))
                rows.append(measure.row(title, ms, floor, single, most))
            measure.show(f"{name}, load {os.getloadavg()[0]:.1f}", rows)
            counts = [measured for _, measured in last]
            print(f"  settings begun of the {BURST} that were pressed, and ahead of them: {counts}")
            figures[name] = {"presses": rows, "measured in a burst": counts}
    measure.keep(asked.json, "latency", figures)


if __name__ == "__main__":
    main()
