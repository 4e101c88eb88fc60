"""A click whose run of the page is interrupted by a newer run, as by the second click of a double click.

Streamlit may end a run wherever it is asked for something, also in the middle of what a button does. Whatever
was done by then, the button still works, and it works once.
"""

import pytest

from dppca_core.release.ledger import SessionLedger
from tests.pages.hospitals.your_data.table_page import ROWS, TablePage, limited, released
from tests.pages.hospitals.your_data.test_cohorts import UNLIKE, YES, bring
from tests.pages.interruption import Interruption
from tests.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize("doubled", [True, False], ids=["by a second click", "by another widget"])
@pytest.mark.parametrize("kept", ["on disk", "in the session"])
def test_a_release_is_made_once(kept, doubled, monkeypatch, request):
    """The job was marked as running before it ran, and the button did nothing any more."""
    if kept == "on disk":
        request.getfixturevalue("folder")
    newer, page = Interruption(monkeypatch, "_confirm", doubled), limited()
    page.press("Release")
    newer.due = 1
    page.press("Spend")
    assert newer.due == 0
    assert page.has_button("Spend") != doubled
    if not doubled:
        page.press("Spend")
    for job in page.state.confirmed:
        job.wait(PATIENCE_SECONDS)
    page.run()
    assert page.app.dataframe[-1].value["what"].tolist() == ["Analyze Gauss"]


def test_a_table_joins_an_account_wholly(monkeypatch):
    """A run that ended once the releases had moved left a table that was of no account, and an error."""
    newer, page = Interruption(monkeypatch, "join"), released()
    bring(page, UNLIKE)
    page.press("Set this limit")
    page.release()
    box = next(box for box in page.app.selectbox if box.label.startswith("Or pay into"))
    box.set_value(0)
    page.run()
    move = SessionLedger.take_over
    monkeypatch.setattr(
        SessionLedger, "take_over", lambda *given: (move(*given), setattr(newer, "due", 1))[0]
    )
    page.press(YES)
    assert newer.due == 1  # no chance came
    assert len(page.app.dataframe[-1].value) == 2 and "2 tables pay into it" in page.markdown


@pytest.mark.parametrize("chance", [1, 2])
def test_an_upload_is_taken(chance, monkeypatch):
    """A table whose reading was interrupted was noted as taken, and never read."""
    newer, page = Interruption(monkeypatch, "handle"), TablePage()
    newer.due = chance
    page.upload()
    page.answer()
    assert page.state.raw.n == ROWS
    page.open_dictionary()  # which has the other of these chances
    assert page.state.ready is not None and newer.due == 0
