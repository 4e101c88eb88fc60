"""Numbers for the owner alone: hidden by one switch, right, and in no report."""

import numpy as np
import pandas as pd
import pytest

from dppca_core import sin_theta
from dppca_core.tables import Column, Schema
from pages.hospitals.your_data import owner_only_document, owner_only_panel
from pages.hospitals.your_data.owner_only_document import ReleaseVerdict
from pages.shared.document.blocks import OwnersOnly, Table
from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import DICTIONARY, ROWS, csv, released

# Rows are centred in public by this method, where every column has a usual value.
PUBLIC = {"own.method": "dpdis_pca"}
USUAL = Schema(tuple(column.changed(usual=column.middle) for column in DICTIONARY.columns))


def test_one_switch_hides_all_that_is_not_private_of_a_release(monkeypatch):
    """All of it is of the type that no file takes."""
    shown, show = [], owner_only_panel.streamlit.show_block
    monkeypatch.setattr(
        owner_only_panel.streamlit, "show_block", lambda block: shown.append(block) or show(block)
    )
    page = released(dictionary=USUAL, **PUBLIC)
    # Data quality has the mark too, and no switch hides it.
    assert page.markdown.count(owner_only_document.NOT_PRIVATE) == 1 and len(page.app.table) == 0
    page.app.checkbox(key="own.shown").check()
    page.run()
    assert page.markdown.count(owner_only_document.NOT_PRIVATE) == 2 and len(page.app.table) == 1
    owners = [id(part) for block in shown if isinstance(block, OwnersOnly) for part in block.blocks]
    assert [id(block) in owners for block in shown if isinstance(block, Table)] == [True]
    assert page.link["own.shown"] == "true"
    assert set(page.link) <= set(catalogue.CHOICES)
    assert not {"age", "weight", "ours", "clinic", str(ROWS)} & set(page.link.values())


def test_the_comparison_is_right():
    """By hand on the clipped rows."""
    page = released(dictionary=USUAL, **PUBLIC | {"own.shown": "true"})
    table, result = page.state.ready, page.state.releases[0].result
    basis, matrix = result.basis, np.cov(table.held.rows.T, bias=True)
    values, vectors = np.linalg.eigh(matrix)
    compared = owner_only_document.compare(table, result)
    assert compared.error == pytest.approx(sin_theta(basis, vectors[:, -2:]), abs=1e-9)
    assert compared.captured == pytest.approx(np.trace(basis.T @ matrix @ basis) / values[-2:].sum())
    assert compared.guess_captured == pytest.approx(values.mean() / values[-2:].mean())
    mean = table.held.rows.mean(axis=0)
    assert compared.cosine == pytest.approx(abs(basis[:, 0] @ mean) / np.linalg.norm(mean))
    cells = page.app.table[0].value
    assert float(cells["‖sin Θ‖"].iloc[0]) == pytest.approx(compared.error, rel=0.05)
    assert float(cells["captured"].iloc[0].removesuffix(" %")) == pytest.approx(
        100 * compared.captured, abs=0.5
    )


def test_where_the_first_component_is_the_mean_its_owner_is_told_so(built):
    """Ten columns far from the middle of their ranges, with a planted pattern that is not the mean."""
    rng = np.random.default_rng(3)
    mean, pattern = np.full(10, 0.6), np.resize([1.0, -1.0], 10) / np.sqrt(10)
    rows = mean + 0.3 * rng.standard_normal((2000, 1)) * pattern + 0.02 * rng.standard_normal((2000, 10))
    frame = pd.DataFrame(rows, columns=[f"c{i}" for i in range(10)])
    schema = Schema(tuple(Column(name, "number", -1, 1, usual=0) for name in frame))
    page = released(csv(frame), schema, **PUBLIC | {"own.shown": "true", "own.k": "1"})
    compared = owner_only_document.compare(page.state.ready, page.state.releases[0].result)
    assert compared.error > 0.9 and compared.cosine > 0.99
    assert owner_only_document.advice(compared, 1) in page.markdown
    file = built().html()
    assert "Rows are centred at the usual values" in file
    assert "cosine" not in file and "nearly the mean of" not in file
    page.app.checkbox(key="own.shown").uncheck()
    page.run()
    assert "cosine" not in page.markdown and "may be the mean" in page.markdown


@pytest.mark.parametrize(
    ("error", "cosine", "rows", "sentence"),
    [
        (0.1, 0.95, 1, "The first component is nearly the mean of your patients"),
        (0.1, 0.89, 8, "The first component is partly the mean of your rows"),
        (0.9, 0.5, 1, "paying more does not change that."),
        (0.9, 0.49, 1, "It is hardly better than a guess:** ask for fewer"),
        (0.1, 0.49, 1, ""),
    ],
)
def test_nobody_is_told_to_pay_more_where_the_mean_is_what_errs(error, cosine, rows, sentence):
    advice = owner_only_document.advice(ReleaseVerdict(error, 0.5, 0.95, 0.3, cosine), rows)
    assert sentence in advice and bool(advice) == bool(sentence)
