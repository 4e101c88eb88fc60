"""The bounds page: every bound with its assumptions, the map, the constants, Figure 2."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from pages.explore.bounds import charts, sentences, settings
from pages.explore.bounds.model import Bounds
from pages.shared.background import cache
from pages.shared.settings import catalogue, to_experiment
from tests.pages.documents import Page
from tests.pages.shared.document.test_html import Elements

PAGE = "explore/bounds/page.py"
SMALL = {"d": "30", "n": "1000000", "k": "2", "s": "6", "shat": "10"}
NOW = catalogue.defaults() | {"d": 30, "n": 1_000_000, "k": 2, "s": 6, "s_hat": 10, "repeats": 3}


@pytest.fixture(scope="module")
def opened():
    return Page(PAGE, **SMALL, **{f"show.{name}": "true" for name in settings.SIN_BOUNDS})


def drawn(page):
    return {trace["name"] for trace in page.figure["data"]}


def test_it_opens_with_four_bounds_and_says_what_it_draws(page):
    shown = page(PAGE, **SMALL)
    titles = {BOUNDS[name].title for name in settings.SIN_BOUNDS} & drawn(shown)
    first = ("ge2018", "dps_prediction", "gaussian_floor", "sparse_minimax")
    assert titles == {BOUNDS[name].title for name in first}
    assert shown.figures["bounds figure"].alt_text == shown.headline


def test_every_bound_can_be_drawn_and_has_its_card(opened):
    rules = [BOUNDS[name] for name in settings.SIN_BOUNDS]
    assert {rule.title for rule in rules} - drawn(opened) == set()
    assert [rule.title for rule in rules if f"**{rule.title}**" not in opened.markdown] == []
    assert [rule.title for rule in rules if rule.formula not in opened.markdown] == []


def test_assumptions_are_ticked_or_crossed_with_their_numbers(opened):
    experiment, epsilon = to_experiment.from_settings(opened.settings)
    shown = sentences.assumptions(BOUNDS["ge2018"](Results(experiment).setting(epsilon)))
    assert "✓" in shown and "✗" in shown and shown in opened.markdown


def test_on_a_table_too(page):
    shown = page(PAGE, data="breast_cancer", k="2")
    assert shown.figures["bounds figure"].alt_text == shown.headline


def test_cards_and_the_foot_name_the_constants_that_the_sliders_have(page):
    shown = page(PAGE, **SMALL, **{"tau": "5", "ge2018.c2": "0.5"})
    constants = "τ = 5, C1 = 1, C1 of B.4 = 1, C2 = 0.5"
    assert f"Value here, with {constants}: " in shown.markdown
    assert any(f"{constants} (" in block.words for block in shown.opened("origins"))


def test_a_constant_is_fitted_where_it_is_asked_for_and_used_nowhere(page):
    shown = page(PAGE, **SMALL)
    (answer,) = shown.opened("fit sparse_minimax")
    assert "C2 is set to 1 here. To match DPS-PCA over 31 values of ε" in answer.words
    assert answer.words.replace("**", "") in Elements(shown.html()).text
    assert shown.setting("sparse_minimax.c2") == 1.0


def test_a_fitted_constant_is_shown_once_it_is_asked_for(screen):
    page = screen(PAGE, **SMALL)
    assert "C2 is set to 1 here." not in page.markdown
    page.app.session_state["fit sparse_minimax"] = True  # the fold is open
    page.run()
    assert "C2 is set to 1 here." in page.markdown


def test_figure_2_says_what_it_does_not_know(page):
    assert "figure 2" not in page(PAGE, **SMALL).figures
    shown = page(PAGE, figure2="true", **SMALL)
    assert sentences.FIGURE_2_NOTE in shown.captions
    assert Elements(shown.html()).text.count(sentences.FIGURE_2_NOTE) == 1


@pytest.fixture(scope="module")
def results():
    experiment, _ = to_experiment.from_settings(NOW)
    measured = Results(experiment)
    for cell in measured.missing(("dps_pca", e, r) for e in EPSILONS for r in range(3)):
        measured.cell(*cell)
    return measured


def model(results, **changed):
    m = Bounds(NOW | changed)
    m.results = results
    return m


@pytest.mark.parametrize("metric", ["sin", "share"])
def test_a_bound_is_drawn_once_where_it_says_something(results, metric):
    """A bound has exactly one of a thick line and a thin one at every epsilon, and none where it is void."""
    m = model(results, metric=metric, **{f"show.{name}": True for name in settings.SIN_BOUNDS})
    figure, voids = charts.against_epsilon(m), 0
    for name, bounds in m.evaluated.items():
        lines = [trace for trace in figure["data"] if trace.get("legendgroup") == name]
        values = np.array([trace["y"] for trace in lines], dtype=float)
        void = np.array([m.state(name, bound) == "void" for bound in bounds])
        assert (np.isfinite(values).sum(axis=0) == ~void).all(), name
        assert lines[0]["showlegend"] == (not void.all())
        voids += void.sum()
    assert voids  # here some bounds say nothing at the strictest settings


def test_a_bound_that_never_says_anything_has_no_entry_in_the_legend(results):
    m = model(results)
    m.evaluated = {"ge2018": [BOUNDS["ge2018"](results.setting(0.01))] * len(EPSILONS)}
    traces = charts.against_epsilon(m)["data"]
    assert not any(trace["showlegend"] for trace in traces if trace.get("legendgroup") == "ge2018")


def test_the_headline_names_what_has_no_line(results):
    others = dict.fromkeys(("show.dps_prediction", "show.gaussian_floor", "show.sparse_minimax"), False)
    m = model(results, epsilon=0.01, **others)
    assert sentences.headline(m).endswith(
        "Of 1 formula for its error, 1 says nothing: Ge et al. 2018, Theorem 4.3."
    )


def test_void_is_what_no_error_can_exceed(results):
    m = model(results)
    assert m.most == math.sqrt(2)
    assert m.state("ge2018", BOUNDS["ge2018"](results.setting(0.01))) == "void"
    prediction = BOUNDS["dps_prediction"](results.setting(1.0))
    assert m.state("dps_prediction", prediction) == "applies"


def test_the_map_names_its_regions(results):
    """Few patients at a strict epsilon are hopeless; many at a loose one pay nothing."""
    drawn = cache.regimes(results.experiment, "closed form", 3.3, ())
    assert drawn.codes.shape == (40, 40)
    assert REGIONS[drawn.codes[0, 0]] == "hopeless"
    assert REGIONS[drawn.codes[-1, -1]] == "privacy is free here"


def test_the_theorem_is_silent_from_a_random_start(results):
    """Assumption B.6 fails everywhere; near the truth all hold, given the rows that B.4 asks for."""
    silent = cache.regimes(results.experiment, "theorem", 3.3, ())
    assert {REGIONS[code] for code in silent.codes.flat} == {"nothing follows"}
    near = replace(results.experiment, start_error=0.05, s_hat=30, delta=0.1)
    speaks = cache.regimes(near, "theorem", 3.3, (("c1_rows", 0.01), ("c2", 0.01)))
    assert {"nothing follows", "privacy costs"} <= {REGIONS[code] for code in speaks.codes.flat}
    sure_of_nothing = cache.regimes(near, "theorem", 1.0, (("c1_rows", 0.01), ("c2", 0.01)))
    assert {REGIONS[code] for code in sure_of_nothing.codes.flat} == {"nothing follows"}


def test_what_is_chosen_here_outlives_another_page(screen):
    page = screen("explore/explorer/page.py", **SMALL)
    page.app.switch_page(PAGE)
    page.run()
    next(box for box in page.app.checkbox if box.key == "show.analyze_gauss").check()
    page.run()
    page.move("tau", 4.0)
    for other in ("explore/explorer/page.py", PAGE):
        page.app.switch_page(other)
        page.run()
    assert page.setting("show.analyze_gauss") is True and page.setting("tau") == 4.0
    assert {"show.analyze_gauss": "true", "tau": "4"}.items() <= page.link.items()


def test_two_stages_are_drawn_with_their_closed_form_and_the_chance_to_find_all_rows(page):
    shown = page(PAGE, **SMALL, of="two_stage")
    assert "Closed form for two stages" in drawn(shown)
    link = catalogue.to_link(shown.settings)
    assert {key: link[key] for key in link if key not in SMALL} == {
        "preset": "large-study",
        "of": "two_stage",
        "repeats": "2",
    }
    chances = shown.figures["chances figure"]
    traces = {trace["name"]: trace for trace in chances.payload["data"]}
    assert traces["predicted chance"]["y"][-1] == pytest.approx(1.0, abs=0.02)
    assert traces["share of runs"]["y"][-1] == 1.0
    assert "predicted: above 95 %." in chances.alt_text and chances.alt_text in shown.captions


def test_it_says_why_two_stages_have_no_closed_form_here(page):
    shown = page(PAGE, **SMALL | {"shat": "released"}, of="two_stage_own_noise")
    assert "does not apply here: it needs a number of features kept" in shown.captions
    assert "chances figure" not in shown.figures


def test_the_arms_of_a_share_of_runs_are_clopper_and_pearsons(results):
    """3 of 3 runs: 80 % of what the chance could be begins at .1^(1/3); none of 3 ends at 1 - .1^(1/3)."""
    runs = Results(results.experiment)
    for repeat in range(3):
        complete = runs.cell("two_stage", 10.0, repeat)
        runs.cells["two_stage", EPSILONS[0], repeat] = complete._replace(support=0.5)
    figure = charts.chances(model(runs, of="two_stage"))
    share = next(trace for trace in figure["data"] if "error_y" in trace)
    assert share["y"] == [0.0, 1.0]
    edge = 0.1 ** (1 / 3)
    assert share["error_y"]["array"] == pytest.approx([1 - edge, 0.0], rel=1e-3)
    assert share["error_y"]["arrayminus"] == pytest.approx([0.0, 1 - edge], rel=1e-3)


def test_an_error_below_a_lower_bound_is_explained(results):
    """Two stages do better here than the worst population allows, by a constant that nobody knows."""
    runs = Results(results.experiment)
    runs.try_cells([("two_stage", 1.0, 0)])
    bound = BOUNDS["sparse_minimax"](runs.setting(1.0))
    error = float(runs.measured("two_stage", 1.0)[0].sin[-1])
    for c2, above in ((2 * error / bound.final, True), (0.5 * error / bound.final, False)):
        m = model(runs, of="two_stage")
        m.evaluated = {"sparse_minimax": [BOUNDS["sparse_minimax"](runs.setting(1.0), c2=c2)] * len(EPSILONS)}
        shown = sentences.below_a_lower_bound(m)
        assert bool(shown) == above and (BOUNDS["sparse_minimax"].title in shown) == above
        assert ("their constants are guesses" in shown) == above


def test_the_floor_is_explained_where_it_is_drawn_and_applies(results):
    assert sentences.FLOOR in sentences.below_the_figure(model(results))
    for changed in ({"show.gaussian_floor": False}, {"accounting": "as-printed"}):
        assert sentences.FLOOR not in sentences.below_the_figure(model(results, **changed))


def test_the_floor_above_an_error_has_no_constant_to_guess(results):
    runs = Results(results.experiment)
    runs.try_cells([("two_stage", 1.0, 0)])
    m = model(runs, of="two_stage")
    floor = BOUNDS["gaussian_floor"](runs.setting(1.0))
    m.evaluated = {"gaussian_floor": [replace(floor, total=2 * m.most)] * len(EPSILONS)}
    shown = sentences.below_a_lower_bound(m)
    assert "Floor of Gaussian methods, to first order. They hold" in shown and "guesses" not in shown
