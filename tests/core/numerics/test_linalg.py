"""Orthogonalisation, thresholding, eigenspaces and the two shapes of symmetric noise."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

from dppca_core import sin_theta
from dppca_core.numerics import linalg
from tests.core.laws import follows

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("condition", "scale"), [(1.0, 1.0), (1e2, 1e-6), (1e2, 1e6), (1e5, 1e-6), (1e5, 1e6), (1e12, 1.0)]
)
def test_orthonormalise_is_the_thin_qr(condition, scale):
    """Cholesky where it is safe, Householder beyond: orthonormal to 1e-9 and the right span for both.

    Cholesky-QR loses eps cond^2, and the code leaves it at a ratio of pivots of 1e-3.
    """
    columns = rng.standard_normal((40, 4)) @ np.diag(np.geomspace(scale, scale / condition, 4))
    basis = linalg.orthonormalise(columns)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-9)
    reference, upper = np.linalg.qr(columns)
    np.testing.assert_allclose(basis, reference * np.sign(upper.diagonal()), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_nearly_dependent_columns_of_any_scale_are_orthonormal(scale):
    """Condition 1e5 in no column's direction, so that Cholesky-QR would lose eps cond^2 = 2e-6."""
    left, right = (np.linalg.qr(rng.standard_normal((size, 4)))[0] for size in (40, 4))
    columns = scale * left @ np.diag(np.geomspace(1, 1e-5, 4)) @ right.T
    basis = linalg.orthonormalise(columns)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
    gram = columns.T @ columns
    inverse = np.linalg.inv(np.linalg.cholesky(gram)).T
    lost = columns @ inverse
    assert np.abs(lost.T @ lost - np.eye(4)).max() > 1e-9


@pytest.mark.parametrize("rank", [0, 2])
def test_rank_deficient_columns_still_give_a_basis(rank):
    columns = rng.standard_normal((7, rank)) @ rng.standard_normal((rank, 3))
    basis = linalg.orthonormalise(columns)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(basis @ (basis.T @ columns), columns, atol=1e-12)


def test_orthonormalise_keeps_its_input():
    columns = rng.standard_normal((6, 2))
    before = columns.copy()
    linalg.orthonormalise(columns)
    np.testing.assert_array_equal(columns, before)


@pytest.mark.parametrize(
    ("shape", "order"),
    [((7, 5), "C"), ((5, 7), "F"), ((600, 500), "C"), ((600, 500), "F"), ((20, 20_000), "F")],
)
def test_a_product_read_from_either_side_is_the_product(shape, order):
    matrix, block = np.asarray(rng.standard_normal(shape), order=order), rng.standard_normal((shape[1], 3))
    product = linalg.narrow_product(matrix, block)
    np.testing.assert_allclose(product, np.einsum("ij,jk->ik", matrix, block), atol=1e-10)
    assert product.flags.c_contiguous and product.flags.writeable


@pytest.mark.parametrize("shape", [(600, 500), (7, 5)], ids=str)
def test_a_product_with_columns_one_after_the_other_is_not_turned(shape):
    matrix, block = rng.standard_normal(shape), np.asfortranarray(rng.standard_normal((shape[1], 3)))
    product = linalg.narrow_product(matrix, block)
    np.testing.assert_allclose(product, matrix @ block, atol=1e-10)
    assert product.flags.f_contiguous or matrix.size < linalg._LARGE


@pytest.mark.parametrize("count", [1, 3, 8, 20])
def test_largest_rows_are_those_of_a_full_sort(count):
    columns = rng.standard_normal((8, 2))
    order = np.argsort(-np.linalg.norm(columns, axis=1))
    np.testing.assert_array_equal(linalg.largest_rows(columns, count), np.sort(order[:count]))


def test_ties_still_give_the_wanted_number_of_rows():
    assert len(linalg.largest_rows(np.ones((9, 2)), 4)) == 4


def test_scatter_rows_puts_rows_back():
    block = rng.standard_normal((2, 3))
    full = linalg.scatter_rows(block, np.array([1, 4]), 6)
    np.testing.assert_array_equal(full[[1, 4]], block)
    assert np.count_nonzero(full) == 6


def test_eigenproblems_of_one_size_share_memory_that_was_touched():
    """In LAPACK's order, so that it takes no copy of its own; of another size, and of a large one, anew."""
    small, other, wide, large = (np.eye(d) for d in (5, 5, 6, linalg._MOST_HELD + 1))
    first, again = linalg._workspace_copy(small), linalg._workspace_copy(other)
    assert first is again and first.flags.f_contiguous
    assert linalg._workspace_copy(wide).shape == (6, 6)
    fresh = linalg._workspace_copy(large)
    assert fresh.flags.f_contiguous and not np.shares_memory(fresh, linalg._workspace_copy(large))


def test_eigenproblems_in_reused_memory_disturb_neither_their_input_nor_each_other():
    def solved(d: int) -> bool:
        half = np.random.default_rng(d).standard_normal((d, d))
        matrix = half + half.T
        before = matrix.copy()
        values, vectors = linalg.top_eigenpairs(matrix, 2)
        return np.array_equal(matrix, before) and np.allclose(matrix @ vectors, vectors * values, atol=1e-8)

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(solved, [30, 7, 30, 80, 7, 80, 1030]))


def test_large_negative_eigenvalues_are_not_chosen():
    """A singular value decomposition would take -9 first (theory.md, item 6)."""
    vectors = linalg.orthonormalise(rng.standard_normal((5, 5)))
    symmetric = vectors @ np.diag([-9.0, 3.0, 2.0, 0.0, -1.0]) @ vectors.T
    basis = linalg.top_eigenspace(symmetric, 2)
    assert sin_theta(basis, vectors[:, 1:3]) < 1e-12
    assert abs(basis[:, 0] @ vectors[:, 1]) == pytest.approx(1.0)  # largest first


@pytest.mark.parametrize(
    ("draw", "off_diagonal"),
    [(linalg.isotropic_noise, 1 / np.sqrt(2)), (linalg.mirrored_noise, 1.0)],
    ids=["isotropic", "mirrored"],
)
def test_the_shape_of_symmetric_noise(draw, off_diagonal):
    """Each entry Gaussian with its std (KS at ALPHA); the other shape's std is rejected."""
    noise = draw(200, 3.0, np.random.default_rng(1))
    np.testing.assert_array_equal(noise, noise.T)
    above = noise[np.triu_indices(200, 1)]
    assert follows(noise.diagonal(), stats.norm(scale=3.0))
    assert follows(above, stats.norm(scale=3.0 * off_diagonal))
    assert not follows(above, stats.norm(scale=3.0 / np.sqrt(2) / off_diagonal))


def test_isotropic_noise_has_no_preferred_direction():
    """A Frobenius-unit symmetric direction, on and off the diagonal alike, sees std 1."""
    draws = np.stack([linalg.isotropic_noise(3, 1.0, rng) for _ in range(4000)])
    off = np.zeros((3, 3))
    off[0, 1] = off[1, 0] = 1 / np.sqrt(2)
    for direction in (np.diag([1.0, -1.0, 0.0]) / np.sqrt(2), off):
        assert follows(np.einsum("mij,ij->m", draws, direction), stats.norm())
