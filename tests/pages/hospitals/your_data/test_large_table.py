"""A table too large to hold is read in pieces, and released from its sums."""

import numpy as np
import pandas as pd
import pytest

from dppca_core import tables
from dppca_core.tables import limits
from pages.hospitals.your_data import owner_only_text, upload_text
from pages.hospitals.your_data.owner_only_diagnostics import truths
from pages.hospitals.your_data.prepared_table import prepare
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    ROWS,
    TABLE,
    WIDE,
    TablePage,
    csv,
    parquet,
    patients,
    prepared,
)
from tests.waiting import PATIENCE_SECONDS


def test_a_table_too_large_to_hold_is_read_in_pieces_and_released(monkeypatch):
    """As Parquet, by a column of hospitals; the sums are those of the same table in memory."""
    held = prepared()
    held.choose_hospitals()
    monkeypatch.setattr(limits, "MOST_ROWS", ROWS - 1)
    page = TablePage(**{"own.shown": "true"})
    page.upload(parquet(patients()), "ours.parquet")
    page.answer()
    page.open_dictionary()
    assert upload_text.TOO_LARGE in page.notices
    page.choose_hospitals()
    page.press("Read it now")
    table, expected = page.state.ready, held.state.ready
    measured, rows = truths(table), expected.held.rows
    np.testing.assert_allclose(measured.moment.matrix, rows.T @ rows / ROWS, atol=1e-5)
    np.testing.assert_allclose(measured.covariance.matrix, np.cov(rows.T, bias=True), atol=1e-5)
    assert (table.sizes, table.raw.key) == (expected.sizes, expected.raw.key)
    page.press("Set this limit")
    page.release()
    assert page.state.releases[0].result.document["hospitals"] == list(expected.sizes)
    assert "‖sin Θ‖" in page.markdown and owner_only_text.NO_ROWS in page.captions


def test_a_large_table_that_does_not_fit_is_one_sentence(monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 100)
    page = prepared(csv(patients().assign(age="old")), DICTIONARY)
    page.press("Read it now")
    assert "'age'" in page.errors and "\n" not in page.errors and page.has_button("Read it again")


@pytest.mark.parametrize("store", [csv, parquet])
@pytest.mark.parametrize("limit", [None, "MOST_BYTES", "MOST_ROWS"], ids=["held", "by size", "by rows"])
def test_blank_rows_below_a_table_are_no_patients(monkeypatch, store, limit):
    """As a spreadsheet saves them: said where the table is, and in no number that a release states."""
    expected = prepare(tables.read(TABLE, "t"), WIDE, None, 1).identity
    if limit is not None:
        monkeypatch.setattr(limits, limit, 200)
    blank = pd.DataFrame(index=range(2_000), columns=patients().columns)
    blank = blank.astype(dict.fromkeys(("age", "weight", "pulse"), float))
    page = prepared(store(pd.concat([patients(), blank])), WIDE)
    if page.has_button("Read it now"):
        page.press("Read it now")
        page.state.reading.wait(PATIENCE_SECONDS)
        page.run()
    assert (
        page.state.ready.n == page.state.ready.raw.n == ROWS
        and f"**Ready:** {ROWS} patients" in page.everything
    )
    assert "2,000 blank rows are left out: a row without any cell is no patient." in page.everything
    assert page.state.ready.identity == expected
    page.press("Set this limit")
    page.release()
    assert page.state.releases[0].result.document["hospitals"] == [ROWS]
    assert not page.errors and "0.5 of the limit" in page.spent  # its account is of as many patients
