"""Test the decision for a board: verdicts, scenes, the table of hospitals, what happens if, and the file.

A verdict rests on 40 seeded runs. Where the truth is on its side it is wrong with a chance below 1 %, the
level of its interval; the settings here are far from its margins. Tests share the runs of a setting, and its
page once all of it is measured: that the runs one by one settle as all together do is a test of the core.
"""

import functools
import re
from html import unescape

import pytest

from dppca_core.accounting import gaussian
from dppca_core.experiments.decision import rule
from dppca_core.experiments.decision.claims import Claim
from dppca_core.experiments.decision.decision import decide
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.experiments.decision.rule import Answer
from dppca_core.privacy import Budget
from pages.hospitals.providers import document
from pages.hospitals.providers.model import hospitals
from pages.hospitals.providers.model.decision import Decided, JoiningBoard
from pages.hospitals.providers.model.hospitals import HospitalLine
from pages.hospitals.providers.sentences import cases, decision, table
from pages.shared import text
from pages.shared.document import blocks as b
from pages.shared.plain import decisions, phrases, share_bars
from pages.shared.settings import catalogue
from pages.shared.settings.hospitals import OURS, to_setting
from pages.shared.settings.scenes import CLEARED, RARE_DISEASE, SCENES
from tests.pages.documents import Page, walk
from tests.pages.test_plain import long_sentences, unreadable

PAGE = "hospitals/providers/page.py"
SMALL = {"view": "plain", "d": "30", "n": "20000", "k": "2", "s": "6", "shat": "10"}


@functools.cache
def settled(**link):
    """Return the page of a link once all of it is measured; tests read it and leave it as it is."""
    return Page(PAGE, **link).settle()


def opened(**link):
    return settled(**SMALL | link)


def scene(name, **link):
    preset = catalogue.CHOICES["preset"].link(name)
    return settled(preset=preset, **{"view": "plain", "join.use": "in-house"} | link)


FIVE_LARGE, ONE_LARGE, MEASURE, HEART = SCENES[1:]
TOO_FEW = SMALL | {"n": "200", "N": "4", "eps": "0.5", "join.use": "publish"}
# Each verdict at a setting that gives it.
VERDICTS = {
    Answer.JOIN: lambda: scene(FIVE_LARGE, **{"join.use": "publish"}),
    Answer.JOIN_IF: lambda: scene(RARE_DISEASE),
    Answer.STAY: lambda: scene(FIVE_LARGE),
    Answer.ASK_AGAIN: lambda: asked_again() and settled(**TOO_FEW),  # the page has its runs
    Answer.TOO_CLOSE: lambda: scene(HEART, **{"join.use": "publish"}),
}


@functools.cache
def asked_again():
    """Return what a page says while runs confirm a number, as {headline: progress}, and then its decision."""
    board, headlines = JoiningBoard(Page(PAGE, **TOO_FEW).settings), {}
    while (cell := board.cells.next_missing(True)) is not None:
        headlines[decision.headline(board)] = decision.progress(board)
        board.cells.try_cell(*cell)
    return headlines, board


def test_a_number_to_ask_again_with_is_confirmed_before_it_is_shown():
    headlines, board = asked_again()
    assert list(headlines) == [text.MEASURING, decision.STILL_CLOSE, decision.CONFIRMING]
    assert headlines[decision.STILL_CLOSE] == "160 of 160 repeats are done."
    assert headlines[decision.CONFIRMING] == ""
    patients = board.decision.patients
    assert decision.headline(board) == (
        f"Not yet: ask again with about {text.patients(patients)} patients in all."
    )
    assert "3 verdicts in a row were to join, each from 40 new repeats" in decision.numbers(board)
    assert board.agreement.decision.patients == patients > 200
    Decided.complete(board)  # not what would follow
    assert not any(
        turn.startswith("- From") and "or more" in turn for turn in decision.turns(board).split("\n")
    )


@pytest.mark.parametrize("answer", VERDICTS, ids=lambda answer: answer.name)
def test_each_verdict_is_said_where_the_runs_give_it(answer):
    shown = VERDICTS[answer]()
    board = JoiningBoard(shown.settings)
    decided, ours = board.decision, board.names[board.setting.ours]
    assert decided.answer is answer
    words = {
        Answer.JOIN: "Join: it pays even if nobody is trusted.",
        Answer.JOIN_IF: "Join only if sums are sealed or one place is trusted.",
        Answer.STAY: "Stay alone: joining would gain us too little, whomever we trust.",
        Answer.ASK_AGAIN: "Not yet: ask again with",
        Answer.TOO_CLOSE: "Too close to tell whether joining pays.",
    }
    assert shown.headline.startswith(words[answer])
    by_trust = shown.tables[0]
    for (_, line), trust in zip(by_trust.iterrows(), share_bars.LOOKS, strict=True):
        evidence = decided.evidence[trust]
        assert line["gain, points"] == decision.points(evidence.median)
        assert (line["worth joining"] == "yes") == evidence.passes
    if answer in (Answer.STAY, Answer.TOO_CLOSE, Answer.ASK_AGAIN):
        assert "yes" not in set(by_trust["worth joining"])
    verdicts = shown.tables[1].set_index("hospital")["verdict"]
    assert next(words for who, words in verdicts.items() if who.startswith(ours)) == decision.VERDICTS[answer]


SCENES_IN_WORDS = {
    (RARE_DISEASE, "in-house"): ("Join only if", ["no", "yes", "yes"]),
    (RARE_DISEASE, "publish"): ("Join only if", ["not reliably", "yes", "yes"]),
    (FIVE_LARGE, "in-house"): ("Stay alone", ["no", "no", "no"]),
    (FIVE_LARGE, "publish"): ("Join: ", ["yes", "yes", "yes"]),
    (ONE_LARGE, "in-house"): ("Join only if", ["no", "yes", "yes"]),
    (MEASURE, "in-house"): ("Stay alone", ["no", "no", "no"]),
    (HEART, "in-house"): ("Stay alone", ["no", "no", "no"]),
    (HEART, "publish"): ("Too close to tell", ["no", "not reliably", "not reliably"]),
}


@pytest.mark.parametrize(("name", "use"), SCENES_IN_WORDS, ids=lambda value: str(value))
def test_a_scene_says_its_verdict_in_words_that_a_board_reads(name, use):
    begins, worth = SCENES_IN_WORDS[name, use]
    shown = scene(name, **{"join.use": use})
    assert shown.headline.startswith(begins) and list(shown.tables[0]["worth joining"]) == worth
    board = JoiningBoard(shown.settings)
    spoken = [phrases.percent(row.share) for row in board.bars().rows]
    paragraph = decision.numbers(board)
    assert paragraph in shown.markdown and all(share in paragraph for share in spoken)
    # What would follow has the sentences of a verdict too: its runs for one scene of each kind are enough.
    measured = (name, use) in [(FIVE_LARGE, "in-house"), (HEART, "in-house")]
    folds = "\n".join(words for fold in _folds(shown, measured=measured) for words in fold)
    whole = "\n".join(
        [shown.markdown, shown.captions, shown.document.frame().promise, *map(str, shown.tables)]
    )
    assert unreadable(re.sub(r"\*\*", "", f"{whole}\n{folds}")) == []
    assert long_sentences("\n".join([shown.markdown, shown.captions, folds])) == []


@pytest.mark.parametrize(("name", "use"), SCENES_IN_WORDS, ids=lambda value: str(value))
def test_each_comparison_on_the_page_is_one_that_its_runs_show(name, use):
    shown = scene(name, **{"join.use": use})
    outcomes = JoiningBoard(shown.settings).outcomes
    spoken = read_off(shown.captions, shown.settings["trust"])
    assert spoken and all(claim.holds(outcomes) for claim in spoken)
    assert spoken == set(decision.claims(JoiningBoard(shown.settings)))


def test_a_planted_wrong_relation_is_noticed(page, monkeypatch):
    left, right = "together, central", "together, untrusted server"
    sentences, turned = dict(decision.SAYS), {"more": "as good", "as good": "more"}
    wrong = {(left, now, right): sentences[left, other, right] for now, other in turned.items()}
    monkeypatch.setattr(decision, "SAYS", sentences | wrong)
    shown = page(PAGE, preset="rare-disease", view="plain").settle()
    outcomes = JoiningBoard(shown.settings).outcomes
    spoken = read_off(shown.captions, shown.settings["trust"], sentences)
    assert [claim for claim in spoken if claim.fails(outcomes)] == [Claim(left, "as good", right)]


def read_off(words, trust, sentences=None):
    """Return the claims whose sentences stand in a page's words."""
    sentences = sentences or decision.SAYS
    return {
        Claim(left.format(trust=trust), relation, right)
        for (left, relation, right), sentence in sentences.items()
        if sentence in words
    }


@pytest.mark.parametrize("name", [MEASURE, HEART])
def test_both_views_of_hospitals_that_differ_have_one_answer_and_nothing_is_predicted(name):
    plain, full = scene(name), scene(name, view="full")
    assert plain.headline == full.headline and decision.numbers(JoiningBoard(plain.settings)) in full.markdown
    for shown in (plain, full):
        assert decision.NO_TURN_WHERE_THEY_DIFFER in shown.markdown
        assert "the pattern of our own patients" in shown.captions
        assert ("not private" in shown.captions) == (name == HEART)


def _folds(shown, *, measured=True):
    for name in cases.TITLES:
        fold = next(x for x in shown.all(b.Fold) if x.name == f"if {name}")
        held = [block for block in fold.blocks() if measured or not isinstance(block, b.Live)]
        for block in held:
            if isinstance(block, b.Live):
                block.complete()
        yield [x.words for x in walk(held) if isinstance(x, b.Text)]


def test_the_small_should_join_where_the_large_stays_alone():
    lines = scene(ONE_LARGE).tables[1].set_index("hospital")["verdict"]
    assert lines["Ours and 23 others"].startswith("join if") and lines["Hospital A"] == "stay alone"


def test_three_bars_have_the_medians_and_intervals_of_forty_runs():
    shown = opened(trust="sealed")
    board = JoiningBoard(shown.settings)
    runs = board.cells.runs
    for row, shares in zip(
        board.bars().rows,
        (runs.alone(), runs.together("secure aggregation"), runs.without_privacy()),
        strict=True,
    ):
        assert len(shares) == 40
        assert tuple(row.spread[::2]) == pytest.approx(rule.median_interval(shares))
    assert "median of 40 repeats" in shown.captions and "ten repeats" in shown.captions
    assert board.code().table().shape == (3, 6)


def test_every_size_up_to_eight_has_its_verdict_and_of_more_neighbours_give_it():
    few = opened(**{"join.sizes": "50-100-200-400-800-1600-3200-6400"}).tables[1]
    assert len(few) == 8 and not any(" or " in each.replace("sealed or one", "") for each in few["verdict"])
    sizes = "-".join(str(40 + 30 * i * i) for i in range(20))
    shown = opened(**{"join.sizes": sizes, "join.ours": "20"})
    many = shown.tables[1]
    assert len(many) < 18 and sum(int((re.findall(r"and (\d+)", who) or [0])[0]) for who in many["hospital"])
    assert any(who.startswith("Ours") for who in many["hospital"])


def test_a_turn_is_where_runs_no_longer_give_the_verdict():
    """Predictions of turns are within a factor of 2 mostly: at ten times beyond it the verdict is another."""
    shown = scene(FIVE_LARGE, **{"join.use": "publish"})
    (patients,) = re.findall(r"From ([\d,]+) patients in all or fewer: join if", shown.markdown)
    fewer = int(patients.replace(",", "")) // 10
    settings = shown.settings | {"join.sizes": "-".join([str(fewer // 5)] * 5)}
    assert decide(JoiningRuns(to_setting(settings))).answer is not Answer.JOIN


TYPED = {"join.sizes": "300-200-900", "join.losses": "1-0.5-2", "join.ours": "3", "join.use": "publish"}


def test_a_link_restores_the_decision():
    shown = opened(**TYPED)
    assert shown.link.items() >= TYPED.items()
    again = Page(PAGE, **shown.link).settle()
    assert again.figure == shown.figure and again.headline == shown.headline
    setting = to_setting(shown.settings)
    assert [(each.patients, each.epsilon) for each in setting.hospitals] == [(300, 1), (200, 0.5), (900, 2)]
    assert setting.ours == 2 and setting.use == "publish" and setting.hospitals[2].name == OURS


def test_names_are_shown_and_never_in_a_link_or_a_cache():
    shown = opened(**TYPED)
    named = document.at(shown.settings, ("", "Saint Mary"))
    lines = [x.frame for x in walk(named.blocks()) if isinstance(x, b.Table)]
    assert "Saint Mary" in lines[1].to_string() and "Mary" not in str(shown.link)
    assert "Mary" not in str(to_setting(shown.settings))


LINES = [
    HospitalLine("Ours", 1, 400, 1.0, True),
    HospitalLine("Hospital B", 1, 300, 1.0, False),
]
BASE = catalogue.defaults() | {"join.sizes": "400-300"}


@pytest.mark.parametrize(
    ("changes", "sizes", "losses", "ours"),
    [
        ({}, "400-300", "", 1),
        ({"edited_rows": {"1": {"patients": 250}}}, "400-250", "", 1),
        ({"edited_rows": {"1": {"epsilon": 0.5}}}, "400-300", "1-0.5", 1),
        ({"edited_rows": {"1": {"ours": True}}}, "400-300", "", 2),
        ({"added_rows": [{"patients": 7, "epsilon": 2}]}, "400-300-7", "1-1-2", 1),
        ({"added_rows": [{"patients": 7, "count": 3}]}, "400-300-7-7-7", "", 1),
        ({"deleted_rows": [0]}, "300", "", 1),
    ],
)
def test_edits_of_the_table_become_settings(changes, sizes, losses, ours):
    result = hospitals.read(hospitals.edited(LINES, changes), BASE)
    assert result.settings == {"join.sizes": sizes, "join.losses": losses, "join.ours": ours}
    assert result.problem == ""


@pytest.mark.parametrize(
    ("changes", "problem", "sizes"),
    [
        ({"added_rows": [{}]}, "Line 3 does not count yet", "400-300"),
        ({"edited_rows": {"1": {"patients": 0}}}, "Line 2 does not count yet", "400"),
        ({"edited_rows": {"1": {"patients": 2.5}}}, "Line 2 does not count yet", "400"),
        ({"edited_rows": {"0": {"patients": None}, "1": {"epsilon": -1}}}, table.NONE_LEFT, "400-300"),
        ({"edited_rows": {"1": {"epsilon": float("nan")}}}, "Line 2 does not count yet", "400"),
        ({"added_rows": [{"patients": 5, "count": 200}]}, table.TOO_MANY, "400-300" + "-5" * 198),
        ({"added_rows": [{"patients": "<b>"}, {"patients": 10**10}]}, "Lines 3 and 4 do not", "400-300"),
    ],
)
def test_bad_input_is_one_sentence_and_stays_as_it_was_typed(changes, problem, sizes):
    typed = hospitals.edited(LINES, changes)
    result = hospitals.read(typed, BASE)
    assert result.problem.startswith(problem) and result.problem.count(". ") == 0
    assert result.settings["join.sizes"] == sizes
    cells = [cell for edit in changes.get("edited_rows", {}).values() for cell in edit.values()]
    cells += [cell for line in changes.get("added_rows", []) for cell in line.values()]
    assert all(any(cell is each for line in typed for each in line) for cell in cells)


def test_many_hospitals_are_a_line_for_those_that_are_alike():
    settings = catalogue.defaults(RARE_DISEASE)
    ours, others = hospitals.lines(settings)
    assert (ours.name, ours.count, others.name, others.count) == (OURS, 1, table.OTHERS, 49)
    assert hospitals.read([ours, others], settings).settings == {
        key: CLEARED[key] for key in hospitals.SETTINGS
    }
    assert len(hospitals.lines(settings | {"join.each": True})) == 50
    edits = {"edited_rows": {"1": {"count": 199, "patients": 300}}}
    result = hospitals.read(hospitals.edited([ours, others], edits), settings)
    assert result.settings["join.sizes"] == "200" + "-300" * 199


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("1-0.5-2", "1-0.5-2"),
        ("1; 0.5", "1-0.5"),
        ("1.0 0.50", "1-0.5"),
        ("0-1", ""),
        ("1-x", ""),
        ("1e3", ""),
        ("5000", ""),
        ("-".join(["1"] * 201), ""),
    ],
)
def test_privacy_losses_are_read_or_refused_in_a_sentence(typed, read):
    value, refusal = catalogue.CHOICES["join.losses"].read(typed)
    assert value == read
    assert refusal is None if read else "privacy losses such as 1-0.5-2" in refusal
    assert catalogue.CHOICES["join.losses"].read(value) == (value, None)


def test_the_cautious_and_the_leaving_are_computed_when_asked():
    shown = opened(**TYPED)
    board = JoiningBoard(shown.settings)
    hospital, after = board.cautious
    assert hospital == 1 and after.setting.hospitals[1].epsilon == 0.25
    assert (
        "Hospital B asks for a privacy loss of 0.25 in place of 0.5." in shown.opened("if cautious")[0].words
    )
    hospital, after = board.leaving
    assert hospital == 0 and after.setting.sizes == (200, 900)
    assert "Hospital A leaves" in shown.opened("if leaves")[0].words
    words = dict(zip(cases.TITLES, _folds(shown), strict=True))
    assert words["leaves"][1] == cases.then(after) and decision.headline(after) in words["leaves"][1]
    assert decision.points(after.decision.evidence["central"].median) in words["leaves"][1]


def test_who_works_with_the_server_takes_its_part_of_sealed_noise_off():
    """The noise of N hospitals has N times the variance of one's part; by the accounting of a Gaussian."""
    board = JoiningBoard(catalogue.defaults_with({"providers": 4, "n": 1000, "epsilon": 1.0}))
    multiplier = gaussian.noise_multiplier(Budget(1.0, board.setting.delta))
    assert board.colluding(0) == pytest.approx(1.0, rel=1e-6)
    assert gaussian.delta_of(multiplier / 2, board.colluding(3)) == pytest.approx(
        board.setting.delta, rel=1e-4
    )
    assert 1.0 < board.colluding(1) < board.colluding(2) < board.colluding(3)
    assert "becomes" in " ".join(cases.colludes(board))


def test_a_single_hospital_has_nobody_to_join():
    shown = opened(**{"join.sizes": "700"})
    assert shown.headline == decisions.NOBODY_TO_JOIN and not shown.tables
    assert [x.name for x in shown.all(b.Fold)] == ["if withdraws", "origins"]


def test_a_table_of_patients_has_a_verdict_and_no_prediction():
    shown = settled(view="plain", data="breast_cancer", N="3", k="2", shat="30")
    assert decision.NO_TURN_OF_A_TABLE in shown.markdown and len(shown.tables) == 2


def test_the_file_has_the_verdict_the_numbers_and_what_happens_if():
    shown = scene(FIVE_LARGE)
    whole = unescape(re.sub(r"<[^>]*>", "", shown.html()))
    assert shown.headline in whole and all(title in whole for title in cases.TITLES.values())
    assert decision.hospitals_in_words(JoiningBoard(shown.settings)) in whole
    assert decision.WHAT_IF in whole and "Measuring" not in whole and all(x in whole for x in decision.LIMITS)
    assert decisions.note(share_bars.begins(JoiningBoard(shown.settings).bars().rows), 40) in whole
    for line in cases.WITHDRAWS:
        assert line in whole


def test_a_button_sets_a_scene_and_clears_what_was_typed(screen):
    app = screen(PAGE, view="plain", **{"join.sizes": "9000-1000", "join.ours": "2"})
    held = {box.label: box.value for box in app.app.text_input}
    assert held["Patients in total · set by the table"] == "10,000"
    next(button for button in app.app.button if button.key == f"scene {FIVE_LARGE}").click()
    app.run()
    assert app.setting("preset") == FIVE_LARGE and app.setting("join.sizes") == ""
    assert app.link["preset"] == "five-large-hospitals" and app.setting("join.ours") == 1
    assert {f"scene {name}" for name in SCENES} <= {button.key for button in app.app.button}


def test_the_table_follows_the_sliders_and_goes_back_to_them(screen):
    app = screen(PAGE, **SMALL | {"join.sizes": "9000-1000", "join.losses": "1-2"})
    assert table.facts((9000, 1000)) in app.captions
    next(button for button in app.app.button if button.key == "sizes back").click()
    app.run()
    assert app.setting("join.sizes") == app.setting("join.losses") == ""
    assert table.facts((4000,) * 5) in app.captions


def test_more_kinds_of_hospitals_than_lines_are_listed_when_asked(screen):
    sizes = "-".join(str(100 + i) for i in range(12))
    app = screen(PAGE, view="plain", **{"join.sizes": sizes})
    assert table.ranging(tuple(range(100, 112))) in app.captions
    next(box for box in app.app.checkbox if box.label == "List every hospital").check()
    app.run()
    assert table.ranging(tuple(range(100, 112))) not in app.captions and app.link["join.each"] == "true"


def test_a_bad_number_of_a_link_is_one_sentence(page):
    shown = page(PAGE, **SMALL | {"join.sizes": "9-<b>", "join.losses": "1-<i>"})
    assert len(shown.sentences) == 2 and not any("<" in sentence for sentence in shown.sentences)
    shown = page(PAGE, view="full", data="breast_cancer", shat="30", **{"join.sizes": "400-300-100"})
    assert "more than the table's 569 patients" in shown.captions
