"""The convergence page: a family of trajectories over any parameter, its rate, plateau and what it says."""

import json
import math
import re

import numpy as np
import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import sweep
from dppca_core.experiments.draws import PUBLIC, cohort, generator
from dppca_core.methods import METHODS
from dppca_core.populations.elliptical import hospital_sizes
from dppca_core.privacy import Budget
from pages.explore.convergence import charts, sentences
from pages.explore.convergence import settings as convergence_settings
from pages.explore.convergence.model import Convergence, options_around
from pages.explore.convergence.sentences import rates, stages
from pages.shared import text
from pages.shared.document import blocks as b
from pages.shared.document import file
from pages.shared.settings import catalogue

PAGE = "explore/convergence/page.py"
SMALL = {"d": "30", "n": "100000", "k": "2", "s": "6", "shat": "10"}


def settings(**changed):
    small = {"d": 30, "k": 2, "s": 6, "s_hat": 10, "repeats": 3}
    return catalogue.defaults() | small | changed


def opened(page, **link):
    return page(PAGE, **link).settle()


def rows(shown):
    (table,) = shown.all(b.Table)
    return {cells[0].strip("*"): cells[1:] for cells in table.frame.to_numpy().tolist()}


def read(now):
    m = Convergence(now)
    return m, m.readings(sweep(m.recipe))


def test_it_opens_with_five_privacy_losses_and_reads_its_own(page):
    shown = opened(page, **SMALL)
    assert list(rows(shown)) == ["0.1", "0.32", "1", "3.2", "10"]
    assert shown.headline == rates.headline(*read(shown.settings))


def test_a_file_says_how_many_runs_it_was_made_of(page, waiting):
    shown = page(PAGE, **SMALL)
    assert "Made when 0 of 10 runs were measured." in shown.html()
    job = shown.all(b.Running)[0].job
    job.complete_with(sweep(job.recipe))
    shown.read()
    whole = shown.html()
    assert "Made when" not in whole and "Lines are medians of 10 runs in all" in whole
    assert "How the factor and the plateau are read off." in whole and "Try this" not in whole


@pytest.mark.parametrize("key", convergence_settings.FAMILIES)
def test_every_parameter_has_its_family(page, key):
    shown = opened(page, **SMALL, family=catalogue.CHOICES[key].parameter)
    assert catalogue.CHOICES[key].text(shown.setting(key)) in rows(shown) and len(rows(shown)) >= 3
    assert all("…" not in cell for cells in rows(shown).values() for cell in cells)


def test_more_rounds_than_are_good():
    now = settings(family="iterations")
    family, readings = read(now)
    best, most = min(readings, key=lambda reading: reading.middle[-1]), readings[-1]
    assert best is not most
    shown = re.search(
        r"shown, (\d+) rounds? \w+ best, with error ([\d.]+)\. After (\d+) it is ([\d.]+):",
        rates.headline(family, readings),
    )
    errors = [text.error(reading.middle[-1]) for reading in (best, most)]
    assert shown.groups() == (str(best.value), errors[0], str(most.value), errors[1])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"data": "breast_cancer", "k": 2, "s_hat": 10, "family": "d"}, "is fixed by the table"),
        ({"traced": "noisy_power", "family": "providers"}, "makes no difference to “Noisy power method”"),
    ],
)
def test_what_cannot_be_compared_is_shown_over_epsilon(changed, reason):
    family = Convergence(settings(**changed))
    assert family.key == "epsilon" and 0.32 in [round(value, 2) for value in family.values]
    assert reason in sentences.notes(family)[0]


@pytest.mark.parametrize(("traced", "named"), [("dps_pca", True), ("noisy_power", False)])
def test_the_theorem_is_named_for_its_method_alone(traced, named):
    now = settings(traced=traced)
    family, readings = read(now)
    shown = rates.headline(family, readings) + rates.table(family, readings).to_string()
    assert ("Theorem 4.3" in shown + rates.below_table(family, readings)) == named


def test_the_foot_has_the_fit(page):
    shown = page(PAGE, **SMALL)
    paragraphs = [block.words for block in shown.opened("origins") if isinstance(block, b.Text)]
    assert paragraphs[0].endswith(rates.derivation(settings()))


def test_a_hostile_link_opens_the_nearest_screen(page):
    shown = page(PAGE, family="<script>", traced="ppca", layout="9" * 400, k="nan", T="-3")
    assert shown.setting("family") == "epsilon"
    assert shown.setting("traced") == "dps_pca" and shown.setting("layout") == "overlay"
    notices = "\n".join(shown.sentences)
    assert "which is not a choice" in notices and "<script>" not in notices


def test_what_is_not_as_set_is_noted(page):
    shown = page(PAGE, **SMALL, start="near", metric="energy")
    notes = sentences.notes(Convergence(shown.settings))
    assert len(notes) == 2 and all(note in shown.captions for note in notes)


def test_it_is_shown_and_refreshed(screen):
    page = screen(PAGE, **SMALL).settle()
    assert rates.headline(*read(page.settings)) in page.markdown
    assert "Lines are medians of 10 runs in all" in page.captions
    page.move("family", "iterations")
    assert page.link["family"] == "T"


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
    values = {(key, here): options_around(key, here) for key in options for here in options[key]}
    assert [at for at, v in values.items() if at[1] not in v or not set(v) <= set(options[at[0]])] == []
    assert [at for at, v in values.items() if list(v) != sorted(set(v)) or len(v) < 5] == []


def test_impossible_values_are_left_out_with_their_reason():
    now = settings(family="s", k=3, s=6)
    family = Convergence(now)
    assert 3 in family.left_out and 3 not in family.values and family.here in family.values
    note = "Features that matter s 3 left out: Components k must stay below s = 3."
    assert note in sentences.notes(family)
    assert set(sweep(family.recipe)["failed"]) == {""}
    hospitals = Convergence(settings(family="providers", n=100, providers=100))
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
    recipe = Convergence(settings(**other, family="providers")).recipe
    assert (recipe.epsilon, recipe.delta, recipe.neighbours, recipe.accounting) == (
        *(2.0, 0.1, "add-remove", "zcdp"),
    )
    assert (recipe.burn_in, recipe.iterations, recipe.provider_noise) == (4, 5, "shared")
    assert (recipe.failure, recipe.largest_share, recipe.seed, recipe.repeats) == (0.5, 0.5, 7, 3)
    assert (recipe.population.spike, recipe.population.bulk, recipe.population.seed) == (200.0, (0, 5.0), 7)


@pytest.fixture(scope="module")
def measured():
    now = settings(family="k")
    family = Convergence(now)
    return family, sweep(family.recipe)


@pytest.mark.parametrize("layout", ["overlay", "multiples"])
def test_lines_are_medians_in_the_metric_and_differ_without_colour(measured, layout):
    family, table = measured
    family = Convergence(family.settings | {"layout": layout, "metric": "projector"})
    readings = family.readings(table)
    figure = charts.family_figure(family, readings)
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
    family, table = measured
    empty, full = (family.readings(rows) for rows in (table[:0], table))
    assert rates.table(family, empty).shape == rates.table(family, full).shape
    assert rates.headline(family, empty) == rates.MEASURING
    assert charts.family_figure(family, empty)["layout"]["height"] == 480


def test_a_stuck_trajectory_is_called_a_guess():
    now = settings(epsilon=0.1, n=1000)
    family, readings = read(now)
    here = next(reading for reading in readings if reading.value == family.here)
    assert here.fit.stuck and "that of a guess: noise drowns" in rates.headline(family, readings)
    assert readings[0].theorem_rate is None
    assert "void: α =" in rates.table(family, readings).to_string()


@pytest.fixture(scope="module")
def two_stages():
    now = settings(traced="two_stage", family="n", n=20_000, delta=1e-5)
    family = Convergence(now)
    return family, sweep(family.recipe)


def test_two_stages_are_steps_and_the_last_is_stage_two(two_stages):
    family, table = two_stages
    readings = family.readings(table)
    figure = charts.family_figure(family, readings)
    assert figure["layout"]["xaxis"]["ticktext"] == ["0", "1", "2", "3", "4", "stage 2"]
    here = next(t for t in figure["data"] if "this setting" in t["name"])
    assert len(here["x"]) == 6 and here["text"][-1] == charts.STAGE_TWO
    reading = next(reading for reading in readings if reading.value == family.here)
    predicted = [t["y"][0] for t in figure["data"] if t["name"] == "closed form"]
    assert reading.predicted == pytest.approx(reading.middle[-1], rel=0.5)
    assert len(predicted) == sum(reading.predicted is not None for reading in readings)


def test_no_factor_is_fitted_to_two_stages(two_stages):
    family, table = two_stages
    readings = family.readings(table)
    headline = stages.headline(family, readings)
    reading = next(reading for reading in readings if reading.value == family.here)
    assert "factor" not in headline and "Theorem" not in headline
    assert f"stage 2 then {text.error(reading.middle[-1])}" in headline
    assert f"found in {reading.complete} of 3 runs" in headline
    few = readings[0]  # 100 or 1,000 patients: stage 1 cannot name the rows, and the page says so
    assert not few.closed_form.applies
    row = stages.table(family, readings).iloc[0]
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
    words = stages.headline(family, readings) + stages.table(family, readings).to_string()
    assert "None" not in words and "nan" not in words and "factor" not in words
    if now["traced"] in convergence_settings.TWO_STAGES:
        assert readings[0].predicted is None
        assert "closed form does not apply" in stages.below_table(family, readings)
    json.dumps(charts.family_figure(family, readings))


def test_rounds_of_their_own_are_not_swept():
    now = settings(traced="two_stage", family="iterations", iterations=20)
    family = Convergence(now)
    assert family.key == "epsilon"
    assert "sets its number of rounds itself" in sentences.notes(family)[0]
    _, readings = read(now)
    assert {len(reading.middle) for reading in readings} == {6}
