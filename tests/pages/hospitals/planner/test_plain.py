"""Test the planner in plain view: three rows of the core, and no technical word outside of folds."""

import re

import numpy as np
import pytest

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.planning.cautious import patients_with_cautious
from dppca_core.experiments.planning.planning import PLANNED_METHODS, PlanAnswer, Question, StudyPlan
from pages.hospitals.planner.model.plain import PlainPlanner
from pages.hospitals.planner.model.plans import TrustAnswer
from pages.hospitals.planner.sentences import plain
from pages.hospitals.planner.sentences.numbers import amount, number
from pages.shared.document import blocks
from pages.shared.plain import phrases
from pages.shared.text.privacy_phrases import odds
from tests.pages.hospitals.outside_folds import technical
from tests.pages.shared.document.test_html import Elements

PAGE = "hospitals/planner/page.py"
SMALL = {"d": "30", "k": "2", "s": "6", "shat": "12", "n": "20000", "view": "plain"}


def words_of(shown):
    """Return the words outside of the fold for statisticians, and those of the chart."""
    words = [shown.document.title, shown.document.question, shown.markdown, shown.captions]
    words += [x.words for x in shown.all(blocks.Quote)] + [x.title for x in shown.all(blocks.Section)]
    frame = shown.document.frame()
    words += [frame.promise, *frame.limits, *map(" ".join, frame.settings)]
    return re.sub(r"(\*+)([^*\n]+)\1", r"\2", "\n".join(words)) + str(shown.figure)


@pytest.mark.parametrize("asked", ["patients", "epsilon", "hospitals"])
def test_each_row_is_the_least_of_the_closed_forms_under_its_trust(page, asked):
    shown = page(PAGE, **SMALL, **{"plan.asked": asked, "plan.size": "500"}).settle()
    planner, settings, words = PlainPlanner(shown.settings), shown.settings, words_of(shown)
    experiment = planner.untuned_plan("cape").experiment
    for trust in TRUSTS:
        plans = [
            StudyPlan(experiment, name, settings["plan.target"])
            for name, planned in PLANNED_METHODS.items()
            if planned.trust == trust and StudyPlan(experiment, name, 0.1).method.guarantee == "(ε, δ)"
        ]
        answers = [
            plan.answer(Question(asked, settings["epsilon"], settings["n"], 500)).value for plan in plans
        ]
        least = min(each for each in answers if each is not None)
        assert plain.row(asked, TrustAnswer(trust, "", PlanAnswer(least))) in words
        assert number(least, asked) in words
        drawn = [trace for trace in shown.figure["data"] if trace.get("name") == phrases.ROWS[trust]]
        assert drawn[0]["x"] == pytest.approx([least], rel=1e-3)
    bars = [trace["x"][0] for trace in shown.figure["data"] if trace["type"] == "bar"]
    assert planner.code().table()[0].tolist()[::-1] == pytest.approx(bars, rel=1e-3)
    assert not technical(words)


@pytest.mark.parametrize(
    "link",
    [
        {"plan.target": "1", "k": "1"},
        {"plan.target": "0.7"},
        {"plan.of": "energy"},
        {"metric": "degrees"},
        {"metric": "degrees", "k": "1"},
        {"data": "breast_cancer", "trust": "one-place"},
        {"N": "1", "plan.tuned": "tuned", "plan.simulate": "true", "accounting": "as-printed"},
    ],
)
def test_no_setting_brings_a_technical_word(page, link):
    shown = page(PAGE, **SMALL | link).settle()
    assert not technical(words_of(shown)), technical(words_of(shown))
    assert plain.WORKING not in words_of(shown) and len(shown.headline.split()) <= 20


def test_a_cautious_hospital_costs_what_pooled_noise_costs(page):
    shown = page(PAGE, **SMALL, **{"plan.cautious": "5"}).settle()
    planner = PlainPlanner(shown.settings)
    for least in planner.by_trust():
        study = planner.untuned_plan(least.name)
        after = patients_with_cautious(study, 1.0, 0.2).value
        assert least.answer.value < after < study.patients(0.2).value or least.trust == "central"
        assert plain.cautious_row(least.trust, least.answer.value, after) in shown.markdown
        more = amount(least.answer.value, up=True), amount(after, up=True)
        assert f"{more[1]} patients instead of {more[0]}, " in shown.markdown


def test_a_cautious_hospital_that_no_study_satisfies_is_not_worked_out_for_ever(page, monkeypatch):
    none = PlanAnswer(None, "patients")
    monkeypatch.setattr(PlainPlanner, "with_cautious", lambda self, least: none)
    planner = PlainPlanner(page(PAGE, **SMALL).settle().settings)
    expected = [plain.no_answer(each._replace(answer=none)) for each in planner.least]
    assert plain.cautious(planner)[1:] == expected


def test_the_file_is_complete_and_has_the_promise(page):
    shown = page(PAGE, **SMALL, trust="one-place", **{"plan.target": "0.05"})
    assert PlainPlanner(shown.settings).next_missing() is not None
    words = Elements(shown.html()).text
    shown.read()
    assert plain.WORKING not in words and shown.headline in words
    promise = shown.document.frame().promise
    assert odds(1.0, shown.setting("delta")) in promise and promise in words
    assert np.isfinite(shown.figure["data"][0]["x"]).all()
