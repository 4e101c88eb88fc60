"""A table of one's own in a real browser: released once, downloaded, and seen by nobody else."""

import json
import re
import zipfile
from urllib.parse import urlsplit

import pytest

from dppca_core.tables import Schema, content_key, read
from pages.hospitals.your_data import upload_text
from scripts.started import ROOT, serving, started
from tests.browser.conftest import AT_REST, downloaded, patient
from tests.pages.hospitals.your_data.table_page import CANARY, DICTIONARY, NUMBER, csv, patients

pytestmark = pytest.mark.browser


def marked():
    """Return a table so large that a server which spools uploads would write it to a file."""
    frame = patients(n=60_000)
    frame.loc[3, "clinic"], frame.loc[5, "weight"] = CANARY, NUMBER
    return csv(frame)


def test_a_table_is_released_once_and_leaves_no_trace(newcomer, browser, tmp_path):
    """Upload, dictionary, limit, a double click, download; then a reload, a second visitor, log, disk."""
    data, log = marked(), tmp_path / "server.log"
    ledgers, scratch = tmp_path / "ledgers", tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "dictionary.json").write_text(DICTIONARY.to_json())
    with serving(log=log, DPPCA_LEDGER_DIR=str(ledgers), TMPDIR=str(scratch)) as address:
        page = newcomer.new_page()
        page.goto(f"{address}your_data?repeats=1&own.shown=true")
        given = {"name": "ours.csv", "mimeType": "text/csv", "buffer": data}
        page.locator("input[type=file]").first.set_input_files(given)
        page.get_by_text("60,000 rows").wait_for()
        page.get_by_text("Each patient has one row").click()
        page.get_by_text("Open or save this as a data dictionary").click()
        page.locator("input[type=file]").nth(2).set_input_files(tmp_path / "dictionary.json")
        page.get_by_text("Ready:").wait_for()
        page.get_by_role("button", name="Set this limit").click()
        page.get_by_role("button", name=re.compile("^Release")).click()
        page.get_by_role("button", name="Spend and release").dblclick()
        with page.expect_download() as got:
            page.get_by_role("button", name="Download all of it (JSON)").click()
        document = json.loads(got.value.path().read_text())
        assert document["hardened"] and len(document["components"]) == 2
        ledger = ledgers / f"{content_key(read(data, 'ours.csv').table)}.jsonl"
        lines = [json.loads(line)["kind"] for line in ledger.read_text().splitlines()]
        assert lines == ["limit", "release"]
        other = patient(browser.new_context()).new_page()
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
        page.close()
        other.context.close()


ARMED = "window.dppcaUnsaved?.armed"
FILES = (
    "Download the loadings (CSV)",
    "Download all of it (JSON)",
    "Download a report",
    "Export it (JSON lines)",
    "Save the dictionary",
)


@pytest.fixture
def quiet(tmp_path):
    """Yield the address of a server without other visitors.

    While a page runs again its session names no file, and a run of another session that ends meanwhile has
    Streamlit delete what nobody names.
    """
    with serving(DPPCA_LEDGER_DIR=str(tmp_path)) as address:
        yield address


def test_a_paid_release_is_downloaded_each_time_and_not_lost(newcomer, browser, quiet):
    """Five files three times in a row while the twin refreshes the page; leaving, reloading, a lost session.

    Built at the click, a file was now and then cancelled or not found.
    """
    page = newcomer.new_page()
    asked = []
    page.on("dialog", lambda box: (asked.append(box.type), box.accept()))
    broken = []
    page.on("response", lambda got: broken.append(got.url) if "/media/" in got.url and not got.ok else None)

    def bring():
        given = {"name": "ours.csv", "mimeType": "text/csv", "buffer": csv(patients(n=600))}
        page.locator("input[type=file]").first.set_input_files(given)
        page.get_by_text("A patient can have several rows").click()
        most = page.get_by_role("spinbutton", name="Most rows that one patient can have")
        most.fill("8")
        most.press("Enter")
        page.get_by_text("Open or save this as a data dictionary").click()
        dictionary = {"name": "d.json", "mimeType": "application/json"}
        dictionary |= {"buffer": DICTIONARY.to_json().encode()}
        page.locator("input[type=file]").nth(2).set_input_files(dictionary)
        page.get_by_text("Ready:").wait_for()

    page.goto(f"{quiet}your_data?repeats=1&own.eps=1&own.delta=1e-6&own.N=1")
    bring()
    page.get_by_role("button", name="Set this limit").click()
    page.get_by_role("button", name=re.compile("^Release")).click()
    assert not page.evaluate(ARMED)
    page.get_by_role("button", name="Spend and release").click()
    assert page.evaluate(ARMED)  # from the click on, before the server has answered
    page.get_by_text("Not downloaded yet").wait_for()
    assert page.evaluate(ARMED)
    page.reload()
    assert asked == ["beforeunload"]
    page.get_by_text("The page was reloaded").wait_for()
    page.get_by_text("Not downloaded yet").wait_for()
    bring()  # with its ledger, of which this session now has the release
    page.get_by_text("The limit counts per row. For a patient with 8 rows").wait_for()
    assert page.get_by_text("this session does not have").count() == 0
    for label, inside in (("Export or import the ledger", FILES[3]), ("Open or save this", FILES[4])):
        if not page.get_by_role("button", name=inside).is_visible():
            page.get_by_text(label).click()
    got = {}
    for turn in range(3):
        for label in FILES:
            page.wait_for_selector(AT_REST)  # a run that is interrupted forgets files that it did not reach
            got.setdefault(label, set()).add(downloaded(page, label))
        if turn == 0:
            page.wait_for_function(f"!{ARMED}")
    assert not broken and [len(each) for each in got.values()] == [1] * len(FILES)
    table, document, report, ledger, dictionary = (each.pop() for each in got.values())
    document = json.loads(document)
    assert document["rows per patient"] == 8
    assert document["epsilon for a patient"] == pytest.approx(10.2962, abs=1e-4)
    assert table.decode().count("\n") == 4 and len(document["components"][0]) == 3
    assert b"10.30" in report and report.endswith(b"</html>\n")
    kinds = [json.loads(line)["kind"] for line in ledger.decode().splitlines()]
    assert kinds == ["limit", "release"]
    assert Schema.from_json(dictionary).columns == DICTIONARY.columns
    page.reload()
    assert asked == ["beforeunload"]  # it was downloaded: nothing to ask
    page.close()
    page = patient(browser.new_context()).new_page()  # of somebody who has only the table
    page.goto(f"{quiet}your_data?repeats=1&own.eps=1&own.delta=1e-6&own.N=1")
    bring()
    page.get_by_text("1 paid release that this session does not have").wait_for()
    assert page.get_by_text("Download all of it (JSON)").count() == 0
    page.context.close()


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
    """In one sentence beside an empty uploader; a connection that is back in time costs nothing."""
    page = newcomer.new_page()
    page.add_init_script(CUT)
    page.goto(f"{address}your_data?repeats=1")
    uploader, lost = page.get_by_test_id("stFileUploader").first, page.get_by_text(upload_text.LOST)
    page.locator("input[type=file]").first.set_input_files(
        {"name": "ours.csv", "mimeType": "text/csv", "buffer": csv(patients(n=600))}
    )
    rows = page.get_by_text("600 rows")
    rows.wait_for()
    page.wait_for_function("window.dppcaUnsaved?.table")
    for forgotten in (False, True):
        page.evaluate(
            f"window.forgotten = {json.dumps(forgotten)}, window.former = window.socket, former.close()"
        )
        page.wait_for_function("window.socket !== window.former && window.socket.readyState === 1")
        if not forgotten:
            page.get_by_text("A patient can have several rows").click()  # it is answered by the same session
            page.get_by_text("Column that names the patient").wait_for()
            assert rows.is_visible() and lost.count() == 0 and "ours.csv" in uploader.inner_text()
    lost.wait_for()
    assert rows.count() == 0 and "ours.csv" not in uploader.inner_text()
    page.get_by_role("button", name="Try it with the breast cancer table").click()
    page.get_by_text("569 rows, 31 named columns").wait_for()
    lost.wait_for(state="detached")
    page.reload()
    page.get_by_text("Try this").first.wait_for()
    assert lost.count() == 0
    page.close()


def release_example(page, address):
    """Release the bundled table's directions, rehearsed by few runs, and download nothing."""
    page.goto(f"{address}your_data?repeats=1&view=plain")
    page.get_by_role("button", name="Try it with the breast cancer table").click()
    page.get_by_role("button", name="Set this limit").click()
    page.get_by_role("button", name=re.compile("^Release")).click()
    page.get_by_role("button", name="Spend and release").click()
    page.get_by_text(UNSAVED).wait_for()
    page.wait_for_function("sessionStorage.getItem('dppca-your-data-armed') === 'true'")


UNSAVED = "Not downloaded yet"
COPIED = "This is a copy of another tab."


def test_a_duplicated_tab_leaves_the_paid_release_in_the_first(newcomer, address):
    """Storage and all: the copy gets nothing, the first is reloaded with it open and once it is closed."""
    page = newcomer.new_page()
    page.on("dialog", lambda box: box.accept())
    release_example(page, address)
    with page.expect_popup() as opened:
        page.evaluate("window.open(location.href)")
    copy = opened.value
    copy.get_by_text(COPIED).wait_for()
    assert copy.get_by_text(UNSAVED).count() == 0
    copy.wait_for_function(f"{ARMED} === false")
    page.reload()
    page.get_by_text("The page was reloaded").wait_for()
    page.get_by_text(UNSAVED).wait_for()
    copy.reload()
    copy.get_by_text(COPIED).wait_for()
    copy.close()
    page.reload()
    page.get_by_text("The page was reloaded").wait_for()
    page.get_by_text(UNSAVED).wait_for()
    with page.expect_popup() as opened:
        page.evaluate("window.open(location.href)")
    copy = opened.value
    copy.get_by_text(COPIED).wait_for()
    page.close()
    copy.get_by_text("its other tab has gone").wait_for()
    copy.get_by_text(UNSAVED).wait_for()
    copy.close()


def test_a_release_without_a_folder_of_ledgers_outlives_the_server(newcomer, tmp_path):
    """The open tab has it back from the server that was started anew, and downloads all of it."""
    given = {"DPPCA_LEDGER_DIR": "", "XDG_STATE_HOME": str(tmp_path)}
    page = newcomer.new_page()
    page.on("dialog", lambda box: box.accept())
    with started(**given) as (address, server):
        release_example(page, address)
        server.kill()
        server.wait()
    (copy,) = tmp_path.rglob("*.kept")
    with serving(port=urlsplit(address).port, **given):
        back = page.get_by_text("What you released before is back")
        back.wait_for()
        page.reload()
        back.or_(page.get_by_text("The page was reloaded")).first.wait_for()
        page.get_by_text(UNSAVED).wait_for()
        with page.expect_download() as got:
            page.get_by_role("button", name="Download everything (ZIP)").click()
        assert "guarantee.md" in zipfile.ZipFile(got.value.path()).namelist()
        page.get_by_text(UNSAVED).wait_for(state="detached")
        assert not copy.exists()
    page.close()


def test_a_killed_server_is_said_in_the_tab_that_paid(newcomer, tmp_path):
    """The open page meets the server that was started anew: it warns, and goes on with what was paid."""
    given = {"DPPCA_LEDGER_DIR": str(tmp_path)}
    page = newcomer.new_page()
    page.on("dialog", lambda box: box.accept())
    with started(**given) as (address, server):
        release_example(page, address)
        server.kill()
        server.wait()
    with serving(port=urlsplit(address).port, **given):
        lost = page.get_by_text("This tab had a paid release that was not downloaded")
        lost.wait_for()
        assert page.get_by_text(UNSAVED).count() == 0
        page.reload()
        lost.wait_for()
        page.get_by_role("button", name="Try it with the breast cancer table").click()
        page.get_by_text("is paid for and was not downloaded").wait_for()
        lost.wait_for(state="detached")
        page.get_by_role("button", name="Go on with it").click()
        page.get_by_text(UNSAVED).wait_for()
    page.close()
