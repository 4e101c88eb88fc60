"""A table that a lost connection cost is said, and a table that was forgotten leaves an empty uploader."""

import json

from pages.hospitals.your_data import lost_table, session, upload_text
from tests.pages.hospitals.your_data.table_page import TablePage


def browser_data(page):
    """Return what the browser got last of this session."""
    sent = [each.proto.json for each in page.app.get("bidi_component") if '"lost"' in each.proto.json]
    return json.loads(sent[-1])


def test_a_table_that_was_lost_is_said_until_another_is_loaded(monkeypatch):
    former, page = TablePage(), TablePage()
    former.upload()
    assert (
        browser_data(former)["table"]
        and not browser_data(page)["table"]
        and browser_data(former)["session"] != browser_data(page)["session"]
    )
    monkeypatch.setattr(session, "current", lambda: page.state)
    lost_table._note_lost()  # as the browser says
    monkeypatch.undo()
    page.run()
    assert upload_text.LOST in page.warnings and browser_data(page)["lost"]
    page.run()
    assert upload_text.LOST in page.warnings  # a run changes nothing
    page.upload()
    assert page.state.raw is not None and upload_text.LOST not in page.warnings
    monkeypatch.setattr(session, "current", lambda: page.state)
    lost_table._note_lost()
    monkeypatch.undo()
    page.run()
    assert upload_text.LOST not in page.warnings  # a table is there
    before = browser_data(page)["session"]
    page.press("Forget it")
    assert upload_text.LOST not in page.warnings and browser_data(page)["session"] == before


def test_a_table_that_was_forgotten_leaves_an_empty_uploader():
    page = TablePage()
    page.upload()
    former = page.state.uploader
    page.press("Forget it")
    (box,) = (box for box in page.app.file_uploader if box.key.startswith("own file"))
    assert box.key != f"own file {former}" and box.value is None
    page.upload()
    assert page.state.raw is not None
