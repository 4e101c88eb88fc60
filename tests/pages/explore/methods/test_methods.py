"""The methods page: every view, every swept setting, tables, boards, links, and heavy methods on demand."""

import math

import numpy as np
import pandas as pd
import pytest

from dppca_core.experiments import Axis, Recipe, sweep
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.methods import METHODS
from pages.explore.methods import charts, frontier, sweeps, text
from pages.explore.methods import settings as methods_settings
from pages.shared.settings import catalogue, to_experiment

PAGE = "explore/methods/page.py"
SMALL = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10"}
DEFAULT = [name for name in METHODS if catalogue.defaults()[f"use.{name}"]]


def names(figure):
    return [trace["name"] for trace in figure["data"]]


def test_it_opens_with_who_errs_least_among_equals(screen):
    page = screen(PAGE, **SMALL).settle()
    said = page.markdown
    assert "At ε = 1: of those that trust a curator, Analyze Gauss + sparse step errs least" in said
    assert "of those that trust no server, DPdisPCA" in said
    assert {METHODS[name].title for name in DEFAULT} | {"random guess"} <= set(names(page.figure))
    table = page.app.dataframe[0].value
    assert table["method"].tolist() == [METHODS[name].title for name in charts.order(DEFAULT)]
    assert np.isfinite(table["error"]).all() and (table["10 %"] <= table["90 %"]).all()


@pytest.mark.parametrize("over", methods_settings.SWEEPS)
def test_everything_can_be_swept_and_drawn(screen, over):
    """One sweep, drawn in three ways."""
    word = catalogue.CHOICES["compare.over"].link(over)
    page = screen(PAGE, **SMALL, **{"compare.over": word, "compare.panel": "error"})
    for panel in ("error", "time", "bytes"):
        page.move("compare.panel", panel)
        page.settle()
        assert page.link["d"] == "30" and page.setting("compare.over") == over
        drawn = [trace for trace in page.figure["data"] if trace["name"] == "DPS-PCA"]
        assert len(drawn[0]["x"]) >= 4 and len(drawn[0]["x"]) == len(drawn[0]["y"]), panel
        assert page.app.dataframe[0].value["error"].notna().all(), panel


@pytest.mark.parametrize("metric", ["projector", "energy"])
def test_metrics_and_axes_are_respected(screen, metric):
    page = screen(PAGE, **SMALL, **{"metric": metric, "scale": "linear"})
    for panel in methods_settings.PANELS:
        page.move("compare.panel", panel)
        page.settle()
        axis = page.figure["layout"]["xaxis" if panel == "needed" else "yaxis"]
        assert axis.get("type") == ("log" if panel == "needed" else None), panel


def test_what_a_table_fixes_is_not_swept(screen):
    page = screen(PAGE, data="breast_cancer", k="2", **{"compare.over": "n"}).settle()
    assert "Breast cancer fixes “Patients in total n”: “Privacy loss ε” is varied instead." in page.notices
    assert "At ε = 1" in page.markdown
    page = screen(PAGE, data="breast_cancer", k="2", **{"compare.panel": "needed"})
    assert "A table has the patients it has" in page.notices


def test_patients_needed_names_who_never_gets_there(screen):
    page = screen(PAGE, **SMALL, **{"compare.panel": "needed", "compare.target": "0.01"}).settle()
    assert "Not reached by the most patients measured: Local PCA." in page.markdown
    bars = page.figure["data"][0]
    assert "Local PCA" not in bars["y"] and "DPS-PCA" in bars["y"]
    page.move("compare.target", 0.5)
    assert page.link["compare.target"] == "0.5" and "For error of 0.5" in page.markdown
    assert max(page.figure["data"][0]["x"]) < max(bars["x"]) or "Local PCA" in page.figure["data"][0]["y"]


def test_the_frontier_shows_one_release_as_one_draw(screen):
    page = screen(PAGE, **SMALL, **{"compare.panel": "frontier", "compare.at": "10"}).settle()
    assert "Least error for its privacy" in page.markdown
    assert "One release of DPS-PCA at ε = 10: error" in page.markdown and "This is one draw" in page.markdown
    page.move("compare.release", "cape")
    assert "One release of CAPE at ε = 10" in page.markdown and page.link["compare.release"] == "cape"


def test_a_board_sees_no_symbols(screen):
    for panel in methods_settings.PANELS:
        page = screen(PAGE, view="board", **SMALL, **{"compare.panel": panel}).settle()
        shown = page.markdown + page.captions + str(page.figure["layout"])
        if page.app.dataframe:
            shown += page.app.dataframe[0].value.to_string()
        assert not set("εδσΘŝλ‖") & set(shown), panel


def test_a_link_restores_methods_and_views_and_bad_ones_say_so(screen):
    link = {"use.pca": "false", "use.sulq": "true", "compare.over": "hospitals", "compare.panel": "time"}
    page = screen(PAGE, **SMALL, **link)
    assert link.items() <= page.link.items()
    assert page.setting("methods compared") == charts.order(
        [name for name in METHODS if name in {*DEFAULT, "sulq"} - {"pca"}]
    )
    bad = {"use.pca": "<script>", "compare.over": "rm -rf", "compare.target": "-1", "compare.at": "nan"}
    page = screen(PAGE, **SMALL, **bad)
    assert "Swept was “rm -rf”, which is not a choice: set to Privacy loss ε." in page.notices
    assert "set to 0.01" in page.notices and "<" not in page.notices
    nothing = {f"use.{name}": "false" for name in DEFAULT}
    assert "Choose at least one method." in screen(PAGE, **SMALL, **nothing).notices


def test_the_multiselect_moves_the_link_and_keeps_what_was_measured(screen):
    page = screen(PAGE, **SMALL).settle()
    box = page.app.multiselect[0]
    box.set_value([*box.value, "wishart"])
    page.run()
    page.settle()
    assert page.link["use.wishart"] == "true" and METHODS["wishart"].title in names(page.figure)


def test_a_heavy_method_waits_for_its_button(screen, monkeypatch):
    monkeypatch.setattr(sweeps, "_OWN_SECONDS", 0.0)
    page = screen(PAGE, **SMALL, **{f"use.{name}": "false" for name in DEFAULT if name != "pca"})
    button = next(b for b in page.app.button if b.key == "ask methods epsilon pca")
    assert button.label.startswith("Measure PCA, no privacy too, about")
    button.click()
    page.settle()
    assert METHODS["pca"].title in names(page.figure)
    assert not [b for b in page.app.button if b.key == "ask methods epsilon pca"]


def test_time_and_bytes_have_their_own_sentence(screen):
    page = screen(PAGE, **SMALL, **{"compare.panel": "bytes"}).settle()
    assert "At ε = 1, DPdisPCA sends least (960 B a hospital, in all rounds) and DPS-PCA sends most" in (
        page.markdown
    )
    assert "takes least" in screen(PAGE, **SMALL, **{"compare.panel": "time"}).settle().markdown


def test_printed_calibrations_are_told_apart(screen):
    page = screen(PAGE, accounting="as-printed", start="near", **SMALL).settle()
    assert "they do not all keep the privacy asked for" in page.markdown
    assert "these truly have" in page.captions and "Runs on this page start at random" in page.captions
    assert page.app.dataframe[0].value["true ε"].notna().any()
    board = screen(PAGE, accounting="as-printed", noise="shared", view="board", **SMALL).settle().captions
    assert "The noise is as the papers print it" in board and "Hospitals share one noise" in board
    page = screen(PAGE, **SMALL).settle()
    assert "they do not all keep" not in page.markdown and "these truly have" not in page.captions


def test_nobody_is_said_to_fail_before_all_numbers_of_patients_are_measured(found):
    """The first look has one n: no word on what other numbers would do."""
    of = sweeps.needed(found, 1.0, ["dps_pca", "pca"])
    first = sweeps.first_look(of)
    assert len(first.cells()) == 2 and first.swept[0].values == (10_000,)
    early = sweep(first)
    seen = early.groupby("label")["n"].transform("nunique")
    read = patients_needed(early[seen == len(of.values)], 0.1)
    assert text.needed(read, 0.1, False) == "Measuring …"
    drawn = [
        charts.needed(so_far, catalogue.defaults(), 2, of.values, 10_000, rows=2)
        for so_far in (read, patients_needed(sweep(of.live), 0.1))
    ]
    assert drawn[0]["layout"]["height"] == drawn[1]["layout"]["height"]
    assert drawn[0]["data"][0]["x"] == [] and len(drawn[1]["data"][0]["x"]) == 2


@pytest.fixture(scope="module")
def found():
    experiment, _ = to_experiment.from_settings(
        catalogue.defaults() | {"d": 30, "n": 10_000, "k": 2, "s": 6, "s_hat": 10, "repeats": 2}
    )
    return Results(experiment)


@pytest.mark.parametrize("key", sweeps.AXES)
def test_every_point_of_an_axis_runs_and_holds_the_current_one(found, key):
    of = sweeps.swept(found, 1.25, DEFAULT, key)
    assert of.here in of.values and of.here == sweeps.setting(found.experiment, 1.25, key)
    assert isinstance(of.live, Recipe)
    points = (min(of.values), max(of.values))
    table = sweep(sweeps.recipe(found.experiment, 1.25, ["dps_pca"], Axis(of.live.names[0], points), 1))
    assert (table["failed"] == "").all()


def test_moving_what_is_swept_reuses_the_rows(found):
    one, other = (sweeps.swept(found, epsilon, DEFAULT, "epsilon").live for epsilon in (1.0, 1.25))
    assert one != other and sweeps.kin(one, other)
    assert not sweeps.kin(one, sweeps.swept(found, 1.0, DEFAULT, "n").live)


def test_a_release_is_the_run_that_the_sweep_drew_first(found):
    """The same patients and noise: its error is that of repeat 0."""
    table = sweep(sweeps.recipe(found.experiment, 1.0, ["dps_pca", "cape"], Axis("epsilon", (0.5, 2.0)), 1))
    for row in table.itertuples():
        cell = found.cell(row.method, row.epsilon, 0)
        assert cell.sin[-1] == pytest.approx(row.sin_theta, rel=1e-9)


def test_the_hull_is_below_all_points_and_convex_as_drawn():
    rng = np.random.default_rng(3)
    points = [(e, float(v)) for e in EPSILONS for v in np.exp(rng.standard_normal(4)) / e]
    for log in (True, False):
        hull = frontier.lower_hull(points, log)
        assert [x for x, _ in hull] == sorted({x for x, _ in hull}) and set(hull) <= set(points)
        x, y = np.log([x for x, _ in hull]), np.array([y for _, y in hull])
        y = np.log(y) if log else y
        assert (np.diff(np.diff(y) / np.diff(x)) > 0).all()
        below = np.interp(np.log([x for x, _ in points]), x, y)
        assert (below <= np.array([math.log(v) if log else v for _, v in points]) + 1e-12).all()


def test_the_hull_names_who_is_level_with_it(found):
    """Three methods, two of them one within the other's spread; the third far above."""
    near, level, far = "analyze_gauss", "cape", "ldp_pca"
    errors = {near: (0.10, 0.12), level: (0.11, 0.13), far: (0.8, 0.9)}
    rows = [
        {"method": name, "epsilon": e, "repeat": i, "sin_theta": value / e}
        for name, values in errors.items()
        for e in (1.0, 10.0)
        for i, value in enumerate(values)
    ]
    settings = catalogue.defaults()
    measure = charts.ComparisonMeasure(found, settings, "frontier")
    hull = frontier.hull(pd.DataFrame(rows), measure, [far, level, near])
    assert [(corner.method, corner.epsilon) for corner in hull] == [(near, 1.0), (near, 10.0)]
    assert all(corner.level == {level} for corner in hull)
    assert frontier.said(hull, settings) == (
        "Least error for its privacy, as far as drawn: Analyze Gauss at ε = 1 to 10 (trusted curator), with "
        "CAPE level within the spread of the runs."
    )


def test_who_promises_otherwise_is_off_the_hull(found):
    off = frontier.off_hull(found.experiment, ["pca", "spiked_projector", "ppca", "dps_pca"])
    assert set(off) == {"pca", "spiked_projector", "ppca"}


def test_every_method_says_what_it_needs():
    said = {name: text.needs(name) for name in METHODS}
    assert "how many rows to keep" in said["dps_pca"] and "several rounds" in said["dps_pca"]
    assert said["cape"] == "sums that no one can look into" and all(said.values())


@pytest.mark.parametrize("panel", ["needed", "frontier"])
def test_views_that_know_no_energy_say_so(screen, panel):
    said = "not captured energy"
    assert said in screen(PAGE, **SMALL, **{"compare.panel": panel, "metric": "energy"}).captions
    assert said not in screen(PAGE, **SMALL, **{"compare.panel": panel}).captions
