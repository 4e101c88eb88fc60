"""A click whose run of the page is interrupted by a newer run, as by the second click of a double click.

Streamlit may end a run wherever it is asked for something, also in the middle of what a button does. Whatever
was done by then, the button still works, and it works once.
"""

import pytest

from tests.pages.hospitals.your_data.table_page import ROWS, TablePage, limited
from tests.pages.interruption import Interruption
from tests.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize("doubled", [True, False], ids=["by a second click", "by another widget"])
def test_a_release_is_made_once(doubled, monkeypatch):
    """Its job asks for the visitor and their book, where a newer run can end the one that asks."""
    newer, page = Interruption(monkeypatch, "_make_pending", doubled), limited()
    newer.due = 1
    page.ask()
    assert newer.due == 0
    assert page.has_button("Spend") == doubled
    if not doubled:
        page.ask()
    page.press("Spend")
    for job in page.state.confirmed:
        job.wait(PATIENCE_SECONDS)
    page.run()
    assert page.app.dataframe[-1].value["what"].tolist() == ["Analyze Gauss"]


def test_an_upload_is_taken(monkeypatch):
    """A table whose reading was interrupted was noted as taken, and never read."""
    newer, page = Interruption(monkeypatch, "handle"), TablePage()
    newer.due = 1
    page.upload()
    assert newer.due == 0
    page.answer()
    assert page.state.raw.n == ROWS
    page.open_dictionary()
    assert page.state.ready is not None
