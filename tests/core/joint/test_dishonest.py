"""What a liar can do, and that a curious one learns no more than mu allows."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dppca_core.accounting.trade_off import TradeOff
from dppca_core.joint import dishonest
from dppca_core.joint.plan import JointPlan
from dppca_core.tables import Column, Schema
from tests.core.joint.studies import plan

ROOT = Path(__file__).resolve().parents[3]
NUMBERS = Schema(tuple(Column(f"x{i}", "number", -1.0, 1.0, fill=0.0) for i in range(8)))
AGREED = plan(dictionary=NUMBERS)


def test_a_liar_harms_the_answer_and_leaving_it_out_mends_it():
    outcomes = {lie: dishonest.simulate(AGREED, lie, runs=6) for lie in dishonest.LIES}
    assert outcomes["noise"].lied < 3 * outcomes["noise"].honest
    assert outcomes["largest"].lied > 4 * outcomes["largest"].honest
    assert outcomes["largest"].noticed == 1
    for each in outcomes.values():
        assert each.without < 3 * each.honest < each.guess
    assert dishonest.simulate(AGREED, "noise", runs=2) == dishonest.simulate(AGREED, "noise", runs=2)


def test_the_numbers_of_the_example_are_those_of_its_simulation():
    """They are said on *Should we join?* and in docs/by-mail.md, which has them to two digits."""
    text = (ROOT / "docs" / "by-mail.md").read_text(encoding="utf-8")
    agreed = JointPlan.from_json((ROOT / "examples" / "by_mail" / "plan.json").read_bytes())
    for stated in dishonest.EXAMPLE:
        made = dishonest.simulate(agreed, stated.lie, runs=21)
        assert made.lie == stated.lie and made[1:] == pytest.approx(stated[1:], rel=5e-3)
        row = next(line for line in text.splitlines() if line.startswith(f"| {stated.lie}"))
        cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
        errors = [f"{error:.2f}" for error in (stated.honest, stated.lied, stated.without)]
        assert cells == [*errors, f"{100 * stated.noticed:.0f} %"]


def test_lies_are_simulated_for_fitted_rows_alone():
    with pytest.raises(ValueError, match="lies are simulated for fitted rows"):
        dishonest.simulate(plan("public", dictionary=NUMBERS), "noise")


def test_a_curious_one_is_right_as_often_as_mu_says_and_no_more():
    """The best attacker on one hospital's first step, at its most different neighbours: a likelihood ratio.

    4,000 guesses: the rate is within 5 standard errors of Phi(mu/2) of that step (a chance of 6e-7), below
    that of the whole file, and beyond it with noise of half the size, the planted bug.
    """
    hospital = AGREED.hospitals[0]
    rule = AGREED.rule(hospital, hospital.patients)
    whole = TradeOff.from_events(rule.events).best_guess()
    rng, runs = np.random.default_rng(3), 4_000
    moved = np.ones(rule.layout.count)  # squares all 1 in place of all 0

    def right(std):
        truth = rng.integers(0, 2, runs)
        seen = truth[:, None] * moved + std * rng.standard_normal((runs, len(moved)))
        return np.mean((seen @ moved > moved @ moved / 2) == truth)

    std = rule.sum_std("squares")
    step = stats.norm.cdf(0.5 / rule.price("squares").noise_multiplier)
    error = 5 * math.sqrt(0.25 / runs)
    assert right(std) == pytest.approx(step, abs=error) and step < whole
    assert right(std / 20) > whole
