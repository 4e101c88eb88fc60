"""Draws of second moments against the rows they stand for. Each check errs with probability ALPHA (laws.py).

For a fixed direction v, v^T (n S) v B^2 / v^T Sigma v is exactly chi2_n; a planted Bartlett factor with
chi2_{n-j-1} on its diagonal must be rejected by every check that passes the right one.
"""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from dppca_core import SpikedModel
from dppca_core.arrays import Array
from dppca_core.numerics.wishart import wishart_factor
from dppca_core.populations import elliptical
from tests.core.laws import Z, follows, same_law

MODEL = SpikedModel(d=6, k=2, s=3, spike=10.0, bulk=(1.0, 4.0), seed=5)
COVARIANCE = MODEL.covariance()
DIRECTION = np.linspace(1.0, 2.0, MODEL.d)
DRAWS = 1000
MANY = 2500  # of single rows, which take next to no time
SIZES = pytest.mark.parametrize("n", [1, 3, 6, 7, 30, 10**9], ids=lambda n: f"n={n}")


def draw_moments(n: int) -> Array:
    """Return n S in the units of the data, as `draw` gives it, (DRAWS, d, d)."""
    rng = np.random.default_rng([0, n])
    cohorts = (MODEL.draw(n, 1, rng) for _ in range(DRAWS))
    return np.stack([cohort.pooled.dense() * (n * cohort.bound**2) for cohort in cohorts])


drawn_moments = cache(draw_moments)  # a planted bug goes past the cache


def row_moments(n: int) -> Array:
    rng = np.random.default_rng([1, n])
    rows = next(MODEL.rows(DRAWS * n, rng, chunk=DRAWS * n)).reshape(DRAWS, n, MODEL.d)
    return rows.transpose(0, 2, 1) @ rows


def quadratic_forms(moments: Array) -> Array:
    return np.einsum("i,mij,j->m", DIRECTION, moments, DIRECTION) / (DIRECTION @ COVARIANCE @ DIRECTION)


def statistics(moments: Array) -> dict[str, Array]:
    """Return functionals that see more of the joint law than one quadratic form."""
    values = np.linalg.eigvalsh(moments)
    return {
        "largest eigenvalue": values[:, -1],
        "second eigenvalue": values[:, -2],
        "trace": values.sum(axis=1),
        "off-diagonal entry": moments[:, 0, 3],
        "sum of squares": (values**2).sum(axis=1),
    }


def mean_is_covariance(moments: Array, n: int) -> bool:
    """Return True for a mean within Z standard errors of n Sigma in every entry."""
    diagonal = COVARIANCE.diagonal()
    spread = np.sqrt(n * (COVARIANCE**2 + np.outer(diagonal, diagonal)) / len(moments))
    return bool((np.abs(moments.mean(axis=0) - n * COVARIANCE) <= Z * spread).all())


def too_few_degrees(n: int, d: int, rng: np.random.Generator) -> Array:
    """Plant the bug chi2_{n-j-1} on Bartlett's diagonal."""
    factor = wishart_factor(n, d, rng)
    diagonal = np.arange(min(n, d))
    factor[diagonal, diagonal] = np.sqrt(rng.chisquare(n - diagonal - 1))
    return factor


@SIZES
def test_a_quadratic_form_is_chi_square(n):
    assert follows(quadratic_forms(drawn_moments(n)), stats.chi2(n))


@SIZES
def test_the_mean_is_the_covariance(n):
    assert mean_is_covariance(drawn_moments(n), n)


@pytest.mark.parametrize("n", [1, 3, 6, 7, 30], ids=lambda n: f"n={n}")
def test_the_joint_law_is_that_of_rows(n):
    drawn, summed = statistics(drawn_moments(n)), statistics(row_moments(n))
    # With one patient all eigenvalues but one are rounding, which has no law to compare.
    compared = set(drawn) - ({"second eigenvalue"} if n == 1 else set())
    assert {name for name in compared if not same_law(drawn[name], summed[name])} == set()


@pytest.mark.parametrize("n", [1, 3, 5])
def test_fewer_patients_than_features_give_a_singular_moment(n):
    moment = MODEL.draw(n, 1, np.random.default_rng(n)).pooled.dense()
    assert np.linalg.matrix_rank(moment) == n


def test_a_planted_wrong_diagonal_is_rejected(monkeypatch):
    monkeypatch.setattr(elliptical, "wishart_factor", too_few_degrees)
    wrong, right = draw_moments(7), row_moments(7)
    assert not follows(quadratic_forms(wrong), stats.chi2(7))
    assert not mean_is_covariance(wrong, 7)
    assert not same_law(statistics(wrong)["trace"], statistics(right)["trace"])


def test_a_planted_diagonal_factor_is_rejected(monkeypatch):
    def diagonal_only(n: int, d: int, rng: np.random.Generator) -> Array:
        return np.asfortranarray(np.triu(wishart_factor(n, d, rng)))

    monkeypatch.setattr(elliptical, "wishart_factor", diagonal_only)
    wrong = draw_moments(7)
    assert not follows(quadratic_forms(wrong), stats.chi2(7))
    assert not mean_is_covariance(wrong, 7)


def test_rows_have_the_covariance():
    rows = np.concatenate(list(MODEL.rows(MANY, np.random.default_rng(0), chunk=999)))
    scores = rows @ DIRECTION / np.sqrt(DIRECTION @ COVARIANCE @ DIRECTION)
    assert rows.shape == (MANY, MODEL.d)
    assert follows(scores, stats.norm())
    assert mean_is_covariance(rows[:, :, None] * rows[:, None, :], 1)
    assert not follows(1.2 * scores, stats.norm())


def test_rows_come_in_blocks():
    blocks = list(MODEL.rows(25, np.random.default_rng(0), chunk=10))
    assert [len(block) for block in blocks] == [10, 10, 5]


@pytest.mark.parametrize(("n", "d"), [(1, 4), (3, 4), (4, 4), (9, 4)])
def test_the_factor_is_lower_trapezoidal(n, d):
    factor = wishart_factor(n, d, np.random.default_rng(0))
    assert factor.shape == (d, min(n, d))
    assert (np.triu(factor, 1) == 0).all()
    assert (factor.diagonal() > 0).all()
