"""The convergence page: a family of trajectories over any parameter, its rate, plateau and what it says."""

import json
import math
import re
import time

import numpy as np
import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import sweep
from dppca_core.experiments.draws import PUBLIC, cohort, generator
from dppca_core.methods import METHODS
from dppca_core.populations.spiked import hospital_sizes
from dppca_core.privacy import Budget
from pages.explore.convergence import charts, curves, stages, text
from pages.explore.convergence import settings as convergence_settings
from pages.shared import text as shared_text
from pages.shared.document import file
from pages.shared.settings import catalogue

PAGE = "explore/convergence/page.py"
SMALL = {"d": "30", "n": "100000", "k": "2", "s": "6", "shat": "10"}


def settings(**changed):
    small = {"d": 30, "k": 2, "s": 6, "s_hat": 10, "repeats": 3}
    return catalogue.defaults() | small | changed


def opened(screen, **link):
    """Return the page once its runs are complete."""
    page = screen(PAGE, **link)
    for _ in range(40):
        if "…" not in page.markdown and "…" not in str(page.app.table[0].value):
            return page
        time.sleep(0.1)
        page.run()
    raise AssertionError("the runs did not end")


def rows(page):
    """Return the table's rows by their first cell."""
    return {cells[0].strip("*"): cells[1:] for cells in page.app.table[0].value.to_numpy().tolist()}


def read(now):
    """Return the family of these settings and what its runs show, measured without the page."""
    family = curves.family_from_settings(now)
    return family, curves.readings(family, now, sweep(family.recipe))


def test_it_opens_with_five_privacy_losses_and_reads_its_own(screen):
    page = opened(screen, **SMALL)
    now = page.app.session_state["settings of the last run"]
    assert list(rows(page)) == ["0.1", "0.32", "1", "3.2", "10"]
    assert text.headline(*read(now), now) in page.markdown
    assert text.measured(10, now) in page.captions


@pytest.mark.parametrize("key", convergence_settings.FAMILIES)
def test_every_parameter_has_its_family(screen, key):
    page = opened(screen, **SMALL, family=catalogue.CHOICES[key].parameter)
    assert catalogue.CHOICES[key].text(page.setting(key)) in rows(page) and len(rows(page)) >= 3
    assert all("…" not in cell for cells in rows(page).values() for cell in cells)


def test_more_rounds_than_are_good():
    now = settings(family="iterations")
    family, readings = read(now)
    best, most = min(readings, key=lambda reading: reading.middle[-1]), readings[-1]
    assert best is not most
    shown = re.search(
        r"shown, (\d+) rounds? \w+ best, with error ([\d.]+)\. After (\d+) it is ([\d.]+):",
        text.headline(family, readings, now),
    )
    errors = [shared_text.error(reading.middle[-1]) for reading in (best, most)]
    assert shown.groups() == (str(best.value), errors[0], str(most.value), errors[1])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"data": "breast_cancer", "k": 2, "s_hat": 10, "family": "d"}, "is fixed by the table"),
        ({"traced": "noisy_power", "family": "providers"}, "makes no difference to “Noisy power method”"),
    ],
)
def test_what_cannot_be_compared_is_shown_over_epsilon(changed, reason):
    family = curves.family_from_settings(settings(**changed))
    assert family.key == "epsilon" and 0.32 in [round(value, 2) for value in family.values]
    assert reason in text.notes(family, settings(**changed))[0]


@pytest.mark.parametrize(("traced", "named"), [("dps_pca", True), ("noisy_power", False)])
def test_the_theorem_is_named_for_its_method_alone(traced, named):
    now = settings(traced=traced)
    family, readings = read(now)
    shown = text.headline(family, readings, now) + text.table(family, readings, now).to_string()
    assert ("Theorem 4.3" in shown + text.below_table(family, readings, now)) == named


def test_the_foot_has_the_fit(screen):
    page = opened(screen, **SMALL)
    assert text.formulas(settings()) not in page.markdown
    page.app.session_state["origins"] = True  # the foot is open
    page.run()
    assert text.formulas(settings()) in page.markdown


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


def test_what_is_not_as_set_is_noted(screen):
    page = opened(screen, **SMALL, start="near", metric="energy")
    now = page.app.session_state["settings of the last run"]
    notes = text.notes(curves.family_from_settings(now), now)
    assert len(notes) == 2 and all(note in page.captions for note in notes)


def test_only_methods_that_keep_their_iterates_are_offered():
    model = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.0, 5.0), seed=2)
    dealt = cohort(model, hospital_sizes(1000, 1), PUBLIC, 0, 0)
    for name in catalogue.CHOICES["traced"].options:
        rng = generator(0, 0, name)
        estimate = METHODS[name].fit(dealt, k=2, budget=Budget(1.0, 1e-5), rng=rng, iterations=4)
        more = 1 if name in convergence_settings.TWO_STAGES else 0
        assert len(estimate.iterates) == 5 + more, name


def test_values_are_options_in_order_around_the_setting():
    options = {key: catalogue.CHOICES[key].numbers for key in convergence_settings.FAMILIES}
    values = {(key, here): curves.options_around(key, here) for key in options for here in options[key]}
    assert [at for at, v in values.items() if at[1] not in v or not set(v) <= set(options[at[0]])] == []
    assert [at for at, v in values.items() if list(v) != sorted(set(v)) or len(v) < 5] == []


def test_impossible_values_are_left_out_with_their_reason():
    now = settings(family="s", k=3, s=6)
    family = curves.family_from_settings(now)
    assert 3 in family.left_out and 3 not in family.values and family.here in family.values
    note = "Features that matter s 3 left out: Components k must stay below s = 3."
    assert note in text.notes(family, now)
    assert set(sweep(family.recipe)["failed"]) == {""}
    hospitals = curves.family_from_settings(settings(family="providers", n=100, providers=100))
    assert max(hospitals.values) == 100 and "there are 100 patients" in hospitals.left_out[200]


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
    recipe = curves.family_from_settings(settings(**other, family="providers")).recipe
    assert (recipe.epsilon, recipe.delta, recipe.neighbours, recipe.accounting) == (
        *(2.0, 0.1, "add-remove", "zcdp"),
    )
    assert (recipe.burn_in, recipe.iterations, recipe.provider_noise) == (4, 5, "shared")
    assert (recipe.failure, recipe.largest_share, recipe.seed, recipe.repeats) == (0.5, 0.5, 7, 3)
    assert (recipe.population.spike, recipe.population.bulk, recipe.population.seed) == (200.0, (0, 5.0), 7)


@pytest.fixture(scope="module")
def measured():
    now = settings(family="k")
    family = curves.family_from_settings(now)
    return family, sweep(family.recipe), now


@pytest.mark.parametrize("layout", ["overlay", "multiples"])
def test_lines_are_medians_in_the_metric_and_differ_without_colour(measured, layout):
    family, table, now = measured
    now = now | {"layout": layout, "metric": "projector"}
    readings = curves.readings(family, now, table)
    figure = charts.figure(family, readings, now)
    drawn = [t for t in figure["data"] if t["mode"] == "lines+markers" and "opacity" not in t]
    assert len(drawn) == len(family.values)
    for trace, reading in zip(drawn, readings, strict=True):
        np.testing.assert_allclose(trace["y"], math.sqrt(2) * reading.middle, rtol=1e-3)
    looks = [{t["marker"]["symbol"] for t in drawn}, {t["line"]["dash"] for t in drawn}]
    assert [len(look) for look in looks] == [len(drawn)] * 2
    guesses = {t["y"][0] for t in figure["data"] if t["name"] == "random guess"}
    assert guesses == {round(math.sqrt(2) * reading.guess, 3) for reading in readings}
    ranges = {tuple(axis["range"]) for name, axis in figure["layout"].items() if name.startswith("yaxis")}
    assert len(ranges) == 1
    assert "<script" in file.of_figure(figure, "convergence")


def test_before_its_first_run_the_table_has_the_same_rows(measured):
    family, table, now = measured
    empty, full = (curves.readings(family, now, rows) for rows in (table[:0], table))
    assert text.table(family, empty, now).shape == text.table(family, full, now).shape
    assert text.headline(family, empty, now) == text.MEASURING
    assert charts.figure(family, empty, now)["layout"]["height"] == 480


def test_a_stuck_trajectory_is_called_a_guess():
    now = settings(epsilon=0.1, n=1000)
    family, readings = read(now)
    here = next(reading for reading in readings if reading.value == family.here)
    assert here.fit.stuck and "that of a guess: noise drowns" in text.headline(family, readings, now)
    assert readings[0].theorem_rate is None
    assert "void: α =" in text.table(family, readings, now).to_string()


@pytest.fixture(scope="module")
def two_stages():
    now = settings(traced="two_stage", family="n", n=20_000, delta=1e-5)
    family = curves.family_from_settings(now)
    return family, sweep(family.recipe), now


def test_two_stages_are_steps_and_the_last_is_stage_two(two_stages):
    family, table, now = two_stages
    readings = curves.readings(family, now, table)
    figure = charts.figure(family, readings, now)
    assert figure["layout"]["xaxis"]["ticktext"] == ["0", "1", "2", "3", "4", "stage 2"]
    here = next(t for t in figure["data"] if "this setting" in t["name"])
    assert len(here["x"]) == 6 and here["text"][-1] == charts.STAGE_TWO
    reading = next(reading for reading in readings if reading.value == family.here)
    predicted = [t["y"][0] for t in figure["data"] if t["name"] == "closed form"]
    assert reading.predicted == pytest.approx(reading.middle[-1], rel=0.5)
    assert len(predicted) == sum(reading.predicted is not None for reading in readings)


def test_no_factor_is_fitted_to_two_stages(two_stages):
    family, table, now = two_stages
    readings = curves.readings(family, now, table)
    headline = stages.headline(family, readings, now)
    reading = next(reading for reading in readings if reading.value == family.here)
    assert "factor" not in headline and "Theorem" not in headline
    assert f"stage 2 then {shared_text.error(reading.middle[-1])}" in headline
    assert f"found in {reading.complete} of 3 runs" in headline
    few = readings[0]  # 100 or 1,000 patients: stage 1 cannot name the rows, and the page says so
    assert not few.closed_form.applies
    row = stages.table(family, readings, now).iloc[0]
    assert row["closed form"] == "–" and row["all true features found"] == f"{few.complete} of 3"
    assert "should be" in stages.why_no_closed_form(few)


@pytest.mark.parametrize(
    "changed",
    [
        {"traced": "two_stage_own_noise", "s_hat": "released"},
        {"traced": "two_stage_sealed", "data": "breast_cancer", "k": 2, "s_hat": 10},
        {"traced": "stacked_rounds"},
        {"traced": "two_stage", "n": 100, "providers": 1},
    ],
)
def test_methods_in_stages_have_true_sentences_at_any_setting(changed):
    now = settings(**changed)
    family, readings = read(now)
    words = stages.headline(family, readings, now) + stages.table(family, readings, now).to_string()
    assert "None" not in words and "nan" not in words and "factor" not in words
    if now["traced"] in convergence_settings.TWO_STAGES:
        assert readings[0].predicted is None
        assert "closed form does not apply" in stages.below_table(family, readings, now)
    json.dumps(charts.figure(family, readings, now))


def test_rounds_of_their_own_are_not_swept():
    now = settings(traced="two_stage", family="iterations", iterations=20)
    family = curves.family_from_settings(now)
    assert family.key == "epsilon"
    assert "sets its number of rounds itself" in text.notes(family, now)[0]
    _, readings = read(now)
    assert {len(reading.middle) for reading in readings} == {6}
