"""A table of one's own in a real browser: released once, downloaded, and seen by nobody else."""

import json

import pytest

from dppca_core.tables import content_key, read
from scripts.started import ROOT, serving
from tests.pages.test_your_data import CANARY, DICTIONARY, NUMBER, csv, patients

pytestmark = pytest.mark.browser


def marked():
    """Large enough that a server which spools uploads would write it to a file."""
    frame = patients(n=60_000)
    frame.loc[3, "clinic"], frame.loc[5, "weight"] = CANARY, NUMBER
    return csv(frame)


def test_a_table_is_released_once_and_leaves_no_trace(browser, tmp_path):
    """Upload, dictionary, limit, a double click, download; then a reload, a second visitor, log, disk."""
    data, log = marked(), tmp_path / "server.log"
    ledgers, scratch = tmp_path / "ledgers", tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "dictionary.json").write_text(DICTIONARY.to_json())
    with serving(log=log, DPPCA_LEDGER_DIR=str(ledgers), TMPDIR=str(scratch)) as address:
        page = browser.new_context(accept_downloads=True).new_page()
        page.goto(f"{address}your_data?own.shown=true")
        given = {"name": "ours.csv", "mimeType": "text/csv", "buffer": data}
        page.locator("input[type=file]").first.set_input_files(given)
        page.get_by_text("60,000 rows").wait_for()
        page.get_by_text("Open or save this as a data dictionary").click()
        page.locator("input[type=file]").nth(1).set_input_files(tmp_path / "dictionary.json")
        page.get_by_text("Ready:").wait_for()
        page.get_by_role("button", name="Set this limit").click()
        page.get_by_role("button", name="Release …").click()
        page.get_by_role("button", name="Spend and release").dblclick()
        with page.expect_download() as got:
            page.get_by_role("button", name="Download all of it (JSON)").click()
        document = json.loads(got.value.path().read_text())
        assert document["hardened"] and len(document["components"]) == 2
        ledger = ledgers / f"{content_key(read(data, 'ours.csv').table)}.jsonl"
        lines = [json.loads(line)["kind"] for line in ledger.read_text().splitlines()]
        assert lines == ["limit", "release"]
        other = browser.new_context().new_page()
        for path in ("your_data", "your_data?own.shown=true", "methods"):
            other.goto(f"{address}{path}")
            other.get_by_text("Try this").first.wait_for()
            assert CANARY not in other.content() and "ours.csv" not in other.content()
        assert CANARY not in page.url and "ours" not in page.url
        page.reload()
        page.get_by_text("Try this").first.wait_for()
        assert page.get_by_text("60,000 rows").count() == 0
        lines = [json.loads(line)["kind"] for line in ledger.read_text().splitlines()]
        assert lines == ["limit", "release"]
        traces = [log, *scratch.rglob("*"), *ledgers.rglob("*"), *(ROOT / "data").rglob("*.json*")]
        for path in traces:
            held = path.read_bytes() if path.is_file() else b""
            assert CANARY.encode() not in held and str(NUMBER).encode() not in held, path
        page.context.close()
        other.context.close()
