"""Test hospitals with budgets of their own: weights, noise, guarantees, and what add or remove may know."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from dppca_core import METHODS, Budget, Cohort, sin_theta
from dppca_core.accounting import closed_form, gaussian
from dppca_core.mechanisms import hospital_budgets

METHODS_WITH_BUDGETS = [name for name, method in METHODS.items() if method.pools]


def random_hospitals(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    epsilons, sizes = np.exp(rng.uniform(-2, 2, count)), np.exp(rng.uniform(5, 11, count)).round()
    z = np.array([gaussian.noise_multiplier(Budget(float(e), 1e-5)) for e in epsilons])
    return z, sizes, float(np.exp(rng.uniform(-14, -4)))


def variance(share: np.ndarray, z: np.ndarray, sizes: np.ndarray, sampling: float, sealed: bool) -> float:
    each = share * z / sizes
    noise = each.max() ** 2 if sealed else np.square(each).sum()
    return float(noise + sampling * (share**2 / sizes).sum())


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_weights_by_precision_are_never_worse_than_those_by_size(seed, sealed):
    """At 20 random settings; nor is any other set of weights that a general minimiser finds better."""
    z, sizes, sampling = random_hospitals(seed)
    at = partial(variance, z=z, sizes=sizes, sampling=sampling, sealed=sealed)
    best = at(hospital_budgets.weights(z, sizes, sampling, sealed))
    assert best <= at(sizes / sizes.sum()) * (1 + 1e-9)
    start = hospital_budgets.weights(z, sizes, sampling, sealed) * np.linspace(0.9, 1.1, len(z))
    minimum = minimize(lambda w: math.log(at(np.abs(w) / np.abs(w).sum())), start, method="Nelder-Mead")
    assert best <= math.exp(minimum.fun) * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_sampling_part_that_is_overstated_leads_towards_the_sizes_and_never_past_them(seed):
    z, sizes, sampling = random_hospitals(seed)
    for factor in (1.0, 3.0, 100.0, 1e6):
        share = hospital_budgets.weights(z, sizes, factor * sampling, False)
        assert variance(share, z, sizes, sampling, False) <= variance(
            sizes / sizes.sum(), z, sizes, sampling, False
        ) * (1 + 1e-9)


def test_noise_alone_gives_the_published_weights():
    """n_i^2/z_i^2, 23 % less noise than by size for 10,000/5,000/2,500/1,500/1,000 at one budget."""
    sizes = np.array([10_000.0, 5_000, 2_500, 1_500, 1_000])
    z = np.ones(5)
    share = hospital_budgets.weights(z, sizes, 0.0, False)
    np.testing.assert_allclose(share, sizes**2 / (sizes**2).sum())
    by_size = variance(sizes / sizes.sum(), z, sizes, 0.0, False)
    assert 1 - math.sqrt(variance(share, z, sizes, 0.0, False) / by_size) == pytest.approx(0.23, abs=0.01)


def hospitals(count: int = 3, d: int = 12, n: int = 400) -> Cohort:
    rng = np.random.default_rng(0)
    scale = np.r_[6.0, 5.0, np.ones(d - 2)]
    return Cohort.from_rows([rng.standard_normal((n * (i + 1), d)) * scale for i in range(count)], 25.0)


BUDGETS = (Budget(0.5, 1e-5), Budget(2.0, 1e-5), Budget(1.0, 1e-6))


@pytest.mark.parametrize("trust", hospital_budgets.TRUSTS)
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_every_hospital_has_the_noise_that_it_asked_for(trust, neighbours):
    """Own noise has the std of its z; one sealed noise is at least what each contribution needs.

    Under the weights by size it would be too little for the most cautious hospital.
    """
    cohort = hospitals()
    budgets = tuple(Budget(b.epsilon, b.delta, neighbours) for b in BUDGETS)
    pooled, common = hospital_budgets.pool(cohort, budgets, trust, 1e-6)
    share, sizes = np.array(pooled.pooled.weights), np.array([p.n for p in cohort])
    z = np.array([gaussian.noise_multiplier(b) for b in budgets])
    factor = 1.0 if trust == "secure aggregation" else math.sqrt(3)
    noise = gaussian.noise_multiplier(common) * factor / cohort.n
    each = share * z / sizes
    needed = each.max() if trust == "secure aggregation" else np.linalg.norm(each)
    assert noise == pytest.approx(needed, rel=1e-9)
    if trust == "secure aggregation":  # the same noise under weights by size leaves a hospital short of it
        assert (z / cohort.n).max() > 1.05 * needed


def test_under_add_or_remove_no_weight_of_a_sum_knows_a_size():
    """The weight of a hospital's mean is its size times a factor of its epsilon alone."""
    for trust, power in (("untrusted server", 2), ("secure aggregation", 1)):
        ratios = []
        for count in (200, 900):
            cohort = hospitals(n=count)
            budgets = [Budget(b.epsilon, b.delta, "add-remove") for b in BUDGETS]
            pooled, _ = hospital_budgets.pool(cohort, budgets, trust, 1e-6)
            z = np.array([gaussian.noise_multiplier(b) for b in budgets])
            factor = np.array(pooled.pooled.weights) / np.array([p.n for p in cohort]) * z**power
            ratios.append(factor / factor[0])
        np.testing.assert_allclose(ratios, 1.0)


@pytest.mark.parametrize("name", METHODS_WITH_BUDGETS)
def test_an_estimate_names_every_hospitals_guarantee(name):
    cohort, method = hospitals(), METHODS[name]
    estimate = method.fit(cohort, k=2, budget=BUDGETS, rng=np.random.default_rng(0))
    assert [
        closed_form.epsilon_of(spent, b.delta) for spent, b in zip(estimate.spent_each, BUDGETS, strict=True)
    ] == (pytest.approx([b.epsilon for b in BUDGETS], rel=1e-9))
    assert estimate.spent == estimate.spent_each[1]
    for text in ("hospital 1 has ε = 0.5, δ = 1e-05", "hospital 3 has ε = 1, δ = 1e-06"):
        assert text in estimate.notes[-1]


@pytest.mark.parametrize("name", METHODS_WITH_BUDGETS)
def test_equal_hospitals_with_one_budget_are_as_ever(name):
    rng = np.random.default_rng(1)
    scale = np.r_[6.0, 5.0, np.ones(10)]
    cohort = Cohort.from_rows([rng.standard_normal((500, 12)) * scale for _ in range(3)], 25.0)
    single, several = (
        METHODS[name].fit(cohort, k=2, budget=budget, rng=np.random.default_rng(0)).basis
        for budget in (Budget(1.0, 1e-5), (Budget(1.0, 1e-5),) * 3)
    )
    assert sin_theta(single, several) < 1e-6


def test_what_cannot_be_is_refused():
    cohort, rng = hospitals(), np.random.default_rng(0)
    fit = METHODS["dps_pca"].fit
    with pytest.raises(ValueError, match="one for each of 3 hospitals, got 2"):
        fit(cohort, k=2, budget=BUDGETS[:2], rng=rng)
    with pytest.raises(ValueError, match="same neighbours"):
        fit(cohort, k=2, budget=(*BUDGETS[:2], Budget(1.0, 1e-5, "add-remove")), rng=rng)
    with pytest.raises(ValueError, match="not be as-printed"):
        fit(cohort, k=2, budget=[Budget(1.0, 1e-5, accounting="as-printed")] * 3, rng=rng)
    with pytest.raises(ValueError, match="'shared'"):
        fit(cohort, k=2, budget=BUDGETS, rng=rng, provider_noise="shared")
    with pytest.raises(ValueError, match="pools no sums"):
        METHODS["analyze_gauss"].fit(cohort, k=2, budget=BUDGETS, rng=rng)
    with pytest.raises(ValueError, match=r"budget\[1\]"):
        fit(cohort, k=2, budget=(BUDGETS[0], 1.0, BUDGETS[2]), rng=rng)
