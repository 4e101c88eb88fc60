"""A table too large to hold is read in pieces, and released from its sums."""

import numpy as np

from dppca_core.tables import limits
from pages.hospitals.your_data import owner_only_text, upload_text
from pages.hospitals.your_data.owner_only_diagnostics import truths
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    ROWS,
    TablePage,
    csv,
    parquet,
    patients,
    prepared,
)


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
