"""Test Analyze Gauss and MOD-SULQ: the added noise is the reported and calibrated one."""

import math

import numpy as np
import pytest
from scipy import stats

from dppca_core import METHODS, Budget, Cohort
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import analyze_gauss, analyze_gauss_sparse, mod_sulq
from tests.core.laws import follows

D, N = 120, 50
ZERO = Cohort.from_rows([np.zeros((N, D))], 1.0)  # what is released is the noise alone
BUDGET = Budget(1.0, 1e-5)
PRINTED = Budget(1.0, 1e-5, accounting="as-printed")


def entries(noise: Array) -> tuple[Array, Array]:
    np.testing.assert_array_equal(noise, noise.T)
    return noise.diagonal(), noise[np.triu_indices(len(noise), 1)]


CASES = pytest.mark.parametrize(
    ("name", "budget", "options", "on_diagonal"),
    [
        ("analyze_gauss", BUDGET, {}, math.sqrt(2)),
        ("analyze_gauss", BUDGET, {"noise": "mirrored"}, 1.0),
        ("analyze_gauss", PRINTED, {}, 1.0),
        ("analyze_gauss", PRINTED, {"noise": "isotropic"}, math.sqrt(2)),
        ("mod_sulq", BUDGET, {}, 1.0),
    ],
)


@CASES
def test_the_reported_noise_is_the_added_noise(name, budget, options, on_diagonal):
    """N(0, noise_std^2) off the diagonal, and the shape's on it, pass KS at ALPHA; 1.2 times is rejected."""
    std = METHODS[name].fit(ZERO, k=2, budget=budget, rng=np.random.default_rng(0), **options).noise_std
    rng = np.random.default_rng(0)
    if name == "mod_sulq":
        released = mod_sulq.release(ZERO, budget, rng)
    else:
        released = analyze_gauss.release(ZERO, budget, rng, options.get("noise"))
    diagonal, above = entries(released)
    assert follows(above, stats.norm(scale=std))
    assert follows(diagonal, stats.norm(scale=std * on_diagonal))
    assert not follows(above, stats.norm(scale=1.2 * std))


@pytest.mark.parametrize(
    ("neighbours", "accounting", "expected"),
    [
        ("replace-one", "exact", math.sqrt(2) * 3.730632),
        ("add-remove", "exact", 3.730632),
        ("replace-one", "as-printed", math.sqrt(2 * math.log(1.25e5))),
        ("add-remove", "as-printed", math.sqrt(2 * math.log(1.25e5))),
    ],
)
def test_the_noise_of_analyze_gauss(neighbours, accounting, expected):
    """It is the sensitivity times z(1, 1e-5) = 3.730632; as printed, the paper's constant."""
    budget = Budget(1.0, 1e-5, neighbours, accounting)
    assert symmetric_gaussian.sum_noise_std(budget) == pytest.approx(expected, rel=2e-7)


@pytest.mark.parametrize(("d", "ratio", "digits"), [(40, 74, 0.5), (100, 200, 5), (1000, 2400, 50)])
def test_mod_sulq_beside_analyze_gauss(d, ratio, digits):
    """theory.md section 4 gives the sd ratio at epsilon = 1, delta = .1, to its printed digits."""
    budget = Budget(1.0, 0.1, accounting="as-printed")
    measured = mod_sulq.sum_noise_std(budget, d) / symmetric_gaussian.sum_noise_std(budget)
    assert measured == pytest.approx(ratio, abs=digits)


def test_mod_sulq_is_its_formula():
    """Chaudhuri, Sarwate & Sinha 2013, Algorithm 1, has no accounting; d = 10, epsilon = 2, delta = .05."""
    inside = 110 / (0.05 * 2 * math.sqrt(2 * math.pi))
    expected = 11 / 2 * math.sqrt(2 * math.log(inside)) + 1 / math.sqrt(2)
    for accounting in ("exact", "zcdp", "as-printed"):
        budget = Budget(2.0, 0.05, accounting=accounting)
        assert mod_sulq.sum_noise_std(budget, 10) == pytest.approx(expected, rel=1e-12)


def test_mod_sulq_buys_more_privacy_than_it_says():
    """The factor grows with d."""
    bought = [METHODS["mod_sulq"].true_epsilon(BUDGET, d=d, k=2) for d in (10, 100, 1000)]
    assert bought == sorted(bought, reverse=True)
    assert bought[0] < 0.2 * BUDGET.epsilon


@pytest.mark.parametrize("name", ["analyze_gauss", "analyze_gauss_sparse", "mod_sulq", "pca"])
def test_a_matrix_is_sent_once(name):
    estimate = METHODS[name].fit(ZERO, k=2, budget=BUDGET, rng=np.random.default_rng(0))
    assert estimate.bytes_sent == 8 * D * (D + 1) / 2


def test_sparse_post_processing_is_free():
    """Release, noise and the entry in the ledger are the same."""
    runs = [
        METHODS[name].fit(ZERO, k=2, budget=BUDGET, rng=np.random.default_rng(0))
        for name in ("analyze_gauss", "analyze_gauss_sparse")
    ]
    assert runs[0].spent == runs[1].spent
    assert runs[0].noise_std == runs[1].noise_std
    assert analyze_gauss.release is analyze_gauss_sparse.release
    assert runs[0].spent[0].noise_multiplier == gaussian.noise_multiplier(BUDGET)


@pytest.mark.parametrize("name", ["analyze_gauss", "analyze_gauss_sparse"])
def test_an_unknown_shape_is_refused_by_name_and_value(name):
    with pytest.raises(ValueError, match="noise must be one of isotropic, mirrored, got 'round'"):
        METHODS[name].fit(ZERO, k=2, budget=BUDGET, rng=np.random.default_rng(0), noise="round")
