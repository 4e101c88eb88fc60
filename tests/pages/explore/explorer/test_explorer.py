"""The front page: what it shows at a setting, from a link, and on real tables."""

import json
import math
import re
import statistics
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from dppca_core import METHODS, Budget, datasets
from dppca_core.accounting import gaussian
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.closed_forms import closed_form
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import RUNS, Results
from dppca_core.experiments.explorer.trusts import recommended
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.numerics.moments import clip_rows
from pages.explore.explorer import sentences as explorer_page_text
from pages.explore.explorer.model import Explorer
from pages.shared import text
from pages.shared.background import cache
from pages.shared.charts.traces import as_shown
from pages.shared.settings import catalogue, to_experiment

pytestmark = pytest.mark.usefixtures("patient")

SIX = {"delta": 1e-3, "n": 1_000_000, "providers": 20, "d": 400, "k": 5, "s": 15}


def test_it_opens_with_the_sentence_the_odds_and_four_figures(page):
    words = page().words()
    assert words["sentence"].startswith(
        "With 100,000 patients in 5 hospitals at ε = 1, Two stages, own noise finds"
    )
    assert "at most 73 times in 100. A random guess: 50." in words["odds"]
    assert len(words["tiles"]) == 4 and all(value for value, _ in words["tiles"])


@pytest.mark.parametrize(("key", "value"), SIX.items(), ids=SIX.keys())
def test_each_of_the_six_sliders_changes_the_figure(page, key, value):
    shown = page()
    before = shown.figure
    shown.move(key, value)
    after = shown.figure
    assert shown.setting(key) == value
    assert (after["scene"], after["active"]) != (before["scene"], before["active"])
    assert after["words"][after["active"]]["sentence"] != before["words"][before["active"]]["sentence"]


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize("method", ["", "dps_pca"])
def test_what_is_drawn_is_what_the_core_measures_of_the_method_shown(page, trust, method):
    """The last point of the first panel, the sentence and the tile are the median of the method's runs."""
    words = {"central": "one-place", "secure aggregation": "sealed", "untrusted server": "nobody"}
    link = {"first": "rounds", "repeats": "3", "delta": "0.001", "scale": "linear", "trust": words[trust]}
    settings = catalogue.open_link({"preset": "large-study"} | link)[0]
    assert settings["trust"] == trust
    experiment, epsilon = to_experiment.from_settings(settings)
    name = method or recommended(experiment, epsilon, trust).method
    results = Results(experiment)
    errors = sorted(results.cell(name, epsilon, repeat).sin[-1] for repeat in range(3))
    shown = cache.results(replace(experiment, method=name))
    shown.try_cells((name, epsilon, repeat) for repeat in range(3))
    shown = page(**link | ({"method": method} if method else {}))
    # The recommended method may ask for less trust than is set.
    assert shown.setting("trust") == (METHODS[method].trust if method else trust)
    assert METHODS[name].title in shown.words()["sentence"]
    assert ("Why this method?" in shown.markdown) == (not method)
    figure = shown.figure
    frame = figure["frames"][figure["active"]]["traces"]
    position = next(i for i, t in enumerate(figure["data"]) if t.get("mode") == "lines+markers")
    assert frame[str(position)]["y"][-1] == pytest.approx(errors[1], rel=1e-3)
    assert f"error {text.error(errors[1])}." in shown.words()["sentence"]
    assert float(shown.words()["tiles"][0][0]) == pytest.approx(errors[1], rel=0.05)


def test_every_epsilon_has_its_frame_and_every_method_its_dot(page):
    figure = page(all="true").figure
    assert len(figure["frames"]) == len(figure["words"]) == len(EPSILONS)
    dots = next(trace for trace in figure["data"] if trace["name"] == "methods")
    titles = {method.title for method in METHODS.values()}
    assert {title for title, _ in dots["customdata"]} - titles == {"Best, no privacy"}


def test_few_methods_stand_there_at_first_the_recommended_ones_among_them(screen):
    page = screen(d="50", n="10000", s="6", shat="12", k="2")
    experiment, epsilon = to_experiment.from_settings(page.settings)
    best = {METHODS[recommended(experiment, epsilon, trust).method].title for trust in TRUSTS}
    dots = next(trace for trace in page.figure["data"] if trace["name"] == "methods")
    shown = {title for title, _ in dots["customdata"]}
    assert best | {METHODS["dps_pca"].title, "Best, no privacy"} <= shown and len(shown) <= 8
    page.app.checkbox(key="all_methods").check()
    page.run()
    assert page.link["all"] == "true"


@pytest.mark.parametrize(("metric", "factor"), [("projector", math.sqrt(2)), ("sin", 1.0)])
def test_the_random_guess_is_drawn_in_all_panels_in_the_chosen_metric(page, metric, factor):
    figure = page(first="rounds", metric=metric, scale="linear").figure
    lines = [trace for trace in figure["data"] if trace["name"] == "random guess"]
    drawn = [line["x"][0] if line["xaxis"] == "x3" else line["y"][0] for line in lines]
    assert drawn == pytest.approx([factor * math.sqrt(3 * (1 - 3 / 200))] * 3)


def test_captured_energy_lies_between_its_floor_and_one(page):
    words = page(metric="energy", n="1000000").words()
    assert 0.9 < float(words["tiles"][0][0]) <= 1.0


@pytest.mark.parametrize("name", TABLES)
def test_real_tables_open_with_their_controls_greyed(screen, name):
    page = screen(data=name, k="2", shat="10", all="true")
    table = TABLES[name]
    assert f"{table.n:,}" in page.words()["sentence"]
    greyed = {box.label.split(" ·")[0]: box for box in page.app.text_input if box.disabled}
    assert greyed["Patients in total n"].value == f"{table.n:,}"
    assert greyed["Features d"].value == str(table.d)
    assert all("fixed by the table" in box.label for box in greyed.values())
    figure = page.figure
    dots = figure["frames"][figure["active"]]["traces"]
    (place,) = (i for i, trace in enumerate(figure["data"]) if trace["name"] == "methods")
    reached = dots[str(place)]["x"]
    assert len(reached) == len(METHODS) + 1  # and the best without privacy
    assert all(x is not None for x in reached[:-1])


def test_a_table_gives_the_synthetic_settings_back(page):
    shown = page(n="1,000,000")
    shown.move("data", "breast_cancer")
    shown.move("data", catalogue.SYNTHETIC)
    assert shown.setting("n") == 1_000_000


def test_the_hospitals_can_always_be_changed(screen):
    """Whatever the noise, some method depends on how many there are and how unequal."""
    page = screen(noise="secure aggregation", share="0.5")
    assert not next(w for w in page.app.select_slider if w.key == "providers").disabled
    page.move("providers", 6)
    assert page.setting("largest_share") == 0.5


def test_as_printed_is_labelled_with_the_epsilon_it_truly_gives(screen):
    page = screen(accounting="as-printed")
    experiment, epsilon = to_experiment.from_settings(page.app.session_state["settings of the last run"])
    budget, options = experiment.budget(epsilon), experiment.options("dps_pca")
    true = METHODS["dps_pca"].true_epsilon(budget, d=experiment.d, k=experiment.k, **options)
    assert true < 0.2 and f"DPS-PCA: {text.short(true)}" in page.words()["printed"]


def test_the_sources_state_mu(page):
    """Exact calibration takes the noise multiplier z of the budget, and mu = 1/z."""
    shown = page(eps="0.5", delta="1e-05")
    mu = 1 / gaussian.noise_multiplier(Budget(0.5, 1e-5))
    stated = [
        block.words for block in shown.opened("origins") if "Gaussian differential privacy" in block.words
    ]
    assert [re.findall(r"μ = ([\d.]+) here", words) for words in stated] == [[f"{mu:.4g}"]]


def test_every_method_is_there_with_its_trust_and_its_guarantee(page):
    shown = page(d="20", n="1000000", all="true")
    rows = shown.figure["frames"][shown.figure["active"]]["methods"]
    for method in METHODS.values():
        assert any(method.title in row for row in rows)
        heading = text.trust_heading(method.trust)
        assert f"<b>{heading}</b>" in rows
    kinds = {method.title: method.guarantee_at(3) for method in METHODS.values()}
    assert text.guarantee_notes(kinds) in shown.words()["notes"]
    exact = page(d="20", k="1", all="true").words()["notes"]  # one direction is drawn without a chain
    assert text.GUARANTEES["approximate sampler"].capitalize() not in exact


def test_what_is_not_live_runs_at_a_button(screen):
    page = screen(d="250", n="1000000000", all="true")
    waiting = [row for row in page.figure["frames"][page.figure["active"]]["methods"] if "too slow" in row]
    assert waiting
    button = next(b for b in page.app.button if b.key == "slow button")
    assert "Measure the slow methods" in button.label
    button.click()
    page.run()
    assert page.setting("slow") is True and page.link["slow"] == "true"


def test_shared_noise_says_that_two_hospitals_undo_it(page):
    assert "can cancel it" in page(noise="shared, as printed").words()["printed"]


def test_the_theorem_speaks_where_its_assumptions_hold_and_is_silent_elsewhere(page):
    assert page().words()["theorem"] == ""  # the picture draws no theorem
    assert page(first="rounds").words()["theorem"] == ""  # it is about another method
    assert "Theorem 4.3 says nothing here" in page(first="rounds", method="dps_pca").words()["theorem"]
    held = page(
        first="rounds",
        method="dps_pca",
        d="1000",
        n="1e9",
        k="5",
        s="10",
        shat="680",
        N="1",
        start="near",
        burn="0",
        repeats="1",
    )
    assert held.words()["theorem"].startswith("Theorem 4.3 applies")
    figure = held.figure
    stacked = figure["frames"][figure["active"]]["traces"]["2"]["y"]
    assert all(value > 0 for value in stacked)


def test_the_picture_is_of_the_median_angle_and_says_it(screen):
    page = screen(k="1", repeats="3", d="50", s="6", shat="12")
    experiment, epsilon = to_experiment.from_settings_with_method(page.settings)
    shown = cache.results(experiment)
    angles = [abs(shown.cell(experiment.method, epsilon, r).plane.angle) for r in range(3)]
    page.run()
    angle, figure = statistics.median(angles), page.figure
    frame = figure["frames"][figure["active"]]["traces"]
    names = [trace["name"] for trace in figure["data"]]
    private, true = (
        frame[str(names.index("private direction"))],
        figure["data"][names.index("true direction")],
    )
    drawn = [math.degrees(math.atan2(line["y"][1], line["x"][1])) for line in (private, true)]
    assert drawn[0] - drawn[1] == pytest.approx(angle, abs=0.05)
    assert frame[str(names.index("angle"))]["texttemplate"] == f"off by {angle:.2g}°"
    # With one direction the headline's error is the sine of the same angle.
    assert float(page.words()["tiles"][0][0]) == pytest.approx(math.sin(math.radians(angle)), rel=0.06)
    assert f"off by {angle:.2g} degrees" in page.words()["alt_text"]


def test_a_picture_of_several_directions_says_which_angle_it_shows(page):
    shown = page(k="4", repeats="1", d="50", s="6", shat="12")
    assert "the largest of 4 angles" in shown.figure["layout"]["meta"]["titles"][0]
    assert "the largest of 4 angles" in shown.words()["alt_text"]


def points(figure, name):
    still = as_shown(figure)
    trace = next(trace for trace in still["data"] if trace["name"] == name)
    return np.array([trace["x"], trace["y"]])


@pytest.mark.parametrize("k", [1, 2])
def test_scores_of_a_table_stand_beside_the_true_ones_turned_onto_them(page, k):
    shown = page(data="breast_cancer", k=str(k), N="1", eps="10", repeats="1", shat="30")
    experiment, epsilon = to_experiment.from_settings_with_method(shown.settings)
    results = Results(experiment)
    basis, truth = results.estimate(experiment.method, epsilon, 0).basis, results.truth.basis
    chosen = np.sort(np.random.default_rng(0).permutation(569)[:300])
    rows = clip_rows(datasets.rows("breast_cancer")[chosen], TABLES["breast_cancer"].bound)
    unit = np.abs(rows @ truth).max() / 100
    turned = basis @ orthogonal_procrustes(basis, truth)[0]
    for name, up, expected in (("true scores", 100, truth), ("private scores", -100, turned)):
        drawn = points(shown.figure, name)
        scores = (rows @ expected / unit).T
        assert np.abs(drawn[0] - scores[0]).max() < 3  # of 200: rows are sent in hundredths
        assert k == 1 or np.abs(drawn[1] - up - scores[1]).max() < 3
    marker = next(t for t in shown.figure["data"] if t["name"] == "true scores")["marker"]
    assert marker["color"] == datasets.labels("breast_cancer")[chosen].tolist()
    assert [name for name, *_ in shown.figure["legend"]][:2] == ["malignant", "benign"]
    assert any("not private" in t.get("texttemplate", "") for t in shown.figure["data"])
    assert ("spread upwards" in shown.figure["layout"]["meta"]["titles"][0]) == (k == 1)


def test_components_of_images_are_images_and_the_preset_shows_more_than_a_guess(screen):
    page = screen()
    page.app.selectbox(key="preset").select("Digits as images")
    page.run()
    true, private = (np.array(t["z"], float) for t in as_shown(page.figure)["data"][:2])
    basis = Results(to_experiment.from_settings(page.settings)[0]).truth.basis
    first = basis[:, 0].reshape(8, 8)
    assert true.shape == private.shape == (8, 26)
    np.testing.assert_allclose(true[:, :8], 100 * first / np.abs(first).max(), atol=0.51)
    assert np.corrcoef(true[:, :8].ravel(), private[:, :8].ravel())[0, 1] > 0.8
    assert float(page.words()["tiles"][0][0]) < 0.4 * math.sqrt(3 * (1 - 3 / 64))


@pytest.mark.parametrize("name", TABLES)
def test_the_payload_stays_below_a_hundred_kilobytes(page, name):
    sent = page(data=name, k="3", shat="10").figure
    assert len(json.dumps(sent, separators=(",", ":"))) < 100_000


def test_presets_about_iterates_open_round_by_round(screen):
    about = [name for name in catalogue.PRESETS if name.startswith(("Ge et al. Fig. 3", "Where Theorem"))]
    assert {catalogue.PRESETS[name]["first_panel"] for name in about} == {"rounds"} and len(about) == 3
    page = screen()
    page.app.selectbox(key="preset").select("Ge et al. Fig. 3(a)")
    page.run()
    assert page.link["preset"] == "ge-et-al-fig-3-a" and page.setting("first_panel") == "rounds"
    assert page.figure["layout"]["meta"]["titles"][0].startswith("DPS-PCA")


def test_a_trust_that_a_chosen_method_does_not_serve_shows_the_recommended_one(screen):
    page = screen(method="dps_pca")
    page.move("trust", "central")
    assert page.setting("method") == catalogue.RECOMMENDED and page.link["trust"] == "one-place"
    shown = METHODS[recommended(*to_experiment.from_settings(page.settings), "central").method].title
    assert "DPS-PCA trusts nobody" in page.notices and f"{shown} finds" in page.words()["sentence"]


def test_a_delta_above_one_in_n_is_noted(screen):
    assert "is above 1/n" in screen(n="1000", delta="0.01").captions
    assert "above 1/n" not in screen().captions


def test_figures_are_ordered_by_a_count_and_not_by_the_clock(screen, monkeypatch):
    """A browser skips figures older than the one that it shows: after a clock was set back, all of them."""
    turns = []
    page = screen()
    for now in (2e9, 1e9):
        monkeypatch.setattr("time.time", lambda now=now: now)
        page.run()
        turns.append(json.loads(page.app.get("bidi_component")[0].proto.json)["order"])
    (server, first), (same, second) = turns
    assert server == same and second > first


def drawn(payload: dict) -> tuple[list[str], int]:
    active, dots = payload["active"], next(t for t in payload["data"] if t["name"] == "methods")
    at = payload["data"].index(dots)
    places = payload["frames"][active]["traces"][str(at)]["x"]
    titles = [title for (title, _), x in zip(dots["customdata"], places, strict=True) if x is not None]
    line = next(t for t in payload["data"] if t.get("meta") == "ghost" and t.get("xaxis") == "x2")
    return titles, sum(y is not None for y in line["y"])


@pytest.mark.parametrize(("d", "along"), [(50, 3), (1000, 1)])
def test_a_figure_is_complete_with_ten_runs_of_all_it_compares_and_some_along_its_line(d, along, monkeypatch):
    """Counted for what the figure shows. Beyond these nothing is run: how a run ends plays no part here."""
    alike = Results(to_experiment.from_settings_with_method(catalogue.defaults() | {"d": 50})[0])
    cell = alike.cell(alike.experiment.method, 1.0, 0)
    monkeypatch.setattr(Results, "estimates", lambda results, name, runs: runs)
    monkeypatch.setattr(Results, "estimate", lambda results, *cell: None)
    monkeypatch.setattr(Results, "_measured", lambda results, name, estimate: cell)
    view = Explorer(catalogue.defaults() | {"d": d, "seed": 7})
    view.results.cells.update(
        ((NO_PRIVACY, EPSILONS[0], r), alike.cell(NO_PRIVACY, 1.0, 0)) for r in range(10)
    )
    while (missing := view.next_cell()) is not None:
        assert not view.payload()["complete"]
        view.results.try_cell(*missing)
    payload = view.payload()
    titles, points = drawn(payload)
    assert payload["complete"] and payload["progress"] == "" and points == len(EPSILONS)
    names = [name for name, run in RUNS.items() if run.title in titles]
    assert len(names) == len(titles) == len(view.shown) + 1
    for name in names:
        assert len(view.results.measured(name, view.epsilon)) == 10
    main = view.experiment.method
    assert {len(view.results.measured(main, e)) for e in EPSILONS if e != view.epsilon} == {along}


def test_two_stages_stand_beside_their_predictions_once_their_runs_are_there():
    settings = catalogue.defaults() | {"repeats": 2, "d": 40, "n": 50_000}
    experiment, epsilon = to_experiment.from_settings(settings)
    results = Results(experiment)
    assert explorer_page_text.two_stages(results, epsilon, settings, METHODS) == explorer_page_text.MEASURING
    staged = [name for name in METHODS if METHODS[name].chooses_rows]
    results.try_cells((name, epsilon, repeat) for name in staged for repeat in range(2))
    shown = explorer_page_text.two_stages(results, epsilon, settings, METHODS)
    for name in staged:
        middle = statistics.median(cell.sin[-1] for cell in results.measured(name, epsilon))
        predicted = closed_form(results, name, epsilon).final
        assert predicted == pytest.approx(middle, rel=0.5)
        assert f"error {text.error(middle)}, closed form {text.error(predicted)};" in shown
    assert shown.count("found in 2 of 2 runs, predicted above 95 %") == 3
    of_energy = explorer_page_text.two_stages(results, epsilon, settings | {"metric": "energy"}, METHODS)
    assert "error" not in of_energy and "found in 2 of 2" in of_energy


@pytest.mark.parametrize("method", [catalogue.RECOMMENDED, "dps_pca"])
def test_near_a_guess_no_method_is_recommended_by_name(method):
    settings = catalogue.defaults(catalogue.SMALL_STUDY) | {"method": method}
    experiment, _ = to_experiment.from_settings_with_method(settings | {"epsilon": 0.05})
    near, fine = (explorer_page_text.why(experiment, at, settings["trust"]) for at in (0.05, 10.0))
    assert not [each.title for each in METHODS.values() if each.title in near]
    assert near.startswith("**No method is recommended:**") and "No method" not in fine
    results = Results(experiment)
    results.try_cells((name, 0.05, 0) for name in results.live_methods)
    assert explorer_page_text.of_scaling(results, 0.05, settings["trust"]) == ""
