"""Test the planner: questions, targets, trust, answers that do not exist, simulation, links."""

import math

import numpy as np
import pytest

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.hospitals.planner import charts, plain, plain_text, protocol_paragraph, text, view
from pages.hospitals.planner.view import Planner
from pages.shared.document import file
from pages.shared.settings import catalogue
from tests.waiting import eventually

PAGE = "hospitals/planner/page.py"
SMALL = {"d": "30", "k": "2", "s": "6", "shat": "12", "n": "20000"}
PUBLISHED = SMALL | {"plan.way": "dps_pca"}
DEFAULTS = catalogue.defaults() | {"plan.way": "dps_pca"}


def settings_of(page):
    return dict(page.app.session_state["settings of the last run"])


def paragraph(page):
    return page.app.code[0].value


def table(page):
    return page.app.table[0].value.set_index("method")


def mark(page, name):
    """Return the only point of this name in the chart, or None."""
    points = [(trace["x"][0], trace["y"][0]) for trace in page.figure["data"] if trace["name"] == name]
    return points[0] if points else None


def test_it_opens_with_few_methods_and_a_paragraph_and_has_all_methods_at_a_press(screen):
    page = screen(PAGE)
    settings = settings_of(page)
    Planner(settings).complete()
    page.run()
    planner = Planner(settings)
    answer, title = planner.answer().value, view.title(planner.focus)
    assert settings["plan.way"] == "recommended" and planner.focus == "two_stage_own_noise"
    needed = text.amount(answer, up=True)
    assert text.headline(planner) in page.markdown
    assert f"{title} needs {needed} patients" in page.markdown
    few = {"dps_pca", *(each.name for each in planner.by_trust())}
    assert set(planner.listed) == few and len(table(page)) == len(few)
    assert sum(trace["showlegend"] for trace in page.figure["data"]) <= 6
    thick = max((trace for trace in page.figure["data"]), key=lambda trace: trace["line"]["width"])
    assert thick["name"] == title
    assert table(page).loc[title, "patients at ε = 1"] == f"{needed} (uncertain)"
    assert paragraph(page) == protocol_paragraph.paragraph(planner)
    for part in (
        *(f"at least {needed} patients in total, in 5 hospitals", "(ε, δ) = (1, 1e-7)", "d = 200"),
        *("ŝ = 20 features kept", "a random guess has 1.72"),
    ):
        assert part in paragraph(page)
    assert mark(page, "the answer") == (1, answer) and mark(page, "this setting") == (1, settings["n"])
    page.app.checkbox(key="all_methods").check()
    page.run()
    Planner(settings_of(page)).complete()
    page.run()
    assert len(table(page)) == len(PLANNED_METHODS) and table(page)["whom it trusts"].iloc[0] == "one place"
    drawn = {trace["name"] for trace in page.figure["data"]}
    assert {planned.title for planned in PLANNED_METHODS.values() if planned.rule} <= drawn


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize("asked", view.QUESTIONS)
def test_both_views_answer_a_target_with_the_same_number(asked, trust):
    settings = catalogue.defaults("Small study") | {"plan.asked": asked, "plan.size": 500, "trust": trust}
    Planner(settings).complete()
    board, analyst = plain.PlainPlan(settings), Planner(settings)
    assert analyst.answer().value is not None and analyst.trust == board.chosen.trust == trust
    assert (board.chosen.name, board.chosen.answer) == (analyst.focus, analyst.answer())
    assert text.number(analyst.answer().value, asked) in board._row(board.chosen)
    assert text.value(analyst.answer().value, asked) in text.headline(analyst)


def test_more_trust_never_needs_more_patients():
    for preset in ("Small study", "Rare disease", "Weak signals in every feature"):
        planner = Planner(catalogue.defaults(preset))
        planner.complete()
        needs = [math.inf if each.answer.value is None else each.answer.value for each in planner.by_trust()]
        assert needs == sorted(needs) and needs[0] < math.inf


def test_where_the_recommended_method_has_no_formula_both_views_say_so():
    settings = catalogue.defaults("Rare disease") | {"plan.of": "energy"}  # nothing predicts that
    Planner(settings).complete()
    planner, board = Planner(settings), plain.PlainPlan(settings)
    assert "Recommended is Sparse step, own noise: it has no formula" in text.details(planner)
    assert "No formula says what it needs" in text.recommended(planner)
    assert plain_text.NO_FORMULA in board.rows


def test_where_it_has_none_but_its_error_is_predicted_that_answers_in_both_views(screen):
    page = screen(PAGE, preset="rare-disease")
    settings = settings_of(page)
    Planner(settings).complete()
    page.run()
    planner, board = Planner(settings), plain.PlainPlan(settings)
    answer = planner.answer().value
    assert planner.focus == board.chosen.name == "own_noise_sparse"
    assert answer == board.chosen.answer.value < planner.answer("dps_pca").value / 5
    assert f"needs {text.amount(answer, up=True)} patients" in page.markdown
    assert "Small simulations predict the error of this method" in page.markdown
    bold = next(trace for trace in page.figure["data"] if trace["name"] == view.title(planner.focus))
    drawn = [y for y in bold["y"] if y is not None]
    assert len(drawn) > 20 and drawn == sorted(drawn, reverse=True)
    here = bold["y"][bold["x"].index(settings["epsilon"])]
    assert here == pytest.approx(answer, rel=0.03)  # between the epsilons at which it is computed
    assert plain_text.NO_FORMULA not in board.rows


@pytest.mark.parametrize(
    ("asked", "target"), [("hospitals", "error"), ("patients", "energy"), ("epsilon", "error")]
)
def test_everything_can_be_asked(screen, asked, target):
    page = screen(PAGE, **PUBLISHED, **{"plan.asked": asked, "plan.of": target})
    settings = settings_of(page)
    answer = Planner(settings).answer("dps_pca").value
    assert text.value(answer, settings["plan.asked"]) in page.markdown
    assert mark(page, "the answer")[asked != "epsilon"] == pytest.approx(answer)
    bold = next(trace for trace in page.figure["data"] if trace["name"] == "DPS-PCA")
    drawn = [y for y in bold["y"] if y is not None]
    assert len(drawn) > 5 and drawn == sorted(drawn, reverse=True)


@pytest.mark.parametrize("trust", ["any", "secure aggregation", "local"])
def test_trust_decides_which_methods_are_listed_and_drawn(screen, trust):
    page = screen(PAGE, **SMALL, **{"plan.trust": trust, "all": "true"})
    recommended = Planner(settings_of(page)).focus
    listed = [name for name in PLANNED_METHODS if trust in ("any", PLANNED_METHODS[name].trust)]
    listed = list(dict.fromkeys([recommended, *listed]))
    assert set(page.app.table[0].value["method"].str.rstrip(" †‡*")) == {
        PLANNED_METHODS[name].title for name in listed
    }
    assert page.shown("plan.way") == "recommended" and page.link.get("plan.trust", "any") == trust
    page.move("plan.way", listed[-1])
    assert page.link["plan.way"] == listed[-1]
    assert PLANNED_METHODS[listed[-1]].title in paragraph(page)


REFUSALS = {
    "guess": {"plan.target": "1", "k": "1"},
    "first order": {"plan.target": "0.7"},
    "sampling": {"plan.target": "0.01", "plan.asked": "epsilon", "n": "1000", "plan.way": "analyze_gauss"},
    "epsilon": {"plan.asked": "epsilon", "plan.way": "ldp_pca"},
    "hospitals": {"plan.asked": "hospitals", "plan.way": "ldp_pca", "plan.size": "10", "plan.target": "0.01"},
    "assumption": {"shat": "4"},
}


@pytest.mark.parametrize(("kind", "link"), REFUSALS.items())
def test_no_answer_says_why_everywhere(screen, kind, link):
    page = screen(PAGE, **PUBLISHED | link)
    planner = Planner(settings_of(page))
    answer, sentence = planner.answer(), text.no_answer(planner)
    assert answer.value is None and answer.kind == kind
    assert sentence in page.markdown and sentence in paragraph(page)
    assert text.short_reason(answer, planner) in page.app.table[0].value.to_string()
    assert paragraph(page).startswith("No plan can be stated.") and mark(page, "the answer") is None


def test_simulation_confirms_and_stays_in_the_link(screen):
    page = screen(PAGE, **PUBLISHED)
    next(button for button in page.app.button if button.key == "simulate").click()
    page.run()
    page.settle()
    assert page.link["plan.simulate"] == "true"
    answer = Planner(settings_of(page)).answer("dps_pca").value
    assert mark(page, "simulated, 95 %")[1] == pytest.approx(answer, rel=0.15)
    cell = table(page).loc["DPS-PCA"].iloc[-1]
    assert "[" in cell and "–" in cell and "Simulation agrees within" in page.markdown
    page.move("plan.way", "analyze_gauss")
    assert eventually(lambda: (page.run(), "[" in table(page).loc["Analyze Gauss"].iloc[-1])[1])
    assert table(page).loc["DPS-PCA"].iloc[-1] == cell
    next(button for button in page.app.button if button.key == "simulate").click()
    page.run()
    assert "plan.simulate" not in page.link


def test_simulation_answers_where_no_closed_form_does(screen):
    page = screen(PAGE, **PUBLISHED, **{"plan.target": "0.7", "plan.simulate": "true"}).settle()
    assert Planner(settings_of(page)).answer("dps_pca").value is None
    assert mark(page, "simulated, 95 %") and "[" in table(page).loc["DPS-PCA"].iloc[-1]
    assert "Simulation says" in page.markdown and "no closed form that applies at this target" in paragraph(
        page
    )


def test_a_simulation_that_contradicts_takes_precedence(screen, monkeypatch):
    agreement = Planner.agreement.fget
    monkeypatch.setattr(Planner, "agreement", property(lambda planner: agreement(planner) and 1.4))
    page = screen(PAGE, **PUBLISHED, **{"plan.simulate": "true"}).settle()
    assert "so go by it" in page.markdown and "go by the simulation" in paragraph(page)


def test_simulation_finds_no_epsilon_either(screen):
    link = {"plan.asked": "epsilon", "plan.way": "ldp_pca", "plan.simulate": "true"}
    page = screen(PAGE, **SMALL, **link).settle()
    assert f"{text.no_answer(Planner(settings_of(page)))} Simulation found none either." in page.markdown
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
    paragraph = protocol_paragraph.paragraph(Planner(settings))
    assert (f"δ is above 1/n = {inverse}:" in paragraph) == ("above 1/n" in paragraph) == bool(inverse)


def test_labels_stand_on_their_lines_and_the_table_holds_the_plane():
    settings = DEFAULTS | {"plan.of": "energy", "all_methods": True}
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


def test_a_table_has_a_plan_but_no_simulation(screen):
    page = screen(PAGE, data="breast_cancer", k="2", **{"plan.way": "analyze_gauss", "plan.simulate": "true"})
    planner = Planner(settings_of(page))
    assert planner.search("analyze_gauss") is None and text.not_simulated(planner) in page.captions
    assert text.below_table(planner) in page.captions and "Breast cancer" in paragraph(page)
    assert "simulation" not in text.try_this(planner).lower()


def test_smaller_hospitals_need_more_than_their_number_in_proportion(screen):
    page = screen(PAGE, **{"plan.asked": "hospitals", "plan.way": "dps_pca"})
    settings = settings_of(page)
    ends = [Planner(settings | {"plan.size": size}).answer("dps_pca").value for size in (20_000, 10_000)]
    assert f"goes from {ends[0]} hospitals to {ends[1]} hospitals" in page.markdown
    assert ends[1] > 3 * ends[0]


def test_the_method_that_needs_least_is_named_unless_it_is_in_focus():
    settings = catalogue.defaults() | {"plan.target": 0.04}
    Planner(settings).complete()
    needed = {name: Planner(settings).answer(name).value for name in ("dps_pca", "two_stage")}
    least = text.value(needed["two_stage"], settings["plan.asked"])
    assert text._least_needed(needed["dps_pca"], Planner(settings)).endswith(f"would do with {least}.")
    assert text._least_needed(needed["two_stage"], Planner(settings)) == ""
    rough = settings | {"plan.target": 0.1}  # where few patients may miss a feature that matters
    Planner(rough).complete()
    assert text._least_needed(10**6, Planner(rough)).endswith("patients (uncertain).")


def test_the_projector_distance_is_another_number_for_the_same_plan():
    settings = catalogue.defaults() | {"plan.target": 0.2}
    other = Planner(settings | {"metric": "projector"}).answer("dps_pca").value
    exact = view.StudyPlan(Planner(settings).plan("dps_pca").experiment, "dps_pca", 0.2 / math.sqrt(2))
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
    ends = [text.target_in_words(settings_of(page), value) for value in (0.01, 1.0)]
    assert [slider.options[0], slider.options[-1]] == (ends[::-1] if unit == "share" else ends)
    assert Planner(settings_of(page)).untuned_plan("dps_pca").target == pytest.approx(
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
    paragraph = protocol_paragraph.paragraph(Planner(DEFAULTS | changed))
    assert present in paragraph and absent not in paragraph


def test_printed_constants_state_the_epsilon_that_they_truly_give():
    settings = catalogue.defaults() | {"accounting": "as-printed", "epsilon": 5.0, "plan.way": "cape"}
    true = Planner(settings).true_epsilon("cape")
    assert 6 < true < 8 and f"truly give ε = {true:.2f}" in protocol_paragraph.paragraph(Planner(settings))


@pytest.mark.parametrize(
    ("value", "up", "words"),
    [
        *((192_001, True, "193,000"), (193_000, True, "193,000")),
        *((999_999, True, "1 million"), (4_158_522_747, False, "4.16 billion")),
    ],
)
def test_amounts_are_rounded_so_that_they_suffice(value, up, words):
    assert text.amount(value, up=up) == words


def test_a_bad_link_opens_nearby(screen):
    page = screen(PAGE, **{"plan.asked": "rm", "plan.target": "0.11", "plan.way": "<b>", "plan.size": "-4"})
    assert page.setting("plan.target") == 0.1 and page.setting("plan.size") == 10
    assert "<" not in page.notices and "not a choice" in page.notices


def test_what_has_no_formula_is_simulated_by_itself_where_that_is_quick(screen):
    name = "wishart"
    page = screen(PAGE, **SMALL, **{"plan.way": name, "plan.trust": PLANNED_METHODS[name].trust}).settle()
    settings, title = settings_of(page), PLANNED_METHODS[name].title
    assert "plan.simulate" not in page.link and Planner(settings).answer(name).kind == "simulation"
    cells = table(page).loc[title]
    assert cells.iloc[1] == "by simulation" and "–" in cells.iloc[-1]
    assert "by simulation (95 % interval" in page.markdown and mark(page, "simulated, 95 %")
    assert "There is no closed form." in paragraph(page) and "at least" in paragraph(page)


def test_a_slow_simulation_waits_for_its_button(screen, monkeypatch):
    monkeypatch.setattr(view, "_QUICK_SECONDS", 0.0)
    page = screen(PAGE, **SMALL, **{"plan.way": "wishart"})
    assert "has no formula" in page.markdown and paragraph(page).startswith("No plan can be stated.")
    assert any(button.label.startswith("Find the answer of Wishart") for button in page.app.button)


def test_two_stages_show_the_chance_beside_their_answer_and_call_it_a_guess(screen):
    for target, guess in ((0.02, False), (0.2, True)):
        link = {"plan.way": "two_stage", "plan.target": str(target)}
        page = screen(PAGE, **SMALL, **link)
        settings = settings_of(page)
        Planner(settings).complete()
        page.run()
        answer = Planner(settings).answer("two_stage")
        assert (
            (answer.chance < view.LEAST_CHANCE)
            == guess
            == ("(uncertain)" in table(page).loc["Two stages"].iloc[1])
        )
        assert ("answer is uncertain" in page.markdown) == guess == ("answer is uncertain" in paragraph(page))
        assert "in half of the runs" in paragraph(page) and "own length" in paragraph(page)
        assert mark(page, "the answer") == (1, answer.value)


def test_tuned_plans_say_what_they_are_tuned_to(screen):
    page = screen(PAGE, **PUBLISHED, **{"plan.tuned": "tuned"})
    settings = settings_of(page)
    Planner(settings).complete()
    page.run()
    study = Planner(settings).plan("dps_pca")
    rounds = study.experiment.iterations
    assert page.link["plan.tuned"] == "tuned" and study.unit_rows and rounds != settings["iterations"]
    assert table(page).loc["DPS-PCA"].iloc[-1] == f"rows of length 1, {rounds} rounds"
    assert f"T = {rounds} rounds" in paragraph(page) and f"all {rounds} rounds together" in paragraph(page)
    assert "own length" in paragraph(page) and "public bound" not in paragraph(page)
    before = Planner(settings | {"plan.tuned": "published"}).answer("dps_pca").value
    assert Planner(settings).answer("dps_pca").value < before / 2


def test_what_is_recommended_has_the_full_guarantee_and_says_why():
    for asked in view.QUESTIONS:
        settings = catalogue.defaults() | {"plan.asked": asked}
        planner = Planner(settings)
        assert planner.changed({"seed": 7}).recommended() == []  # not evaluated yet
        planner.complete()
        for (trust, name, _answer), best in planner.recommended():
            for chosen in (view.METHODS[best.method], view.method(name)):
                assert chosen.guarantee == "(ε, δ)"
                assert TRUSTS.index(chosen.trust) >= TRUSTS.index(trust)  # it may ask for less
            assert best.reason in text.recommended(planner)
        assert "assumed" not in text.recommended(planner)  # a simulated population is public


@pytest.mark.parametrize("name", PLANNED_METHODS)
def test_every_method_has_true_words(name):
    """Also where nothing is simulated: no words fail, and no bound is named where rows have length 1."""
    for changed in (
        {},
        {"plan.tuned": "tuned", "view": "plain"},
        {"data": "breast_cancer", "k": 2, "s_hat": 30},
    ):
        settings = catalogue.defaults() | {"plan.way": name} | changed
        planner = Planner(settings)
        planner.complete()
        protocol_paragraph.paragraph(planner)
        study = planner.plan(name)
        words = protocol_paragraph.limits(planner)[0]
        unit = study.unit_rows or study.method.scaling == "unit"
        assert ("own length" in words or "count for the same" in words) == unit
        assert (
            text.headline(planner) and text.below_chart(planner, planner.drawn()) and text.try_this(planner)
        )
        printed = planner.changed({"accounting": "as-printed"})
        assert printed.true_epsilon(name) is None or study.method.private
