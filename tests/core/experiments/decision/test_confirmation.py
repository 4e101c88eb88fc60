"""Test how a verdict that the first runs leave open is settled, and that its number of patients holds.

Seeds are fixed, so that these tests come out alike each time.
"""

from dataclasses import replace

import pytest

from dppca_core.experiments.decision import cells as cells_module
from dppca_core.experiments.decision import confirmation
from dppca_core.experiments.decision.cells import LOOK, TRIAL, VERDICT, JoiningCells
from dppca_core.experiments.decision.confirmation import MORE, MOST_TRIALS, PASSES, Trial, settle
from dppca_core.experiments.decision.decision import JoiningDecision, decide
from dppca_core.experiments.decision.hospitals import scaled
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.experiments.decision.rule import Answer
from tests.core.experiments.decision.settings import CLEAR, QUICK, joining, runs_of

TOO_FEW = joining(40, 60, 60, epsilon=0.5, use="publish", **QUICK)
CLOSE = joining(*[60] * 3, epsilon=0.5, use="publish")
ASKED = JoiningDecision(0, Answer.ASK_AGAIN, {})
PASSED, FAILED = Trial(1_300, True, None), Trial(1_300, False, 2_041)


@pytest.fixture(scope="module", autouse=True)
def same_runs():
    """Have first runs and trials of the same setting and seed measured once."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (confirmation, cells_module):
            patch.setattr(module, "JoiningRuns", runs_of)
        yield


@pytest.fixture(scope="module")
def settled(same_runs):
    return settle(TOO_FEW)


def most_join(patients: float) -> bool:
    """Return whether of five verdicts from fresh runs with so many patients three are to join."""
    larger = scaled(TOO_FEW, patients=patients / TOO_FEW.n)
    joined = []
    while max(joined.count(True), joined.count(False)) < 3:
        runs = JoiningRuns(replace(larger, seed=100 + len(joined)))
        joined.append(decide(runs).answer.joins)
    return joined.count(True) == 3


def test_with_the_number_named_fresh_runs_join(settled):
    """Three of five join with a chance above .99 where each does with one of .9."""
    _, decision = settled
    assert decision.answer == Answer.ASK_AGAIN
    assert decision.patients > TOO_FEW.n
    assert most_join(decision.patients)


def test_a_planted_third_of_the_number_is_noticed(settled):
    """Three of five join with a chance below .01 where each does with one of .1."""
    assert not most_join(settled[1].patients / 3)


def test_a_prediction_that_promises_too_much_is_corrected_by_runs():
    """Planted: the first number to try is the present one, whose runs do not join."""
    trials = [confirmation.trial(TOO_FEW, TOO_FEW.n, 0)]
    assert not trials[0].joins
    assert trials[0].more > TOO_FEW.n
    first, decision = runs_of(TOO_FEW), decide(runs_of(TOO_FEW))
    while (patients := confirmation.patients_to_try(first, decision, trials)) is not None:
        trials.append(confirmation.trial(TOO_FEW, patients, len(trials)))
    assert most_join(confirmation.concluded(first, decision, trials).patients)


def test_more_runs_settle_what_the_first_leave_open():
    assert not decide(runs_of(CLOSE)).answer.decided
    runs, decision = settle(CLOSE)
    assert (decision.answer, decision.patients) == (Answer.STAY, None)
    assert runs.setting == replace(CLOSE, repeats=MORE * CLOSE.repeats)


def test_a_clear_verdict_has_the_first_runs_alone():
    runs, decision = settle(CLEAR)
    assert decision == decide(runs_of(CLEAR))
    assert runs.setting.repeats == 40


@pytest.mark.parametrize(
    ("trials", "patients"),
    [
        ([FAILED], 2_100),
        ([PASSED], 1_300),
        ([PASSED, FAILED], 2_100),
        ([FAILED, *[PASSED] * (PASSES - 1)], 1_300),
        ([FAILED, *[PASSED] * PASSES], None),
        ([PASSED, FAILED._replace(more=None)], None),
        ([FAILED] * MOST_TRIALS, None),
    ],
)
def test_a_trial_that_fails_asks_for_more_and_several_in_succession_must_pass(trials, patients):
    runs = runs_of(TOO_FEW)
    assert confirmation.patients_to_try(runs, ASKED, trials) == patients
    if patients is None:
        confirmed = trials[-1].joins
        given = confirmation.concluded(runs, ASKED, trials)
        assert given.answer == (Answer.ASK_AGAIN if confirmed else Answer.TOO_CLOSE)
        assert given.patients == (scaled(TOO_FEW, patients=1_300 / TOO_FEW.n).n if confirmed else None)


def test_trials_have_runs_of_their_own(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        confirmation, "JoiningRuns", lambda setting: drawn.append(setting) or JoiningRuns(setting)
    )
    for number in range(3):
        confirmation.trial(replace(TOO_FEW, repeats=8, seed=5), 300, number)
    assert len({5, *(setting.seed for setting in drawn)}) == 4
    assert {setting.sizes for setting in drawn} == {(75, 112, 112)}


def test_cells_settle_the_same_step_by_step(settled):
    cells = JoiningCells(TOO_FEW)
    steps = []  # kinds of cells, and whether the verdict waits for trials
    while (cell := cells.next_missing(True)) is not None:
        cells.try_cell(*cell)
        steps.append((cell[0], cells.confirming))
    assert not cells.failed
    decisions = [step for step in steps if step[0] in (LOOK, TRIAL, VERDICT)]
    trials = len(decisions) - 3
    assert trials >= PASSES
    assert decisions == [(LOOK, False), (LOOK, True), *[(TRIAL, True)] * trials, (VERDICT, False)]
    assert cells.cells[(VERDICT,)] == settled[1] == JoiningCells(TOO_FEW).cell(VERDICT)


def test_a_table_without_predictions_stays_too_close():
    members = {"population": "breast_cancer", "use": "publish", "k": 1, "repeats": 8}
    setting = joining(*[100] * 5, epsilon=20.0, **members)
    runs, decision = settle(setting)
    assert (decision.answer, decision.patients) == (Answer.TOO_CLOSE, None)
    assert runs.setting.repeats == MORE * setting.repeats
