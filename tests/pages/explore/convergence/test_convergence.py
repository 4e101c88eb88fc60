"""The convergence page: a family of trajectories over any parameter, its rate, plateau and what it says."""

import json
import math
import time

import numpy as np
import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import sweep
from dppca_core.experiments.draws import PUBLIC, cohort, generator
from dppca_core.methods import METHODS
from dppca_core.populations.spiked import hospital_sizes
from dppca_core.privacy import Budget
from pages.explore.convergence import charts, curves, text
from pages.explore.convergence import settings as convergence_settings
from pages.shared.reports import downloads
from pages.shared.settings import catalogue

PAGE = "explore/convergence/page.py"
SMALL = {"d": "30", "n": "100000", "k": "2", "s": "6", "shat": "10"}


def settings(**changed):
    small = {"d": 30, "k": 2, "s": 6, "s_hat": 10, "repeats": 3}
    return catalogue.defaults() | small | changed


def opened(screen, **link):
    """The page once its runs are complete."""
    page = screen(PAGE, **link)
    for _ in range(40):
        if "…" not in page.markdown and "…" not in str(page.app.table[0].value):
            return page
        time.sleep(0.1)
        page.run()
    raise AssertionError("the runs did not end")


def rows(page):
    """The table's rows, by their first cell."""
    return {cells[0].strip("*"): cells[1:] for cells in page.app.table[0].value.to_numpy().tolist()}


def test_it_opens_with_five_privacy_losses_and_reads_its_own(screen):
    page = opened(screen)
    assert list(rows(page)) == ["0.1", "0.32", "1", "3.2", "10"]
    assert "At this setting (ε = 1) each round shrinks the error" in page.markdown
    assert "promises no rate here (α =" in page.markdown
    assert page.captions.startswith("10 runs: lines are medians")


@pytest.mark.parametrize("key", convergence_settings.FAMILIES)
def test_every_parameter_has_its_family(screen, key):
    page = opened(screen, **SMALL, family=catalogue.CHOICES[key].parameter)
    found = rows(page)
    own = catalogue.CHOICES[key].text(page.setting(key))
    assert own in found and len(found) >= 3
    assert all("…" not in cell for cells in found.values() for cell in cells)


def test_more_rounds_than_are_good(screen):
    page = opened(screen, family="T")
    assert "Of those shown," in page.markdown and "share one budget" in page.markdown


def test_a_table_has_no_other_number_of_features(screen):
    page = opened(screen, data="breast_cancer", k="2", family="d")
    assert "is fixed by the table: shown over privacy loss ε instead" in page.captions
    assert "0.32" in rows(page)


def test_a_method_without_hospitals_is_not_compared_over_them(screen):
    page = opened(screen, **SMALL, traced="noisy_power", family="N")
    assert "makes no difference to “Noisy power method”" in page.captions
    assert "Theorem 4.3" not in page.markdown + page.captions


def test_a_board_sees_no_symbols_and_no_theorem(screen):
    page = opened(screen, **SMALL, view="board")
    said = page.markdown + page.captions + json.dumps(page.figure, ensure_ascii=False)
    assert not any(symbol in said for symbol in ("ε", "δ", "λ", "ρ", "Θ", "α", "Theorem"))
    assert "the error falls from" in page.markdown and "and stays there" in page.markdown


def test_a_researcher_sees_the_fit(screen):
    assert r"\tau_\infty^2+A^2q^{2t}" in opened(screen, **SMALL, view="researcher").markdown


def test_a_hostile_link_opens_the_nearest_screen(screen):
    page = opened(screen, family="<script>", traced="ppca", layout="9" * 400, k="nan", T="-3")
    assert (page.setting("family"), page.setting("traced"), page.setting("layout")) == (
        *("epsilon", "dps_pca", "overlay"),
    )
    assert "which is not a choice" in page.notices and "<script>" not in page.notices


def test_a_link_restores_the_screen(screen):
    link = {"family": "N", "layout": "multiples", "metric": "projector"}
    page = opened(screen, **SMALL, **link)
    assert {"family": "N", "layout": "multiples", "metric": "projector"}.items() <= page.link.items()
    assert page.setting("family") == "providers"
    copied = opened(screen, **page.link)
    assert rows(copied) == rows(page) and copied.figure == page.figure


def test_what_is_not_as_set_is_said(screen):
    page = opened(screen, **SMALL, start="near", metric="energy")
    assert "start at random" in page.captions and "Captured energy is not kept" in page.captions


def test_only_methods_that_keep_their_iterates_are_offered():
    model = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.0, 5.0), seed=2)
    dealt = cohort(model, hospital_sizes(1000, 1), PUBLIC, 0, 0)
    for name in catalogue.CHOICES["traced"].options:
        rng = generator(0, 0, name)
        estimate = METHODS[name].fit(dealt, k=2, budget=Budget(1.0, 1e-5), rng=rng, iterations=4)
        assert len(estimate.iterates) == 5, name


@pytest.mark.parametrize("key", convergence_settings.FAMILIES)
def test_values_are_options_in_order_around_the_setting(key):
    for here in catalogue.CHOICES[key].options:
        values = curves.around(key, here)
        assert here in values and set(values) <= set(catalogue.CHOICES[key].options)
        assert list(values) == sorted(set(values)) and len(values) >= 5


def test_what_cannot_be_is_left_out_with_its_reason():
    found = curves.family(settings(family="s", k=3, s=6))
    assert 3 not in found.values and found.here in found.values
    assert "Rows that matter s 3 left out: Components k must stay below s = 3." in found.said
    table = sweep(found.recipe)
    assert set(table["failed"]) == {""}
    hospitals = curves.family(settings(family="providers", n=100, providers=100))
    assert max(hospitals.values) == 100 and "200 left out: there are 100 patients" in hospitals.said[0]


def test_every_other_setting_reaches_the_recipe():
    other = {
        "epsilon": 2.0,
        "delta": 0.1,
        "neighbours": "add-remove",
        "accounting": "zcdp",
        "burn_in": 4,
        "iterations": 5,
    }
    other |= {
        "provider_noise": "shared",
        "scaling": "largest",
        "largest_share": 0.5,
        "seed": 7,
        "spike": 200.0,
        "bulk": 5.0,
    }
    recipe = curves.family(settings(**other, family="providers")).recipe
    assert (recipe.epsilon, recipe.delta, recipe.neighbours, recipe.accounting) == (
        *(2.0, 0.1, "add-remove", "zcdp"),
    )
    assert (recipe.burn_in, recipe.iterations, recipe.provider_noise) == (4, 5, "shared")
    assert (recipe.failure, recipe.largest_share, recipe.seed, recipe.repeats) == (0.5, 0.5, 7, 3)
    assert (recipe.population.spike, recipe.population.bulk, recipe.population.seed) == (200.0, (0, 5.0), 7)


@pytest.fixture(scope="module")
def measured():
    now = settings(family="k")
    found = curves.family(now)
    return found, sweep(found.recipe), now


@pytest.mark.parametrize("layout", ["overlay", "multiples"])
def test_lines_are_medians_in_the_metric_and_differ_without_colour(measured, layout):
    found, table, now = measured
    now = now | {"layout": layout, "metric": "projector"}
    read = curves.readings(found, now, table)
    figure = charts.figure(found, read, now)
    drawn = [t for t in figure["data"] if t["mode"] == "lines+markers" and "opacity" not in t]
    assert len(drawn) == len(found.values)
    for trace, reading in zip(drawn, read, strict=True):
        np.testing.assert_allclose(trace["y"], math.sqrt(2) * reading.middle, rtol=1e-3)
    assert (
        len({t["marker"]["symbol"] for t in drawn}) == len(drawn) == len({t["line"]["dash"] for t in drawn})
    )
    guesses = {t["y"][0] for t in figure["data"] if t["name"] == "random guess"}
    assert guesses == {round(math.sqrt(2) * reading.guess, 3) for reading in read}
    ranges = {tuple(axis["range"]) for name, axis in figure["layout"].items() if name.startswith("yaxis")}
    assert len(ranges) == 1
    assert "<script" in downloads.html(figure, "convergence")


def test_before_its_first_run_the_table_has_the_same_rows(measured):
    found, table, now = measured
    empty = curves.readings(found, now, table[:0])
    full = curves.readings(found, now, table)
    before, after = (text.table(found, read, now).shape for read in (empty, full))
    assert before == after
    assert text.headline(found, empty, now) == text.MEASURING
    assert charts.figure(found, empty, now)["layout"]["height"] == 480


def test_a_stuck_trajectory_is_called_a_guess():
    now = settings(epsilon=0.1, n=1000)
    found = curves.family(now)
    read = curves.readings(found, now, sweep(found.recipe))
    assert "never leaves the random guess" in text.headline(found, read, now)
    assert read[0].theorem_rate is None and "void: α =" in text.table(found, read, now).to_string()
