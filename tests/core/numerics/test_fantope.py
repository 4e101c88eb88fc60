"""Projection onto the Fantope: oracle 14 of theory.md section 10, and a certificate of nearness."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from dppca_core.arrays import Array
from dppca_core.numerics import fantope_projection


def symmetric(d: int, seed: int) -> Array:
    half = np.random.default_rng([d, seed]).standard_normal((d, d))
    return half + half.T


@given(
    st.lists(st.integers(-40, 40).map(lambda i: i / 8) | st.floats(-1e4, 1e4), min_size=1, max_size=30),
    st.floats(1e-3, 1.0),
)
def test_oracle_14_clipped_eigenvalues_sum_to_k(eigenvalues, share):
    """To 1e-10; k fractional, from almost 0 to d. Eighths make ties among g and g - 1 common."""
    g = np.array(eigenvalues)
    clipped = fantope_projection.clip_spectrum(g, share * len(g))
    assert abs(clipped.sum() - share * len(g)) < 1e-10
    assert clipped.min() >= 0 and clipped.max() <= 1
    assert (np.diff(clipped[np.argsort(g)]) >= 0).all()


@pytest.mark.parametrize("k", [0.3, 1, 2.5, 7])
def test_the_threshold_is_that_of_a_root_finder(k):
    g = np.random.default_rng(0).standard_normal(8) * 2

    def excess(theta: float) -> float:
        return np.clip(g - theta, 0, 1).sum() - k

    theta = brentq(excess, g.min() - 1, g.max(), xtol=1e-14)
    np.testing.assert_allclose(fantope_projection.clip_spectrum(g, k), np.clip(g - theta, 0, 1), atol=1e-12)


@pytest.mark.parametrize(
    ("g", "k", "expected"),
    [
        ([3.0, 3.0, 3.0], 1, [1 / 3] * 3),
        ([3.0, 2.0, 0.0], 1, [1.0, 0.0, 0.0]),
        ([3.0, 2.5, 0.0], 1, [0.75, 0.25, 0.0]),
        ([5.0, 2.0, 2.0, 1.0], 2, [1.0, 0.5, 0.5, 0.0]),
        ([-9.0, -9.5, -20.0], 1.5, [1.0, 0.5, 0.0]),
        ([1.0, 2.0], 2, [1.0, 1.0]),
        ([0.0, 0.0], 0.5, [0.25, 0.25]),
    ],
)
def test_clipped_by_hand(g, k, expected):
    np.testing.assert_allclose(fantope_projection.clip_spectrum(np.array(g), k), expected, atol=1e-15)


def test_all_of_them_are_one_when_k_is_d():
    """Rounding leaves some sums at the lowest knot, g_min - 1, a digit short of d."""
    draws = 10 * np.random.default_rng(0).standard_normal((300, 5))
    short = [np.clip(g - (g.min() - 1), 0, 1).sum() < 5 for g in draws]
    assert any(short) and not all(short)
    for g in draws:
        np.testing.assert_allclose(fantope_projection.clip_spectrum(g, 5), np.ones(5), atol=1e-15)


@pytest.mark.parametrize("k", [0, -1, 3.5, np.nan])
def test_a_bad_k_is_refused_by_name_and_value(k):
    with pytest.raises(ValueError, match=rf"k must lie in \(0, 3\], got {k}"):
        fantope_projection.clip_spectrum(np.arange(3.0), k)


def nearest(projection: Array, symmetric: Array, k: float) -> bool:
    """Return True where `projection` is in the Fantope and <M - P, Z - P> <= 0 for all Z in it.

    The largest <M - P, Z> over the Fantope is the sum of the top eigenvalues of M - P, the last weighed.
    """
    values = np.linalg.eigvalsh(projection)
    inside = values.min() > -1e-12 and values.max() < 1 + 1e-12 and abs(values.sum() - k) < 1e-10
    slope = np.linalg.eigvalsh(symmetric - projection)[::-1]
    weights = np.clip(k - np.arange(len(slope)), 0, 1)
    best = slope @ weights
    return bool(inside and best - np.vdot(symmetric - projection, projection) < 1e-9)


@pytest.mark.parametrize(("k", "guess"), [(1, 0), (1, 4), (2.5, 5), (2.5, 39), (3, 0), (3, 4), (3, 5)])
def test_the_projection_is_the_nearest_point_whatever_the_guess(k, guess):
    """d = 40: 4 and 5 eigenvectors take LAPACK's subset, 4 of them fewer than the rank at k = 3."""
    matrix = symmetric(40, 0) * 0.2
    projection, rank = fantope_projection.project(matrix, k, guess)
    assert nearest(projection, matrix, k)
    assert rank == np.linalg.matrix_rank(projection, tol=1e-9)
    np.testing.assert_array_equal(projection, projection.T)


def test_a_projection_without_the_upper_limit_is_rejected():
    matrix = symmetric(10, 0)
    g, vectors = np.linalg.eigh(matrix)
    theta = brentq(lambda t: np.maximum(g - t, 0).sum() - 2, g.min() - 2, g.max())
    assert not nearest((vectors * np.maximum(g - theta, 0)) @ vectors.T, matrix, 2)
