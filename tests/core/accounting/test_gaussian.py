"""Test calibration against dp_accounting, against 60 digits, theory.md section 6, and its own inverse."""

import itertools
import math

import dp_accounting
import mpmath
import pytest
from dp_accounting import pld
from hypothesis import example, given
from hypothesis import strategies as st

from dppca_core import Budget
from dppca_core.accounting import gaussian
from dppca_core.privacy import ACCOUNTINGS

GRID = pytest.mark.parametrize(
    ("epsilon", "delta"),
    # Every epsilon twice, every delta at small and at large ones.
    list(
        zip(
            (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0) * 2,
            itertools.cycle((1e-10, 1e-5, 0.01, 0.1, 0.3, 0.5)),
            strict=False,
        )
    ),
)
EVERY_ACCOUNTING = pytest.mark.parametrize("accounting", ACCOUNTINGS)

epsilons = st.floats(math.log(1e-9), math.log(1e3)).map(math.exp)
deltas = st.one_of(
    st.floats(math.log(1e-300), math.log(0.5)).map(math.exp), st.floats(0.5, 0.999, exclude_min=True)
)


def printed(value: float) -> object:
    text = f"{value:.10g}"
    decimals = len(text.split(".")[1]) if "." in text else 0
    return pytest.approx(value, abs=0.5001 * 10**-decimals, rel=0)


def exact_delta(multiplier: float, epsilon: float) -> float:
    """Compute Balle & Wang's Theorem 8 with 60 digits."""
    with mpmath.workdps(60):
        z, e = mpmath.mpf(multiplier), mpmath.mpf(epsilon)

        def cdf(x):
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

        return float(cdf(1 / (2 * z) - e * z) - mpmath.exp(e) * cdf(-1 / (2 * z) - e * z))


@pytest.mark.parametrize(
    ("epsilon", "delta", "expected"),
    [(1, 1e-5, 3.730632), (1, 0.01, 1.877876), (0.5, 0.3, 0.865869), (2, 0.01, 1.116254)],
)
def test_oracle_1_balle_wang(epsilon, delta, expected):
    assert gaussian.noise_multiplier(Budget(epsilon, delta)) == printed(expected)


@GRID
def test_multiplier_agrees_with_dp_accounting(epsilon, delta):
    theirs = dp_accounting.get_sigma_gaussian(epsilon, delta, tol=1e-13)
    assert gaussian.noise_multiplier(Budget(epsilon, delta)) == pytest.approx(theirs, rel=1e-9, abs=0)


@GRID
def test_epsilon_agrees_with_dp_accounting(epsilon, delta):
    """The noise is that of half, once and twice the budget's epsilon."""
    for factor in (0.5, 1.0, 2.0):
        multiplier = gaussian.noise_multiplier(Budget(factor * epsilon, delta))
        theirs = dp_accounting.get_epsilon_gaussian(multiplier, delta, tol=1e-13)
        assert gaussian.epsilon_of(multiplier, delta) == pytest.approx(theirs, rel=1e-9, abs=1e-11)


@GRID
def test_delta_agrees_with_sixty_digits(epsilon, delta):
    multiplier = gaussian.noise_multiplier(Budget(epsilon, delta))
    assert gaussian.delta_of(multiplier, epsilon) == pytest.approx(exact_delta(multiplier, epsilon), rel=1e-9)


@GRID
def test_multiplier_is_private_and_tight(epsilon, delta):
    """A millionth less noise is not private."""
    multiplier = gaussian.noise_multiplier(Budget(epsilon, delta))
    assert gaussian.delta_of(multiplier, epsilon) <= delta
    assert exact_delta(multiplier * (1 - 1e-6), epsilon) > delta


def test_steps_compose_as_dp_accounting_composes_them():
    """Ten releases at the composed noise spend the budget, by numeric composition (PLD, grid 1e-4)."""
    budget = Budget(1.0, 1e-5)
    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    event = dp_accounting.GaussianDpEvent(gaussian.composed_std(budget, 1.0, 10))
    accountant.compose(event, 10)
    assert accountant.get_epsilon(budget.delta) == pytest.approx(budget.epsilon, abs=1e-4)


# theory.md section 6: sigma for T = 10 steps on the scale of sums.
TABLE = pytest.mark.parametrize(
    ("epsilon", "delta", "ge", "zcdp", "exact_2", "exact_root2", "exact_1"),
    [
        (0.5, 0.3, 115.9, 5.37, 5.48, 3.87, 2.74),
        (0.5, 0.01, 156.0, 16.9, 19.9, 14.07, 9.95),
        (0.5, 1e-5, 215.5, 34.3, 44.5, 31.45, 22.24),
        (1.0, 0.3, 58.0, 4.11, 4.37, 3.09, 2.18),
        (1.0, 0.01, 78.0, 9.83, 11.9, 8.40, 5.94),
        (1.0, 1e-5, 107.7, 18.1, 23.6, 16.68, 11.80),
        (2.0, 0.3, 29.0, 2.97, 3.29, 2.33, 1.65),
        (2.0, 0.01, 39.0, 5.73, 7.06, 4.99, 3.53),
        (2.0, 1e-5, 53.9, 9.61, 12.6, 8.92, 6.31),
    ],
)


@TABLE
def test_table_of_section_6(epsilon, delta, ge, zcdp, exact_2, exact_root2, exact_1):
    """Every column holds to one unit of its last digit: the sheet rounds 6.3050 and 16.848 upwards."""

    def std(accounting: str, sensitivity: float) -> float:
        return gaussian.composed_std(Budget(epsilon, delta, accounting=accounting), sensitivity, 10)

    assert std("as-printed", 2.0) == pytest.approx(ge, abs=0.1)
    assert std("zcdp", math.sqrt(2)) == pytest.approx(zcdp, abs=0.1 if zcdp > 10 else 0.01)
    assert std("exact", 2.0) == pytest.approx(exact_2, abs=0.1 if exact_2 > 10 else 0.01)
    assert std("exact", math.sqrt(2)) == pytest.approx(exact_root2, abs=0.01)
    assert std("exact", 1.0) == pytest.approx(exact_1, abs=0.01)


def test_oracle_2_sigma_of_ge():
    """The first has the logarithm of Lemma A.1, the second is exact with sqrt 2."""
    assert gaussian.composed_std(Budget(1.0, 0.3, accounting="as-printed"), 2.0, 10) == printed(57.963)
    assert gaussian.composed_std(Budget(1.0, 0.3), math.sqrt(2), 10) == printed(3.087)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.01, 1e-10), (0.01, 0.5), (0.1, 0.01), (1.0, 1e-5), (10.0, 1e-10), (10.0, 0.5)],
)
def test_zcdp_against_a_grid_of_orders(epsilon, delta):
    """Canonne, Kamath & Steinke's Corollary 13, minimised over a grid, is private, and tight to 1e-4."""

    def log_delta(rho: float) -> float:
        orders = (1 + math.exp(step / 500) for step in range(-6000, 12500))  # 0.2 % apart
        return min((a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a) - math.log(a - 1) for a in orders)

    rho = gaussian.rho_of(Budget(epsilon, delta, accounting="zcdp"))
    # The grid's minimum lies above the true one by a second-order term in 0.2 %.
    assert log_delta(rho * (1 - 1e-4)) <= math.log(delta)
    assert log_delta(rho * (1 + 1e-4)) > math.log(delta)


@EVERY_ACCOUNTING
@given(epsilon=epsilons, delta=deltas)
@example(epsilon=1e-9, delta=1e-300)
@example(epsilon=1e-9, delta=0.999)
@example(epsilon=1e3, delta=1e-300)
@example(epsilon=1e3, delta=0.999)
@example(epsilon=1e-12, delta=1e-300)
@example(epsilon=1e-12, delta=1 - 1e-12)
@example(epsilon=1e12, delta=1e-300)
@example(epsilon=1e12, delta=1 - 1e-12)
def test_extremes_give_a_positive_finite_number(accounting, epsilon, delta):
    """It is private too, where the accounting promises it."""
    multiplier = gaussian.noise_multiplier(Budget(epsilon, delta, accounting=accounting))
    assert 0 < multiplier < math.inf
    if accounting != "as-printed":
        assert gaussian.delta_of(multiplier, epsilon) <= delta
    assert 0 <= gaussian.epsilon_of(multiplier, delta) < math.inf


@EVERY_ACCOUNTING
@given(first=st.tuples(epsilons, deltas), other=st.tuples(epsilons, deltas))
def test_more_privacy_never_needs_less_noise(accounting, first, other):
    """1e-9 covers the root finders."""
    strict = Budget(min(first[0], other[0]), min(first[1], other[1]), accounting=accounting)
    loose = Budget(max(first[0], other[0]), max(first[1], other[1]), accounting=accounting)
    more, less = gaussian.noise_multiplier(strict), gaussian.noise_multiplier(loose)
    assert more >= less * (1 - 1e-9)


@given(epsilon=st.floats(0.01, 100), log_delta=st.floats(math.log(1e-12), math.log(0.9)))
def test_epsilon_of_inverts_delta_of(epsilon, log_delta):
    delta = math.exp(log_delta)
    multiplier = gaussian.noise_multiplier(Budget(epsilon, delta))
    assert gaussian.epsilon_of(multiplier, delta) == pytest.approx(epsilon, rel=1e-6)
    assert gaussian.delta_of(multiplier, gaussian.epsilon_of(multiplier, delta)) == pytest.approx(
        delta, rel=1e-6
    )


def test_epsilon_is_zero_where_delta_covers_total_variation():
    assert gaussian.epsilon_of(10.0, 0.3) == 0.0


@pytest.mark.parametrize(
    ("budget", "kept"),
    [(Budget(1.0, 1e-5), "delta"), (Budget(0.1, 0.01), "delta"), (Budget(0.5, 0.3), "epsilon")],
)
def test_what_is_left_of_a_budget_is_rounded_down(budget, kept):
    """Its noise is never below z/sqrt(1 - share), and above by a part in 10^8 at most."""
    left = gaussian.remaining(budget, 0.9)
    assert getattr(left, kept) == getattr(budget, kept) and left != budget
    exact = gaussian.noise_multiplier(budget) / math.sqrt(0.1)
    assert exact < gaussian.noise_multiplier(left) < exact * (1 + 1e-8)


@given(multiplier=st.floats(1e-3, 1e6), epsilon=st.floats(0, 1e3))
def test_delta_is_a_probability(multiplier, epsilon):
    assert 0 <= gaussian.delta_of(multiplier, epsilon) <= 1


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_arguments_are_refused_by_name(bad):
    with pytest.raises(ValueError, match=f"multiplier.*{bad}"):
        gaussian.delta_of(bad, 1.0)
    with pytest.raises(ValueError, match=f"sensitivity.*{bad}"):
        gaussian.composed_std(Budget(1.0, 0.1), bad, 10)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_a_bad_epsilon_is_refused_by_name(bad):
    with pytest.raises(ValueError, match=f"epsilon.*{bad}"):
        gaussian.delta_of(1.0, bad)


@pytest.mark.parametrize("bad", [0, -3, 2.0, True])
def test_a_bad_number_of_steps_is_refused_by_name(bad):
    with pytest.raises(ValueError, match=f"steps.*{bad}"):
        gaussian.composed_std(Budget(1.0, 0.1), 1.0, bad)
