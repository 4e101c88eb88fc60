"""Test a dashboard below a path of its address, and a chart whose library does not load."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from scripts.started import BASE_PATH, ROOT, serving
from tests.browser.conftest import AT_REST, SMALL, downloaded, go_to

pytestmark = pytest.mark.browser

UNDRAWN = "The chart library did not load. Reload the page to see the chart."


@pytest.fixture(scope="module")
def below() -> Iterator[str]:
    with serving(**{BASE_PATH: "dp/tools"}) as address:
        yield address


def answer(url: str) -> tuple[int, str]:
    """Return the status of an answer, and the type of its content."""
    try:
        with urllib.request.urlopen(url) as got:
            return got.status, got.headers.get_content_type()
    except HTTPError as refused:
        with refused:
            return refused.code, refused.headers.get_content_type()


def test_every_route_is_below_the_path_and_nowhere_else(below):
    root = below.removesuffix("dp/tools/")
    for path, content in (
        ("healthz", "text/plain"),
        ("ahead", "application/json"),
        ("assets/plotly.min.js", "application/javascript"),
        ("lesson.html", "text/html"),
    ):
        assert answer(below + path) == (200, content)
        assert answer(root + path) == answer(f"{below}elsewhere/{path}") == (404, "text/plain")


@pytest.mark.parametrize(("path", "answered"), [("dp/tools", True), ("/dp/tools/", True), ("", False)])
def test_the_containers_health_check_reads_the_path(below, path, answered):
    written = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    check = re.search(r"^HEALTHCHECK.*CMD (\[.*\])$", written, re.MULTILINE)
    assert check
    _, *options = json.loads(check[1].replace("8501", str(urlsplit(below).port)))
    asked = subprocess.run(
        [sys.executable, *options], env=os.environ | {BASE_PATH: path}, capture_output=True
    )
    assert (asked.returncode == 0) == answered


def test_the_pages_below_a_path_are_drawn_and_lead_to_each_other(watched, below):
    """Their outline, charts, prefetched figures, links and reports are those of a server without a path."""
    with urllib.request.urlopen(
        urllib.request.Request(f"{below}privacy", headers={"Accept": "text/html"})
    ) as got:
        assert "<h1>Privacy</h1>" in got.read().decode()
    visitor = watched()
    with visitor.page.expect_response(lambda got: "/ahead?" in got.url) as ahead:
        visitor.open(f"{below}?{SMALL}").settle()
    assert ahead.value.url.startswith(below) and ahead.value.ok
    report = downloaded(visitor.page, "Download the page")
    assert f'<a href="{below}?' in report.decode()
    visitor.press("Hospitals", "ArrowRight")
    visitor.settle()
    visitor.page.wait_for_selector(AT_REST)  # or the browser may look for the files of a run that is over
    go_to(visitor.page, "Bounds")
    visitor.page.wait_for_url(re.compile(rf"{below}bounds\?"))
    visitor.page.locator(".dppca-live[data-drawn]").first.wait_for()
    assert visitor.errors == []
    visitor.open(visitor.page.url)
    assert [
        url for url in visitor.requests if "dp/tools/" not in url and not url.startswith(("data:", "blob:"))
    ] == []


def test_a_chart_library_that_does_not_load_is_said_in_the_charts_place_and_tried_again(watched, address):
    visitor = watched()
    visitor.page.route("**/plotly.min.js", lambda route: route.abort())
    visitor.page.goto(f"{address}?{SMALL}")
    alert = visitor.page.get_by_role("alert").filter(has_text=UNDRAWN)
    expect(alert).to_be_visible()
    chart = visitor.page.locator(".dppca-live .chart").first.bounding_box()
    box = alert.bounding_box()
    assert chart and box and chart["y"] <= box["y"] + box["height"] / 2 <= chart["y"] + chart["height"]
    assert visitor.sentence()  # what needs no chart is there
    visitor.page.unroute("**/plotly.min.js")
    visitor.page.get_by_role("slider", name="Hospitals").first.press("ArrowRight")
    visitor.page.locator(".dppca-live[data-drawn]").first.wait_for()
    expect(alert).to_be_hidden()


def test_what_is_no_script_is_no_chart_library(watched, address):
    visitor = watched()
    visitor.page.route(
        "**/plotly.min.js", lambda route: route.fulfill(body="", content_type="application/javascript")
    )
    visitor.page.goto(f"{address}?{SMALL}")
    expect(visitor.page.get_by_role("alert").filter(has_text=UNDRAWN)).to_be_visible()
    assert visitor.errors == []
