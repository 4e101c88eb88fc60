"""Time the first click on each page of a fresh server, in headless Chromium, until the page is complete.

    python -m benchmarks.cold_clicks [--json FILE] [--quick] [--pages Story Bounds …]

Each page has a server of its own and a browser with nothing in its cache: the first visitor opens the first
page as soon as the server answers, looks at it for five seconds once it is complete, and clicks. A page is
complete once all its figures are drawn and nothing is measured any more.
"""

import os
import time

import numpy as np
from playwright.sync_api import Browser, Page

from benchmarks import measure
from pages import order
from scripts.started import PLAYED, chromium, serving

ROUNDS = 3
_LOOK_MS = 5_000
# Milliseconds since `window.began` at which the page became complete, if it has stayed so for two seconds.
_COMPLETE = """title => {
  const figures = [...document.querySelectorAll('.dppca-live')];
  const drawn = figures.every((figure) => figure.dataset.drawn && figure.dataset.complete !== 'false');
  const waiting = document.querySelector('[data-testid=stSkeleton], [data-testid=stSpinner]');
  const measuring = /Measuring …|runs measured/.test(document.body.innerText);
  const heading = document.querySelector('[data-testid=stApp] [data-testid=stMain] h1');  // not the outline's
  const there = document.title.startsWith(title) && heading;
  if (!(there && drawn && !waiting && !measuring)) window.since = undefined;
  else window.since ??= performance.now();
  return window.since && performance.now() - window.since > 2000 ? window.since - window.began : null;
}"""


def complete(page: Page, title: str) -> float:
    """Return the milliseconds from `window.began` until the page is complete."""
    return float(page.wait_for_function(_COMPLETE, arg=title, timeout=180_000, polling=20).json_value())


def click(page: Page, name: str) -> None:
    """Click on a page's name in the menu, and begin to count."""
    if name in {order.title(file) for file in order.menu()[order.STATISTICIANS]}:
        page.get_by_test_id("stTopNavSection").filter(has_text=order.STATISTICIANS).click()
        link = page.get_by_test_id("stTopNavDropdownLink").filter(has_text=name)
    else:
        link = page.get_by_test_id("stTopNavLink").filter(has_text=name)
    link.wait_for()
    page.evaluate("window.since = undefined; window.began = performance.now()")
    link.click()


def once(browser: Browser, name: str) -> tuple[float, float]:
    """Return the milliseconds from the server's start until the first page is complete, and of a click."""
    began = time.perf_counter()
    with serving() as address:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_init_script(f"{PLAYED}; window.began = 0")  # when the browser left for the page
        page = context.new_page()
        left = time.perf_counter() - began
        page.goto(address)
        first = 1e3 * left + complete(page, order.titles()[order.FIRST])
        page.wait_for_timeout(_LOOK_MS)
        click(page, name)
        took = complete(page, name)
        context.close()
    return first, took


def main() -> None:
    parser = measure.options(__doc__)
    others = [name for name in order.titles().values() if name != order.titles()[order.FIRST]]
    parser.add_argument("--pages", nargs="+", choices=others, default=others)
    asked = parser.parse_args()
    rows, firsts = [], []
    with chromium() as browser:
        for name in asked.pages:
            took = [once(browser, name) for _ in range(1 if asked.quick else ROUNDS)]
            firsts += [first for first, _ in took]
            rows.append(measure.row(name, np.array([clicked for _, clicked in took])))
    rows.insert(0, measure.row("first page, since the server's start", np.array(firsts)))
    measure.show(f"cold clicks, load {os.getloadavg()[0]:.1f}", rows)
    measure.keep(asked.json, "cold clicks", rows)


if __name__ == "__main__":
    main()
