"""Test full view where hospitals differ: synthetic ones labelled so, real ones with what they lack."""

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
from dppca_core.experiments.collaboration.site_experiment import HEART, SYNTHETIC
from dppca_core.populations import heart_disease
from pages.hospitals.providers import settings
from pages.hospitals.providers.charts import differing as charts
from pages.hospitals.providers.model import differing as view
from pages.hospitals.providers.model.differing import SiteView
from pages.hospitals.providers.sentences import differing as text
from pages.hospitals.providers.sentences import table
from pages.shared.charts.traces import as_shown
from pages.shared.settings import catalogue, hospitals
from pages.shared.settings.catalogue import CHOICES

PAGE = "hospitals/providers/page.py"
QUICK = {"sites.method": "analyze_gauss_sparse"}
DEFAULTS = catalogue.defaults() | {"sites.data": HEART, "repeats": 3, "sites.kind": "public"} | QUICK


@pytest.fixture(scope="module")
def measured() -> SiteResults:
    results = SiteResults(view.to_recipe(DEFAULTS))
    for cell in results.first(0.0, "public"):
        results.try_cell(*cell)
    return results


def titles(figure) -> str:
    return json.dumps({key: axis for key, axis in figure["layout"].items() if "axis" in key})


def test_synthetic_patients_are_labelled_on_every_chart(page):
    shown = page(PAGE, **QUICK, n="2000", **{"sites.data": SYNTHETIC, "sites.kind": "public"}).settle()
    assert len(shown.figures) == 2
    assert all("synthetic patients" in titles(figure.payload) for figure in shown.figures.values())
    assert list(shown.tables[0]["standardised by"]) == list(settings.KIND_TITLES.values())
    assert settings.KIND_TITLES["public"] in shown.markdown


def test_the_real_table_says_what_is_missing_and_what_is_not_private(page):
    shown = page(PAGE, **QUICK, **{"sites.data": HEART}).settle()
    assert text.missing() in shown.captions and shown.captions.count("ot private") >= 4
    assert set(shown.figures) == {"standardising figure", "hospitals figure", "missing figure"}
    assert "synthetic" not in shown.captions + shown.markdown
    names, sizes = zip(*((name, len(rows)) for name, rows in heart_disease.rows().items()), strict=True)
    setting = hospitals.to_setting(shown.settings)
    assert tuple(each.name for each in setting.hospitals) == names and setting.sizes == sizes
    assert setting.k == 2 and setting.delta == catalogue.delta_for(sum(sizes))
    assert not any("1,000" in words for _, words in shown.document.frame().settings)


def test_the_sidebar_holds_what_does_not_matter_there(screen):
    shown = screen(PAGE, **QUICK, **{"sites.data": HEART})
    assert not {"providers", "n"} & {widget.key for widget in shown.app.select_slider}
    shown.app.session_state["more"] = True  # what the page does not use is folded
    shown.run()
    sliders = {widget.key: widget for widget in shown.app.select_slider}
    assert sliders["providers"].disabled and "4 here" in sliders["providers"].label
    assert sliders["n"].disabled and "920 here" in sliders["n"].label
    assert not sliders["epsilon"].disabled and not sliders["s_hat"].disabled
    shown.app.switch_page("explore/explorer/page.py")
    shown.run()
    sliders = {widget.key: widget for widget in shown.app.select_slider}
    assert not sliders["providers"].disabled and not sliders["n"].disabled


def test_sizes_of_real_hospitals_cannot_be_typed_and_losses_can(page):
    link = {"sites.data": HEART, "join.sizes": "9-9", "join.losses": "1-0.5-1-2", "view": "plain"}
    shown = page(PAGE, **link)
    setting = hospitals.to_setting(shown.settings)
    assert setting.n == 920 and [each.epsilon for each in setting.hospitals] == [1, 0.5, 1, 2]
    assert table.SIZES_ARE_REAL in shown.captions


def test_simulated_hospitals_have_the_cohorts_shares_or_typed_sizes(page):
    shown = page(PAGE, **{"sites.data": SYNTHETIC, "n": "20000"})
    assert hospitals.sizes(shown.settings) == (8000, 5000, 3000, 2000, 1200, 800)
    shown = page(PAGE, **QUICK, **{"sites.data": SYNTHETIC, "join.sizes": "900-100", "join.losses": "1-2"})
    setting = hospitals.to_setting(shown.settings)
    assert setting.sizes == (900, 100) and setting.differing.site(1) == 1
    assert text.SIZES_OF_THE_COHORT in shown.captions and "compared at ε = 1" in shown.captions


def test_a_table_of_patients_gives_way_to_hospitals_that_differ_or_they_to_it():
    now = catalogue.defaults() | {"sites.data": HEART, "data": "breast_cancer"}
    assert catalogue.reconcile(now, ("data", "sites.data"))[0]["data"] == catalogue.SYNTHETIC
    assert catalogue.reconcile(now, ("sites.data", "data"))[0]["sites.data"] == "alike"
    now = catalogue.defaults() | {"sites.data": HEART}
    assert catalogue.reconcile(now, ("n", "sites.data"))[0]["delta"] == catalogue.delta_for(920)
    assert catalogue.reconcile(now, ("sites.data", "n"))[0]["sites.data"] == "alike"


def test_bad_links_open_nearby(page):
    shown = page(PAGE, **QUICK, **{"sites.data": "iris", "sites.share": "7", "sites.strength": "-3"})
    assert shown.setting("sites.data") == "alike" and len(shown.sentences) == 3
    assert (shown.setting("sites.share"), shown.setting("sites.strength")) == (0.5, 0.0)


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
    assert "upright bar" not in text.about_joining(shown)
    usual = SiteView(measured, DEFAULTS)
    assert "joined, no privacy" in [trace["name"] for trace in charts.joining(usual)["data"]]


def test_nothing_measured_yet_is_drawn_as_nothing():
    defaults = catalogue.defaults() | {"sites.data": SYNTHETIC}
    shown = SiteView(SiteResults(view.to_recipe(defaults)), defaults)
    json.dumps(charts.against_strength(shown), allow_nan=False)
    assert charts.joining(shown)["data"] == [] and text.details(shown) == ""


def test_dots_of_hospitals_are_medians_of_runs(measured):
    shown = SiteView(measured, DEFAULTS)
    drawn = {trace["name"]: trace["x"] for trace in charts.joining(shown)["data"]}
    for what in ("alone", "joined"):
        cells = [cell.local for cell in measured.measured(what, 0.0, "public")]
        assert drawn[what] == pytest.approx(np.median(cells, axis=0), rel=1e-3)


def test_the_recommendation_knows_the_simulated_population():
    now = catalogue.defaults() | {"sites.data": SYNTHETIC, "sites.method": catalogue.RECOMMENDED}
    now |= {"trust": "central"}
    recipe = view.to_recipe(now)
    answer = view.recommended(recipe, "public", "central")
    model = recipe.model(strength=0.0)
    assert recipe.method == answer.method and model.s == np.count_nonzero(model.loadings().any(axis=1))
    known = np.linalg.eigvalsh(model.covariance())[::-1]
    assert model.eigenvalues == pytest.approx(known)
    guessed = recommend("central", n=now["n"], d=recipe.d, k=3, budget=recipe.budget, s_hat=20, providers=6)
    assert guessed.error != answer.error


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
    ],
)
def test_what_is_adjusted_or_weakens_the_guarantee_is_noted(changed, note):
    now = DEFAULTS | changed
    assert note in " ".join(text.notes(SiteView(SiteResults(view.to_recipe(now)), now)))


@given(st.fixed_dictionaries({key: st.sampled_from(choice.options) for key, choice in CHOICES.items()}))
@examples(max_examples=50)
def test_any_settings_are_a_comparison(moved):
    now, _ = catalogue.reconcile(moved)
    hospitals.to_setting(now)
    if now["sites.data"] == "alike":
        assert settings.unused(now) is None
        return
    recipe = view.to_recipe(now)
    assert SiteView(SiteResults(recipe), now).kind in recipe.kinds
    assert set(settings.unused(now)) < set(CHOICES)
