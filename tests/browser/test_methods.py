"""Test the methods page in a real browser: a point is clicked, a heavy method outlives a change of page."""

import pytest

from tests.browser.conftest import SMALL, go_to

pytestmark = pytest.mark.browser

PAGE = f"methods?{SMALL}&"
# A sweep of few methods beside the heavy one, which is heavy only from d = 200 up.
FEW = "&".join(f"use.{name}=false" for name in ("dps_pca", "dpdis_pca", "cape", "ldp_pca", "pca"))
# Where the point of a trace at some epsilon is, in pixels of the window.
PLACE = """([uid, epsilon]) => {
  const chart = document.querySelector('.dppca-live .chart');
  const trace = chart?.data?.find((trace) => trace.uid === uid);
  const i = trace?.x.indexOf(epsilon) ?? -1;
  if (i < 0) return null;
  const { xaxis, yaxis } = chart._fullLayout, box = chart.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(trace.x[i]), box.top + yaxis._offset + yaxis.d2p(trace.y[i])];
}"""


def test_a_clicked_point_of_the_frontier_shows_one_release_of_it(watched, address):
    page = watched()
    page.page.goto(address + PAGE + "compare.panel=frontier")
    page.page.get_by_text("One release of DPS-PCA at ε = 1: error").wait_for()
    page.page.wait_for_function("!document.body.innerText.includes('runs measured')")
    page.page.wait_for_function(PLACE, arg=["dpdis_pca", 5])
    # Plotly clicks what it hovers, and a chart that is still being laid out moves away under the mouse.
    hovered = page.page.locator(".dppca-live .hoverlayer .hovertext", has_text="DPdisPCA")
    for _ in range(60):
        place = page.page.evaluate(PLACE, ["dpdis_pca", 5])
        page.page.mouse.move(*place)
        page.page.wait_for_timeout(500)
        if hovered.count() and place == page.page.evaluate(PLACE, ["dpdis_pca", 5]):
            break
        page.page.mouse.move(0, 0)
    page.page.mouse.click(*place)
    page.page.get_by_text("One release of DPdisPCA at ε = 5: error").wait_for()
    page.page.wait_for_url("**compare.release=dpdis_pca&compare.at=5**")
    assert page.page.get_by_test_id("stException").count() == 0
    assert page.remote() == []


def test_a_heavy_method_is_found_again_after_another_page(watched, address):
    page = watched()
    page.page.goto(f"{address}methods?preset=large-study&repeats=1&use.ldp_sparse_pca=true&{FEW}")
    button = page.page.get_by_role("button", name="Measure Local sparse PCA too")
    button.click()
    button.wait_for(state="detached")
    go_to(page.page, "Bounds")
    page.page.get_by_text("for its error, ").wait_for()
    go_to(page.page, "Methods")
    page.page.get_by_text("where all trust one place").wait_for()
    assert button.count() == 0
    page.page.wait_for_function(
        "document.querySelector('.dppca-live .chart')?.data"
        "?.some((trace) => trace.name === 'Local sparse PCA' && trace.x.length > 8)",
    )


def test_the_frontier_is_not_cut_off_on_a_telephone(watched, address):
    page = watched(viewport={"width": 390, "height": 844}).open(f"{address}{PAGE}compare.panel=frontier").page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
