"""Test guarantees of papers: whose they are, and what releases add up to, by another program's arithmetic."""

import math

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from dppca_core import Budget
from dppca_core.accounting import gaussian
from dppca_core.dossier.agreement import YEARS
from dppca_core.experiments.decision.hospitals import changed
from dppca_core.experiments.decision.rule import Answer
from tests.core.dossier.agreements import SETTINGS, TRUSTS, agreement
from tests.core.experiments.decision.settings import joining

STRICT_OTHER = changed(joining(200, 500, 300), 1, epsilon=0.5)


@pytest.mark.parametrize("answer", Answer)
@pytest.mark.parametrize("trust", TRUSTS)
def test_it_joins_where_the_verdict_does_under_this_trust(answer, trust):
    joins = agreement(joining(200, 500), trust, answer).joins
    assert joins == (answer == Answer.JOIN or (answer == Answer.JOIN_IF and trust != TRUSTS[0]))


def test_a_shared_noise_gives_all_the_guarantee_of_the_strictest():
    assert agreement(STRICT_OTHER, "untrusted server").budget == Budget(1.0, 1e-6)
    shared = agreement(STRICT_OTHER, "secure aggregation")
    assert shared.method.trust == "secure aggregation"
    assert shared.budget == Budget(0.5, 1e-6)


def test_what_asks_for_less_trust_is_promised_as_such():
    """A hospital that is far too strict makes all add their own noise, whomever they trust."""
    less = agreement(changed(joining(2000, 2000, 20), 2, epsilon=0.01), "central")
    assert less.method.trust == less.noise_by == "untrusted server"
    assert less.budget == Budget(1.0, 1e-6)


@pytest.mark.parametrize("name", SETTINGS)
def test_odds_and_noise_are_those_of_the_formulas(name):
    signed = agreement(SETTINGS[name])
    epsilon, delta = signed.budget.epsilon, signed.budget.delta
    assert signed.guess == pytest.approx((math.exp(epsilon) + delta) / (1 + math.exp(epsilon)))
    loss = pld.from_gaussian_mechanism(signed.multiplier, value_discretization_interval=1e-4)
    assert loss.get_epsilon_for_delta(delta) == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("a_year", [1, 4])
def test_five_years_cost_what_dp_accounting_says(name, a_year):
    signed = agreement(SETTINGS[name])
    account, releases = signed.over_years(a_year), YEARS * a_year
    once = pld.from_gaussian_mechanism(signed.multiplier, value_discretization_interval=1e-4)
    delta = signed.budget.delta
    assert account.epsilon == pytest.approx(
        once.self_compose(releases).get_epsilon_for_delta(delta), rel=2e-3
    )
    assert account.guess == pytest.approx(1 / (1 + math.exp(-account.epsilon)), abs=delta)
    quiet = gaussian.noise_multiplier(Budget(account.each, delta))
    all_quiet = pld.from_gaussian_mechanism(quiet, value_discretization_interval=1e-4).self_compose(releases)
    assert all_quiet.get_epsilon_for_delta(delta) == pytest.approx(signed.budget.epsilon, rel=5e-3)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="trust must be one of"):
        agreement(SETTINGS["stages"], "local")
    with pytest.raises(ValueError, match="decision must be settled"):
        agreement(SETTINGS["stages"], answer=Answer.ASK_AGAIN, patients=None)
    with pytest.raises(ValueError, match="a_year"):
        agreement(SETTINGS["stages"]).over_years(0)
