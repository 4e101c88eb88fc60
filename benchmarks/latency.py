"""Key press to answered screen, in headless Chromium: the explorer beside two floors, in one run.

    python -m benchmarks.latency [--json FILE]

Pages: "slider" is one slider and st.write; "stored" is the explorer with everything that is measured or
computed for the figure replaced by a stored result; "live" is the product, with all cells of the setting
measured beforehand (what a visitor has a few seconds after opening it); "cold" is the product with every
cell forgotten at each press. A press counts until all three panels are drawn. Presses alternate between the
pages, so that a drift of the machine's speed cancels in the ratios. Medians and 90 % quantiles of 30.

The epsilon slider is answered in the browser, which holds a frame for each epsilon; the hospitals' slider
goes through the server, the core and a new figure.
"""

import argparse
import json
import statistics
import tempfile
from contextlib import ExitStack
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page

from scripts.started import ROOT, chromium, serving

PRESSES = 30
SLIDERS = ("Privacy loss", "Hospitals")
SETTINGS = {"default": "", "d = 1000": "?d=1%2C000&n=100%2C000&k=5&N=5"}

SLIDER = """
import streamlit as st
value = st.slider("Privacy loss", 0, 30, 20)
st.write(f"value {value}")
"""

PATCHED = """
import sys
from streamlit.starlette import App
sys.path.insert(0, {root!r})
from app import ROUTES, warm
from dppca_core.experiments.live import EPSILONS, Results
from pages.shared import cached, readout
{patch}
app = App({menu!r}, lifespan=warm, routes=ROUTES)
"""

# What the page computes for the figure is replaced by what it computed when first opened.
STORED = """
stored, compute = {}, readout.payload
def payload(found, epsilon, settings):
    key = (settings["d"], settings["k"])
    if key not in stored:
        for cell in wanted(found, found.rest(epsilon)):
            found.cell(*cell)
        stored[key] = compute(found, epsilon, settings)
    return stored[key] | {"active": EPSILONS.index(epsilon), "scene": str(settings["N"])}
wanted = Results.missing
readout.payload = payload
Results.missing = lambda self, cells: []
Results.next_missing = lambda self, epsilon, slow=False: None
"""

# Every press measures anew what the page needs before it shows anything, and builds its figure anew.
COLD = """
def results(scene):
    readout._BUILT.clear()
    return Results(scene)
cached.results = results
Results.next_missing = lambda self, epsilon, slow=False: None
"""

WATCH = """() => {
  const live = document.querySelector('.dppca-live');
  const read = () => live
    ? document.querySelector('.dppca-live')?.dataset.drawn ?? before
    : document.body.innerText.match(/value (\\d+)/)[1];
  let before;
  before = read();
  window.took = null;
  document.addEventListener('keydown', () => {
    const began = performance.now();
    const look = () => {
      if (read() !== before) window.took = performance.now() - began;
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, {once: true, capture: true});
}"""


def press(page: Page, slider: Locator, key: str) -> float:
    """Milliseconds from the key press to the drawn answer."""
    page.evaluate(WATCH)
    slider.press(key)
    page.wait_for_function("window.took !== null", polling=5)
    return float(page.evaluate("window.took"))


def opened(browser: Browser, address: str) -> Page:
    """A page that has finished."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.locator(".dppca-live[data-complete=true]").or_(page.get_by_text("value 20")).first.wait_for(
        timeout=180_000
    )
    return page


def scrubbed(page: Page) -> list[float]:
    """Milliseconds from each of 31 scrub events to the drawn answer; fails if any asks the server."""
    frames: list[object] = []
    page.on("request", lambda request: frames.append(request.url))
    page.on("websocket", lambda socket: socket.on("framesent", frames.append))
    took = page.evaluate(
        """async () => {
          const live = document.querySelector('.dppca-live');
          const input = live.querySelector('input[type=range]');
          const took = [];
          for (let i = 0; i <= 30; i++) {
            if (live.dataset.drawn.endsWith(':' + i)) continue;
            const began = performance.now();
            input.value = i;
            input.dispatchEvent(new Event('input', {bubbles: true}));
            while (!live.dataset.drawn.endsWith(':' + i)) await new Promise(requestAnimationFrame);
            took.push(performance.now() - began);
          }
          return took;
        }"""
    )
    if frames:
        raise RuntimeError(f"the scrub asked the server: {frames[:3]}")
    return [float(value) for value in took]


def quantile90(values: list[float]) -> float:
    return sorted(values)[int(0.9 * len(values))]


def measure(browser: Browser, addresses: dict[str, str], query: str, slider: str) -> dict[str, list[float]]:
    """PRESSES per page, in turn: three to the right, three to the left."""
    pages = {
        name: opened(browser, address + ("" if name == "slider" else query))
        for name, address in addresses.items()
    }
    for page in pages.values():
        page.get_by_role("slider").first.wait_for()
    sliders = {
        name: page.get_by_role("slider", name=None if name == "slider" else slider).first
        for name, page in pages.items()
    }
    took: dict[str, list[float]] = {name: [] for name in pages}
    for i in range(PRESSES + 6):
        for name, page in pages.items():
            page.bring_to_front()
            milliseconds = press(page, sliders[name], "ArrowRight" if i % 6 < 3 else "ArrowLeft")
            page.wait_for_timeout(120)
            if i >= 6:  # the first round warms each page at these seven values
                took[name].append(milliseconds)
    pages["live"].bring_to_front()
    if slider == SLIDERS[0]:
        took["scrub"] = scrubbed(pages["live"])
    for page in pages.values():
        page.close()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    out = parser.parse_args().json
    figures: dict[str, dict[str, dict[str, float]]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        names = {"root": str(ROOT), "menu": str(ROOT / "pages" / "menu.py")}
        patches = {"stored": STORED, "cold": COLD}
        scripts = {name: PATCHED.format(patch=patch, **names) for name, patch in patches.items()}
        scripts["slider"] = SLIDER
        addresses = {"live": stack.enter_context(serving())}
        for name, script in scripts.items():
            path = folder / f"{name}.py"
            path.write_text(script, encoding="utf-8")
            addresses[name] = stack.enter_context(serving(path, PYTHONPATH=str(ROOT)))
        browser = stack.enter_context(chromium())
        for (label, query), slider in product(SETTINGS.items(), SLIDERS):
            took = measure(browser, addresses, query, slider)
            title = f"{label}, {slider} slider"
            figures[title] = {
                name: {"median": statistics.median(values), "p90": quantile90(values)}
                for name, values in took.items()
            }
            middle = {name: figure["median"] for name, figure in figures[title].items()}
            print(f"\n{title}\n{'':10}{'median ms':>10}{'p90 ms':>10}")
            for name, figure in figures[title].items():
                print(f"{name:10}{figure['median']:10.0f}{figure['p90']:10.0f}")
            print(
                f"live / stored {middle['live'] / middle['stored']:.2f}, "
                f"stored / slider {middle['stored'] / middle['slider']:.2f}, "
                f"cold / stored {middle['cold'] / middle['stored']:.2f}"
            )
    if out:
        out.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
