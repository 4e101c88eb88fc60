"""Test that markup and scripts in links and column names are shown as they stand, and never run."""

import io
import re

import numpy as np
import pytest

from dppca_core.tables import Column, Schema
from tests import hostile
from tests.browser.conftest import SMALL, choose_file, open_own_data

pytestmark = pytest.mark.browser

EVERYWHERE = "&".join(
    f"{key}={{0}}" for key in ("eps", "view", "data", "join.sizes", "story.step", "compare.panel", "unknown")
)
WORDS = (hostile.MARKUP[0], hostile.MARKUP[1], hostile.MARKUP[10])
PLACES = dict(zip(("", "providers", "story"), WORDS, strict=True))
NAMES = [name for name in hostile.MARKUP if len(name) < 60][:10]


LEADS_AWAY = """() => [...document.querySelectorAll('a')]
  .map((a) => a.getAttribute('href') ?? a.getAttribute('xlink:href') ?? '')
  .filter((to) => /198.51|javascript:/.test(to))"""  # a chart's are of the second kind


def innocent(seen, dialogs):
    """Check that nothing ran, nothing was asked of another machine, and nothing leads there."""
    assert seen.page.evaluate("window.__hit") is None
    assert dialogs == [] and seen.remote() == []
    assert seen.page.evaluate(LEADS_AWAY) == []
    assert seen.page.locator("iframe[src^='file'], img[src='x'], img[src*='198.51']").count() == 0


def test_what_looks_like_a_script_is_not_run(watched, address):
    seen, dialogs = watched(), []
    seen.page.on("dialog", lambda box: (dialogs.append(box.message), box.dismiss()))
    for place, word in PLACES.items():
        words = seen.page.evaluate("encodeURIComponent", word)
        seen.page.goto(f"{address}{place}?{SMALL}&{EVERYWHERE.format(words)}")
        seen.page.get_by_text("which is not").first.wait_for()
        innocent(seen, dialogs)
    open_own_data(seen.page, f"{address}your_data?own.shown=true")
    frame = hostile.frame(np.random.default_rng(0), 60)
    table = frame[["age", "weight"] * 5].set_axis(NAMES, axis=1)
    buffer = io.StringIO()
    table.assign(clinic=frame["clinic"]).to_csv(buffer, index=False)
    choose_file(seen.page, 0, f"{hostile.MARKUP[1]}.csv", buffer.getvalue().encode(), "60 rows")
    seen.page.get_by_text("No, one row each").click()
    schema = Schema(tuple(Column(name, "number", 0, 200) for name in NAMES))
    choose_file(seen.page, 1, "d.json", schema.to_json().encode(), "Ready:", "application/json")
    seen.page.get_by_role("button", name="Set this limit").click()
    seen.page.get_by_text("from the literature or a code book", exact=True).click()
    seen.page.get_by_role("button", name=re.compile("^Release")).click()
    seen.page.get_by_role("button", name="Spend and release").click()
    seen.page.get_by_text("Download all of it (JSON)").wait_for()
    seen.page.wait_for_function("document.querySelectorAll('.dppca-live[data-drawn]').length >= 2")
    innocent(seen, dialogs)
