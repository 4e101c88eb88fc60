"""Fantope projection and selection: cvxpy's solution, the stopping rule, warm starts, degenerate ends."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import brentq

from dppca_core import sin_theta
from dppca_core.arrays import Array
from dppca_core.numerics import fantope_projection, linalg
from dppca_core.numerics.fantope_selection import Solution, select

TIGHT = {"tolerance": 1e-9, "steps": 20_000}


def from_zero(moment: Array, k: float, penalty: float, **options: float) -> Solution:
    return select(moment, k, penalty, start=np.zeros_like(moment), **options)


def symmetric(d: int, seed: int) -> Array:
    half = np.random.default_rng([d, seed]).standard_normal((d, d))
    return half + half.T


def problem(seed: int) -> tuple[Array, float, float]:
    """Return S of 6 to 10 variables at some scale between 1e-5 and 1e4, k whole or not, and lam."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(6, 11))
    rows = (rng.standard_normal((3 * d, d)) * np.geomspace(1.0, 0.1, d)) @ rng.standard_normal((d, d))
    moment = rows.T @ rows / len(rows) * 10.0 ** (seed - 5)
    return moment, (1, 2, 3, 1.5, 2.5)[seed % 5], rng.uniform(0.02, 0.1) * moment.max()


def reference(moment: Array, k: float, penalty: float) -> Array:
    """Return the optimal X from cvxpy with a general conic solver (SCS)."""
    scale = moment.max()
    X = cp.Variable(moment.shape, symmetric=True)
    gain = cp.sum(cp.multiply(moment / scale, X)) - penalty / scale * cp.sum(cp.abs(X))
    whole = cp.Problem(cp.Maximize(gain), [X >> 0, np.eye(len(moment)) - X >> 0, cp.trace(X) == k])
    whole.solve(solver=cp.SCS, eps_abs=1e-11, eps_rel=1e-11, max_iters=200_000)
    assert whole.status == cp.OPTIMAL
    return X.value


def objective(X: Array, moment: Array, penalty: float) -> float:
    return float(np.vdot(moment, X) - penalty * np.abs(X).sum()) / moment.max()


def agrees(solution: Solution, expected: Array, moment: Array) -> bool:
    """Compare X, Y and the objective (in units of max S) to 1e-6."""
    gap = abs(
        objective(solution.projection, moment, solution.penalty)
        - objective(expected, moment, solution.penalty)
    )
    apart = max(np.abs(solution.projection - expected).max(), np.abs(solution.sparse - expected).max())
    return bool(max(gap, apart) < 1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_ten_random_problems_agree_with_cvxpy(seed, monkeypatch):
    """Some entries zero and some not, so that both steps matter; and two planted bugs are told apart."""
    moment, k, penalty = problem(seed)
    expected = reference(moment, k, penalty)
    solution = from_zero(moment, k, penalty, **TIGHT)
    assert solution.converged and agrees(solution, expected, moment)
    assert solution.projection.trace() == pytest.approx(k, abs=1e-10)
    assert len(moment) < np.count_nonzero(solution.sparse) < moment.size

    # The soft threshold at lam and not lam / rho: where rho ends at 2, that is twice the penalty.
    doubled = from_zero(moment, k, 2 * penalty, **TIGHT)
    assert not agrees(doubled, expected, moment)

    def unclipped(g: Array, k: float) -> Array:
        theta = brentq(lambda t: np.maximum(g - t, 0).sum() - k, g.min() - k, g.max())
        return np.maximum(g - theta, 0)

    monkeypatch.setattr(fantope_projection, "clip_spectrum", unclipped)
    unlimited = from_zero(moment, k, penalty, **TIGHT)
    assert agrees(unlimited, expected, moment) == (k == 1)  # where the sum alone keeps each below 1


def test_the_scale_of_the_matrix_does_not_matter():
    """To the last digit, by a power of two. Without normalisation S/1024 would stop early, elsewhere."""
    moment, k, penalty = problem(5)
    large = from_zero(moment, k, penalty)
    small = from_zero(moment / 1024, k, penalty / 1024)
    np.testing.assert_array_equal(small.sparse, large.sparse)
    assert small.iterations == large.iterations > 4


def test_it_stops_by_the_packages_rule():
    """Both residuals below 1e-3 sqrt k, or 100 steps; X is in the Fantope and Y has exact zeros meanwhile."""
    moment = symmetric(30, 1)
    solution = from_zero(moment, 2, 0.05 * np.abs(moment).max())
    assert (
        solution.converged
        == (max(solution.primal, solution.dual) < 1e-3 * np.sqrt(2))
        == (solution.iterations < 100)
    )
    assert solution.primal == pytest.approx(np.linalg.norm(solution.projection - solution.sparse))
    early = from_zero(moment, 2, 0.05 * np.abs(moment).max(), steps=3)
    assert early.iterations == 3 and not early.converged
    assert early.projection.trace() == pytest.approx(2, abs=1e-12)
    assert (early.sparse == 0).any()


@pytest.mark.parametrize("k", [1, 3])
def test_without_a_penalty_it_is_the_top_eigenspace(k):
    moment = symmetric(12, 2)
    top = linalg.top_eigenspace(moment, k)
    selected = select(moment, k, 0.0)
    assert selected.iterations == 1
    assert sin_theta(selected.basis(k), top) < 1e-12
    cold = from_zero(moment, k, 0.0, **TIGHT)
    assert sin_theta(cold.basis(k), top) < 1e-7


def test_the_start_does_not_change_the_solution():
    moment, k, penalty = problem(7)
    cold = from_zero(moment, k, penalty, **TIGHT)
    warm = select(moment, k, penalty, **TIGHT)
    np.testing.assert_allclose(warm.projection, cold.projection, atol=1e-6)


def test_a_degenerate_sparse_matrix_gives_way_to_the_projection():
    """Y of rank 1 at k = 2: its second direction would be arbitrary. X has both."""
    basis = linalg.orthonormalise(np.random.default_rng(0).standard_normal((6, 2)))
    X, rank_one = basis @ basis.T, basis[:, :1] @ basis[:, :1].T

    def solution(sparse: Array) -> Solution:
        primal = float(np.linalg.norm(X - sparse))
        return Solution(1.0, X, sparse, primal, 0.0, 100, False)

    assert sin_theta(solution(rank_one).basis(2), basis) < 1e-12
    # Clear, and sparse: entries of the size of |X - Y| are gone.
    sparse = np.where(np.abs(X) < 0.02, 0.0, X)
    expected = np.linalg.eigh(sparse)[1][:, -2:]
    assert 0 < sin_theta(expected, basis) < 0.1
    assert sin_theta(solution(sparse).basis(2), expected) < 1e-12


def test_a_matrix_of_zeros_has_a_solution():
    solution = from_zero(np.zeros((4, 4)), 2, 0.0)
    np.testing.assert_allclose(solution.projection, np.eye(4) / 2, atol=1e-12)
    np.testing.assert_allclose(solution.basis(2).T @ solution.basis(2), np.eye(2), atol=1e-12)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"penalty": -0.5}, r"penalty must .*at least 0 and finite, got -0.5"),
        ({"penalty": np.nan}, r"penalty must .*got nan"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"tolerance": 0.0}, "tolerance must be positive and finite, got 0.0"),
        ({"k": 4}, r"k must lie in \(0, 3\], got 4"),
    ],
)
def test_bad_arguments_are_refused_by_name_and_value(changed, message):
    good = {"second_moment": np.eye(3), "k": 1, "penalty": 0.1, "start": np.zeros((3, 3))}
    with pytest.raises(ValueError, match=message):
        select(**(good | changed))
