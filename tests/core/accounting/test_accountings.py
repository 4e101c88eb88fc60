"""Test five accountings of the same rounds: the sheet's table, dp-accounting, and each one's true cost."""

import math

import dp_accounting
import pytest
from dp_accounting import rdp
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import Budget
from dppca_core.accounting import compare, gaussian
from dppca_core.accounting.compare import ACCOUNTINGS, cost, noise

ROOT = math.sqrt(2)
# theory.md section 6, T = 10: epsilon, delta, Ge intended, basic with D = 2, zCDP and exact with sqrt 2.
TABLE = [
    (0.5, 0.3, 115.9, 15.8, 5.37, 3.87),
    (0.5, 0.01, 156.0, 60.0, 16.9, 14.07),
    (0.5, 1e-5, 215.5, 138.5, 34.3, 31.45),
    (1.0, 0.3, 58.0, 11.9, 4.11, 3.09),
    (1.0, 0.01, 78.0, 34.8, 9.83, 8.40),
    (1.0, 1e-5, 107.7, 72.6, 18.1, 16.68),
    (2.0, 0.3, 29.0, 8.3, 2.97, 2.33),
    (2.0, 0.01, 39.0, 19.8, 5.73, 4.99),
    (2.0, 1e-5, 53.9, 38.0, 9.61, 8.92),
]
EVERY = pytest.mark.parametrize("name", ACCOUNTINGS)


@pytest.mark.parametrize(("epsilon", "delta", "ge", "basic", "zcdp", "exact"), TABLE)
def test_table_of_section_6(epsilon, delta, ge, basic, zcdp, exact):
    """Each column holds to one unit of its last printed digit."""
    budget = Budget(epsilon, delta)
    assert noise("printed", budget, ROOT, 10) == pytest.approx(ge, abs=0.1)
    assert noise("basic", budget, 2.0, 10) == pytest.approx(basic, abs=0.1)
    assert noise("zcdp", budget, ROOT, 10) == pytest.approx(zcdp, abs=0.1 if zcdp > 10 else 0.01)
    assert noise("exact", budget, ROOT, 10) == pytest.approx(exact, abs=0.01)


def test_advanced_composition_is_worse_than_basic_at_ten_rounds_and_better_at_many():
    """theory.md section 6 has 84 against 51 at epsilon = 1, delta = 1e-5, sqrt 2."""
    budget = Budget(1.0, 1e-5)
    assert noise("advanced", budget, ROOT, 10) == pytest.approx(84, abs=0.5)
    assert noise("basic", budget, ROOT, 10) == pytest.approx(51, abs=0.5)
    assert noise("advanced", budget, ROOT, 100) < noise("basic", budget, ROOT, 100)


@pytest.mark.parametrize(("delta", "charged"), [(1e-5, 1.093), (0.01, 1.224), (0.3, 1.848)])
def test_what_zcdp_charges_for_exact_noise(delta, charged):
    """theory.md section 6 has dp-accounting's numbers, whose grid of orders never charges less."""
    std = noise("exact", Budget(1.0, delta), ROOT, 10)
    charge = cost("zcdp", std, delta, ROOT, 10)
    accountant = rdp.RdpAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(std / ROOT), 10)
    assert charge <= accountant.get_epsilon(delta) + 1e-9
    assert charge == pytest.approx(charged, abs=0.002)


@EVERY
@given(epsilon=st.floats(0.01, 10), delta=st.floats(1e-10, 0.5), steps=st.integers(1, 50))
def test_noise_and_cost_are_each_others_inverse(name, epsilon, delta, steps):
    std = noise(name, Budget(epsilon, delta), ROOT, steps)
    assert cost(name, std, delta, ROOT, steps) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("name", ["basic", "advanced", "zcdp"])
@given(epsilon=st.floats(0.01, 10), delta=st.floats(1e-10, 0.5), steps=st.integers(1, 50))
def test_no_valid_accounting_charges_less_than_the_truth(name, epsilon, delta, steps):
    std = noise("exact", Budget(epsilon, delta), 1.0, steps)
    assert cost(name, std, delta, 1.0, steps) >= epsilon * (1 - 1e-6)


def test_the_exact_cost_is_the_gaussian_s():
    assert cost("exact", 16.0, 1e-5, ROOT, 4) == gaussian.epsilon_of(8 / ROOT, 1e-5)
    assert compare.advanced(1e4, 0.1, 3) == math.inf


def test_bad_arguments_are_refused_by_name():
    with pytest.raises(ValueError, match=r"name must be one of .*got 'best'"):
        noise("best", Budget(1.0, 0.1), 1.0, 1)
    with pytest.raises(ValueError, match="std must be positive"):
        cost("exact", 0.0, 0.1, 1.0, 1)
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        noise("zcdp", Budget(1.0, 0.1), 1.0, 0)
