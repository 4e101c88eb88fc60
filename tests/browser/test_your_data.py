"""A table of one's own in a real browser: released once, downloaded, and seen by nobody else."""

import json
import re
import zipfile
from urllib.parse import urlsplit

import pytest

from dppca_core.accounts.book import Book, BookTable
from dppca_core.tables import Schema, content_key, read
from pages.hospitals.your_data import upload_text
from scripts.started import ROOT, serving, started
from tests.browser.conftest import AT_REST, choose_file, downloaded, open_own_data, patient
from tests.pages.hospitals.your_data.table_page import CANARY, DICTIONARY, NUMBER, csv, patients

pytestmark = pytest.mark.browser

HOW = "from the literature or a code book"  # columns and k were chosen; a release waits for the answer


def marked():
    """Return a table so large that a server which spools uploads would write it to a file."""
    frame = patients(n=60_000)
    frame.loc[3, "clinic"], frame.loc[5, "weight"] = CANARY, NUMBER
    return csv(frame)


def test_a_table_is_released_once_and_leaves_no_trace(newcomer, browser, tmp_path):
    """Upload, dictionary, limit, a double click, download; then a reload, a second visitor, log, disk."""
    data, log = marked(), tmp_path / "server.log"
    accounts, scratch = tmp_path / "accounts", tmp_path / "scratch"
    scratch.mkdir()
    with serving(log=log, DPPCA_ACCOUNTS=str(accounts), TMPDIR=str(scratch)) as address:
        page = newcomer.new_page()
        open_own_data(page, f"{address}your_data?repeats=1&own.shown=true")
        choose_file(page, 0, "ours.csv", data, "60,000 rows")
        page.get_by_text("No, one row each").click()
        choose_file(page, 1, "d.json", DICTIONARY.to_json().encode(), "Ready:", "application/json")
        page.get_by_role("button", name="Set this limit").click()
        page.get_by_text(HOW, exact=True).click()
        page.get_by_role("button", name=re.compile("^Release")).click()
        page.get_by_role("button", name="Spend and release").dblclick()
        with page.expect_download() as got:
            page.get_by_role("button", name="Download all of it (JSON)").click()
        document = json.loads(got.value.path().read_text())
        assert "discrete Gaussian" in document["noise"] and len(document["components"]) == 2
        table = BookTable(content_key(read(data, "ours.csv").table), 60_000, ())
        payer = Book(accounts / "accounts.sqlite3").payer(table)
        paid = payer.balance()
        assert paid.limit is not None and len(paid.payments) == 1
        other = patient(browser.new_context()).new_page()
        for path in ("your_data", "your_data?own.shown=true", "methods"):
            other.goto(f"{address}{path}")
            other.get_by_text("Try this").first.wait_for()
            assert CANARY not in other.content() and "ours.csv" not in other.content()
        assert CANARY not in page.url and "ours" not in page.url
        page.reload()
        page.get_by_text("Try this").first.wait_for()
        assert page.get_by_text("ours.csv").count() == 0 and payer.balance() == paid
        traces = [log, *scratch.rglob("*"), *accounts.rglob("*"), *(ROOT / "data").rglob("*.json*")]
        for path in traces:
            held = path.read_bytes() if path.is_file() else b""
            assert CANARY.encode() not in held and str(NUMBER).encode() not in held, path
        page.close()
        other.context.close()


FILES = (
    "Download the loadings (CSV)",
    "Download all of it (JSON)",
    "Download the page",
    "Export it (JSON lines)",
    "Save the dictionary",
)


@pytest.fixture
def quiet(tmp_path):
    """Yield the address of a server without other visitors.

    While a page runs again its session names no file, and a run of another session that ends meanwhile has
    Streamlit delete what nobody names.
    """
    with serving(DPPCA_ACCOUNTS=str(tmp_path)) as address:
        yield address


def test_a_paid_release_is_downloaded_each_time_and_not_lost(newcomer, quiet):
    """Five files three times in a row while the twin refreshes the page; a reload, and the table once more.

    Built at the click, a file was now and then cancelled or not found.
    """
    page = newcomer.new_page()
    broken = []
    page.on("response", lambda got: broken.append(got.url) if "/media/" in got.url and not got.ok else None)

    def bring():
        choose_file(page, 0, "ours.csv", csv(patients(n=600)), "named columns")
        page.get_by_text("Yes, and no column does").click()
        most = page.get_by_role("spinbutton", name="Most rows that one patient can have")
        most.fill("8")
        most.press("Enter")
        choose_file(page, 1, "d.json", DICTIONARY.to_json().encode(), "Ready:", "application/json")

    open_own_data(page, f"{quiet}your_data?repeats=1&own.eps=1&own.delta=1e-6&own.N=1")
    bring()
    page.get_by_role("button", name="Set this limit").click()
    page.get_by_text(HOW, exact=True).click()
    page.get_by_role("button", name=re.compile("^Release")).click()
    page.get_by_role("button", name="Spend and release").click()
    kept = page.get_by_text("It is kept with your accounts until you delete it.")
    kept.wait_for()
    page.reload()
    kept.wait_for()
    bring()
    page.get_by_text("The limit counts per row. For a patient with 8 rows").wait_for()
    assert page.get_by_text("cannot be shown").count() == 0
    for label, inside in (("Export or import the account", FILES[3]), ("Columns and ranges", FILES[4])):
        if not page.get_by_role("button", name=inside).is_visible():
            page.get_by_text(label).click()
    got = {}
    for _ in range(3):
        for label in FILES:
            page.wait_for_selector(AT_REST)  # a run that is interrupted forgets files that it did not reach
            got.setdefault(label, set()).add(downloaded(page, label))
    assert not broken and [len(each) for each in got.values()] == [1] * len(FILES)
    table, document, report, account, dictionary = (each.pop() for each in got.values())
    document = json.loads(document)
    assert document["rows per patient"] == 8
    assert document["epsilon for a patient"] == pytest.approx(10.2962, abs=1e-4)
    assert table.decode().count("\n") == 4 and len(document["components"][0]) == 3
    assert b"<dd>10.3</dd>" in report and report.endswith(b"</html>\n")
    kinds = [json.loads(line)["kind"] for line in account.decode().splitlines()]
    assert kinds == ["table", "limit", "payment"]
    assert Schema.from_json(dictionary).columns == DICTIONARY.columns
    page.close()


# A connection that is cut comes back as to a server that has dropped the session, once `forgotten` is set.
CUT = """
const Socket = window.WebSocket;
window.WebSocket = function (url, protocols) {
  // The third names the session to go on with.
  window.socket = new Socket(url, window.forgotten ? protocols.slice(0, 2) : protocols);
  return window.socket;
};
Object.assign(window.WebSocket, { prototype: Socket.prototype, OPEN: Socket.OPEN, CLOSED: Socket.CLOSED });
Object.assign(window.WebSocket, { CONNECTING: Socket.CONNECTING, CLOSING: Socket.CLOSING });
"""


def test_a_lost_connection_says_that_it_cost_the_table(newcomer, address):
    """At the next press, beside an empty uploader; a connection that is back in time costs nothing."""
    page = newcomer.new_page()
    page.add_init_script(CUT)
    open_own_data(page, f"{address}your_data?repeats=1")
    uploader, lost = page.get_by_test_id("stFileUploader").first, page.get_by_text(upload_text.LOST)
    choose_file(page, 0, "ours.csv", csv(patients(n=600)), "600 rows")
    rows = page.get_by_text("600 rows")
    page.wait_for_function("window.dppcaTable?.table")
    for forgotten in (False, True):
        page.evaluate(
            f"window.forgotten = {json.dumps(forgotten)}, window.former = window.socket, former.close()"
        )
        page.wait_for_function("window.socket !== window.former && window.socket.readyState === 1")
        # Streamlit's page asks the new session for nothing by itself.
        page.get_by_text("Yes, and no column does" if forgotten else "Yes, and a column names the").click()
        if not forgotten:  # it is answered by the same session
            page.get_by_text("Column that names the patient").wait_for()
            assert rows.is_visible() and lost.count() == 0 and "ours.csv" in uploader.inner_text()
            page.wait_for_selector(AT_REST)
    lost.wait_for()
    assert rows.count() == 0 and "ours.csv" not in uploader.inner_text()
    page.get_by_role("button", name="Try it with the breast cancer table").click()
    page.get_by_text("569 rows, 31 named columns").wait_for()
    lost.wait_for(state="detached")
    page.reload()
    page.get_by_text("Try this").first.wait_for()
    assert lost.count() == 0
    page.close()


def test_a_paid_release_outlives_the_server(newcomer, tmp_path):
    """The page of a server that was killed and started again has it back, without its table."""
    given = {"DPPCA_ACCOUNTS": str(tmp_path)}
    page = newcomer.new_page()
    everything = page.get_by_role("button", name="Download everything (ZIP)")
    with started(**given) as (address, server):
        open_own_data(page, f"{address}your_data?repeats=1&view=plain")
        page.get_by_role("button", name="Try it with the breast cancer table").click()
        page.get_by_role("button", name="Set this limit").click()
        page.get_by_text(HOW, exact=True).click()
        page.get_by_role("button", name=re.compile("^Release")).click()
        page.get_by_role("button", name="Spend and release").click()
        everything.wait_for()
        server.kill()
        server.wait()
    with serving(port=urlsplit(address).port, **given):
        page.reload()
        with page.expect_download() as got:
            everything.click()
        assert "guarantee.md" in zipfile.ZipFile(got.value.path()).namelist()
    page.close()
