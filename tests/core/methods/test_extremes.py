"""Test numbers at the ends of a double: a finite answer or a refusal in one sentence, never NaN.

Warnings are errors in this suite, so that an overflow on the way is a failure as well.
"""

import itertools
import math

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, Guarantee, Release, Setting, SpikedModel
from dppca_core.accounting import closed_form, compare, gaussian, numerical
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.accounts.account import Limit
from dppca_core.bounds import BOUNDS
from dppca_core.numerics.moments import clip_rows
from dppca_core.privacy import ACCOUNTINGS, NEIGHBOURS
from tests import hostile
from tests.core.bounds.test_bounds import check_record

EVERY = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
HUGE, TINY = 1e308, 1e-320
EPSILONS = (1e-12, 1e-9, 1.0, 1e6, 1e12)
DELTAS = (1e-300, 1e-5, 1 - 1e-12)
BUDGETS = [
    Budget(epsilon, delta, neighbours, accounting_)
    for (epsilon, delta), neighbours, accounting_ in zip(
        itertools.product(EPSILONS, DELTAS), itertools.cycle(NEIGHBOURS), itertools.cycle(ACCOUNTINGS)
    )
]
NORMAL = np.random.default_rng(0).standard_normal((20, 8))
# The fewest scans of a chain: how well it has mixed is not asked here.
QUICK = {"ppca": {"scans": 4}}


TABLES = {
    "at 1e308": ([np.sign(NORMAL) * HUGE], 1.0),
    "at 1e308, and so the bound": ([np.sign(NORMAL) * HUGE], HUGE),
    "at 1e-320": ([np.sign(NORMAL) * TINY], 1.0),
    "at 1e-320, and so the bound": ([np.sign(NORMAL) * TINY], TINY),
    "from 1e-320 to 1e308": ([NORMAL * np.geomspace(1e-300, 1e300, 20)[:, None], NORMAL[:3] * TINY], 3.0),
    "the same everywhere": ([np.full((20, 8), 0.1), np.full((1, 8), 0.1)], 3.0),
    "all zero": ([np.zeros((20, 8))], 1e-300),
    "one patient, two features": ([np.array([[HUGE, -TINY]])], 2.0),
    "a patient in each of many hospitals": ([NORMAL[i % 20][None, :3] for i in range(200)], 2.0),
}


@pytest.mark.parametrize(("rows", "bound"), TABLES.values(), ids=TABLES.keys())
def test_clipped_rows_are_finite_and_no_longer_than_one(rows, bound):
    for part in rows:
        clipped = clip_rows(part, bound)
        assert np.isfinite(clipped).all()
        assert (np.linalg.norm(clipped, axis=1) <= 1).all()


def check_answer(method, cohort: Cohort, k: int, budget: Budget) -> None:
    d = cohort.features
    rng = np.random.default_rng(1)
    estimate = hostile.answered(method.fit, cohort, k=k, budget=budget, rng=rng, **QUICK.get(method.name, {}))
    if estimate is None:
        return
    for basis in (estimate.basis, *estimate.iterates[1:]):
        assert basis.shape == (d, k)
        assert np.allclose(basis.T @ basis, np.eye(k), atol=1e-8)
    assert 0 <= estimate.noise_std < math.inf
    assert estimate.covariance is None or np.isfinite(estimate.covariance).all()
    true = hostile.answered(method.true_epsilon, budget, d=d, k=k)
    assert true is None or true >= 0


# After clipping the others hold the same rows as one of these.
DISTINCT = [name for name in TABLES if "so the bound" not in name and name != "all zero"]


@EVERY
@pytest.mark.parametrize(("place", "name"), list(enumerate(DISTINCT)), ids=DISTINCT)
def test_a_method_answers_or_refuses_whatever_the_rows(method, place, name):
    """Each table meets one direction and all but one; over all tables a method meets every budget."""
    cohort = Cohort.from_rows(*TABLES[name])
    many = len(cohort) > 100
    for i, k in enumerate({1, cohort.features - 1}):
        for budget in BUDGETS[(2 * place + i) % 7 :: 14 if many else 7]:
            check_answer(method, cohort, k, budget)


POPULATIONS = {
    "two features": (SpikedModel(d=2, k=1, s=1), 1),
    "nothing but the pattern": (SpikedModel(d=6, k=5, s=5, bulk=(0.0, 0.0)), 3),
    "enormous and hardly there": (SpikedModel(d=6, k=5, s=6, spike=1e100, bulk=(0.0, 1e-100)), 10**15),
    "hardly a gap": (SpikedModel(d=6, k=2, s=2, spike=1.0, bulk=(0.0, 1 - 1e-15)), 50),
}


@EVERY
@pytest.mark.parametrize(("model", "n"), POPULATIONS.values(), ids=POPULATIONS.keys())
def test_a_method_answers_or_refuses_whatever_the_population(method, model, n):
    cohort = model.draw(n, min(n, 3), np.random.default_rng(0))
    for budget in BUDGETS[::4]:
        check_answer(method, cohort, model.k, budget)


def test_empty_hospitals_among_a_thousand_are_refused_by_name():
    parts = [NORMAL[: i % 3] for i in range(1000)]
    with pytest.raises(ValueError, match=r"rows must be a non-empty matrix, got shape \(0, 8\)"):
        Cohort.from_rows(parts, 1.0)
    with pytest.raises(ValueError, match="n must be at least 1000, got 999"):
        SpikedModel(d=4, k=1, s=2).draw(999, 1000, np.random.default_rng(0))


@pytest.mark.parametrize("budget", BUDGETS, ids=lambda b: f"{b.epsilon:g} {b.delta:g} {b.accounting}")
def test_calibration_has_an_answer_at_every_budget(budget):
    z = gaussian.noise_multiplier(budget)
    assert 0 < z < math.inf
    for steps in (1, 50, 10**6):
        assert 0 < gaussian.composed_std(budget, 1.0, steps) < math.inf
    truly = gaussian.epsilon_of(z, budget.delta)
    assert truly >= 0
    if budget.accounting != "as-printed":
        # A difference of logarithms near -700 keeps an epsilon to some 1e-12.
        assert truly <= budget.epsilon * (1 + 1e-6) + 4e-12
    assert 0.5 <= TradeOff.allowed(budget.epsilon, budget.delta).best_guess() <= 1


@pytest.mark.parametrize("name", compare.ACCOUNTINGS)
def test_every_accounting_has_an_answer_or_a_refusal(name):
    for budget, steps in itertools.product(BUDGETS, (1, 50, 10**4)):
        std = hostile.answered(compare.noise, name, budget, 1.0, steps)
        assert std is None or 0 < std < math.inf
        for given in (1e-6, 1.0, 1e12, *([std] if std else [])):
            cost = hostile.answered(compare.cost, name, given, budget.delta, 1.0, steps)
            assert cost is None or cost >= 0


def test_totals_have_an_answer_at_every_delta():
    mixes = (
        [Release(1e-6)],
        [Release(1e12, 10**6)],
        [Release(1e-6, 10**6), Guarantee(1e6, 0.0)],
        [Guarantee(1e-12, 1e-300)],
        [Guarantee(0.0), Release(1e12)],
    )
    for events, delta in itertools.product(mixes, (*DELTAS, TINY)):
        assert closed_form.epsilon_of(events, delta) >= 0
        assert numerical.total(events, delta).epsilon >= 0


@pytest.mark.parametrize("value", [0.0, -1.0, TINY, HUGE, math.inf, math.nan, 10**400])
def test_a_limit_lies_where_a_budget_may(value):
    with pytest.raises(ValueError, match="epsilon must"):
        Limit(value, 1e-5)
    with pytest.raises(ValueError, match="delta must"):
        Limit(1.0, value)


def at(eigenvalues: np.ndarray, **changed: object) -> Setting:
    d = len(eigenvalues)
    base = {"d": d, "n": 100, "k": 1, "s": 2, "s_hat": 2, "providers": 1, "iterations": 5}
    return Setting(**{**base, "eigenvalues": eigenvalues, "budget": Budget(1.0, 1e-5), **changed})


SPECTRA = {
    "largest": np.array([1e12, 1e12, 1e11, 0.0]),
    "huge gap": np.array([1e12, 1e-99, 1e-300, 0.0]),
    "denormal gap": np.array([2 * TINY, TINY, 5e-324, 0.0]),
    "next to each other, and smallest": np.array([1e-99, (1 - 2e-16) * 1e-99, 1e-101, 0.0]),
    "two": np.array([1.0, TINY]),
}


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS.keys())
@pytest.mark.parametrize("values", SPECTRA.values(), ids=SPECTRA.keys())
def test_a_bound_is_a_number_or_void_whatever_the_spectrum(bound, values):
    d = len(values)
    for i, (n, budget) in enumerate(itertools.product((1, 10**15), BUDGETS[::2])):
        k = (1, d - 1)[i % 2]
        setting = at(values, n=n, k=k, s=d, s_hat=d - i % (d - k + 1), budget=budget)
        result = hostile.answered(bound, setting)
        assert result is not None or budget.epsilon == EPSILONS[0]  # which cannot be shared out
        if result is not None:
            check_record(result)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"eigenvalues": np.array([1e300, 1.0, 1.0, 1.0])}, "eigenvalues must lie between -1e-06 and 1e.12"),
        ({"eigenvalues": np.array([np.nan, 1.0, 1.0, 1.0])}, "eigenvalues must lie between"),
        ({"eigenvalues": np.array([1.0, 2.0, 1.0, 1.0])}, "eigenvalues must descend"),
        ({"eigenvalues": [1.0, 0.5, 0.2, 0.1]}, "eigenvalues must be an array of real numbers"),
        ({"burn_in": -1}, "burn_in must be at least 0, got -1"),
        ({"burn_in": 1.5}, "burn_in must be a whole number"),
        ({"start_error": -0.1}, "start_error must be at least 0 and finite"),
        ({"start_error": math.nan}, "start_error must be at least 0 and finite"),
        ({"provider_noise": "none"}, "provider_noise must be one of"),
        ({"budget": 1.0}, "budget must be a Budget"),
    ],
    ids=str,
)
def test_a_setting_checks_what_bounds_rely_on(changed, message):
    with pytest.raises(ValueError, match=message):
        at(**({"eigenvalues": SPECTRA["two"].repeat(2)} | changed))
