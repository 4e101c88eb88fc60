"""Events for dp-accounting: its own accountant finds the epsilon of the closed form."""

import subprocess
import sys
from pathlib import Path

import pytest

from dppca_core import Guarantee, Release
from dppca_core.accounting import closed_form, numerical
from dppca_core.accounting.dp_event import to_dp_event

ROOT = Path(__file__).resolve().parents[3]
GAUSSIAN = {
    "one": [Release(3.75)],
    "steps": [Release(12.0, 10)],
    "many": [Release(5.0), Release(9.0, 3), Release(20.0)],
}


def epsilon_of(event, delta, relation="ADD_OR_REMOVE_ONE"):
    from dp_accounting import NeighboringRelation, pld  # slow, and every process collects this file

    accountant = pld.PLDAccountant(NeighboringRelation[relation])
    return accountant.compose(event).get_epsilon(delta)


@pytest.mark.parametrize("events", GAUSSIAN.values(), ids=list(GAUSSIAN))
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_its_accountant_finds_the_closed_forms_epsilon(events, delta):
    exact = closed_form.epsilon_of(events, delta)
    assert exact * (1 - 1e-6) <= epsilon_of(to_dp_event(events), delta) <= exact * (1 + 1e-3)


def test_an_event_without_its_steps_would_be_found_out():
    assert epsilon_of(to_dp_event([Release(12.0)]), 1e-9) < 0.5 * closed_form.epsilon_of(
        [Release(12.0, 10)], 1e-9
    )


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 7.0])
def test_a_pure_guarantee_is_the_most_that_its_epsilon_allows(epsilon):
    """One costs epsilon at a tiny delta, three cost three, and more delta forgives as much as it must."""
    event = to_dp_event([Guarantee(epsilon)])
    assert epsilon_of(event, 1e-12, "REPLACE_ONE") == pytest.approx(epsilon, abs=2e-4)
    three = to_dp_event([Guarantee(epsilon)] * 3)
    assert epsilon_of(three, 1e-12, "REPLACE_ONE") == pytest.approx(3 * epsilon, abs=6e-4)
    assert epsilon_of(to_dp_event([Guarantee(1000.0)]), 0.5, "REPLACE_ONE") > 1


def test_gaussian_and_pure_together_are_never_too_small():
    mixed = [Guarantee(0.5), Release(7.2)]
    assert epsilon_of(to_dp_event(mixed), 1e-5, "REPLACE_ONE") >= numerical.total(mixed, 1e-5).epsilon


def test_a_guarantee_with_a_delta_has_no_event():
    with pytest.raises(
        ValueError, match=r"no event for a release of which only epsilon = 1 and delta = 1e-06"
    ):
        to_dp_event([Release(3.0), Guarantee(1.0, 1e-6)])


def test_dp_accounting_is_loaded_by_the_call_alone():
    program = """
import sys
from dppca_core import Release
from dppca_core.accounting.dp_event import to_dp_event
from dppca_core.accounts import Account
print("dp_accounting" in sys.modules)
to_dp_event([Release(1.0)])
print("dp_accounting" in sys.modules)
"""
    command = [sys.executable, "-W", "ignore", "-c", program]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]
