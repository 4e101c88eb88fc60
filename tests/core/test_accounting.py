"""Several releases together: exact for Gaussians, never too small for the rest."""

import math

import dp_accounting
import pytest
from dp_accounting import pld
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import Guarantee, Release, accounting, gaussian

DELTA = 1e-5


def test_gaussians_compose_to_one_gaussian():
    events = (Release(3.0), Release(8.0, 4), Release(5.0))
    accountant = dp_accounting.pld.PLDAccountant(value_discretization_interval=1e-4)
    for event in events:
        accountant.compose(dp_accounting.GaussianDpEvent(event.noise_multiplier), event.steps)
    assert accounting.epsilon_of(events, DELTA) == pytest.approx(accountant.get_epsilon(DELTA), rel=2e-3)
    assert accounting.multiplier_of(events) == pytest.approx(1 / math.sqrt(1 / 9 + 4 / 64 + 1 / 25))


def test_stated_guarantees_add_up_and_never_claim_too_little():
    """Against the exact composition of the worst mechanisms with these guarantees, which is smaller."""
    stated = [Guarantee(0.3), Guarantee(0.2, 4e-6)]
    exact = pld.privacy_loss_distribution.from_gaussian_mechanism(
        4.0, value_discretization_interval=1e-4, use_connect_dots=True
    )
    for event in stated:
        parameters = pld.common.DifferentialPrivacyParameters(event.epsilon, event.delta)
        exact = exact.compose(pld.privacy_loss_distribution.from_privacy_parameters(parameters, 1e-4))
    claimed = accounting.epsilon_of([*stated, Release(4.0)], DELTA)
    assert exact.get_epsilon_for_delta(DELTA) <= claimed
    assert claimed == pytest.approx(0.5 + gaussian.epsilon_of(4.0, DELTA - 4e-6), rel=1e-12)


def test_a_delta_that_is_used_up_leaves_no_guarantee():
    assert accounting.epsilon_of([Guarantee(1.0, 2e-5)], DELTA) == math.inf
    assert accounting.epsilon_of([Guarantee(1.0, DELTA), Release(1.0)], DELTA) == math.inf
    assert accounting.epsilon_of([Guarantee(1.0, DELTA)], DELTA) == 1.0
    assert accounting.epsilon_of([Guarantee(1.0, DELTA * (1 + 1e-11))], DELTA) == math.inf
    assert accounting.epsilon_of([Guarantee(0.1, DELTA / 10)] * 10, DELTA) == pytest.approx(
        1.0
    )  # but rounding
    assert accounting.epsilon_of([], DELTA) == 0.0


@given(
    multipliers=st.lists(st.floats(0.1, 100.0), min_size=1, max_size=4),
    stated=st.lists(st.floats(1e-3, 2.0), max_size=3),
)
def test_more_releases_never_cost_less(multipliers, stated):
    events = [*(Release(z) for z in multipliers), *(Guarantee(e) for e in stated)]
    whole = accounting.epsilon_of(events, DELTA)
    assert all(accounting.epsilon_of(events[:i], DELTA) <= whole + 1e-9 for i in range(len(events)))
