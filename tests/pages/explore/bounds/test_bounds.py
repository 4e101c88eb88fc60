"""The bounds page: every bound with its assumptions, the map, the constants, Figure 2."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from pages.explore.bounds import charts, settings
from pages.shared.background import cache
from pages.shared.charts.metric_axis import Scale
from pages.shared.settings import catalogue, to_experiment

PAGE = "explore/bounds/page.py"
SMALL = {"d": "30", "n": "1000000", "k": "2", "s": "6", "shat": "10"}


def test_it_opens_with_what_was_measured_and_how_many_bounds_speak(screen):
    page = screen(PAGE, **SMALL)
    said = page.markdown
    assert "DPS-PCA has error" in said and "Of 3 bounds drawn on it" in said
    assert "Ge et al. 2018, Theorem 4.3" in said and "Closed form for DPS-PCA" in said


def test_a_failed_assumption_is_crossed_with_its_number(screen):
    said = screen(PAGE, **SMALL).markdown
    assert ":green[✓ holds:]" in said and ":red[✗ fails:]" in said
    assert "success probability" in said


@pytest.mark.parametrize("name", settings.SIN_BOUNDS)
def test_every_bound_can_be_drawn_and_has_its_card(screen, name):
    page = screen(PAGE, **SMALL, **{f"show.{name}": "true"})
    assert f"**{BOUNDS[name].title}**" in page.markdown
    assert BOUNDS[name].formula in page.latex


def test_on_a_table_too(screen):
    page = screen(PAGE, data="breast_cancer", k="2")
    assert "Of 3 bounds drawn on it" in page.markdown


def test_a_link_restores_bounds_and_constants(screen):
    link = {"of": "analyze_gauss", "show.analyze_gauss": "true", "analyze_gauss.c": "0.5", "map": "theorem"}
    page = screen(PAGE, **SMALL, **link)
    assert link.items() <= page.link.items()
    assert "Analyze Gauss has error" in page.markdown


def test_a_constant_is_fitted_at_a_button_and_used_nowhere(screen):
    page = screen(PAGE, **SMALL)
    button = next(b for b in page.app.button if b.key == "fit sparse_minimax")
    button.click()
    page.run()
    assert "C2 would have to be" in page.markdown and "nothing else uses it" in page.markdown
    assert page.setting("sparse_minimax.c2") == 1.0


def test_figure_2_says_what_it_does_not_know(screen):
    page = screen(PAGE, figure2="true", **SMALL)
    assert "does not report the parameters" in page.captions


@pytest.fixture(scope="module")
def found():
    now = catalogue.defaults() | {"d": 30, "n": 1_000_000, "k": 2, "s": 6, "s_hat": 10, "repeats": 3}
    experiment, _ = to_experiment.from_settings(now)
    results = Results(experiment)
    for cell in results.missing(("dps_pca", e, r) for e in EPSILONS for r in range(3)):
        results.cell(*cell)
    return results


def test_a_bound_is_drawn_once_at_each_epsilon(found):
    """Thick, thin or a hollow mark: at every epsilon exactly one of the three."""
    scale = Scale(found, catalogue.defaults())
    for name in settings.SIN_BOUNDS:
        evaluated = {name: [BOUNDS[name](found.setting(e)) for e in EPSILONS]}
        figure = charts.against_epsilon(found, "dps_pca", evaluated, 1.0, scale)
        rows = [t["y"] for t in figure["data"] if t.get("legendgroup") == name]
        drawn = np.array([[value is not None for value in row] for row in rows])
        assert (drawn.sum(axis=0) == 1).all(), name
        assert all(v is None or math.isfinite(v) for row in rows for v in row)


def test_void_is_what_no_error_can_exceed(found):
    setting = found.setting(0.01)
    bound = BOUNDS["ge2018"](setting)
    assert charts.state("ge2018", bound, math.sqrt(setting.k)) == "void"
    prediction = BOUNDS["dps_prediction"](found.setting(1.0))
    assert charts.state("dps_prediction", prediction, math.sqrt(2)) == "applies"


def test_the_map_names_its_regions(found):
    """Few patients at a strict epsilon are hopeless; many at a loose one pay nothing."""
    drawn = cache.regimes(found.experiment, "closed form", 3.3, ())
    assert drawn.codes.shape == (40, 40)
    assert REGIONS[drawn.codes[0, 0]] == "hopeless"
    assert REGIONS[drawn.codes[-1, -1]] == "privacy is free here"


def test_the_theorem_is_silent_from_a_random_start(found):
    """Assumption B.6, everywhere; near the truth it speaks, given the rows that B.4 asks for."""
    silent = cache.regimes(found.experiment, "theorem", 3.3, ())
    assert {REGIONS[code] for code in silent.codes.flat} == {"theorem silent"}
    near = replace(found.experiment, start_error=0.05, s_hat=30, delta=0.1)
    speaks = cache.regimes(near, "theorem", 3.3, (("c1_rows", 0.01), ("c2", 0.01)))
    assert {"theorem silent", "privacy costs"} <= {REGIONS[code] for code in speaks.codes.flat}
    sure_of_nothing = cache.regimes(near, "theorem", 1.0, (("c1_rows", 0.01), ("c2", 0.01)))
    assert {REGIONS[code] for code in sure_of_nothing.codes.flat} == {"theorem silent"}


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


def test_a_closed_drawer_keeps_what_was_set_in_it(screen):
    page = screen("explore/explorer/page.py", **SMALL, T="20")
    page.move("providers", 6)
    assert page.link["T"] == "20"
