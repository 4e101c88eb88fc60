"""Test what hospitals run together under each trust, and the changes of a setting."""

from dataclasses import replace

import pytest

from dppca_core import METHODS, Budget
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.decision import hospitals
from dppca_core.experiments.decision.hospitals import changed, halved, scaled, without
from dppca_core.experiments.explorer import trusts
from dppca_core.mechanisms import hospital_budgets
from tests.core.experiments.decision.settings import joining

NOBODY = "untrusted server"


def arrangements(setting):
    return {trust: hospitals.arrangement(setting, trust) for trust in reversed(TRUSTS)}


def test_with_equal_epsilon_it_is_what_every_page_recommends():
    setting = joining(500, 1000, 1500)
    for trust in TRUSTS:
        plan = hospitals.arrangement(setting, trust)
        assert plan.method == trusts.recommended(setting.experiment, 1.0, trust).method
        assert plan.weights is None
        assert plan.budget == Budget(1.0, 1e-6)


def test_two_trusts_with_one_noise_are_one_law():
    for setting in (joining(500, 1000, 1500), changed(joining(500, 1000, 1500), 1, epsilon=0.3)):
        plans = arrangements(setting)
        assert plans["central"] == plans["secure aggregation"]


def test_where_nobody_is_trusted_each_epsilon_has_its_weight():
    setting = changed(joining(1000, 1000, 1000), 1, epsilon=0.2)
    plan = hospitals.arrangement(setting, NOBODY)
    weights, pooled = hospital_budgets.pooled_budget(
        setting.sizes, setting.budgets, NOBODY, hospital_budgets.sampling_ratio(30, 2, None)
    )
    assert plan.weights == pytest.approx(weights)
    assert plan.budget == pooled
    assert plan.weights[1] < plan.weights[0] == pytest.approx(plan.weights[2])


def test_one_noise_has_the_strictest_epsilon():
    setting = changed(joining(*[2000] * 10), 1, epsilon=0.8)
    plan = hospitals.arrangement(setting, "central")
    assert METHODS[plan.method].trust == "secure aggregation"
    assert plan.budget == Budget(0.8, 1e-6)


@pytest.mark.parametrize("strict", [1e-3, 0.03, 0.3, 0.9])
def test_more_trust_is_never_predicted_to_err_more(strict):
    setting = changed(joining(2000, 2000, 2000), 2, epsilon=strict)
    errors = [plan.error for plan in arrangements(setting).values()]  # from the least trust
    assert errors == sorted(errors, reverse=True)


def test_a_hospital_that_is_far_too_strict_does_not_spoil_the_sealed_sum():
    """Its own noise is left to it where the one noise would drown all."""
    setting = changed(joining(*[2000] * 4), 3, epsilon=1e-3)
    plans = arrangements(setting)
    assert plans["central"] == plans[NOBODY]


def test_the_strictest_halves_its_epsilon():
    setting = changed(joining(100, 200, 300), 2, epsilon=0.5)
    assert [each.epsilon for each in halved(setting).hospitals] == [1.0, 1.0, 0.25]
    assert [each.epsilon for each in halved(joining(100, 200, 300)).hospitals] == [1.0, 0.5, 1.0]
    assert [each.epsilon for each in halved(joining(100)).hospitals] == [0.5]


def test_one_hospital_leaves():
    setting = joining(100, 200, 300, ours=1)
    assert without(setting, 0).hospitals == setting.hospitals[1:]
    assert without(setting, 0).ours == 0
    assert without(setting, 2).ours == 1
    assert without(setting, 2).n == 300
    for wrong in (1, 3):
        with pytest.raises(ValueError, match="hospital must be"):
            without(setting, wrong)


def test_shares_stay_while_the_total_grows():
    larger = scaled(joining(100, 200, 1), patients=2.4, epsilon=0.5)
    assert larger.sizes == (240, 480, 2)
    assert larger.strictest == 0.5
    assert scaled(joining(100, 1), patients=0.01).sizes == (1, 1)


REFUSED = {"ours": 3, "k": 30, "use": "sell", "repeats": 7, "delta": 0.0, "s_hat": 1}


@pytest.mark.parametrize(
    ("field", "value"), [*REFUSED.items(), ("hospitals", ()), ("population", "breast_cancer")]
)
def test_numbers_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=r"must"):
        replace(joining(100, 200, 300), **{field: value})


def test_a_hospital_has_patients_and_an_epsilon():
    for fields in ({"patients": 0}, {"epsilon": 0.0}):
        with pytest.raises(ValueError, match=next(iter(fields))):
            changed(joining(100), 0, **fields)
