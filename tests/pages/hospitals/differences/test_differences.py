"""The page on hospitals that differ: synthetic ones labelled so, real ones with what they lack."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from dppca_core.accounting import gaussian
from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.experiments.collaboration.site_recipe import HEART
from dppca_core.populations import heart_disease
from pages.hospitals.differences import charts, settings, text, view
from pages.shared.reports import downloads
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import CHOICES

PAGE = "hospitals/differences/page.py"
QUICK = {"sites.method": "analyze_gauss_sparse"}


def filled(**changed) -> tuple[SiteResults, catalogue.Settings]:
    """A first look, and a little more, at these settings."""
    now = catalogue.defaults() | {"sites.data": HEART, "repeats": 3, "sites.kind": "public"} | QUICK | changed
    of = view.recipe(now)
    found = SiteResults(of)
    at, kind = view.strength(of, now), view.kind(of, now)
    for cell in found.first(at, kind):
        found.try_cell(*cell)
    return found, now


def titles(figure) -> str:
    return json.dumps({key: axis for key, axis in figure["layout"].items() if "axis" in key})


def test_it_opens_with_live_numbers_and_says_synthetic_on_every_chart(screen):
    page = screen(PAGE, **QUICK, **{"sites.kind": "public"})
    said = page.markdown
    assert "Standardised by one public range for all, the joint answer of" in said
    assert "The least error" in said and "printed ranges, which cost no privacy" in said
    drawn = [json.loads(one.proto.json) for one in page.app.get("bidi_component")]
    assert len(drawn) == 2 and all("synthetic patients" in titles(figure) for figure in drawn)
    table = page.app.table[0].value
    assert [cost[:4] for cost in table["cost of the budget"]] == ["noth"] * 2 + ["20 %"] * 2


def test_the_real_table_tells_its_absent_cholesterol_and_what_is_not_private(screen):
    page = screen(PAGE, **QUICK, **{"sites.data": "heart"})
    assert "24 % of the patients of Long Beach and 100 % of the patients of Zurich/Basel" in page.captions
    assert page.captions.count("ot private*") >= 3
    assert "No laboratory's printed ranges are known for this table" in page.captions
    assert len(page.app.get("bidi_component")) == 3
    assert "synthetic" not in page.captions + page.markdown


def test_what_makes_no_difference_is_greyed_with_its_reason_and_free_elsewhere(screen):
    page = screen(PAGE, **QUICK, **{"sites.data": "heart"})
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
    link = {"sites.data": "heart", "sites.kind": "pooled", "sites.against": "common", "view": "researcher"}
    page = screen(PAGE, **QUICK, **link)
    assert link.items() <= page.link.items()
    assert page.setting("sites.kind") == "pooled"
    assert "Standardised by all patients' means and spreads" in page.markdown
    assert screen(PAGE, **page.link).link == page.link


def test_a_board_reads_no_symbols(screen):
    page = screen(PAGE, **QUICK, **{"sites.data": "heart"}, view="board")
    shown = page.markdown + page.captions + " ".join(page.app.table[0].value.columns)
    assert not any(symbol in shown for symbol in "εδσΘŝ")


def test_bad_links_open_nearby(screen):
    page = screen(PAGE, **QUICK, **{"sites.data": "iris", "sites.share": "7", "sites.strength": "-3"})
    assert page.setting("sites.data") == "clinical"
    assert (page.setting("sites.share"), page.setting("sites.strength")) == (0.5, 0.0)
    assert page.notices.count("was") == 3


@pytest.mark.parametrize("metric", ["sin", "projector", "energy"])
@pytest.mark.parametrize("scale", ["log", "linear"])
def test_figures_are_valid_json_in_every_measure(metric, scale):
    found, now = filled(metric=metric, scale=scale)
    for figure in (charts.by_kind(found, now), charts.joining(found, now), charts.missing()):
        json.dumps(figure, allow_nan=False)
        go.Figure(downloads.still(figure))  # what the download holds
    assert "joined" in [trace["name"] for trace in charts.joining(found, now)["data"]]


def test_a_truth_is_not_drawn_as_an_error_of_itself():
    """The pooled answer without privacy is what the table's errors are measured against."""
    found, now = filled(**{"sites.against": "common"})
    figure = charts.joining(found, now)
    assert "joined, without privacy" not in [trace["name"] for trace in figure["data"]]
    assert figure["layout"]["xaxis"]["range"][0] >= -2
    assert "without privacy" not in text.who(found, now)
    assert "grey bar" not in text.about_joining(found.recipe, now)


def test_nothing_measured_yet_is_drawn_as_nothing():
    now = catalogue.defaults()
    found = SiteResults(view.recipe(now))
    json.dumps(charts.against_strength(found, now), allow_nan=False)
    assert charts.joining(found, now)["data"] == []
    assert text.headline(found, now) == text.MEASURING


def test_the_sentence_on_joining_is_that_of_the_numbers():
    """Every hospital stands where its medians put it, with the numbers of the one that changes most."""
    found, now = filled()
    measure = view.SiteMeasure(found.recipe, now)
    cells = {what: found.measured(what, 0.0, "public") for what in ("alone", "joined")}
    alone, joined = (np.median([cell.local for cell in cells[what]], axis=0) for what in ("alone", "joined"))
    said = text.who(found, now)
    for name, a, j in zip(found.recipe.hospitals, alone, joined, strict=True):
        outcome = measure.outcome(a, j)
        harmed, helped = (
            said.partition(verb)[2].partition("and h")[0].partition("(")[0] for verb in ("harms", "helps")
        )
        assert (name in harmed) == (outcome == "loses")
        assert (name in helped) == (outcome == "gains")
    assert "joined without privacy" in said


@pytest.mark.parametrize(
    ("alone", "joined", "outcome"),
    [
        (0.5, 0.2, "gains"),
        (0.2, 0.5, "loses"),
        (0.5, 0.52, "same"),
        (1.3, 1.25, "nothing"),
        (1.3, 0.4, "gains"),
    ],
)
def test_an_outcome_is_a_tenth_or_it_is_none(alone, joined, outcome):
    of, now = filled()[0].recipe, catalogue.defaults()
    assert view.SiteMeasure(of, now).outcome(alone, joined) == outcome
    assert view.SiteMeasure(of, now | {"metric": "energy"}).outcome(0.5, 0.51) == "same"


def test_the_table_states_what_is_left_of_the_budget():
    found, now = filled()
    table = text.costs(found, now).set_index("standardised by")
    assert list(table.columns) == ["error (8 of 10 runs)", "cost of the budget"]
    left = found.recipe.left("pooled")
    noise = gaussian.noise_multiplier(left) / gaussian.noise_multiplier(found.recipe.budget)
    assert f"{noise:.3g}" == f"{0.8**-0.5:.3g}"
    paid = f"20 %; left ε = {left.epsilon:.3g}, noise × {noise:.3g}"
    assert list(table["cost of the budget"]) == ["nothing", paid, paid]
    plain = text.costs(found, now | {"view": "board"})
    assert list(plain["cost of the budget"]) == ["nothing", "20 %", "20 %"]


def test_the_chart_of_what_is_missing_counts_the_rows():
    figure = charts.missing()
    grid = np.array(figure["data"][0]["z"])
    assert grid.shape == (13, 4)
    place = list(heart_disease.MEASUREMENTS).index("chol")
    assert grid[place].tolist() == [0.0, pytest.approx(23 / 294, rel=1e-3), 0.28, 1.0]
    words = figure["data"][1]["text"]
    assert words[4 * place + 3] == "100 %<br>all as 0"


def test_what_gives_way_or_weakens_the_guarantee_is_said():
    now = catalogue.defaults() | {
        "sites.data": HEART,
        "s_hat": 200,
        "sites.method": "dps_pca",
        "provider_noise": "shared",
    }
    said = " ".join(text.notes(view.recipe(now), now))
    assert "22, as there are 22 columns" in said and "undo the shared noise" in said
    now |= {"sites.method": "federated_projector"}
    assert "good event" in " ".join(text.notes(view.recipe(now), now))


@given(st.fixed_dictionaries({key: st.sampled_from(choice.options) for key, choice in CHOICES.items()}))
@examples(max_examples=100)
def test_any_settings_are_a_comparison(moved):
    now, _ = catalogue.reconcile(moved)
    of = view.recipe(now)
    assert view.kind(of, now) in of.kinds
    assert set(settings.unused(now)) < set(CHOICES)
