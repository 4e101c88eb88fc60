"""The shared power iteration and its two starts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import sin_theta
from dppca_core.numerics import block_power, linalg, subspace_metrics
from tests.core.laws import mean_is

D, K = 12, 3
TRUTH = linalg.orthonormalise(np.random.default_rng([0, 1]).standard_normal((D, K)))
MATRIX = TRUTH @ np.diag([5.0, 4.0, 3.0]) @ TRUTH.T + 0.1 * np.eye(D)


def product(block, rows, step):
    return MATRIX @ block if rows is None else MATRIX[:, rows] @ block


@given(error=st.floats(0, np.sqrt(K)), seed=st.integers(0, 2**31))
def test_a_start_near_the_truth_is_as_far_as_asked(error, seed):
    start = block_power.start_near(TRUTH, error, np.random.default_rng(seed))
    np.testing.assert_allclose(start.T @ start, np.eye(K), atol=1e-12)
    assert sin_theta(start, TRUTH) == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("error", [-0.1, 1.8, np.nan])
def test_an_impossible_distance_is_refused_by_name_and_value(error):
    with pytest.raises(ValueError, match=f"error must lie between 0 and .*{error}"):
        block_power.start_near(TRUTH, error, np.random.default_rng(0))


def test_too_few_features_for_a_start_are_refused():
    with pytest.raises(ValueError, match="d must be at least 6, got 5"):
        block_power.start_near(np.eye(5)[:, :3], 0.5, np.random.default_rng(0))


def test_a_random_start_is_uniform():
    rng = np.random.default_rng(1)
    squares = [sin_theta(block_power.random_start(D, K, rng), TRUTH) ** 2 for _ in range(500)]
    near = [
        sin_theta(block_power.start_near(TRUTH, error, rng), TRUTH) ** 2 for error in np.sqrt(squares) / 2
    ]
    assert mean_is(squares, subspace_metrics.random_guess(D, K) ** 2)
    assert not mean_is(near, subspace_metrics.random_guess(D, K) ** 2)


def test_dense_iteration_is_the_power_method():
    start = block_power.random_start(D, K, np.random.default_rng(2))
    iterates = block_power.iterate(product, start, s_hat=D, steps=30, burn_in=0)
    assert len(iterates) == 31
    for before, after in pairwise(iterates):
        assert sin_theta(after, np.linalg.qr(MATRIX @ before)[0]) < 1e-12
    assert sin_theta(iterates[-1], TRUTH) < 1e-12


@pytest.mark.parametrize("burn_in", [0, 1, np.int64(3), 9])
def test_burn_in_keeps_all_rows(burn_in):
    """Iterates 0 to burn_in are dense, the others have s_hat rows; the paper (0) thresholds the start too."""
    start = block_power.random_start(D, K, np.random.default_rng(3))
    iterates = block_power.iterate(product, start, s_hat=5, steps=6, burn_in=burn_in)
    kept = [np.count_nonzero(basis.any(axis=1)) for basis in iterates]
    dense = min(burn_in + 1, 7) if burn_in else 0
    assert kept == [D] * dense + [5] * (7 - dense)


def test_the_start_is_not_modified():
    start = block_power.random_start(D, K, np.random.default_rng(4))
    before = start.copy()
    block_power.iterate(product, start, s_hat=5, steps=2, burn_in=1)
    np.testing.assert_array_equal(start, before)


def test_it_stops_where_it_stands_still():
    start = block_power.random_start(D, K, np.random.default_rng(5))
    iterates = block_power.iterate(product, start, s_hat=D, steps=300, burn_in=0, tolerance=1e-9)
    assert len(iterates) < 30
    assert sin_theta(iterates[-1], TRUTH) < 1e-9
