"""Test that the code beside a figure of this page gives what is drawn, from files that its visitor has."""

import json

import numpy as np
import pytest

from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.figure_tables.figure_recipe import from_dict
from dppca_core.methods import METHODS
from dppca_core.tables import Column, examples
from pages.hospitals.your_data import figure_code, rehearsal, twin_runs
from pages.shared.charts.traces import as_shown
from pages.shared.reports import python_code, take_along
from tests.pages.hospitals.your_data.table_page import WIDE, TablePage
from tests.pages.hospitals.your_data.test_twin import twins

TABLE = "breast_cancer"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Run programs in the folder to which a visitor has saved files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(source):
    program = python_code.of_table(source)
    assert from_dict(json.loads(json.dumps(source.to_dict()))) == source
    assert len(program.splitlines()) < 75 and max(map(len, program.splitlines())) <= 110, program
    names = {}
    exec(compile(program, "figure", "exec"), names)
    return names["table"]


def rehearsed(columns, **changed):
    schema, (worst, *others) = twins(columns, **changed)
    return schema, worst._replace(others=tuple(others))


@pytest.mark.parametrize("method", ["analyze_gauss", "dpdis_pca"])
def test_a_rehearsal_is_run_again_from_the_dictionary(here, method):
    schema, twin = rehearsed(WIDE.columns, **{"own.method": method})
    (here / "dictionary.json").write_text(schema.to_json())
    by_trust = {METHODS[method].trust: twin}
    table = run(figure_code.rehearsal(by_trust))
    made = rehearsal.Rehearsal(twin, METHODS[method].trust, by_trust, None, schema, (300,), "", None, 1.0)
    (row,) = rehearsal.shares(made).rows
    for each in twin.rehearsed:
        drawn = trusts.spread(twin_runs.run_errors(each), 2)
        given = table.loc[(f"{row.trust}, {each.pattern.title}", twin.epsilon)].to_numpy()
        assert given == pytest.approx(drawn, rel=1e-6)
        assert each is not twin or row.spread == pytest.approx(drawn)


def test_a_prediction_is_made_again():
    _, twin = rehearsed(tuple(Column(f"c{i}", "number", 0.0, 1.0) for i in range(2001)), n=5000)
    table = run(figure_code.rehearsal({"central": twin}))
    for each in twin.rehearsed:
        assert table.loc[f"central, {each.pattern.title}"].item() == twin_runs.run_errors(each)[0]


def test_what_was_released_is_read(here, monkeypatch):
    offered = {}

    def keep(key, name, title, figure, **more):
        offered[key] = figure(), more.get("code")

    monkeypatch.setattr(take_along, "menu", keep)
    page = TablePage(**{"own.eps": "10", "own.method": "dpdis_pca"})
    page.press("Try it with the breast cancer")
    next(box for box in page.app.number_input if box.label == "Privacy loss in total").set_value(24.0)
    page.press("Set this limit")
    page.release()
    document = page.state.releases[0].result.document
    (here / "release.json").write_text(json.dumps(document))

    drawn, code = offered["own loadings"]
    heat, table = as_shown(drawn)["data"][0], run(code())
    for name, row in zip(drawn["layout"]["yaxis"]["ticktext"], heat["z"], strict=True):
        known = [value for value in row if value is not None]
        assert all(np.isclose(table.loc[name], value, rtol=1e-3, atol=1e-4).any() for value in known)
    cells = {str(value) for value in examples.example(TABLE)[0].table.to_pandas().iloc[0]}
    written = json.dumps(offered["own loadings"][1]().to_dict())
    assert not any(cell in written for cell in cells if "." in cell)
