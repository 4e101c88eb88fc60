"""Test the planner: questions, targets, trust, answers that do not exist, simulation, links."""

import math

import numpy as np
import pytest

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.planning import plan_plane
from dppca_core.experiments.planning.evaluations import Evaluations
from dppca_core.experiments.planning.planning import PLANNED_METHODS, StudyPlan
from dppca_core.methods import METHODS
from pages.hospitals.planner import charts
from pages.hospitals.planner.model import evaluated, plans
from pages.hospitals.planner.model import planner as model
from pages.hospitals.planner.model.evaluated import method, title
from pages.hospitals.planner.model.plain import PlainPlanner
from pages.hospitals.planner.model.planner import QUESTIONS, Planner
from pages.hospitals.planner.sentences import answer as answers
from pages.hospitals.planner.sentences import methods, numbers, plain, protocol, surroundings
from pages.shared.document import blocks, file
from pages.shared.settings import catalogue
from tests.pages.shared.document.test_html import Elements
from tests.waiting import eventually

PAGE = "hospitals/planner/page.py"
SMALL = {"d": "30", "k": "2", "s": "6", "shat": "12", "n": "20000"}
PUBLISHED = SMALL | {"plan.way": "dps_pca"}
DEFAULTS = catalogue.defaults() | {"plan.way": "dps_pca"}
QUICK = {"d": 30, "k": 2, "s": 6, "s_hat": 12, "n": 20_000}  # SMALL as settings


def paragraph(page):
    return page.all(blocks.Quote)[0].words


def table(page):
    return page.all(blocks.Table)[0].frame.set_index("method")


def mark(page, name):
    points = [(trace["x"][0], trace["y"][0]) for trace in page.figure["data"] if trace["name"] == name]
    return points[0] if points else None


def test_it_opens_with_few_methods_and_a_paragraph_and_has_all_methods_at_a_press(page):
    shown = page(PAGE).settle()
    planner = Planner(shown.settings)
    answer, focus = planner.answer().value, title(planner.focus)
    assert shown.setting("plan.way") == "recommended" and planner.focus == "two_stage_own_noise"
    needed = numbers.amount(answer, up=True)
    assert (
        shown.headline == answers.headline(planner) and f"{focus} needs {needed} patients" in shown.headline
    )
    few = {"dps_pca", *(each.name for each in planner.by_trust())}
    assert set(planner.listed) == few and len(table(shown)) == len(few)
    assert sum(trace["showlegend"] for trace in shown.figure["data"]) <= 6
    thick = max((trace for trace in shown.figure["data"]), key=lambda trace: trace["line"]["width"])
    assert thick["name"] == focus
    assert table(shown).loc[focus, "patients at ε = 1"] == f"{needed} (uncertain)"
    assert paragraph(shown) == protocol.paragraph(planner)
    for part in (
        f"at least {needed} patients in total, in 5 hospitals",
        "(ε, δ) = (1, 1e-7)",
        "d = 200",
        "ŝ = 20 features kept",
        "a random guess has 1.72",
    ):
        assert part in paragraph(shown)
    assert mark(shown, "the answer") == (1, answer)
    assert mark(shown, "this setting") == (1, shown.setting("n"))
    assert "all_methods" in shown.all(blocks.Controls)[1].controls
    shown.move("all_methods", True)
    shown.settle()
    assert len(table(shown)) == len(PLANNED_METHODS) and table(shown)["whom it trusts"].iloc[0] == "one place"
    drawn = {trace["name"] for trace in shown.figure["data"]}
    assert {planned.title for planned in PLANNED_METHODS.values() if planned.rule} <= drawn


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_both_views_answer_a_target_with_the_same_number(asked, trust):
    settings = catalogue.defaults() | QUICK | {"plan.asked": asked, "plan.size": 500, "trust": trust}
    Planner(settings).complete()
    board, analyst = PlainPlanner(settings), Planner(settings)
    assert analyst.answer().value is not None and analyst.trust == board.chosen.trust == trust
    assert (board.chosen.name, board.chosen.answer) == (analyst.focus, analyst.answer())
    assert board.known[trust] == analyst.answer().value
    assert numbers.value(analyst.answer().value, asked) in answers.headline(analyst)


def test_more_trust_never_needs_more_patients():
    presets = map(catalogue.defaults, ("Rare disease", "Weak signals in every feature"))
    for settings in (catalogue.defaults() | QUICK, *presets):
        planner = Planner(settings)
        planner.complete()
        needs = [math.inf if each.answer.value is None else each.answer.value for each in planner.by_trust()]
        assert needs == sorted(needs) and needs[0] < math.inf


def test_where_the_recommended_method_has_no_formula_both_views_say_so():
    settings = catalogue.defaults("Rare disease") | {"plan.of": "energy"}  # nothing predicts that
    Planner(settings).complete()
    planner, board = Planner(settings), PlainPlanner(settings)
    assert "Recommended is Sparse step, own noise: it has no formula" in answers.details(planner)
    assert "No formula says what it needs" in methods.recommended(planner)
    assert plain.NO_FORMULA in plain.lines(board)


def test_where_it_has_none_but_its_error_is_predicted_that_answers_in_both_views(page):
    page = page(PAGE, preset="rare-disease").settle()
    settings = page.settings
    planner, board = Planner(settings), PlainPlanner(settings)
    answer = planner.answer().value
    assert planner.focus == board.chosen.name == "own_noise_sparse"
    assert answer == board.chosen.answer.value < planner.answer("dps_pca").value / 5
    assert f"needs {numbers.amount(answer, up=True)} patients" in page.markdown
    assert "Small simulations predict the error of this method" in page.markdown
    bold = next(trace for trace in page.figure["data"] if trace["name"] == title(planner.focus))
    drawn = [y for y in bold["y"] if y is not None]
    assert len(drawn) > 20 and drawn == sorted(drawn, reverse=True)
    here = bold["y"][bold["x"].index(settings["epsilon"])]
    assert here == pytest.approx(answer, rel=0.03)  # between the epsilons at which it is computed
    assert plain.NO_FORMULA not in plain.lines(board)


@pytest.mark.parametrize(
    ("asked", "target"), [("hospitals", "error"), ("patients", "energy"), ("epsilon", "error")]
)
def test_everything_can_be_asked(page, asked, target):
    page = page(PAGE, **PUBLISHED, **{"plan.asked": asked, "plan.of": target})
    settings = page.settings
    answer = Planner(settings).answer("dps_pca").value
    assert numbers.value(answer, settings["plan.asked"]) in page.markdown
    assert mark(page, "the answer")[asked != "epsilon"] == pytest.approx(answer)
    bold = next(trace for trace in page.figure["data"] if trace["name"] == "DPS-PCA")
    drawn = [y for y in bold["y"] if y is not None]
    assert len(drawn) > 5 and drawn == sorted(drawn, reverse=True)


@pytest.mark.parametrize("trust", ["any", "secure aggregation", "local"])
def test_trust_decides_which_methods_are_listed_and_drawn(screen, trust):
    page = screen(PAGE, **SMALL, **{"plan.trust": trust, "all": "true"})
    recommended = Planner(page.settings).focus
    listed = [name for name in PLANNED_METHODS if trust in ("any", PLANNED_METHODS[name].trust)]
    listed = list(dict.fromkeys([recommended, *listed]))
    assert set(page.app.table[0].value["method"].str.rstrip(" †‡*")) == {
        PLANNED_METHODS[name].title for name in listed
    }
    assert page.shown("plan.way") == "recommended" and page.link.get("plan.trust", "any") == trust
    page.move("plan.way", listed[-1])
    assert page.link["plan.way"] == listed[-1]
    assert PLANNED_METHODS[listed[-1]].title in page.app.code[0].value


REFUSALS = {
    "guess": {"plan.target": "1", "k": "1"},
    "first order": {"plan.target": "0.7"},
    "sampling": {"plan.target": "0.01", "plan.asked": "epsilon", "n": "1000", "plan.way": "analyze_gauss"},
    "epsilon": {"plan.asked": "epsilon", "plan.way": "ldp_pca"},
    "hospitals": {"plan.asked": "hospitals", "plan.way": "ldp_pca", "plan.size": "10", "plan.target": "0.01"},
    "assumption": {"shat": "4"},
}


@pytest.mark.parametrize(("kind", "link"), REFUSALS.items())
def test_no_answer_says_why_everywhere(page, kind, link):
    page = page(PAGE, **PUBLISHED | link)
    planner = Planner(page.settings)
    answer, sentence = planner.answer(), answers.no_answer(planner)
    assert answer.value is None and answer.kind == kind
    assert sentence in page.markdown and sentence in paragraph(page)
    assert answers.short_reason(answer, planner) in table(page).to_string()
    assert paragraph(page).startswith("No plan can be stated.") and mark(page, "the answer") is None


def press(page):
    next(button for button in page.app.button if button.key == "plan.simulate button").click()
    page.run()


def test_simulation_confirms_and_stays_in_the_link(screen):
    page = screen(PAGE, **PUBLISHED)
    press(page)
    page.settle()
    assert page.link["plan.simulate"] == "true"
    answer = Planner(page.settings).answer("dps_pca").value
    assert mark(page, "simulated, 95 %")[1] == pytest.approx(answer, rel=0.15)
    cell = page.app.table[0].value.set_index("method").loc["DPS-PCA"].iloc[-1]
    assert "[" in cell and "–" in cell and "Simulation agrees within" in page.markdown
    page.move("plan.way", "analyze_gauss")

    def cells():
        page.run()
        return page.app.table[0].value.set_index("method").iloc[:, -1]

    assert eventually(lambda: "[" in cells()["Analyze Gauss"])
    assert cells()["DPS-PCA"] == cell
    press(page)
    assert "plan.simulate" not in page.link


def test_simulation_answers_where_no_closed_form_does(page):
    page = page(PAGE, **PUBLISHED, **{"plan.target": "0.7", "plan.simulate": "true"}).settle()
    assert Planner(page.settings).answer("dps_pca").value is None
    assert mark(page, "simulated, 95 %") and "[" in table(page).loc["DPS-PCA"].iloc[-1]
    assert "Simulation says" in page.markdown and "no closed form that applies at this target" in paragraph(
        page
    )


def test_a_simulation_that_contradicts_takes_precedence(page, monkeypatch):
    agreement = Planner.agreement.fget
    monkeypatch.setattr(Planner, "agreement", property(lambda planner: agreement(planner) and 1.4))
    page = page(PAGE, **PUBLISHED, **{"plan.simulate": "true"}).settle()
    assert "so go by it" in page.markdown and "go by the simulation" in paragraph(page)


def test_simulation_finds_no_epsilon_either(page):
    link = {"plan.asked": "epsilon", "plan.way": "ldp_pca", "plan.simulate": "true"}
    page = page(PAGE, **SMALL, **link).settle()
    assert f"{answers.no_answer(Planner(page.settings))} Simulation found none either." in page.markdown
    assert table(page).loc["Local PCA"].iloc[-1] == "none"


@pytest.mark.parametrize(
    ("changed", "inverse"),
    [
        ({}, "5.2e-6"),
        ({"plan.asked": "hospitals"}, "2.5e-6"),
        ({"plan.way": "analyze_gauss"}, None),  # 43,900 patients with a curator are fewer than 1/delta
    ],
)
def test_delta_is_compared_with_the_patients_of_the_plan(changed, inverse):
    settings = catalogue.defaults_with({"plan.way": "dps_pca"} | changed | {"delta": 1e-5})
    paragraph = protocol.paragraph(Planner(settings))
    assert (f"δ is above 1/n = {inverse}:" in paragraph) == ("above 1/n" in paragraph) == bool(inverse)


def test_labels_stand_on_their_lines_and_the_table_holds_the_plane():
    settings = DEFAULTS | QUICK | {"plan.of": "energy", "all_methods": True}
    drawn = Planner(settings).drawn()
    figure = charts.figure(drawn, Planner(settings))
    labels = [trace for trace in figure["data"] if trace.get("mode") == "text"]
    assert [label["text"] for label in labels][-2:] == [["99 %"], ["99.9 %"]]
    for label in labels:
        curve = next(trace for trace in figure["data"] if trace["name"] == label["name"])
        assert curve["y"][curve["x"].index(label["x"][0])] == label["y"][0] is not None
        below = np.array(curve["y"], dtype=float) < 0.999 * drawn.plane.edge  # the closed form does not apply
        assert not below.any()
    assert "DPS-PCA, sealed sums" in file.of_figure(figure, "plan")
    central = settings | {"plan.trust": "central", "plan.way": "analyze_gauss"}
    rows = charts.table(Planner(central))
    assert (rows[rows["what"] == "plane"]["share_lost"] > 0).all()
    answers = rows[rows["what"] == "answer"].set_index("method")
    assert set(answers.index) == set(Planner(central).listed)
    assert answers.loc["wishart", "by"] == "none: simulation"
    stages = answers.loc["two_stage"]  # so rough a target keeps all features seldom
    assert stages["by"] == "none: assumption" and stages["chance_kept"] < 0.5 and np.isnan(stages["patients"])


def test_a_table_has_a_plan_but_no_simulation(page):
    page = page(PAGE, data="breast_cancer", k="2", **{"plan.way": "analyze_gauss", "plan.simulate": "true"})
    planner = Planner(page.settings)
    assert planner.search("analyze_gauss") is None and answers.not_simulated(planner) in page.captions
    assert methods.below_table(planner) in page.captions and "Breast cancer" in paragraph(page)
    assert "simulation" not in surroundings.try_this(planner).lower()


def test_smaller_hospitals_need_more_than_their_number_in_proportion(page):
    page = page(PAGE, **{"plan.asked": "hospitals", "plan.way": "dps_pca"})
    settings = page.settings
    ends = [Planner(settings | {"plan.size": size}).answer("dps_pca").value for size in (20_000, 10_000)]
    assert f"goes from {ends[0]} hospitals to {ends[1]} hospitals" in page.markdown
    assert ends[1] > 3 * ends[0]


def test_the_method_that_needs_least_is_named_unless_it_is_in_focus():
    settings = catalogue.defaults() | {"plan.target": 0.04}
    Planner(settings).complete()
    needed = {name: Planner(settings).answer(name).value for name in ("dps_pca", "two_stage")}
    least = numbers.value(needed["two_stage"], settings["plan.asked"])
    assert answers._least_needed(needed["dps_pca"], Planner(settings)).endswith(f"would do with {least}.")
    assert answers._least_needed(needed["two_stage"], Planner(settings)) == ""
    rough = settings | {"plan.target": 0.1}  # where few patients may miss a feature that matters
    Planner(rough).complete()
    assert answers._least_needed(10**6, Planner(rough)).endswith("patients (uncertain).")


def test_the_projector_distance_is_another_number_for_the_same_plan():
    settings = catalogue.defaults() | {"plan.target": 0.2}
    other = Planner(settings | {"metric": "projector"}).answer("dps_pca").value
    exact = StudyPlan(Planner(settings).plan("dps_pca").experiment, "dps_pca", 0.2 / math.sqrt(2))
    assert other == exact.patients(1.0).value


@pytest.mark.parametrize(
    ("unit", "k", "shown", "guess"),
    [
        ("sin", "2", ["0.1", "0.2"], "1.37"),
        ("projector", "2", ["0.1", "0.2"], "1.93"),
        ("energy", "2", ["0.1", "0.2"], "1.37"),  # with an error as the target
        ("share", "2", ["99.5 %", "98.0 %"], "6.7 %"),
        ("degrees", "1", ["5.7°", "12°"], "83°"),
        ("degrees", "2", ["0.1", "0.2"], "1.37"),  # of two directions an error gives no angle
    ],
)
def test_a_target_is_offered_in_the_unit_and_an_old_link_keeps_it(screen, unit, k, shown, guess):
    page = screen(PAGE, **SMALL | {"k": k}, metric=unit, **{"plan.target": "0.2"})
    slider = next(box for box in page.app.select_slider if box.key == "plan.target")
    assert set(shown) <= set(slider.options) and slider.label.endswith(f"a random guess: {guess}")
    assert page.setting("plan.target") == 0.2 and page.link["plan.target"] == "0.2"
    ends = [numbers.target_in_words(page.settings, value) for value in (0.01, 1.0)]
    assert [slider.options[0], slider.options[-1]] == (ends[::-1] if unit == "share" else ends)
    assert Planner(page.settings).untuned_plan("dps_pca").target == pytest.approx(
        0.2 / math.sqrt(2) if unit == "projector" else 0.2
    )


def test_settings_that_do_not_matter_leave_the_plan_and_the_plane_as_they_are():
    settings = DEFAULTS
    changed = {"n": 10**6, "repeats": 50, "provider_noise": "shared", "start": "near", "metric": "energy"}
    assert Planner(settings | changed).plan("dps_pca") == Planner(settings).plan("dps_pca")
    first, then = (Planner(settings | {"plan.target": target}).drawn() for target in (0.1, 0.2))
    assert first.plane is then.plane and (first.curves["dps_pca"] > then.curves["dps_pca"]).all()


def test_the_floor_is_where_sampling_alone_errs_as_much():
    settings = DEFAULTS | {"plan.target": 0.05}
    floor = Planner(settings).drawn().floor
    plan = Planner(settings).plan("dps_pca")
    assert np.isfinite(floor)
    assert plan.loss(round(1.03 * floor), 1e9) < 0.05 < plan.loss(round(0.97 * floor), 1e9)


@pytest.mark.parametrize(
    ("changed", "present", "absent"),
    [
        ({"plan.way": "ppca"}, "Caution: approximate sampler", "δ) ="),
        ({"plan.way": "spiked_projector"}, "condition that the proof", "truly give"),
        ({"neighbours": "add-remove"}, "adding or removing", "replacing"),
    ],
)
def test_privacy_words_follow_guarantee_and_relation(changed, present, absent):
    paragraph = protocol.paragraph(Planner(DEFAULTS | changed))
    assert present in paragraph and absent not in paragraph


def test_printed_constants_state_the_epsilon_that_they_truly_give():
    settings = catalogue.defaults() | {"accounting": "as-printed", "epsilon": 5.0, "plan.way": "cape"}
    true = Planner(settings).true_epsilon("cape")
    assert 6 < true < 8 and f"truly give ε = {true:.2f}" in protocol.paragraph(Planner(settings))


@pytest.mark.parametrize(
    ("value", "up", "words"),
    [
        (192_001, True, "193,000"),
        (193_000, True, "193,000"),
        (999_999, True, "1 million"),
        (4_158_522_747, False, "4.16 billion"),
    ],
)
def test_amounts_are_rounded_so_that_they_suffice(value, up, words):
    assert numbers.amount(value, up=up) == words


def test_a_bad_link_opens_nearby(page):
    page = page(PAGE, **{"plan.asked": "rm", "plan.target": "0.11", "plan.way": "<b>", "plan.size": "-4"})
    assert page.setting("plan.target") == 0.1 and page.setting("plan.size") == 10
    assert "<" not in str(page.sentences) and "not a choice" in str(page.sentences)


def test_what_has_no_formula_is_simulated_by_itself_where_that_is_quick(page):
    name = "wishart"
    page = page(PAGE, **SMALL, **{"plan.way": name, "plan.trust": PLANNED_METHODS[name].trust}).settle()
    settings, shown = page.settings, PLANNED_METHODS[name].title
    assert not settings["plan.simulate"] and Planner(settings).answer(name).kind == "simulation"
    cells = table(page).loc[shown]
    assert cells.iloc[1] == "by simulation" and "–" in cells.iloc[-1]
    assert "by simulation (95 % interval" in page.markdown and mark(page, "simulated, 95 %")
    assert "There is no closed form." in paragraph(page) and "at least" in paragraph(page)


def test_a_slow_simulation_waits_for_its_button(page, monkeypatch):
    monkeypatch.setattr(model, "_QUICK_SECONDS", 0.0)
    page = page(PAGE, **SMALL, **{"plan.way": "wishart"})
    assert "has no formula" in page.markdown and paragraph(page).startswith("No plan can be stated.")
    assert page.all(blocks.Controls)[1].controls[1].label.startswith("Find the answer of Wishart")


def test_two_stages_show_the_chance_beside_their_answer_and_call_it_a_guess(page):
    for target, guess in ((0.02, False), (0.2, True)):
        link = {"plan.way": "two_stage", "plan.target": str(target)}
        shown = page(PAGE, **SMALL, **link).settle()
        answer = Planner(shown.settings).answer("two_stage")
        assert (
            (answer.chance < answers.LEAST_CHANCE)
            == guess
            == ("(uncertain)" in table(shown).loc["Two stages"].iloc[1])
        )
        assert (
            ("answer is uncertain" in shown.markdown) == guess == ("answer is uncertain" in paragraph(shown))
        )
        assert "in half of the runs" in paragraph(shown) and "own length" in paragraph(shown)
        assert mark(shown, "the answer") == (1, answer.value)


def test_tuned_plans_say_what_they_are_tuned_to(page):
    page = page(PAGE, **PUBLISHED, **{"plan.tuned": "tuned"}).settle()
    settings = page.settings
    study = Planner(settings).plan("dps_pca")
    rounds = study.experiment.iterations
    assert study.unit_rows and rounds != settings["iterations"]
    assert table(page).loc["DPS-PCA"].iloc[-1] == f"rows of length 1, {rounds} rounds"
    assert f"T = {rounds} rounds" in paragraph(page) and f"all {rounds} rounds together" in paragraph(page)
    assert "own length" in paragraph(page) and "public bound" not in paragraph(page)
    before = Planner(settings | {"plan.tuned": "published"}).answer("dps_pca").value
    assert Planner(settings).answer("dps_pca").value < before / 2


def test_what_is_recommended_has_the_full_guarantee_and_says_why():
    for asked in QUESTIONS:
        settings = catalogue.defaults() | {"plan.asked": asked}
        planner = Planner(settings)
        assert planner.changed({"seed": 7}).recommended() == []  # not evaluated yet
        planner.complete()
        for (trust, name, _answer), best in planner.recommended():
            for chosen in (METHODS[best.method], method(name)):
                assert chosen.guarantee == "(ε, δ)"
                assert TRUSTS.index(chosen.trust) >= TRUSTS.index(trust)  # it may ask for less
            assert best.reason in methods.recommended(planner)
        assert "assumed" not in methods.recommended(planner)  # a simulated population is public


@pytest.mark.parametrize("name", PLANNED_METHODS)
def test_every_method_has_true_words(name):
    """Also where nothing is simulated: no words fail, and no bound is named where rows have length 1."""
    for changed in (
        {},
        {"plan.tuned": "tuned", "view": "plain"},
        {"data": "breast_cancer", "s_hat": 30},
    ):
        settings = catalogue.defaults() | QUICK | {"plan.way": name} | changed
        planner = Planner(settings)
        planner.complete()
        protocol.paragraph(planner)
        study = planner.plan(name)
        words = protocol.assumptions(planner)
        unit = study.unit_rows or study.method.scaling == "unit"
        assert ("own length" in words or "count for the same" in words) == unit
        assert (
            answers.headline(planner)
            and methods.below_chart(planner, planner.drawn())
            and surroundings.try_this(planner)
        )
        printed = planner.changed({"accounting": "as-printed"})
        assert printed.true_epsilon(name) is None or study.method.private


def test_the_file_has_the_answer_the_table_and_the_paragraph(page):
    """It evaluates what the page shows as still to come."""
    shown = page(PAGE, **SMALL, seed="7")
    assert Planner(shown.settings).next_missing() is not None
    words = Elements(shown.html()).text
    shown.read()
    planner = Planner(shown.settings)
    for part in (shown.headline, answers.details(planner), *paragraph(shown).split("\n\n")):
        assert part in words
    assert shown.headline == answers.headline(planner) and len(shown.headline.split()) <= 20
    assert shown.document.frame().promise == protocol.guarantee(planner)
    assert "Recommended under each trust" in words
    assert all(name in words for name in table(shown).index)
    assert dict(shown.document.frame().settings)["Hospitals N"] == "5" and numbers.goal(planner) in words


def test_a_line_is_drawn_through_columns_that_were_evaluated_one_by_one(monkeypatch):
    """A column takes a tenth of a second, perhaps in another process: a line evaluates none anew."""
    kept = Evaluations()
    for module in (model, plans, evaluated):
        monkeypatch.setattr(module, "EVALUATIONS", kept)
    planner = Planner(DEFAULTS | QUICK | {"plan.way": "two_stage"})
    while (missing := planner.next_missing())[0] is not evaluated.plane_over:
        kept.try_cell(*missing)
    assert sum(cell[0] is plan_plane.edge_column for cell in kept.cells) == len(plan_plane.EDGE_EPSILONS) + 1
    monkeypatch.setattr(plan_plane, "_evaluate", None)
    line = kept.cell(*missing).line(0.1)
    assert np.isfinite(line).any() and not kept.failed


def test_where_there_is_no_plan_nothing_is_promised(page):
    shown = page(PAGE, **{"plan.target": "0.01", "n": "100", "plan.asked": "epsilon"}).settle()
    assert "no answer by closed form" in shown.headline
    assert "nothing is promised" in shown.document.frame().promise
