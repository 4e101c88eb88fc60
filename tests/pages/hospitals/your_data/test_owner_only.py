"""Numbers for the owner alone: hidden by one switch, right, and in no report."""

import json

import numpy as np
import pandas as pd
import pytest

from dppca_core import sin_theta
from dppca_core.tables import Column, Schema
from pages.hospitals.your_data import charts, owner_only_text
from pages.hospitals.your_data import owner_only_diagnostics as diagnostics
from pages.hospitals.your_data.owner_only_diagnostics import ReleaseVerdict
from pages.shared.charts import style
from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import DICTIONARY, ROWS, csv, released

# Rows are centred in public by this method, where every column has a usual value.
PUBLIC = {"own.method": "dpdis_pca"}
USUAL = Schema(tuple(column.changed(usual=column.middle) for column in DICTIONARY.columns))


def test_one_switch_hides_all_that_is_not_private_of_a_release():
    page = released(dictionary=USUAL, **PUBLIC)
    assert page.markdown.count(owner_only_text.NOT_PRIVATE) == 1  # data quality, which no switch hides
    assert "sin Θ" not in page.markdown
    page.app.checkbox(key="own.shown").check()
    page.run()
    assert page.markdown.count(owner_only_text.NOT_PRIVATE) == 2
    for part in ("centred at their own mean: ‖sin Θ‖", "rows centred in public: ‖sin Θ‖"):
        assert part in page.markdown
    assert page.link["own.shown"] == "true"
    assert set(page.link) <= set(catalogue.CHOICES)
    assert not {"age", "weight", "ours", "clinic", str(ROWS)} & set(page.link.values())


def test_the_verdict_is_right():
    """By hand on the clipped rows."""
    page = released(dictionary=USUAL, **PUBLIC | {"own.shown": "true"})
    table, basis = page.state.ready, page.state.releases[0].result.basis
    rows, truths = table.held.rows, diagnostics.truths(table)
    for truth, matrix in (
        (truths.covariance, np.cov(rows.T, bias=True)),
        (truths.moment, rows.T @ rows / ROWS),
    ):
        values, vectors = np.linalg.eigh(matrix)
        verdict = diagnostics.verdict(truth, basis)
        assert verdict.error == pytest.approx(sin_theta(basis, vectors[:, -2:]), abs=1e-9)
        assert f"{verdict.error:.2f}" in page.markdown or f"{verdict.error:.2g}" in page.markdown
        assert verdict.energy == pytest.approx(np.trace(basis.T @ matrix @ basis) / values[-2:].sum())


@pytest.mark.parametrize("dictionary", [DICTIONARY, USUAL], ids=["paid mean", "usual values"])
def test_what_rows_of_length_1_change_on_this_table_is_stated(dictionary):
    page = released(dictionary=dictionary, **{"own.method": "two_stage", "own.shown": "true"})
    paid = dictionary is DICTIONARY
    held, truths = page.state.ready.held, diagnostics.truths(page.state.ready)
    moved = held.rows - held.rows.mean(axis=0) if paid else held.rows
    scaled = moved / np.linalg.norm(moved, axis=1)[:, None]
    pca, unit = (np.linalg.svd(rows)[2][:2].T for rows in (held.rows - held.rows.mean(axis=0), scaled))
    verdict = diagnostics.verdict_on_scaling(held, truths, 2, paid)
    assert verdict.error == pytest.approx(sin_theta(pca, unit), abs=1e-9)
    assert owner_only_text.verdict_on_scaling(verdict, 2, "sin") in page.markdown


@pytest.mark.parametrize(
    ("scaled", "name", "most"),
    [(True, "released, rows of length 1", "1: the most there can be"), (False, "released", "share of B²")],
)
def test_released_eigenvalues_are_named_by_the_rows_that_they_are_of(scaled, name, most):
    released = np.array([0.6, 0.2])
    drawn = charts.scree(np.array([0.3, 0.1]), np.array([0.4, 0.1]), released, scaled, 0.2, [False, True])
    line = drawn["data"][-1]
    assert line["name"] == name and line["error_y"]["array"] == [0.2, 0.2]
    assert [colour == style.GUESS for colour in line["marker"]["color"]] == [False, True]
    assert "0.6 to 0.2, of which 1 may be noise" in charts.describe_scree(drawn)
    assert drawn["layout"]["yaxis"]["title"]["text"] == f"eigenvalue ({most})"


def test_where_the_first_component_is_the_mean_both_errors_are_stated(built):
    """Ten columns far from the middle of their ranges, with a planted pattern that is not the mean."""
    rng = np.random.default_rng(3)
    mean, pattern = np.full(10, 0.6), np.resize([1.0, -1.0], 10) / np.sqrt(10)
    rows = mean + 0.3 * rng.standard_normal((2000, 1)) * pattern + 0.02 * rng.standard_normal((2000, 10))
    frame = pd.DataFrame(rows, columns=[f"c{i}" for i in range(10)])
    schema = Schema(tuple(Column(name, "number", -1, 1, usual=0) for name in frame))
    page = released(csv(frame), schema, **PUBLIC | {"own.shown": "true", "own.k": "1"})
    basis, truths = page.state.releases[0].result.basis, diagnostics.truths(page.state.ready)
    assert diagnostics.verdict(truths.moment, basis).error < 0.1
    assert diagnostics.verdict(truths.covariance, basis).error > 0.9
    assert abs(basis[:, 0] @ mean) / np.linalg.norm(mean) > 0.99
    private = page.markdown[page.markdown.rindex(owner_only_text.NOT_PRIVATE) :]
    near, covariance, moment = (
        private.index(part)
        for part in ("nearly the mean of your patients", "their own mean: ‖sin", "centred in public: ‖sin")
    )
    assert near < covariance < moment
    report = built()
    assert any(line.startswith("Rows are centred at the usual values") for line in report.limits)
    assert "cosine" not in json.dumps(report) and "nearly the mean of" not in json.dumps(report)
    page.app.checkbox(key="own.shown").uncheck()
    page.run()
    assert "cosine" not in page.markdown and "may be the mean" in page.markdown


@pytest.mark.parametrize(("mean", "cosine"), [([3.0, 4.0], 0.6), ([0.0, 0.0], 0.0)])
def test_the_cosine_with_the_mean(mean, cosine):
    truths = diagnostics.TableTruths(None, None, np.array(mean))
    assert diagnostics.mean_cosine(truths, np.eye(2)) == pytest.approx(cosine)


@pytest.mark.parametrize(
    ("cosine", "rows", "sentence"),
    [
        (0.95, 1, "is nearly the mean of your patients"),
        (0.89, 8, "is partly the mean of your rows"),
        (0.5, 1, "is partly the mean of your patients"),
        (0.49, 8, "is not the mean of your rows"),
    ],
)
def test_how_much_of_the_mean_the_first_component_is(cosine, rows, sentence):
    near = owner_only_text.near_the_mean(cosine, rows)
    assert sentence in near and f"cosine {cosine:.3f}" in near


_IN_VAIN = "paying more does not help, because the mean takes the place of a pattern."


@pytest.mark.parametrize(
    ("cosine", "uncentred", "advice"),
    [
        (0.95, 0.9, _IN_VAIN),
        (0.5, 0.9, _IN_VAIN),
        (0.2, 0.1, _IN_VAIN),  # the noise is small already, and the pattern still absent
        (0.2, 0.9, "ask for fewer directions or measurements, or pay more."),
    ],
)
def test_nobody_is_told_to_pay_more_where_the_mean_is_what_errs(cosine, uncentred, advice):
    estimated = ReleaseVerdict(uncentred, 0.95, 0.9)
    sentence = owner_only_text.verdict(ReleaseVerdict(0.94, 0.95, 0.1), estimated, 1, cosine, "sin")
    assert sentence.endswith(f" **It is hardly better than a guess:** {advice}")
    useful = owner_only_text.verdict(ReleaseVerdict(0.1, 0.95, 0.9), estimated, 1, cosine, "sin")
    assert "pay" not in useful


@pytest.mark.parametrize(("k", "held"), [(1, "1 direction holds."), (2, "2 directions hold.")])
def test_a_single_direction_holds_and_two_hold(k, held):
    sentence = owner_only_text.verdict_uncentred(ReleaseVerdict(0.1, 0.9, 0.95), k, "share")
    assert sentence.endswith(f"what the best {held}")
