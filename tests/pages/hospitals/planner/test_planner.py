"""The planner: every question, target and trust; no answer with its reason; simulation; links; a board."""

import math

import numpy as np
import pytest

from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.hospitals.planner import (
    charts,
    protocol_paragraph,
    text,
)
from pages.hospitals.planner import (
    settings as plan_choices,
)
from pages.hospitals.planner import (
    view as plans,
)
from pages.shared.reports import downloads
from pages.shared.settings import catalogue
from tests.waiting import eventually

PAGE = "hospitals/planner/page.py"
SMALL = {"d": "30", "k": "2", "s": "6", "shat": "12", "n": "20000"}


def paragraph(page):
    return page.app.code[0].value


def table(page):
    return page.app.table[0].value.set_index("method")


def test_it_opens_with_the_answer_a_row_for_every_way_and_a_paragraph(screen):
    page = screen(PAGE)
    answer = plans.answer(catalogue.defaults(), "dps_pca").value
    said = text.amount(answer, up=True)
    assert f"at ε = 1, DPS-PCA needs {said} patients in 5 hospitals." in page.markdown
    assert (
        len(table(page)) == len(PLANNED_METHODS) and table(page).loc["DPS-PCA", "patients at ε = 1"] == said
    )
    words = paragraph(page)
    for part in (
        *(f"at least {said} patients in total, in 5 hospitals", "(ε, δ) = (1, 1e-5)", "d = 200"),
        *("replacing one patient's record", "Balle & Wang", "ŝ = 20 rows kept", "T = 10 rounds"),
        *("Each hospital adds its own noise", "public bound", "a random guess has 1.72", "not a hardened"),
    ):
        assert part in words
    assert {PLANNED_METHODS[name].title for name in PLANNED_METHODS} | {"this setting", "the answer"} <= {
        trace["name"] for trace in page.figure["data"]
    }


@pytest.mark.parametrize(
    ("asked", "of", "view"),
    [
        *(("patients", "error", "board"), ("epsilon", "energy", "board"), ("hospitals", "error", "board")),
        *(("patients", "energy", "researcher"), ("epsilon", "error", "researcher")),
    ],
)
def test_everything_can_be_asked(screen, asked, of, view):
    page = screen(PAGE, **SMALL, view=view, **{"plan.asked": asked, "plan.of": of})
    settings = dict(page.app.session_state["settings of the last run"])
    answer = plans.answer(settings, "dps_pca").value
    assert text.value(answer, settings) in page.markdown
    if view == "board":
        shown = page.markdown + page.captions + str(page.figure) + paragraph(page)
        shown += page.app.table[0].value.to_string()
        assert not set("εδσΘŝλ‖") & set(shown)
    bold = next(trace for trace in page.figure["data"] if trace["name"] == "DPS-PCA")
    seen = [y for y in bold["y"] if y is not None]
    assert len(seen) > 5 and seen == sorted(seen, reverse=True)


@pytest.mark.parametrize("trust", plan_choices.TRUSTED)
def test_trust_decides_who_is_listed_and_looked_at(screen, trust):
    page = screen(PAGE, **SMALL, **{"plan.trust": trust})
    listed = [name for name in PLANNED_METHODS if trust in ("any", PLANNED_METHODS[name].trust)]
    assert set(page.app.table[0].value["method"].str.rstrip(" †‡*")) == {
        PLANNED_METHODS[name].title for name in listed
    }
    assert page.setting("plan.way") in listed and page.link.get("plan.trust", "any") == trust
    page.move("plan.way", listed[-1])
    if len(listed) > 1:  # the only one is shown whatever was asked for, which the link keeps
        assert page.link["plan.way"] == listed[-1]
    assert PLANNED_METHODS[listed[-1]].title in paragraph(page)


REFUSALS = {
    "a guess": ({"plan.target": "1", "k": "1"}, "a random guess does as well"),
    "too rough": ({"plan.target": "0.7"}, "an error beyond a third of a random guess"),
    "too few": (
        {"plan.target": "0.01", "plan.asked": "epsilon", "n": "1000", "plan.way": "analyze_gauss"},
        "even without any noise for privacy",
    ),
    "no ε": (
        {"plan.asked": "epsilon", "plan.way": "ldp_pca"},
        "even ε = 10 gives error",
    ),
    "no hospitals": (
        {"plan.asked": "hospitals", "plan.way": "ldp_pca", "plan.size": "10", "plan.target": "0.01"},
        "100,000 such hospitals still give",
    ),
    "an assumption": ({"shat": "4"}, "rows kept ŝ = 4 at least s = 6 does not hold"),
}


@pytest.mark.parametrize(("link", "reason"), REFUSALS.values(), ids=REFUSALS.keys())
def test_no_answer_says_why_everywhere(screen, link, reason):
    page = screen(PAGE, **SMALL | link)
    assert reason in page.markdown and reason in paragraph(page)
    assert paragraph(page).startswith("No plan can be stated.")
    assert "until a bold line appears" in page.markdown
    board = dict(page.app.session_state["settings of the last run"]) | {"view": "board"}
    plain = text.headline(board, {}) + protocol_paragraph.paragraph(board, None)
    assert "has no answer by closed form" in plain and not set("εδσΘŝλ‖") & set(plain)


def test_simulation_confirms_and_stays_in_the_link(screen):
    page = screen(PAGE, **SMALL)
    button = next(b for b in page.app.button if b.key == "simulate")
    assert button.label.startswith("Confirm DPS-PCA by simulation, about")
    button.click()
    page.run()
    page.settle()
    assert page.link["plan.simulate"] == "true"
    assert "Simulation agrees within" in page.markdown and "95 % interval" in paragraph(page)
    cell = table(page).loc["DPS-PCA"].iloc[-1]
    assert "[" in cell and "–" in cell
    assert "simulated, 95 %" in {trace["name"] for trace in page.figure["data"]}
    page.move("plan.way", "analyze_gauss")
    assert eventually(lambda: (page.run(), "[" in table(page).loc["Analyze Gauss"].iloc[-1])[1])
    assert "[" in table(page).loc["Analyze Gauss"].iloc[-1] and table(page).loc["DPS-PCA"].iloc[-1] == cell
    next(b for b in page.app.button if b.key == "simulate").click()
    page.run()
    assert "plan.simulate" not in page.link


def test_simulation_answers_where_no_closed_form_does(screen):
    page = screen(PAGE, **SMALL, **{"plan.target": "0.7", "plan.simulate": "true"}).settle()
    assert "Simulation says" in page.markdown and "No closed form applies at this target" in paragraph(page)
    assert "by simulation of the method itself" in paragraph(page)


def test_a_simulation_that_contradicts_is_what_to_go_by(screen, monkeypatch):
    real = plans.agreement
    monkeypatch.setattr(plans, "agreement", lambda *both: real(*both) and 1.4)
    page = screen(PAGE, **SMALL, **{"plan.simulate": "true"}).settle()
    assert "Simulation says otherwise, so go by it" in page.markdown and "go by the simulation" in paragraph(
        page
    )


def test_simulation_finds_no_epsilon_either(screen):
    link = {"plan.asked": "epsilon", "plan.way": "ldp_pca", "plan.simulate": "true"}
    page = screen(PAGE, **SMALL, **link).settle()
    assert "even ε = 10 gives error" in page.markdown and "Simulation found none either." in page.markdown
    assert table(page).loc["Local PCA"].iloc[-1] == "none"


def test_delta_is_held_against_the_patients_of_the_plan():
    """193,000 of them at a delta of 1e-5; 43,900 with a curator are fewer than 1/delta."""
    settings = catalogue.defaults()
    assert "δ is above 1/n = 5.2e-6" in protocol_paragraph.paragraph(settings, None)
    assert "is above 1/n" not in protocol_paragraph.paragraph(settings | {"plan.way": "analyze_gauss"}, None)
    assert "is above 1/n" not in protocol_paragraph.paragraph(settings | {"delta": 1e-6}, None)
    many = settings | {"plan.asked": "hospitals"}
    assert "δ is above 1/n = 2.5e-6" in protocol_paragraph.paragraph(many, None)
    board = protocol_paragraph.paragraph(settings | {"view": "board"}, None)
    assert "more than one in the number of patients" in board


def test_the_figure_and_the_table_can_be_taken_away():
    settings = catalogue.defaults() | {"plan.of": "energy"}
    drawn = plans.drawn(settings)
    levels = [t for t in charts.figure(drawn, settings, {})["data"] if t.get("mode") == "text"]
    assert [label["text"] for label in levels][-2:] == [["99 %"], ["99.9 %"]]
    for label in levels:  # a label stands on its line
        own = next(t for t in charts.figure(drawn, settings, {})["data"] if t["name"] == label["name"])
        assert own["y"][own["x"].index(label["x"][0])] == label["y"][0] is not None
    whole = downloads.html(charts.figure(drawn, settings, {}), "plan")
    assert "DPS-PCA, summed in secret" in whole
    rows = charts.table(drawn, settings, "dps_pca")
    assert (
        set(rows["way"]) == set(PLANNED_METHODS) and (rows[rows["what"] == "plane"]["share_lost"] > 0).all()
    )


def test_a_table_has_a_plan_but_no_simulation(screen):
    page = screen(PAGE, data="breast_cancer", k="2", **{"plan.way": "analyze_gauss", "plan.simulate": "true"})
    assert "No simulation here: a table has only its own patients." in page.captions
    assert "as if its rows were Gaussian" in page.captions and "Breast cancer" in paragraph(page)
    assert "simulation" not in page.markdown.split("Try this")[1].lower()


def test_a_smaller_hospital_costs_more_of_them_than_it_has_fewer_patients(screen):
    page = screen(PAGE, **{"plan.asked": "hospitals"})
    settings = catalogue.defaults() | {"plan.asked": "hospitals"}
    ends = [plans.answer(settings | {"plan.size": size}, "dps_pca").value for size in (20_000, 10_000)]
    assert f"goes from {ends[0]} hospitals to {ends[1]} hospitals" in page.markdown
    assert ends[1] > 3 * ends[0]


def test_the_projector_distance_is_another_number_for_the_same_plan():
    settings = catalogue.defaults() | {"plan.target": 0.2}
    other = plans.answer(settings | {"metric": "projector"}, "dps_pca").value
    exact = plans.StudyPlan(plans.plan(settings, "dps_pca").experiment, "dps_pca", 0.2 / math.sqrt(2))
    assert other == exact.patients(1.0).value


def test_settings_that_do_not_matter_are_looked_up_again():
    settings = catalogue.defaults()
    for changed in (
        {"n": 10**6},
        {"repeats": 50},
        {"provider_noise": "shared"},
        {"start": "near"},
        {"metric": "energy"},
    ):
        assert plans.plan(settings | changed, "dps_pca") == plans.plan(settings, "dps_pca")
    first, then = (plans.drawn(settings | {"plan.target": target}) for target in (0.1, 0.2))
    assert first.plane is then.plane and (first.curves["dps_pca"] > then.curves["dps_pca"]).all()


def test_the_floor_is_where_sampling_alone_errs_as_much():
    settings = catalogue.defaults() | {"plan.target": 0.05}
    floor = plans.drawn(settings).floor
    plan = plans.plan(settings, "dps_pca")
    assert plan.loss(round(1.03 * floor), 1e9) < 0.05 < plan.loss(round(0.97 * floor), 1e9)
    assert np.isfinite(floor)


def test_privacy_words_follow_guarantee_and_accounting():
    settings = catalogue.defaults()
    said = protocol_paragraph.paragraph(settings | {"plan.way": "ppca"}, None)
    assert "Caution: approximate sampler" in said and "δ) =" not in said
    printed = protocol_paragraph.paragraph(
        settings | {"accounting": "as-printed", "epsilon": 5.0, "plan.way": "cape"}, None
    )
    assert "truly give ε = 7" in printed or "truly give ε = 6" in printed
    assert "good event" in protocol_paragraph.paragraph(settings | {"plan.way": "spiked_projector"}, None)
    assert "add" in protocol_paragraph.paragraph(settings | {"neighbours": "add-remove"}, None)
    plain = protocol_paragraph.paragraph(settings | {"view": "board"}, None)
    assert "73:27" in plain and "1 in 100,000" in plain


@pytest.mark.parametrize(
    ("value", "up", "said"),
    [
        *((192_736, True, "193,000"), (192_001, True, "193,000"), (193_000, True, "193,000")),
        *((20, True, "20"), (19.2, True, "20"), (999_999, True, "1 million")),
        (4_158_522_747, False, "4.16 billion"),
    ],
)
def test_amounts_are_rounded_so_that_they_suffice(value, up, said):
    assert text.amount(value, up=up) == said


def test_a_bad_link_opens_nearby(screen):
    page = screen(PAGE, **{"plan.asked": "rm", "plan.target": "0.11", "plan.way": "<b>", "plan.size": "-4"})
    assert page.setting("plan.target") == 0.1 and page.setting("plan.size") == 10
    assert "<" not in page.notices and "not a choice" in page.notices
