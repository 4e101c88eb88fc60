"""Test the sentence on the fewest patients that the worst case allows any method of Gaussian noise."""

import html

import pytest

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.gaussian_floor import GAUSSIAN
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.hospitals.planner.model.evaluated import method
from pages.hospitals.planner.model.planner import Planner
from pages.hospitals.planner.sentences import answer, numbers, surroundings
from pages.shared.document import blocks
from pages.shared.settings import catalogue

PAGE = "hospitals/planner/page.py"
CASES = [  # preset, epsilon, target
    ("Small study", 1.0, 0.05),
    ("Large study", 0.1, 0.1),
    ("Large study", 10.0, 0.02),
    ("Rare disease", 1.0, 0.3),
    ("Weak signals in every feature", 0.5, 0.1),
]


def at(preset="Large study", **settings):
    named = {key.replace("plan_", "plan."): value for key, value in settings.items()}
    return Planner(catalogue.defaults(preset) | named)


@pytest.mark.parametrize(("preset", "epsilon", "target"), CASES)
def test_no_answer_of_a_method_of_gaussian_noise_is_below_it(preset, epsilon, target):
    """But for methods that keep few features, in which alone these populations have their pattern."""
    planner = at(preset, epsilon=epsilon, plan_target=target)
    needed = {
        name: planner.answer(name).value
        for name, planned in PLANNED_METHODS.items()
        if planned.rule and planned.method in GAUSSIAN and not method(name).chooses_rows
    }
    known = [value for value in needed.values() if value is not None]
    assert planner.floor > 0 and needed["analyze_gauss"] in known and min(known) >= planner.floor


@pytest.mark.parametrize("view", ["plain", "full"])
def test_both_views_say_the_number_and_that_fewer_rest_on_few_measurements(page, view):
    shown = page(PAGE, preset="large-study", view=view).settle()
    planner = Planner(shown.settings)
    sentence = answer.floor(planner)
    assert sentence in [note.words for note in shown.all(blocks.Note)]
    assert f"fewer than about {numbers.amount(planner.floor)} patients in the worst case" in sentence
    assert ("To first order" in sentence) == (view == "full")
    assert surroundings.FLOOR.removeprefix("**Floor**") in html.unescape(shown.document.html())
    least = min(each.answer.value for each in planner.by_trust() if each.answer.value is not None)
    assert least < planner.floor and sentence.endswith(answer.SMALLER)
    shown.move("plan.asked", "hospitals")
    assert not [note for note in shown.all(blocks.Note) if "in the worst case" in note.words]


def test_where_no_number_is_smaller_nothing_is_said_of_few_measurements():
    planner = at("Weak signals in every feature")
    planner.complete()
    assert answer.floor(planner).endswith("whomever you trust.")


def test_it_is_the_setting_at_which_the_rule_reaches_the_target():
    planner = at()
    study = planner.untuned_plan("analyze_gauss")
    errs = [BOUNDS["gaussian_floor"](study.setting(planner.floor + more, 1.0)).total for more in (0, 1)]
    assert errs[1] < study.target <= errs[0] * (1 + 1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {"plan_of": "energy"},
        {"plan_asked": "epsilon"},
        {"accounting": "as-printed"},
        {"plan_target": 1.0},  # beyond a third of a guess, or too few patients for a pair
        {"plan_target": 0.3, "preset": "Small study"},
    ],
    ids=str,
)
def test_nothing_is_said_where_the_floor_does_not_apply(settings):
    assert answer.floor(at(**settings)) == ""
