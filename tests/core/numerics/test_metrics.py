"""Distances between subspaces: exact small angles, independent references, invariances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from dppca_core import sin_theta
from dppca_core.arrays import Array
from dppca_core.numerics import linalg, subspace_metrics
from tests.core.laws import mean_is

shapes = st.integers(2, 12).flatmap(lambda d: st.tuples(st.just(d), st.integers(1, d - 1)))
seeds = st.integers(0, 2**31)


def random_basis(d: int, k: int, seed: int) -> Array:
    return linalg.orthonormalise(np.random.default_rng(seed).standard_normal((d, k)))


@pytest.mark.parametrize("angle", [1e-14, 1e-12, 1e-8, 1e-3, 0.5, np.pi / 2])
def test_small_angles_keep_their_digits(angle):
    """One direction turned by `angle`; sqrt(k - |V^T W|^2) would return zero below 1e-8."""
    truth = np.eye(5)[:, :2]
    basis = truth.copy()
    basis[:, 1] = np.cos(angle) * np.eye(5)[1] + np.sin(angle) * np.eye(5)[4]
    assert sin_theta(basis, truth) == pytest.approx(np.sin(angle), rel=1e-12, abs=0)
    assert subspace_metrics.principal_angles(basis, truth)[-1] == pytest.approx(angle, rel=1e-7, abs=0)


@pytest.mark.parametrize(
    ("basis", "truth", "says"),
    [
        (np.eye(5)[:, :2], np.eye(5)[:, :1], r"truth must have shape \(5, 2\), got \(5, 1\)"),
        (np.eye(5)[:, :2], np.eye(4)[:, :2], r"truth must have shape \(5, 2\), got \(4, 2\)"),
        (2 * np.eye(5)[:, :2], np.eye(5)[:, :2], "basis must have orthonormal columns.*off by 3"),
        (np.full((5, 2), np.nan), np.eye(5)[:, :2], "basis must have orthonormal columns.*nan"),
    ],
)
def test_what_is_no_basis_is_refused(basis, truth, says):
    with pytest.raises(ValueError, match=says):
        sin_theta(basis, truth)


@given(shape=shapes, basis_seed=seeds, truth_seed=seeds)
def test_agrees_with_scipy(shape, basis_seed, truth_seed):
    basis, truth = random_basis(*shape, basis_seed), random_basis(*shape, truth_seed)
    angles = np.sort(subspace_angles(basis, truth))
    np.testing.assert_allclose(subspace_metrics.principal_angles(basis, truth), angles, atol=1e-7)
    assert sin_theta(basis, truth) == pytest.approx(np.linalg.norm(np.sin(angles)), abs=1e-12)


@given(shape=shapes, basis_seed=seeds, truth_seed=seeds, turn=seeds)
def test_only_the_subspace_matters(shape, basis_seed, truth_seed, turn):
    basis, truth = random_basis(*shape, basis_seed), random_basis(*shape, truth_seed)
    # A Householder QR: Cholesky's would be orthogonal to 1e-10 only.
    rotation = np.linalg.qr(np.random.default_rng(turn).standard_normal((shape[1], shape[1])))[0]
    value = sin_theta(basis, truth)
    assert sin_theta(basis @ rotation, truth) == pytest.approx(value, abs=1e-12)
    assert sin_theta(truth, basis) == pytest.approx(value, abs=1e-7)


@given(shape=shapes, basis_seed=seeds, truth_seed=seeds)
def test_projector_distance_is_that_of_projectors(shape, basis_seed, truth_seed):
    basis, truth = random_basis(*shape, basis_seed), random_basis(*shape, truth_seed)
    expected = np.linalg.norm(basis @ basis.T - truth @ truth.T)
    assert subspace_metrics.projector_distance(basis, truth) == pytest.approx(expected, abs=1e-12)
    assert 0 <= sin_theta(basis, truth) <= np.sqrt(min(shape[1], shape[0] - shape[1])) + 1e-12


def test_many_at_once_are_the_same_numbers():
    truth = random_basis(9, 3, 0)
    bases = np.stack([random_basis(9, 3, seed) for seed in range(1, 6)])
    expected = [sin_theta(basis, truth) for basis in bases]
    np.testing.assert_allclose(subspace_metrics.sin_thetas(bases, truth), expected, rtol=1e-13)


@pytest.mark.parametrize(("d", "k", "sin"), [(1000, 5, 2.2305), (50, 3, 1.6793), (200, 50, 6.1237)])
def test_oracle_11_random_guess(d, k, sin):
    assert subspace_metrics.random_guess(d, k) == pytest.approx(sin, abs=0.0000501)


@pytest.mark.parametrize(("d", "k"), [(50, 3), (200, 50), (4, 1)])
def test_random_guess_is_the_root_mean_square_of_random_bases(d, k):
    truth = np.eye(d)[:, :k]
    squares = [sin_theta(random_basis(d, k, seed), truth) ** 2 for seed in range(300)]
    assert mean_is(squares, subspace_metrics.random_guess(d, k) ** 2)
    assert not mean_is(squares, subspace_metrics.random_guess(d, k + 1) ** 2)


def test_random_energy_is_the_mean_of_random_bases():
    eigenvalues = np.array([5.0, 3.0, 1.0, 0.5, 0.1])
    bases = [random_basis(5, 2, seed) for seed in range(1000)]
    energies = [subspace_metrics.captured_energy(basis, np.diag(eigenvalues), 8.0) for basis in bases]
    assert mean_is(energies, subspace_metrics.random_energy(eigenvalues, 2))
    assert not mean_is(energies, subspace_metrics.random_energy(eigenvalues, 3))


@pytest.mark.parametrize("zero_rows", [0, 4, 7], ids=["dense", "half", "sparse"])
def test_captured_energy(zero_rows):
    """tr(W^T A W) over the best, on both paths of the code (a sparse basis reads few rows)."""
    second_moment = np.cov(np.random.default_rng(0).standard_normal((10, 40)))
    rows = np.setdiff1d(np.arange(10), np.random.default_rng(1).permutation(10)[:zero_rows])
    basis = np.zeros((10, 2))
    basis[rows] = random_basis(len(rows), 2, 3)
    best = float(np.linalg.eigvalsh(second_moment)[-2:].sum())
    expected = np.trace(basis.T @ second_moment @ basis) / best
    assert subspace_metrics.captured_energy(basis, second_moment, best) == pytest.approx(expected, rel=1e-12)
    assert expected < 1
    top = linalg.top_eigenspace(second_moment, 2)
    assert subspace_metrics.captured_energy(top, second_moment, best) == pytest.approx(1.0, rel=1e-12)


def test_support_found_counts_the_heaviest_rows():
    truth = np.zeros((8, 2))
    truth[[1, 4, 6]] = random_basis(3, 2, 0)
    guess = np.full((8, 2), 0.01)
    guess[[1, 6, 7]] = 1.0
    assert subspace_metrics.support_found(truth, truth, 3) == 1.0
    assert subspace_metrics.support_found(guess, truth, 3) == pytest.approx(2 / 3)
    assert subspace_metrics.support_found(np.roll(truth, 1, axis=0), truth, 3) == 0.0
