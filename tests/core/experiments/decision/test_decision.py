"""Test verdicts where the answer is known, verdicts of other hospitals, and where the answer turns.

Seeds are fixed, so that these tests come out alike each time.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.decision import predictions, rule
from dppca_core.experiments.decision.decision import bars, decide, decide_all
from dppca_core.experiments.decision.hospitals import halved, scaled, without
from dppca_core.experiments.decision.predictions import Anchor
from dppca_core.experiments.decision.rule import Answer
from tests.core.experiments.decision.settings import CLEAR, QUICK, joining, runs_of

SMALL_AMONG_LARGE = joining(20, 1500, 1500, 1500, epsilon=2.0)


def test_a_small_hospital_joins_large_ones():
    decision = decide(runs_of(SMALL_AMONG_LARGE))
    assert decision.answer == Answer.JOIN
    assert decision.patients is None
    assert list(decision.evidence) == [*reversed(TRUSTS)]
    nobody, place = decision.evidence["untrusted server"], decision.evidence["central"]
    assert rule.MARGIN < nobody.lower <= nobody.median <= nobody.upper
    assert place.median > nobody.median


def test_a_hospital_with_enough_patients_stays_alone():
    assert decide(runs_of(CLEAR)).answer == Answer.STAY
    for use in ("in-house", "publish"):
        assert decide(runs_of(joining(2000, use=use, **QUICK))).answer == Answer.STAY


def test_many_small_hospitals_join_if_sums_are_sealed():
    assert decide(runs_of(joining(*[25] * 80))).answer == Answer.JOIN_IF


def test_the_three_bars_are_those_of_the_evidence():
    runs = runs_of(SMALL_AMONG_LARGE)
    shown = bars(runs, "central")
    assert list(shown) == ["alone", "together", "together, no privacy"]
    for name, shares in (("alone", runs.alone()), ("together", runs.together("central"))):
        expected = (*rule.median_interval(shares), *np.quantile(shares, [0.1, 0.5, 0.9]))
        each = shown[name]
        assert (each.lower, each.upper, each.tenth, each.median, each.ninetieth) == pytest.approx(expected)
    assert shown["together"].tenth == decide(runs).evidence["central"].tenth


def test_others_have_the_verdicts_of_their_neighbours_in_size():
    sizes = [*range(20, 240, 20), 4000]
    runs = runs_of(joining(*sizes, epsilon=4.0, ours=11, repeats=14))
    decisions = decide_all(runs)
    assert len(decisions) == len(sizes)
    for i, each in enumerate(decisions):
        below, above = each[0].hospital, each[-1].hospital
        assert sizes[below] <= sizes[i] <= sizes[above]
        assert (len(each) == 1) == (i in runs.measured)
        assert (below == above == i) == (i in runs.measured)
    medians = [each[0].evidence["central"].median for each in decisions if len(each) == 1]
    assert all(more >= less - 1 for more, less in pairwise(medians))  # larger hospitals gain less
    assert decisions[-1][0].answer == Answer.STAY


def test_what_happens_if_is_the_same_decision_on_a_changed_setting():
    before = decide(runs_of(SMALL_AMONG_LARGE))
    stricter = decide(runs_of(halved(SMALL_AMONG_LARGE)))
    fewer = decide(runs_of(without(SMALL_AMONG_LARGE, 1)))
    for after in (stricter, fewer):
        for trust in TRUSTS:
            assert after.evidence[trust].tenth < before.evidence[trust].tenth


def test_a_prediction_at_the_present_setting_is_what_was_measured():
    anchor = Anchor.of_runs(runs_of(SMALL_AMONG_LARGE), 0)
    for trust, evidence in anchor.at(SMALL_AMONG_LARGE).items():
        assert evidence == pytest.approx(anchor.measured[trust], abs=1e-9)


@pytest.mark.parametrize(
    ("use", "factors"),
    [
        ("in-house", {"patients": 3.0}),
        ("in-house", {"epsilon": 0.5}),
        ("publish", {"patients": 0.5}),
        ("publish", {"epsilon": 0.5}),
    ],
)
def test_predictions_agree_with_runs(use, factors):
    """Medians agree within 6 points and a third of the loss."""
    setting = joining(200, 600, 600, epsilon=1.0, use=use)
    predicted = Anchor.of_runs(runs_of(setting), 0).at(scaled(setting, **factors))
    runs = runs_of(replace(scaled(setting, **factors), seed=1))
    losses = [100 - np.median(runs.alone()), 100 - np.median(runs.together("untrusted server"))]
    for trust in TRUSTS:
        error = predicted[trust].median - float(np.median(runs.gain(trust)))
        assert abs(error) < 6 + max(losses) / 3


def test_the_answer_turns_where_predictions_say_so():
    anchor = Anchor.of_runs(runs_of(SMALL_AMONG_LARGE), 0)
    for along in ("patients", "epsilon"):
        turns = anchor.turns(along)
        assert turns
        for turn in turns:
            assert turn.along == along
            assert turn.answer != Answer.JOIN
            assert turn.answer == anchor.answer(**{along: turn.factor})
            nearer = turn.factor ** (1 - 1 / 16)
            assert abs(np.log(nearer)) < abs(np.log(turn.factor))
            assert anchor.answer(**{along: turn.factor**0.5}) in (Answer.JOIN, turn.answer)
        assert [turn.factor for turn in turns] == sorted(turn.factor for turn in turns)


def test_of_a_table_nothing_is_predicted():
    setting = joining(100, 200, population="breast_cancer", repeats=8)
    anchor = Anchor.of_runs(runs_of(setting), 0)
    assert anchor.turns("patients") == ()
    assert anchor.patients_to_join() is None
    with pytest.raises(ValueError, match="population must be a model"):
        predictions.losses(setting, 0)


def test_a_verdict_needs_a_hospital_that_was_measured():
    with pytest.raises(ValueError, match="hospital must be one of"):
        decide(runs_of(joining(300, 300)), 1)
