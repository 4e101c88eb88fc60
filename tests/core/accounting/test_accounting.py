"""Test several releases together: exact for Gaussians, never too small for the rest."""

import math
from statistics import NormalDist

import dp_accounting
import pytest
from dp_accounting import pld
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import Budget, Guarantee, Release
from dppca_core.accounting import closed_form, gaussian
from dppca_core.release.request import OFFERED, Request

DELTA = 1e-5


def test_gaussians_compose_to_one_gaussian():
    events = (Release(3.0), Release(8.0, 4), Release(5.0))
    accountant = dp_accounting.pld.PLDAccountant(value_discretization_interval=1e-4)
    for event in events:
        accountant.compose(dp_accounting.GaussianDpEvent(event.noise_multiplier), event.steps)
    assert closed_form.epsilon_of(events, DELTA) == pytest.approx(accountant.get_epsilon(DELTA), rel=2e-3)
    assert closed_form.multiplier_of(events) == pytest.approx(1 / math.sqrt(1 / 9 + 4 / 64 + 1 / 25))


@pytest.mark.parametrize("rows", [1, 8])
@pytest.mark.parametrize("accounting", ["exact", "zcdp"])
@pytest.mark.parametrize("method", OFFERED)
def test_mu_gives_epsilon_at_delta_and_rho(method, accounting, rows):
    """By the closed form of Gaussian privacy, of every method offered on real data."""
    budget = Budget(1.0, DELTA, accounting=accounting)
    request = Request(method, 10, 2, budget, rows_per_patient=rows)
    mu, epsilon = request.patient_trade_off.mu, request.patient_epsilon
    normal = NormalDist().cdf
    delta = normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)
    assert delta <= DELTA * (1 + 1e-6)
    assert mu == pytest.approx(rows * request.trade_off.mu)
    if accounting == "exact":  # no smaller mu would do with it
        assert delta == pytest.approx(DELTA, rel=1e-4)
    else:
        assert mu**2 / 2 == pytest.approx(rows**2 * gaussian.rho_of(budget))


def test_stated_guarantees_add_up_and_never_claim_too_little():
    """The exact composition of the worst mechanisms with these guarantees is smaller."""
    stated = [Guarantee(0.3), Guarantee(0.2, 4e-6)]
    exact = pld.privacy_loss_distribution.from_gaussian_mechanism(
        4.0, value_discretization_interval=1e-4, use_connect_dots=True
    )
    for event in stated:
        parameters = pld.common.DifferentialPrivacyParameters(event.epsilon, event.delta)
        exact = exact.compose(pld.privacy_loss_distribution.from_privacy_parameters(parameters, 1e-4))
    claimed = closed_form.epsilon_of([*stated, Release(4.0)], DELTA)
    assert exact.get_epsilon_for_delta(DELTA) <= claimed
    assert claimed == pytest.approx(0.5 + gaussian.epsilon_of(4.0, DELTA - 4e-6), rel=1e-12)


def test_a_delta_that_is_used_up_leaves_no_guarantee():
    assert closed_form.epsilon_of([Guarantee(1.0, 2e-5)], DELTA) == math.inf
    assert closed_form.epsilon_of([Guarantee(1.0, DELTA), Release(1.0)], DELTA) == math.inf
    assert closed_form.epsilon_of([Guarantee(1.0, DELTA)], DELTA) == 1.0
    assert closed_form.epsilon_of([Guarantee(1.0, DELTA * (1 + 1e-11))], DELTA) == math.inf
    tenths = [Guarantee(0.1, DELTA / 10)] * 10
    assert closed_form.epsilon_of(tenths, DELTA) == pytest.approx(1.0)
    assert closed_form.epsilon_of([], DELTA) == 0.0


@given(
    multipliers=st.lists(st.floats(0.1, 100.0), min_size=1, max_size=4),
    stated=st.lists(st.floats(1e-3, 2.0), max_size=3),
)
def test_more_releases_never_cost_less(multipliers, stated):
    events = [*(Release(z) for z in multipliers), *(Guarantee(e) for e in stated)]
    whole = closed_form.epsilon_of(events, DELTA)
    assert all(closed_form.epsilon_of(events[:i], DELTA) <= whole + 1e-9 for i in range(len(events)))


@pytest.mark.parametrize("rows", [2, 8, 60])
def test_a_patient_with_several_rows_is_a_gaussian_of_as_many_times_the_sensitivity(rows):
    """dp-accounting's privacy loss distribution of a sum that moves by `rows` times as much agrees."""
    multiplier = gaussian.noise_multiplier(Budget(1.0, 1e-6))
    exact = pld.privacy_loss_distribution.from_gaussian_mechanism(
        multiplier, sensitivity=rows, value_discretization_interval=1e-3, use_connect_dots=True
    )
    cost = closed_form.epsilon_of(closed_form.grouped([Release(multiplier)], rows), 1e-6)
    assert cost == pytest.approx(exact.get_epsilon_for_delta(1e-6), rel=1e-4)
    steps = [Release(2 * multiplier, 3), Release(2 * multiplier)]
    assert closed_form.epsilon_of(closed_form.grouped(steps, rows), 1e-6) == pytest.approx(cost, rel=1e-9)


def test_eight_visits_at_epsilon_one_cost_ten_by_hand():
    """z(1, 1e-6) is 4.22468; the curve of z/8 = 0.528085 falls to 1e-6 between 10.29 and 10.30."""

    def curve(mu, epsilon):  # Balle & Wang, in the distance mu of two unit Gaussians
        phi = NormalDist().cdf
        return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)

    assert curve(8 / 4.22468, 10.30) < 1e-6 < curve(8 / 4.22468, 10.29)
    events = closed_form.grouped([Release(gaussian.noise_multiplier(Budget(1.0, 1e-6)))], 8)
    assert 10.29 < closed_form.epsilon_of(events, 1e-6) < 10.30


def test_a_stated_guarantee_of_a_group_holds_for_the_worst_mechanism():
    """The mechanism attains (0.3, 1e-7) at every step from one row to the next, for five rows."""
    (group,) = closed_form.grouped([Guarantee(0.3, 1e-7)], 5)
    delta = 0.0
    for _ in range(5):  # P_i(S) <= e^eps P_(i+1)(S) + delta, five times over
        delta = math.exp(0.3) * delta + 1e-7
    assert (group.epsilon, group.delta) == pytest.approx((1.5, delta), rel=1e-12)
    assert closed_form.grouped([Guarantee(0.3)], 5) == (Guarantee(5 * 0.3),)
    assert closed_form.grouped([Guarantee(300.0)], 5) == (Guarantee(1500.0),)
    (pair,) = closed_form.grouped([Guarantee(0.3, 1e-7)], 2)
    assert pair.delta == pytest.approx(1e-7 * (1 + math.exp(0.3)), rel=1e-9)
    assert closed_form.grouped([Guarantee(0.3, 1e-7)], 1) == (Guarantee(0.3, 1e-7),)
    assert closed_form.grouped([Guarantee(300.0, 1e-9)], 5) == (Guarantee(1500.0, 1.0),)
    assert closed_form.grouped([Guarantee(1.0, 0.1)], 3) == (Guarantee(3.0, 1.0),)  # its delta would be 1.1
    assert closed_form.grouped([Guarantee(0.0, 1e-7)], 5) == (Guarantee(0.0, 5e-7),)
    assert closed_form.epsilon_of(closed_form.grouped([Guarantee(300.0, 1e-9)], 5), DELTA) == math.inf
    with pytest.raises(ValueError, match="rows"):
        closed_form.grouped([Release(1.0)], 0)
