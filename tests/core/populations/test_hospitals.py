"""The joint law of the hospitals' own moments, given or not given the pooled one (wishart.Split).

Each statistical check errs with probability ALPHA (laws.py). Planted bugs, which as many draws reject:
hospitals that each hold their share of the pooled moment without noise of their own, and sizes taken in the
wrong order.
"""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from dppca_core import Cohort, SpikedModel
from dppca_core.arrays import Array
from dppca_core.numerics.wishart import Split
from tests.core.laws import follows, same_law, uncorrelated

MODEL = SpikedModel(d=6, k=2, s=3, spike=10.0, bulk=(1.0, 4.0), seed=5)
COVARIANCE = MODEL.covariance()
DIRECTION = np.linspace(1.0, 2.0, MODEL.d)
DRAWS = 600
DEALS = pytest.mark.parametrize(
    "sizes",
    [(20, 9, 11), (13, 2, 1, 9), (2, 3, 1), (1, 2, 2), (1, 1)],
    ids=["all n_i >= d", "some n_i < d", "n = d", "n < d", "one patient each"],
)


def draw(sizes: tuple[int, ...], seed: int) -> Cohort:
    return MODEL.draw(sum(sizes), sizes, np.random.default_rng([seed, *sizes]))


def draw_moments(sizes: tuple[int, ...]) -> Array:
    """Return n_i S_i in the units of the data, (DRAWS, hospitals, d, d)."""
    cohorts = (draw(sizes, seed) for seed in range(DRAWS))
    return np.stack([[p.moment.dense() * (p.n * c.bound**2) for p in c] for c in cohorts])


hospital_moments = cache(draw_moments)  # a planted bug goes past the cache


def quadratic_forms(moments: Array) -> Array:
    scale = DIRECTION @ COVARIANCE @ DIRECTION
    return np.einsum("i,mhij,j->mh", DIRECTION, moments, DIRECTION) / scale


def chi_square_each(forms: Array, sizes: tuple[int, ...]) -> bool:
    return all(follows(form, stats.chi2(n)) for form, n in zip(forms.T, sizes, strict=True))


def independent(forms: Array) -> bool:
    pairs = zip(*np.triu_indices(forms.shape[1], 1), strict=True)
    return all(uncorrelated(forms[:, i], forms[:, j]) for i, j in pairs)


@DEALS
def test_the_weighted_sum_is_the_pooled_moment(sizes):
    """To rounding; n = d is the worst conditioned."""
    for seed in range(20):
        cohort = draw(sizes, seed)
        pooled = cohort.pooled.dense()
        summed = sum(p.n * p.moment.dense() for p in cohort) / cohort.n
        np.testing.assert_allclose(summed, pooled, atol=1e-9 * np.abs(pooled).max())


@DEALS
def test_each_hospital_is_chi_square_and_independent_of_the_others(sizes):
    forms = quadratic_forms(hospital_moments(sizes))
    assert chi_square_each(forms, sizes)
    assert independent(forms)


@pytest.mark.parametrize("sizes", [(13, 2, 1, 9), (1, 2, 2)], ids=["n >= d", "n < d"])
def test_the_eigenvalues_are_those_of_rows(sizes):
    rng = np.random.default_rng(3)
    first, second = sizes[:2]
    rows = next(MODEL.rows(DRAWS * (first + second), rng, chunk=10**6))
    rows = rows.reshape(DRAWS, first + second, MODEL.d)
    moments = hospital_moments(sizes)
    for drawn, counted in ((moments[:, 0], rows[:, :first]), (moments[:, :2].sum(axis=1), rows)):
        expected = np.linalg.eigvalsh(counted.transpose(0, 2, 1) @ counted)[:, -1]
        assert same_law(np.linalg.eigvalsh(drawn)[:, -1], expected)


@DEALS
def test_a_hospital_has_the_rank_of_its_patients(sizes):
    cohort = draw(sizes, 0)
    ranks = [np.linalg.matrix_rank(p.moment.dense(), tol=1e-9, hermitian=True) for p in cohort]
    assert ranks == [min(size, MODEL.d) for size in sizes]


def test_a_planted_exact_share_is_rejected(monkeypatch):
    """Every hospital a copy of the pooled moment: wrong law, and all hospitals move together."""

    def copies(split: Split) -> list[Array]:
        return [split.factor @ split.factor.T for _ in split.sizes]

    monkeypatch.setattr(Split, "_draw", copies)
    sizes = (13, 2, 1, 9)
    forms = quadratic_forms(draw_moments(sizes))
    assert not chi_square_each(forms, sizes)
    assert not independent(forms)


def test_planted_swapped_sizes_are_rejected():
    forms = quadratic_forms(hospital_moments((13, 2, 1, 9)))
    assert not chi_square_each(forms, (13, 1, 2, 9))


def test_dealing_again_gives_the_same_hospitals_and_the_same_pooled_moment():
    pooled = MODEL.draw_pooled(25, np.random.default_rng(0))
    once, twice, other = pooled.assign((13, 12)), pooled.assign((13, 12)), pooled.assign((5, 20))
    np.testing.assert_array_equal(once[1].moment.dense(), twice[1].moment.dense())
    assert once.pooled is other.pooled


@pytest.mark.parametrize("read_first", [0, 1, 2])
def test_the_order_of_reading_does_not_matter(read_first):
    cohort, same = draw((4, 5, 6), 0), draw((4, 5, 6), 0)
    cohort[read_first].moment.dense()
    for provider, same_provider in zip(cohort, same, strict=True):
        np.testing.assert_array_equal(provider.moment.dense(), same_provider.moment.dense())


def test_a_share_applies_like_its_matrix():
    moment = draw((4, 5), 0)[0].moment
    block = np.random.default_rng(0).standard_normal((MODEL.d, 2))
    rows = np.array([1, 4])
    np.testing.assert_allclose(moment.apply(block), moment.dense() @ block, rtol=1e-12)
    np.testing.assert_allclose(
        moment.apply(block[rows], rows), moment.dense()[:, rows] @ block[rows], rtol=1e-12
    )
    assert moment.features == MODEL.d
