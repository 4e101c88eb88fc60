"""Test the planner in plain view: three rows of the core, and no technical word outside of folds."""

import re

import numpy as np
import pytest

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.planning.cautious import patients_with_cautious
from dppca_core.experiments.planning.planning import PLANNED_METHODS, PlanAnswer, Question, StudyPlan
from pages.hospitals.planner import plain, plain_text, text
from pages.hospitals.planner.view import Planner
from pages.shared.plain import phrases
from pages.shared.settings import catalogue
from pages.shared.text.privacy_phrases import odds
from tests.pages.hospitals.outside_folds import shown, technical
from tests.waiting import eventually

PAGE = "hospitals/planner/page.py"
SMALL = {"d": "30", "k": "2", "s": "6", "shat": "12", "n": "20000", "view": "plain"}


def opened(screen, **link):
    """Open the page and wait for what is evaluated beside it."""
    page = screen(PAGE, **SMALL | link)
    assert eventually(lambda: (page.run(), plain_text.WORKING not in shown(page.app.main))[1])
    return page, dict(page.app.session_state["settings of the last run"])


@pytest.mark.parametrize("asked", ["patients", "epsilon", "hospitals"])
def test_each_row_is_the_least_of_the_closed_forms_under_its_trust(screen, asked):
    page, settings = opened(screen, **{"plan.asked": asked, "plan.size": "500"})
    experiment = Planner(settings).untuned_plan("cape").experiment
    words = shown(page.app.main)
    for trust in TRUSTS:
        plans = [
            StudyPlan(experiment, name, settings["plan.target"])
            for name, planned in PLANNED_METHODS.items()
            if planned.trust == trust and StudyPlan(experiment, name, 0.1).method.guarantee == "(ε, δ)"
        ]
        answers = [
            plan.answer(Question(asked, settings["epsilon"], settings["n"], 500)).value for plan in plans
        ]
        least = text.number(min(each for each in answers if each is not None), asked)
        assert plain_text.row(trust, asked, least) in words
        drawn = [trace for trace in page.figure["data"] if trace.get("name") == phrases.ROWS[trust]]
        assert drawn[0]["x"] == pytest.approx([min(filter(None, answers))], rel=1e-3)
    given = Planner(settings | plain.ADVISED).code_by_trust().table()
    bars = [trace["x"][0] for trace in page.figure["data"] if trace["type"] == "bar"]
    assert given[0].tolist()[::-1] == pytest.approx(bars, rel=1e-3)
    assert not technical(words + page.app.code[0].value)


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
def test_no_setting_brings_a_technical_word(screen, link):
    page, settings = opened(screen, **link)
    plan = plain.PlainPlan(settings)
    words = shown(page.app.main) + page.app.code[0].value + str(plan.figure())
    assert not technical(words), technical(words)
    headline = plan.headline
    assert headline in words and len(re.findall(r"\S+", headline)) <= 20


def test_a_cautious_hospital_costs_what_pooled_noise_costs(screen):
    page, settings = opened(screen, **{"plan.cautious": "5"})
    for least in Planner(settings | plain.ADVISED).by_trust():
        study = Planner(settings).untuned_plan(least.name)
        after = patients_with_cautious(study, 1.0, 0.2).value
        assert least.answer.value < after < study.patients(0.2).value or least.trust == "central"
        shares = (text.amount(least.answer.value, up=True), text.amount(after, up=True))
        expected = plain_text.cautious_row(least.trust, *shares, after / least.answer.value - 1)
        assert expected in shown(page.app.main)


def test_a_cautious_hospital_that_no_study_satisfies_is_not_worked_out_for_ever(screen, monkeypatch):
    _, settings = opened(screen)
    none = PlanAnswer(None, "patients")
    monkeypatch.setattr(plain.PlainPlan, "with_cautious", lambda self, least: none)
    plan = plain.PlainPlan(settings)
    assert plan.cautious()[1:] == [plain_text.no_answer(each.trust, "patients") for each in plan.least]


def test_the_report_has_plain_sentences():
    settings = catalogue.defaults() | {"view": "plain", "d": 30, "k": 2, "s": 6, "s_hat": 12}
    made = plain.report(settings | {"trust": "central"}, "")
    words = [
        made.title,
        made.sentence,
        made.guarantee,
        *made.limits,
        *map(str, made.texts),
        *map(str, made.settings),
    ]
    assert not technical("\n".join(words)) and len(made.sentence.split()) <= 20
    assert odds(1.0, settings["delta"]) in made.guarantee
    assert np.isfinite(made.figures[0].figure["data"][0]["x"]).all()
