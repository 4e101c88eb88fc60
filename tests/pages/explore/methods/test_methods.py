"""The methods page: every view, every swept setting, tables, boards, links, and heavy methods on demand."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from dppca_core.bounds.recommendation import TRUSTS, recommend
from dppca_core.experiments import Axis, Recipe, no_privacy, sweep
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.closed_forms import closed_form
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import RUNS, UNIT_NAMES, Results
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from pages.explore.methods import charts
from pages.explore.methods import settings as methods_settings
from pages.explore.methods.model import comparison, frontier, sweeps
from pages.explore.methods.model.measure import NEEDS, TRUST_NEEDS, ComparisonMeasure, needs, order
from pages.explore.methods.sentences import findings, notes
from pages.shared import text
from pages.shared.background import sweep_jobs, sweep_status
from pages.shared.charts import explorer_text
from pages.shared.settings import catalogue, to_experiment
from tests.pages.documents import Page

PAGE = "explore/methods/page.py"
SMALL = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10"}
SETTINGS = catalogue.defaults() | {"d": 30, "n": 10_000, "k": 2, "s": 6, "s_hat": 10, "repeats": 2}
DEFAULT = [name for name in METHODS if catalogue.defaults()[f"use.{name}"]]
# One method of each trust that most views need; all others would only take time.
FEW = {f"use.{name}": "false" for name in DEFAULT if name not in ("dps_pca", "analyze_gauss")}


def names(figure):
    return [trace["name"] for trace in figure["data"]]


@pytest.fixture(scope="module")
def opened():
    return Page(PAGE, **SMALL).settle()


def test_it_opens_with_who_errs_least_among_equals(opened):
    assert opened.headline == opened.figures["methods figure"].alt_text
    assert {METHODS[name].title for name in DEFAULT} | {"random guess"} <= set(names(opened.figure))
    table = opened.tables[0]
    assert table["method"].tolist() == [METHODS[name].title for name in order(DEFAULT)]
    assert np.isfinite(table["error"]).all() and (table["10 %"] <= table["90 %"]).all()
    facts = table.set_index("method")
    assert {"two_stage", "two_stage_sealed", "two_stage_own_noise"} <= set(DEFAULT)
    bound = closed_form(results_of(opened), "two_stage", 1.0)
    staged = facts.loc[METHODS["two_stage"].title]
    assert staged["closed form"] == bound.final
    assert staged["predicted"] == text.chance(bound.quantities["support_probability"])
    assert facts["all true features found"].between(0, 1).all()
    errors = facts["error"]
    for trust in ("central", "untrusted server"):
        equals = [METHODS[name].title for name in DEFAULT if METHODS[name].trust == trust]
        assert f"{errors[equals].idxmin()} errs least" in opened.headline


def test_the_best_published_methods_are_drawn_on_rows_of_length_1_too(opened):
    """Each trust has one, which errs least as published, and a sentence on how much of a lead is scaling."""
    swept = over(results_of(opened), opened.settings, "epsilon")
    usual = sweep(swept.live)
    unit = sweep(sweeps.on_unit_rows(swept, usual))
    tables = [table[table["epsilon"] == 1.0] for table in (usual, unit)]
    medians, on_unit = (table.groupby("method")["sin_theta"].median() for table in tables)
    assert {METHODS[name].trust for name in on_unit.index} == set(TRUSTS)
    for name, error in on_unit.items():
        equals = [other for other in DEFAULT if METHODS[other].trust == METHODS[name].trust]
        assert medians[[n for n in equals if METHODS[n].scaling == "inside"]].idxmin() == name
        title = RUNS[UNIT_NAMES[name]].title
        (line,) = (trace for trace in opened.figure["data"] if trace["name"] == title)
        assert line["y"][line["x"].index(1.0)] == pytest.approx(error, rel=1e-3)
        advised = trusts.recommended(results_of(opened).experiment, 1.0, METHODS[name].trust).method
        lead = trusts.Lead(advised, name, medians[name] / medians[advised], error / medians[advised])
        words = f"{lead.part} of the lead of {METHODS[advised].title} over {METHODS[name].title}"
        assert lead.whole > 1 and words in opened.captions
    assert sweeps.on_unit_rows(swept, usual[~usual["method"].str.startswith("two_stage")]) is None


@pytest.mark.parametrize("over", methods_settings.SWEEPS)
def test_everything_can_be_swept_and_drawn(page, over):
    word = catalogue.CHOICES["compare.over"].link(over)
    shown = page(PAGE, **SMALL, **FEW, **{"compare.over": word, "compare.panel": "error"})
    for panel in ("error", "time", "bytes"):
        shown.move("compare.panel", panel)
        shown.settle()
        assert shown.setting("d") == 30 and shown.setting("compare.over") == over
        drawn = [trace for trace in shown.figure["data"] if trace["name"] == "DPS-PCA"]
        assert len(drawn[0]["x"]) >= 4 and len(drawn[0]["x"]) == len(drawn[0]["y"]), panel
        assert shown.tables[0]["error"].notna().all(), panel


@pytest.mark.parametrize("metric", ["projector", "energy"])
def test_metrics_and_axes_are_respected(page, metric):
    shown = page(PAGE, **SMALL, **FEW, metric=metric, scale="linear")
    for panel in methods_settings.PANELS:
        shown.move("compare.panel", panel)
        shown.settle()
        axis = shown.figure["layout"]["xaxis" if panel == "needed" else "yaxis"]
        assert axis.get("type") == ("log" if panel == "needed" else None), panel
        shows_errors = panel in ("needed", "frontier") and metric == "energy"
        assert (notes.no_energy({"metric": "energy"}).strip() in shown.captions) == shows_errors, panel


@pytest.mark.parametrize("choice", [{"compare.over": "n"}, {"compare.panel": "needed"}], ids=str)
def test_what_a_table_fixes_is_not_swept(page, choice):
    shown = page(PAGE, data="breast_cancer", k="2", **FEW, **choice)
    sweep, _ = sweeps.for_panel(results_of(shown), ["pca"], shown.settings)
    note = notes.note(sweep, ["pca"], shown.settings)
    assert note and note in shown.notices
    assert (sweep.over if sweep else None) == ("epsilon" if "compare.over" in choice else None)


def over(results, settings, key):
    return sweeps.for_panel(results, DEFAULT, settings | {"compare.over": key})[0]


def results_of(page):
    return Results(to_experiment.from_settings(page.settings)[0])


def test_patients_needed_names_who_never_gets_there(page):
    few = FEW | {"use.ldp_pca": "true"}
    shown = page(PAGE, **SMALL, **few, **{"compare.panel": "needed", "compare.target": "0.01"}).settle()
    local = METHODS["ldp_pca"].title
    assert shown.headline.endswith(f"measured: {local}.")
    bars, never = shown.figure["data"]
    assert local not in bars["y"] and "DPS-PCA" in bars["y"] and never["y"] == [local]
    shown.move("compare.target", 0.5)
    assert max(shown.figure["data"][0]["x"]) < max(bars["x"]) or local in shown.figure["data"][0]["y"]


def test_the_frontier_shows_one_release_of_the_chosen_method(page):
    shown = page(PAGE, **SMALL, **FEW, **{"compare.panel": "frontier", "compare.at": "10"}).settle()
    assert (
        shown.headline == shown.figures["frontier figure"].alt_text and notes.FRONTIER_HELP in shown.captions
    )
    results, distance = results_of(shown), subspace_metrics.sin_theta
    for name in ("dps_pca", "analyze_gauss"):
        shown.move("compare.release", name)
        estimate = results.estimate(name, 10.0, 0)
        error = distance(estimate.basis, results.truth.basis)
        assert notes.release(name, 10.0, f"error {text.error(error)}", estimate) in shown.markdown


def test_a_release_that_takes_long_waits_for_its_button(screen, monkeypatch):
    monkeypatch.setattr(comparison, "_AT_ONCE_SECONDS", 0.0)
    page = screen(PAGE, **SMALL, **FEW, **{"compare.panel": "frontier"}).settle()
    assert "One release of" not in page.markdown
    next(button for button in page.app.button if button.key == "draw release").click()
    page.run()
    assert "**One release of DPS-PCA at ε = 1: error" in page.markdown


def test_the_file_has_what_the_screen_has(page):
    shown = page(PAGE, **SMALL, **FEW).settle()
    written = shown.html()
    assert shown.headline in written and shown.tables[0]["what it needs"][0] in written
    assert "private methods are asked for (ε, δ) = (1, " in written and "measuring went on" not in written


def test_a_link_restores_methods_and_views(screen):
    link = {"use.cape": "false", "use.sulq": "true", "compare.over": "hospitals", "compare.panel": "time"}
    page = screen(PAGE, **SMALL, **link)
    assert link.items() <= page.link.items()
    used = {*DEFAULT, "sulq"} - {"cape"}
    assert page.shown("methods compared") == order([name for name in METHODS if name in used])


def test_a_bad_link_says_what_it_opens_instead(page):
    bad = {"use.pca": "<script>", "compare.over": "rm -rf", "compare.target": "-1", "compare.at": "nan"}
    shown = page(PAGE, **SMALL, **FEW, **bad)
    sentences = "\n".join(shown.sentences)
    assert "“Swept” was “rm -rf”, which is not a choice: we set it to Privacy loss ε." in sentences
    assert "set it to 0.01" in sentences and "<" not in sentences


def test_no_method_is_asked_for_one(page):
    shown = page(PAGE, **SMALL, **{f"use.{name}": "false" for name in DEFAULT})
    assert sweeps.for_panel(results_of(shown), [], shown.settings) == (None, "")
    assert shown.notices == notes.note(None, [], shown.settings)


def test_the_multiselect_moves_the_link_and_keeps_what_was_measured(screen):
    page = screen(PAGE, **SMALL, **FEW).settle()
    box = page.app.multiselect[0]
    box.set_value([*box.value, "wishart"])
    page.run()
    page.settle()
    assert page.link["use.wishart"] == "true" and METHODS["wishart"].title in names(page.figure)


def test_a_heavy_method_waits_for_its_button(screen, monkeypatch):
    monkeypatch.setattr(sweeps, "_HEAVY_SECONDS", 0.0)
    page = screen(PAGE, **SMALL, **{f"use.{name}": "false" for name in DEFAULT}, **{"use.pca": "true"})
    assert notes.NOTHING_QUICK in page.markdown
    next(b for b in page.app.button if b.label.startswith("Measure PCA")).click()
    page.settle()
    assert METHODS["pca"].title in names(page.figure)
    assert not [b for b in page.app.button if b.label.startswith("Measure PCA")]


@pytest.mark.parametrize(
    ("panel", "column", "unit"), [("bytes", "sent (kB)", 1e3), ("time", "time (ms)", 1.0)]
)
def test_time_and_bytes_name_the_least_and_the_most(page, panel, column, unit):
    shown = page(PAGE, **SMALL, **FEW, **{"compare.panel": panel}).settle()
    costs = shown.tables[0].set_index("method")[column] * unit
    show = text.size if panel == "bytes" else lambda value: text.duration(value / 1e3)
    match = re.search(
        r", (.*) (?:takes|sends) least \((.*?) a .*\) and (.*) \w+ most \((.*)\)", shown.headline
    )
    least, most = costs.idxmin(), costs.idxmax()
    assert match.groups() == (least, show(costs[least]), most, show(costs[most]))


def test_printed_calibrations_are_told_apart(page, opened):
    equals = FEW | {"use.dpdis_pca": "true"}
    shown = page(PAGE, accounting="as-printed", start="near", **SMALL, **equals).settle()
    printed = explorer_text.printed(results_of(shown), 1.0, list(METHODS))
    assert printed.partition(". ")[0] in shown.captions
    assert shown.tables[0]["true ε"].notna().any()
    assert " Calibrated as printed" in shown.headline
    assert notes.notes(results_of(shown), [], shown.settings) in shown.captions
    assert opened.tables[0]["true ε"].isna().all()
    assert " As printed" not in opened.headline


def test_nobody_fails_before_all_numbers_of_patients_are_measured(results):
    """The first run has a single n: no word on what other numbers would do."""
    needed, _ = sweeps.for_panel(results, ["dps_pca", "pca"], SETTINGS | {"compare.panel": "needed"})
    first = sweeps.first_run(needed.live, needed.here)
    assert len(first.cells()) == 2 and first.swept[0].values == (10_000,)
    early = sweep(first)
    complete = early.groupby("label")["n"].transform("nunique") == len(needed.values)
    none_yet = patients_needed(early[complete], 0.1)
    assert findings.needed(none_yet, "error of 0.1") == text.MEASURING
    measure = ComparisonMeasure(results, catalogue.defaults(), "needed")
    drawn = [
        charts.needed(estimates, measure, needed.values, rows=2)
        for estimates in (none_yet, patients_needed(sweep(needed.live), 0.1))
    ]
    assert drawn[0]["layout"]["height"] == drawn[1]["layout"]["height"]
    assert drawn[0]["data"][0]["x"] == [] and len(drawn[1]["data"][0]["x"]) == 2


@pytest.fixture(scope="module")
def results():
    experiment, _ = to_experiment.from_settings(SETTINGS)
    return Results(experiment)


@pytest.mark.parametrize("key", sweeps.AXES)
def test_every_point_of_an_axis_runs_and_holds_the_current_one(results, key):
    now = SETTINGS | {"epsilon": 1.25}
    swept = over(results, now, key)
    assert swept.here in swept.values and swept.here == now[key]
    assert isinstance(swept.live, Recipe)
    ends = (min(swept.values), max(swept.values))
    table = sweep(
        sweeps.comparison(results.experiment, 1.25, ["dps_pca"], Axis(swept.live.swept_names[0], ends), 1)
    )
    assert (table["failed"] == "").all()


def test_moving_what_is_swept_reuses_the_rows(results):
    both = (SETTINGS, SETTINGS | {"epsilon": 1.25})
    here, moved = (over(results, now, "epsilon").live for now in both)
    assert here != moved and sweeps.shares_rows(here, moved)
    assert not sweeps.shares_rows(here, over(results, SETTINGS, "n").live)


def test_a_release_is_the_run_that_the_sweep_drew_first(results):
    """Patients and noise are the same, so its error is that of repeat 0."""
    names, along = ["dps_pca", "analyze_gauss"], Axis("epsilon", (0.5, 2.0))
    table = sweep(sweeps.comparison(results.experiment, 1.0, names, along, 1))
    for row in table.itertuples():
        cell = results.cell(row.method, row.epsilon, 0)
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


def test_the_hull_names_who_is_level_with_it(results):
    """Two of three methods lie within each other's spread; the third errs far more."""
    near, level, far = "analyze_gauss", "cape", "ldp_pca"
    errors = {near: (0.10, 0.12), level: (0.11, 0.13), far: (0.8, 0.9)}
    rows = [
        {"method": name, "epsilon": e, "repeat": i, "sin_theta": value / e}
        for name, values in errors.items()
        for e in (1.0, 10.0)
        for i, value in enumerate(values)
    ]
    measure = ComparisonMeasure(results, catalogue.defaults(), "frontier")
    hull = frontier.hull(pd.DataFrame(rows), measure, [far, level, near])
    assert [(corner.method, corner.epsilon) for corner in hull] == [(near, 1.0), (near, 10.0)]
    assert all(corner.level == {level} for corner in hull)
    assert findings.frontier(hull) == (
        "Least error for its privacy, as far as drawn: Analyze Gauss at ε = 1 to 10 (trust: one place), with "
        "CAPE level within the spread of the runs."
    )


def test_who_promises_otherwise_is_off_the_hull(results):
    off = frontier.off_hull(results.experiment, ["pca", "spiked_projector", "ppca", "dps_pca"])
    assert set(off) == {"pca", "spiked_projector", "ppca"}


@pytest.mark.parametrize(("errors", "apart"), [((0.3, 0.31), False), ((0.3, 0.6), True)])
def test_a_method_within_the_spread_of_the_next_only_leads(results, errors, apart):
    """Runs spread by 20 %: medians of 0.3 and 0.31 overlap, those of 0.3 and 0.6 do not."""
    names = ("analyze_gauss", "wishart")
    spreads = {name: error * np.array([0.9, 1.0, 1.1]) for name, error in zip(names, errors, strict=True)}
    measure = ComparisonMeasure(results, catalogue.defaults(), "error")
    headline = findings.compared(measure, spreads, "epsilon", 1.0)
    assert ("Analyze Gauss errs least" in headline) == apart != ("Analyze Gauss leads" in headline)


@pytest.mark.usefixtures("waiting")
def test_a_sweep_that_waits_says_so(page):
    captions = page(PAGE, **SMALL, **FEW).captions
    (job,) = sweep_jobs.jobs()._jobs.values()
    assert job.running and sweep_status.progress(job) in captions


def test_every_method_has_words_for_what_it_needs():
    words = {name: needs(name) for name in METHODS}
    assert all(words.values())
    assert all(NEEDS[use] in words["dps_pca"] for use in ("s_hat", "iterations"))
    assert words["cape"] == TRUST_NEEDS["secure aggregation"]


def test_it_recommends_what_the_core_does_under_each_trust(opened):
    experiment, epsilon = to_experiment.from_settings(opened.settings)
    shown = notes.recommended(experiment, epsilon, "secure aggregation")
    assert shown.splitlines()[1].startswith("- **Trust: sealed sums")
    shown = notes.recommended(experiment, epsilon, opened.settings["trust"])
    assert shown in opened.markdown
    for trust in TRUSTS:
        answer = recommend(
            trust,
            n=experiment.n,
            d=experiment.d,
            k=experiment.k,
            budget=experiment.budget(epsilon),
            s_hat=experiment.s_hat,
            providers=experiment.providers,
            model=experiment.population,
        )
        assert answer.reason in shown


def test_without_privacy_there_is_one_number_whichever_methods_are_chosen(page):
    """It is the core's, at the current setting; the best of methods is named so among those chosen alone."""
    shown = page(PAGE, **SMALL, **FEW).settle()
    experiment = results_of(shown).experiment
    free = no_privacy.error(experiment.population, experiment.n, experiment.k, repeats=experiment.repeats)
    assert f"No privacy: {text.error(free)}, as on *Explorer*" in shown.captions
    assert not [name for name in names(shown.figure) if "no privacy" in name]
    assert shown.headline.startswith("At ε = 1, of the methods chosen")


def test_a_method_that_stays_level_keeps_its_place_in_the_sentence():
    corners = [
        frontier.Corner("two_stage", 0.1, 0.3, frozenset({"two_stage_sealed"})),
        frontier.Corner("two_stage_sealed", 1.0, 0.1, frozenset({"two_stage"})),
        frontier.Corner("dps_pca", 10.0, 0.01, frozenset()),
    ]
    shown = findings.frontier(corners)
    level = "with Two stages, sealed sums level within the spread"
    assert f"Two stages at ε = 0.1 to 1 (trust: one place), {level}" in shown
    assert shown.endswith("DPS-PCA at ε = 10 (trust: nobody).")
