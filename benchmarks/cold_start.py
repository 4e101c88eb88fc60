"""Time `streamlit run` to the first usable explorer, beside an empty chart with the same imports.

    python -m benchmarks.cold_start [--json FILE] [--quick]

In turn, each time with a server of its own and a browser that has nothing in its cache: the dashboard, until
its three panels are drawn and its sliders are there; and, served in the same way after the same imports, a
page that draws one empty chart, until that is drawn. Beside them: until the server answers.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser

from benchmarks import measure
from benchmarks.measure import Times
from scripts.started import ROOT, chromium, serving

TARGET = 1.3  # times the empty chart, at most
ROUNDS = 9

_EMPTY = """
import streamlit as st
st.plotly_chart({"data": [{"type": "scatter", "x": [], "y": []}], "layout": {}})
"""
# What the dashboard's start and its first page import, before the server answers.
_SERVED = """
import sys
sys.path.insert(0, {root!r})
import app as dashboard
from pages.explore.explorer import document
from pages.shared.background import prefetch
from pages.shared.charts import explorer, explorer_summary
from pages.shared.reports import sources, take_along
from pages.shared.settings import sidebar, to_experiment
from streamlit.starlette import App
app = App({page!r}, routes=dashboard.ROUTES)
"""
# The element that is there once a page can be used.
_USABLE = {
    "explorer": ".dppca-live[data-drawn] .chart .main-svg",
    "empty chart": "[data-testid=stPlotlyChart] .main-svg",
}


def once(browser: Browser, script: Path, usable: str) -> tuple[float, float]:
    """Return the milliseconds from the server's start until it answers, and until `usable` is on the page."""
    began = time.perf_counter()
    with serving(script, PYTHONPATH=str(ROOT)) as address:
        answered = time.perf_counter()
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(address)
        page.locator(usable).first.wait_for(timeout=120_000)
        if script.name == "app.py":
            page.get_by_role("slider", name="Hospitals").first.wait_for()
        ended = time.perf_counter()
        context.close()
    return 1e3 * (answered - began), 1e3 * (ended - began)


def main() -> None:
    asked = measure.options(__doc__).parse_args()
    rounds = 2 if asked.quick else ROUNDS
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in _USABLE}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page, served = Path(folder) / "empty.py", Path(folder) / "served.py"
        page.write_text(_EMPTY, encoding="utf-8")
        served.write_text(_SERVED.format(root=str(ROOT), page=str(page)), encoding="utf-8")
        scripts = {"explorer": ROOT / "app.py", "empty chart": served}
        for _ in range(rounds):
            for name, script in scripts.items():
                took[name].append(once(browser, script, _USABLE[name]))
    answered, usable = (
        {name: np.array([times[i] for times in pairs]) for name, pairs in took.items()} for i in (0, 1)
    )
    rows = _rows(answered, usable)
    measure.show(f"cold start, load {os.getloadavg()[0]:.1f}", rows)
    measure.keep(asked.json, "cold start", rows)


def _rows(answered: dict[str, Times], usable: dict[str, Times]) -> list[measure.Row]:
    floor = usable["empty chart"]
    return [
        measure.row("empty chart, server answers", answered["empty chart"]),
        measure.row("empty chart is drawn", floor),
        measure.row("dashboard, server answers", answered["explorer"]),
        measure.row("explorer can be used", usable["explorer"], "the empty chart", floor, TARGET),
    ]


if __name__ == "__main__":
    main()
