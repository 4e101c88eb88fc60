"""Test the planner for a visitor's own table: public numbers alone, and those of Your data."""

import json
import re

import numpy as np
import pytest

from dppca_core.accounts.account import Payment
from dppca_core.bounds.stated_spectra import predicted_errors
from dppca_core.experiments.planning.evaluations import EVALUATIONS
from dppca_core.experiments.planning.planning import PLANNED_METHODS, Question
from dppca_core.experiments.planning.table_plan import PublicTable
from dppca_core.populations.dictionary_twin import NumberCells
from dppca_core.privacy import Budget
from dppca_core.release.spectrum import Spectrum
from pages.hospitals.planner import document
from pages.hospitals.planner.model import own_table
from pages.hospitals.planner.model.evaluated import EVALUATING
from pages.hospitals.planner.model.plain import PlainPlanner
from pages.hospitals.planner.model.planner import Planner
from pages.hospitals.planner.sentences import answer as answers
from pages.hospitals.planner.sentences import methods, numbers, protocol
from pages.hospitals.planner.sentences import own_table as own_table_sentences
from pages.hospitals.your_data import planned_table, rehearsal, release_panel
from pages.shared.reports import python_code
from pages.shared.settings import catalogue
from tests.pages.conftest import Screen
from tests.pages.hospitals.your_data.table_page import TablePage

PAGE = "hospitals/planner/page.py"


def with_example(**link):
    page = TablePage(**link)
    next(button for button in page.app.button if "heart disease" in button.label).click()
    page.run()
    return page


def answered(settings):
    """Return the answer of the method in focus, which is evaluated first."""
    while (answer := Planner(settings).answer()) == EVALUATING:
        EVALUATIONS.try_cell(*Planner(settings).next_missing())
    return answer


def plan_settings(page):
    last = page.app.session_state["settings of the last run"]
    return own_table.with_table(dict(last), page.app.session_state["public table"])


def test_from_a_loaded_table_to_its_plan_and_back():
    page = with_example()
    prepared = page.state.ready
    next(button for button in page.app.button if button.key == "own plan").click()
    page.run()
    link = page.link
    assert link["plan.table"] == "true" and (link["eps"], link["k"], link["delta"]) == ("0.5", "2", "1e-06")
    page.app.switch_page(PAGE)
    page.run()
    page.move("plan.trust", "local")  # of which nothing is predicted for a table
    assert len(page.app.table[0].value) > 1
    page.move("plan.trust", "central")
    needed = {}
    for epsilon in (0.5, 2.0):
        page.move("epsilon", epsilon)
        settings = plan_settings(page)
        answer = answered(settings)
        page.run()
        assert numbers.value(answer.value, settings["plan.asked"]) in page.markdown
        needed[epsilon] = answer.value
        points = {trace["name"]: trace["y"][0] for trace in page.figure["data"] if trace["name"]}
        assert points["your table"] == prepared.n and points["the answer"] == answer.value
    assert needed[2.0] < needed[0.5] / 2
    names = set(prepared.schema.features) | {column.name for column in prepared.schema.columns}
    paragraph, made = page.app.code[0].value, document.at(settings).html()
    made = made.split("<main>")[1].split("</main>")[0]  # without the library of charts
    assert paragraph == protocol.paragraph(Planner(settings))
    everything = paragraph + page.markdown + page.captions + str(page.figure) + made
    everything += str(page.app.session_state["public table"])
    assert not {name for name in names if re.search(rf"\b{re.escape(name)}\b", everything)} - {"age", "sex"}
    assert own_table_sentences.facts(page.app.session_state["public table"]) in made
    assert not {"n", "d", "own.bound"} & set(page.link) and "spectrum is stated" in paragraph
    page.app.switch_page("hospitals/your_data/page.py")
    page.run()
    next(button for button in page.app.button if button.label == "Forget it").click()
    page.run()
    assert page.app.session_state["public table"] is None


@pytest.mark.parametrize("asked", ["patients", "hospitals"])
def test_the_code_gives_the_answers_for_a_table(asked):
    same = {"epsilon": 1.0, "delta": 1e-6, "k": 2, "providers": 1, "plan.target": 0.3}
    same |= {"plan.asked": asked, "plan.trust": "central"}
    table = PublicTable(12, 3000, 1, 1.0, columns=(NumberCells(-1.0, 1.0),) * 12)
    settings = own_table.with_table(catalogue.defaults() | same, table)
    Planner(settings).complete()
    for program, names in (
        (Planner(settings).code(), list(Planner(settings).drawn().curves)),
        (PlainPlanner(settings).code(), [each.name for each in PlainPlanner(settings).by_trust()]),
    ):
        given = {}
        exec(compile(python_code.of_table(program), "plan", "exec"), given)
        answers = [plan.answer(Question(*given["question"])).value for plan in given["plans"]]
        assert answers == [Planner(settings).answer(name).value for name in names] and any(answers)


def test_without_a_table_a_link_says_so_and_all_is_as_before():
    plain, asking = Screen(PAGE), Screen(PAGE, **{"plan.table": "true"})
    assert own_table_sentences.NO_TABLE in asking.notices and asking.markdown == plain.markdown
    assert not [box for box in (*plain.app.checkbox, *asking.app.checkbox) if box.key == "plan.table"]
    assert "plan.table" not in plain.link
    before = catalogue.defaults()
    assert Planner(before).comparable == sorted(PLANNED_METHODS, key=Planner(before).comparable.index)


@pytest.mark.parametrize(("d", "n", "epsilon"), [(500, 3000, 1.0), (5000, 2000, 2.0)])
def test_the_method_in_focus_is_the_one_recommended_for_a_wide_table(d, n, epsilon):
    same = {"epsilon": epsilon, "delta": 1e-6, "k": 2, "providers": 1}
    settings = own_table.with_table(catalogue.defaults() | same, PublicTable(d, n, 1, 1.0))
    assert Planner(settings).focus == release_panel._recommended(n, d, 2, Budget(epsilon, 1e-6), 1)


def test_paid_eigenvalues_are_planned_with_as_they_are_judged():
    page = with_example()
    prepared, last = page.state.ready, dict(page.app.session_state["settings of the last run"])
    budget, d, k = Budget(0.05, 1e-6), page.state.ready.d, 2
    values = np.array([0.5, 0.2, 0.1, *[0.005] * (d - 3)])
    cost = {"epsilon": 0.05, "delta": 1e-6, "neighbours": "replace-one", "accounting": "exact"}
    paid = Spectrum(values, 0.001, Payment("", "Eigenvalues", (), {"budget": cost}), {})
    table = planned_table.public_part(prepared, paid, last)
    settings = own_table.with_table(last | {"k": k, "delta": 1e-6, "epsilon": 0.5, "providers": 1}, table)
    request = release_panel.requested(last, prepared, None, 1)
    judged = [
        predicted_errors(
            "central",
            n=prepared.n,
            d=d,
            k=k,
            budget=table.remaining(request.budget, prepared.n),
            ratio=pattern.spikes[-1],
            carriers=pattern.carriers,
        )[0][request.method]
        for pattern in rehearsal.patterns(d, k, paid, centred=True)
    ]
    study = Planner(settings).untuned_plan(request.method)
    assert list(own_table.predicted_errors(study, 0.5)) == judged
    assert all(pattern.paid for pattern in study.patterns) and table.paid == budget
    answered(settings)
    assert "paid for at ε = 0.05" in protocol.paragraph(Planner(settings))
    assert "paid for" in methods.below_table(Planner(settings | {"view": "plain"}))
    assert "0.05" not in json.dumps(catalogue.to_link(last))


def test_simulation_answers_for_a_table_and_is_left_out_again():
    asked = {"plan.asked": "epsilon", "plan.target": "0.3", "plan.trust": "central", "k": "2", "N": "1"}
    asked["delta"] = "1e-06"
    page = with_example(**asked, **{"plan.table": "true"})
    page.app.switch_page(PAGE)
    page.run()
    answered(plan_settings(page))
    page.run()
    next(button for button in page.app.button if button.key == "plan.simulate button").click()
    page.run()
    settings = plan_settings(page)
    search = Planner(settings).search()
    while cells := own_table.simulated(search)[1]:
        for cell in cells:
            EVALUATIONS.try_cell(*cell)
    page.run()
    simulated, _ = own_table.simulated(search)
    assert simulated.state == "found" and simulated.low <= simulated.value <= simulated.high
    more, less = (
        max(np.median(search.errors(times * simulated.value, pattern)) for pattern in search.plan.patterns)
        for times in (0.5, 2.0)
    )
    assert less < 0.3 < more
    assert answers.interval_of(simulated, "epsilon") in page.markdown
    assert answers.interval_of(simulated, "epsilon") in page.app.code[0].value
    # It is what the guarantee states, for it disagrees with the prediction.
    assert f"(ε, δ) = ({numbers.number(simulated.value, 'epsilon')}, 1e-6)" in page.app.code[0].value
    next(button for button in page.app.button if button.key == "plan.simulate button").click()
    page.run()
    assert "plan.simulate" not in page.link


@pytest.mark.parametrize("asked", ["patients", "epsilon", "hospitals"])
def test_everything_can_be_asked_of_a_table(asked):
    page = with_example(**{"plan.asked": asked, "plan.table": "true", "plan.target": "0.3"})
    page.app.switch_page(PAGE)
    page.run()
    settings = plan_settings(page)
    answer = answered(settings)
    page.run()
    assert answer.value is not None and numbers.value(answer.value, settings["plan.asked"]) in page.markdown
