"""The page on hospitals that differ: synthetic ones labelled so, real ones with what they lack."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from dppca_core.accounting import gaussian
from dppca_core.bounds.recommendation import recommend
from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.experiments.collaboration.site_recipe import HEART
from dppca_core.populations import heart_disease
from pages.hospitals.differences import charts, plain_text, settings, text, view
from pages.hospitals.differences.plain import Differing
from pages.hospitals.differences.view import SiteView
from pages.shared import text as words
from pages.shared.background import cache
from pages.shared.charts.traces import as_shown
from pages.shared.plain import rows
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import CHOICES

PAGE = "hospitals/differences/page.py"
QUICK = {"sites.method": "analyze_gauss_sparse"}
DEFAULTS = catalogue.defaults() | {"sites.data": HEART, "repeats": 3, "sites.kind": "public"} | QUICK


@pytest.fixture(scope="module")
def measured() -> SiteResults:
    """Everything a first look at the table's hospitals needs."""
    results = SiteResults(view.to_recipe(DEFAULTS))
    for cell in results.first(0.0, "public"):
        results.try_cell(*cell)
    return results


def titles(figure) -> str:
    return json.dumps({key: axis for key, axis in figure["layout"].items() if "axis" in key})


def test_synthetic_patients_are_labelled_on_every_chart(screen, patient):
    page = screen(PAGE, **QUICK, **{"sites.kind": "public"})
    drawn = [json.loads(figure.proto.json) for figure in page.app.get("bidi_component")]
    assert len(drawn) == 2 and all("synthetic patients" in titles(figure) for figure in drawn)
    table = page.app.table[0].value
    assert list(table["standardised by"]) == list(settings.KIND_TITLES.values())
    assert settings.KIND_TITLES["public"] in page.markdown and "The least error" in page.markdown


def test_the_real_table_says_what_is_missing_and_what_is_not_private(screen):
    page = screen(PAGE, **QUICK, **{"sites.data": "heart"})
    assert text.missing() in page.captions and page.captions.count("ot private*") >= 3
    assert len(page.app.get("bidi_component")) == 3
    assert "synthetic" not in page.captions + page.markdown
    assert not {"providers", "n"} & {widget.key for widget in page.app.select_slider}
    page.app.session_state["more"] = True  # what the page does not use is folded
    page.run()
    sliders = {widget.key: widget for widget in page.app.select_slider}
    assert sliders["providers"].disabled and "4 here" in sliders["providers"].label
    assert sliders["n"].disabled and "920 here" in sliders["n"].label
    assert not sliders["epsilon"].disabled and not sliders["s_hat"].disabled
    page.app.switch_page("explore/explorer/page.py")
    page.run()
    sliders = {widget.key: widget for widget in page.app.select_slider}
    assert not sliders["providers"].disabled and not sliders["n"].disabled
    assert page.link["sites.data"] == "heart"


def test_a_link_restores_the_screen(screen):
    link = {"sites.data": "heart", "sites.kind": "pooled", "sites.against": "common"}
    page = screen(PAGE, **QUICK, **link)
    assert link.items() <= page.link.items()
    assert page.setting("sites.kind") == "pooled"
    assert settings.KIND_TITLES["pooled"] in page.markdown
    assert screen(PAGE, **page.link).link == page.link


def test_bad_links_open_nearby(screen):
    page = screen(PAGE, **QUICK, **{"sites.data": "iris", "sites.share": "7", "sites.strength": "-3"})
    assert page.setting("sites.data") == "clinical"
    assert (page.setting("sites.share"), page.setting("sites.strength")) == (0.5, 0.0)
    assert page.notices.count("was") == 3


@pytest.mark.parametrize(("metric", "scale"), [("sin", "log"), ("projector", "linear"), ("energy", "log")])
def test_figures_are_valid_json_in_every_measure(measured, metric, scale):
    shown = SiteView(measured, DEFAULTS | {"metric": metric, "scale": scale})
    for figure in (charts.by_kind(shown), charts.joining(shown), charts.missing()):
        json.dumps(figure, allow_nan=False)
        go.Figure(as_shown(figure))  # what the download holds
    assert "joined" in [trace["name"] for trace in charts.joining(shown)["data"]]


def test_a_truth_is_not_drawn_as_an_error_of_itself(measured):
    """The pooled answer without privacy is what the table's errors are measured against."""
    shown = SiteView(measured, DEFAULTS | {"sites.against": "common"})
    figure = charts.joining(shown)
    assert "joined, no privacy" not in [trace["name"] for trace in figure["data"]]
    assert figure["layout"]["xaxis"]["range"][0] >= -2
    assert "joined without privacy" not in text.gains_and_losses(
        shown
    ) and "grey bar" not in text.about_joining(shown)
    usual = SiteView(measured, DEFAULTS)
    assert "joined, no privacy" in [trace["name"] for trace in charts.joining(usual)["data"]]


def test_nothing_measured_yet_is_drawn_as_nothing():
    defaults = catalogue.defaults()
    shown = SiteView(SiteResults(view.to_recipe(defaults)), defaults)
    json.dumps(charts.against_strength(shown), allow_nan=False)
    assert charts.joining(shown)["data"] == [] and text.gains_and_losses(shown) == ""
    assert text.headline(shown) == words.MEASURING


def test_the_sentence_on_joining_is_that_of_the_numbers(measured):
    """Every hospital stands where its medians put it."""
    shown = SiteView(measured, DEFAULTS)
    alone, joined = (
        np.median([cell.local for cell in measured.measured(what, 0.0, "public")], axis=0)
        for what in ("alone", "joined")
    )
    sentence = text.gains_and_losses(shown)
    verdicts = shown.outcomes()
    for name, a, j, verdict in zip(measured.recipe.hospitals, alone, joined, verdicts, strict=True):
        harmed, helped = (
            sentence.partition(verb)[2].partition("and h")[0].partition("(")[0] for verb in ("harms", "helps")
        )
        assert (name in harmed) == (verdict == "more") and (name in helped) == (verdict == "less")
        if verdict in ("less", "more"):
            assert (verdict == "less") == (j < a)
    assert "joined without privacy" in sentence


@pytest.mark.parametrize("trust", list(rows.LOOKS))
def test_both_views_judge_joining_by_the_same_method_and_runs_in_any_unit(trust):
    now = DEFAULTS | {"sites.method": catalogue.RECOMMENDED, "trust": trust, "epsilon": 10.0}
    board, analyst = Differing(now | rows.ADVISED), SiteView(cache.site_results(view.to_recipe(now)), now)
    assert board.chosen.results is analyst.results
    for cell in ((what, 0.0, "public", r) for what in ("joined", "alone") for r in range(3)):
        analyst.results.try_cell(*cell)
    _table, verdicts = board.hospitals()
    for metric in ("sin", "energy", "degrees"):
        shown = SiteView(analyst.results, now | {"metric": metric})
        assert shown.outcomes() == verdicts and len(verdicts) == 4
        sentence = text.gains_and_losses(shown)
        assert [verb in sentence for verb in ("helps", "harms")] == [v in verdicts for v in ("less", "more")]


def test_the_recommendation_knows_the_simulated_population():
    now = catalogue.defaults() | {"sites.method": catalogue.RECOMMENDED, "trust": "central"}
    recipe = view.to_recipe(now)
    answer = view.recommended(recipe, "public", "central")
    model = recipe.model(strength=0.0)
    assert recipe.method == answer.method and model.s == np.count_nonzero(model.loadings().any(axis=1))
    known = np.linalg.eigvalsh(model.covariance())[::-1]
    assert model.eigenvalues == pytest.approx(known)
    guessed = recommend("central", n=now["n"], d=100, k=3, budget=recipe.budget, s_hat=20, providers=6)
    assert guessed.error != answer.error


@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        (["more"] * 6, "Here all 6 hospitals that trust nobody do better alone."),
        (["less"] * 6, "Here all 6 hospitals that trust nobody do better together."),
        (["less", "more", "level"], "Of 3 hospitals that trust nobody, joining helps 1 and harms 1."),
        (["level", "neither"], "Joining makes little difference to 2 hospitals that trust nobody."),
    ],
)
def test_the_plain_headline_counts_who_gains(outcomes, sentence):
    assert plain_text.headline(outcomes, "untrusted server") == sentence


def test_the_table_states_what_is_left_of_the_budget(measured):
    table = text.costs(SiteView(measured, DEFAULTS)).set_index("standardised by")
    assert list(table.columns) == ["error (8 of 10 runs)", "cost of the budget"]
    left = measured.recipe.budget_left("pooled")
    noise = gaussian.noise_multiplier(left) / gaussian.noise_multiplier(measured.recipe.budget)
    assert f"{noise:.3g}" == f"{0.8**-0.5:.3g}"
    paid = f"20 %; left ε = {left.epsilon:.3g}, noise × {noise:.3g}"
    assert list(table["cost of the budget"]) == ["nothing", paid, paid]


def test_the_chart_of_what_is_missing_counts_the_rows():
    figure = charts.missing()
    grid = np.array(figure["data"][0]["z"])
    assert grid.shape == (13, 4)
    row = list(heart_disease.MEASUREMENTS).index("chol")
    assert grid[row].tolist() == [0.0, pytest.approx(23 / 294, rel=1e-3), 0.28, 1.0]
    assert figure["data"][1]["text"][4 * row + 3] == "100 %<br>all as 0"
    shares = "24 % of the patients of Long Beach and 100 % of the patients of Zurich/Basel"
    assert shares in text.missing()


@pytest.mark.parametrize(
    ("changed", "note"),
    [
        ({"s_hat": 200, "sites.method": "dps_pca"}, "22, as there are 22 columns"),
        ({"sites.method": "dps_pca", "provider_noise": "shared"}, "undo the shared noise"),
        ({"sites.method": "federated_projector"}, "condition that the proof assumes"),
        ({"sites.kind": "own-ranges"}, "No laboratory's printed ranges are known"),
        ({"metric": "energy"}, "Captured energy is shown hospital by hospital"),
    ],
)
def test_what_is_adjusted_or_weakens_the_guarantee_is_noted(changed, note):
    now = DEFAULTS | changed
    assert note in " ".join(text.notes(SiteView(SiteResults(view.to_recipe(now)), now)))


@given(st.fixed_dictionaries({key: st.sampled_from(choice.options) for key, choice in CHOICES.items()}))
@examples(max_examples=50)
def test_any_settings_are_a_comparison(moved):
    now, _ = catalogue.reconcile(moved)
    recipe = view.to_recipe(now)
    assert SiteView(SiteResults(recipe), now).kind in recipe.kinds
    assert set(settings.unused(now)) < set(CHOICES)
