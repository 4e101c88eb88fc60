"""Bingham draws against quadrature, contour integrals, the complement's exact law and importance sampling."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, linalg, special, stats

from dppca_core.arrays import Array
from dppca_core.numerics import bingham
from dppca_core.numerics.linalg import orthonormalise
from dppca_core.numerics.subspace_metrics import random_guess
from tests.core.laws import Z, follows, mean_is

DRAWS = 20_000


class Tabulated:
    """Hold a law on an interval, given by its density, by the trapezoidal rule on 20,001 points."""

    def __init__(self, density: Array, grid: Array) -> None:
        mass = integrate.cumulative_trapezoid(density, grid, initial=0)
        self.grid, self.mass = grid, mass / mass[-1]

    def cdf(self, values: Array) -> Array:
        return np.interp(values, self.grid, self.mass)


def alone(energies: Array) -> bingham.Conditional:
    return bingham.conditional(energies, np.empty((len(energies), 0)))


def divided(law: bingham.Conditional, count: int, rng: np.random.Generator) -> Array:
    """Draw with the planted bug: the exponent -q/2 of two public packages, whose draws follow f g^2."""
    proposed = law.propose(40 * count, rng)
    above = (law.energies - law.floor) @ proposed**2
    log_kept = -above - law.dimension / 2 * np.log(1 + 2 * above)
    kept = np.log(rng.random(40 * count)) < log_kept - log_kept.max()
    return proposed[:, kept][:, :count]


def frame_of(d: int, k: int, seed: int) -> Array:
    return orthonormalise(np.random.default_rng(seed).standard_normal((d, k)))


# Vector Bingham


@pytest.mark.parametrize("a", [0.5, 5.0, 50.0])
def test_the_angle_in_two_dimensions(a):
    """Compare with a density prop. to exp(-a sin^2 angle); the wrong exponent is rejected."""
    grid = np.linspace(-np.pi / 2, np.pi / 2, 20_001)
    exact = Tabulated(np.exp(-a * np.sin(grid) ** 2), grid)
    law = alone(np.array([0.0, a]))
    for sample, holds in (
        (law.draw(DRAWS, np.random.default_rng(0)), True),
        (divided(law, DRAWS, np.random.default_rng(0)), False),
    ):
        assert sample.shape == (2, DRAWS)
        assert follows(np.arctan(sample[1] / sample[0]), exact) == holds


@pytest.mark.parametrize("a", [(0.0, 1.0, 4.0), (0.0, 0.0, 9.0), (0.0, 20.0, 30.0)])
def test_a_coordinate_in_three_dimensions(a):
    """u_1 = t has density prop. to exp(-a_1 t^2 - s (1-t^2)) I0(r (1-t^2)), s, r = (a_3 +- a_2)/2."""
    grid = np.linspace(-1, 1, 20_001)
    rest = 1 - grid**2
    half = (a[2] - a[1]) / 2
    # exp(-s rest) I0(r rest) = exp(-a_2 rest) ive(0, r rest)
    density = np.exp(-a[0] * grid**2 - a[1] * rest) * special.ive(0, half * rest)
    exact = Tabulated(density, grid)
    law = alone(np.array(a))
    assert follows(law.draw(DRAWS, np.random.default_rng(1))[0], exact)
    assert not follows(divided(law, DRAWS, np.random.default_rng(1))[0], exact)


def second_moments(energies: Array) -> Array:
    """Return E u_i^2 by the contour integral of exp(s) prod (s + a_j)^(-1/2) over Re s = 1.

    It is the inverse Laplace transform of the Gaussian integral over |x|^2; -d/da_i of its logarithm.
    """

    def contour(index: int | None) -> float:
        def real(y: float) -> float:
            s = 1 + 1j * y
            value = np.exp(s) * np.prod((s + energies) ** -0.5)
            return float((value if index is None else value / (2 * (s + energies[index]))).real)

        return integrate.quad(real, 0, 300, limit=1000, epsabs=1e-12)[0]

    return np.array([contour(i) for i in range(len(energies))]) / contour(None)


def test_second_moments_in_ten_dimensions():
    energies = np.array([0.0, 0.2, 0.5, 1, 2, 3, 5, 8, 12, 20])
    expected = second_moments(energies)
    assert expected.sum() == pytest.approx(1, abs=1e-8)
    law = alone(energies)
    drawn = law.draw(2 * DRAWS, np.random.default_rng(2)) ** 2
    assert all(mean_is(row, value) for row, value in zip(drawn, expected, strict=True))
    wrong = divided(law, 1500, np.random.default_rng(2)) ** 2
    assert not mean_is(wrong[0], expected[0])


def test_without_a_matrix_it_is_uniform():
    """Compare u_1^2 with Beta(1/2, (q-1)/2); another dimension is rejected."""
    law = alone(np.zeros(7))
    drawn = law.draw(DRAWS, np.random.default_rng(3))
    np.testing.assert_allclose(law.log_acceptance(drawn), 0, atol=1e-12)
    assert follows(drawn[0] ** 2, stats.beta(0.5, 3))
    assert not follows(drawn[0] ** 2, stats.beta(0.5, 2.5))


def test_the_sphere_is_turned_with_the_matrix():
    matrix = np.random.default_rng(4).standard_normal((6, 6))
    matrix = matrix + matrix.T
    levels, axes = bingham.energies(matrix)
    np.testing.assert_allclose(matrix @ axes, axes * (np.linalg.eigvalsh(matrix)[-1] - levels), atol=1e-12)
    turned = axes @ alone(levels).draw(DRAWS, np.random.default_rng(5))
    expected = np.linalg.eigvalsh(matrix)[::-1] @ second_moments(levels)
    assert mean_is(np.einsum("in,ij,jn->n", turned, matrix, turned), expected)
    assert not mean_is(np.einsum("in,ij,jn->n", turned, -matrix, turned), expected)


# One column given the others

CASES = {
    "generic": (12, 4, "generic", 1.0),
    "generic, strong": (12, 4, "generic", 1e4),
    "one other": (5, 1, "generic", 30.0),
    "more others than the rest": (8, 6, "generic", 1e-3),
    "more others than the rest, strong": (8, 6, "generic", 1e4),
    "others on the axes": (9, 3, "axes", 30.0),
    "others on the axes, strong": (9, 3, "axes", 1e4),
    "others on the last axes": (9, 3, "last", 1e-3),
    "others on the last axes, strong": (9, 3, "last", 1e4),
    "tied energies": (10, 3, "tied", 1.0),
    "tied energies, strong": (10, 3, "tied", 1e4),
    "no others": (6, 0, "generic", 1.0),
}


@pytest.mark.parametrize(("d", "m", "kind", "scale"), CASES.values(), ids=CASES.keys())
def test_the_envelope_is_the_dense_gaussian(d, m, kind, scale):
    """Compare with z = N (N^T P N)^-1 N^T for an explicit null basis N, and tr = 1 to the tolerance."""
    energies = np.sort(np.random.default_rng(d).exponential(size=d)) * scale
    energies -= energies[0]
    others = frame_of(d, m, seed=m) if m else np.empty((d, 0))
    if kind == "axes":
        others = np.eye(d)[:, :m]
    if kind == "last":
        others = np.eye(d)[:, -m:]
    if kind == "tied":
        energies = np.floor(energies / energies.max() * 3) * scale
    law = bingham.conditional(energies, others)

    tied = np.concatenate([law.head, law.frame @ law.inner / law.root[:, None]])
    loose = (np.eye(d - m) - law.frame @ law.frame.T) / law.root[:, None]
    covariance = tied @ tied.T
    covariance[m:, m:] += loose @ loose.T
    basis = linalg.null_space(others.T) if m else np.eye(d)
    precision = (basis.T * (1 + 2 * (energies - law.floor))) @ basis
    expected = basis @ np.linalg.inv(precision) @ basis.T
    np.testing.assert_allclose(covariance, expected, atol=1e-9 * np.abs(expected).max())
    assert 0.8 < np.trace(expected) <= 1 + 1e-9

    drawn = law.draw(50, np.random.default_rng(0))
    np.testing.assert_allclose(others.T @ drawn, 0, atol=1e-10)
    np.testing.assert_allclose((drawn**2).sum(axis=0), 1, atol=1e-12)
    assert law.log_acceptance(law.propose(500, np.random.default_rng(1))).max() <= 1e-9


def test_a_column_given_the_others_is_a_bingham_of_their_null_space():
    energies, others = np.array([0.0, 1, 2, 4, 7, 11, 16, 22]), frame_of(8, 2, seed=6)
    basis = linalg.null_space(others.T)
    values, turn = np.linalg.eigh((basis.T * energies) @ basis)
    expected = (basis @ turn) ** 2 @ second_moments(values - values[0])
    drawn = bingham.conditional(energies, others).draw(DRAWS, np.random.default_rng(7)) ** 2
    assert all(mean_is(row, value) for row, value in zip(drawn, expected, strict=True))
    free = alone(energies).draw(DRAWS, np.random.default_rng(7)) ** 2
    assert not mean_is(free[0], expected[0])


@pytest.mark.parametrize(("q", "least"), [(10, 0.27), (50, 0.12), (150, 0.069), (500, 0.037)])
def test_the_rate_of_acceptance(q, least):
    """Check the worst case of theory.md, section 4: one coordinate far below the others."""
    law = alone(np.concatenate([[0.0], np.full(q - 1, 1e3 * q)]))
    rate = np.exp(law.log_acceptance(law.propose(4000, np.random.default_rng(8))))
    assert rate.mean() > least * 0.95


# The chain on frames


def test_two_columns_of_three_are_the_complement_of_an_exact_draw():
    """V V^T = I - u u^T with u a vector Bingham of -A: u_1 by quadrature, every third scan.

    A chain at half the energies, that is at twice the temperature, is rejected.
    """
    energies = np.array([0.0, 3.0, 8.0])
    grid = np.linspace(-1, 1, 20_001)
    rest = 1 - grid**2
    # u has density exp(+u^T diag(energies) u); exp(5.5 rest) I0(2.5 rest) = exp(8 rest) ive(0, 2.5 rest)
    exact = Tabulated(np.exp(8 * rest) * special.ive(0, 2.5 * rest), grid)

    def normals(levels: Array, count: int) -> Array:
        rng = np.random.default_rng(9)
        frame, first_coordinates = np.eye(3)[:, :2], np.empty(count)
        for index in range(count):
            frame = bingham.chain(levels, frame, 3, rng).frame
            first_coordinates[index] = np.cross(*frame.T)[0]
        return first_coordinates

    assert follows(normals(energies, 800), exact)
    assert not follows(normals(energies / 2, 800), exact)


def test_two_columns_of_four_against_importance_sampling():
    energies = np.array([0.0, 0.7, 2.0, 3.0])
    rng = np.random.default_rng(10)
    uniform = np.linalg.qr(rng.standard_normal((200_000, 4, 2)))[0]
    share = (uniform**2).sum(axis=2)
    weight = np.exp(-share @ energies)
    expected = weight @ share / weight.sum()
    error = np.sqrt(weight**2 @ (share - expected) ** 2) / weight.sum()

    frame, drawn = np.eye(4)[:, :2], []
    for _ in range(300):
        frame = bingham.chain(energies, frame, 3, rng).frame
        drawn.append((frame**2).sum(axis=1))
    for values, value, slack in zip(np.transpose(drawn), expected, Z * error, strict=True):
        assert mean_is(values, value, slack=slack)
    assert not mean_is(np.array(drawn)[:, 0], share[:, 0].mean(), slack=Z * error[0])


def test_without_a_matrix_the_frame_is_uniform():
    rng, start = np.random.default_rng(11), np.eye(9)[:, :3]
    sines = [(bingham.chain(np.zeros(9), start, 2, rng).frame[3:] ** 2).sum() for _ in range(250)]
    assert mean_is(sines, random_guess(9, 3) ** 2)
    assert not mean_is(sines, random_guess(8, 3) ** 2)


def test_concentrated_frames_follow_laplace():
    """sin^2 = sum_{j <= k < i} 1/(2 (a_i - a_j)), within 2 %; twice or half of it is rejected."""
    energies = np.concatenate([[0.0, 500.0, 900.0], np.linspace(2000.0, 6000.0, 17)])
    expected = (1 / (2 * (energies[3:, None] - energies[:3]))).sum()
    rng, start = np.random.default_rng(12), np.eye(20)[:, :3]
    sines = [(bingham.chain(energies, start, 1, rng).frame[3:] ** 2).sum() for _ in range(300)]
    assert mean_is(sines, expected, slack=0.02 * expected)
    assert not mean_is(sines, 2 * expected, slack=0.02 * expected)
    assert not mean_is(sines, expected / 2, slack=0.02 * expected)


def test_a_start_continues_the_chain():
    energies, start = np.linspace(0, 30, 12), np.eye(12)[:, :3]
    whole = bingham.chain(energies, start, 5, np.random.default_rng(13))
    rng = np.random.default_rng(13)
    first = bingham.chain(energies, start, 3, rng)
    second = bingham.chain(energies, first.frame, 2, rng)
    np.testing.assert_array_equal(second.frame, whole.frame)
    np.testing.assert_array_equal(np.concatenate([first.trace, second.trace]), whole.trace)
    np.testing.assert_array_equal(start, np.eye(12)[:, :3])
    np.testing.assert_allclose(whole.trace[-1], (energies @ whole.frame**2).sum(), rtol=1e-12)


def test_the_top_eigenvectors_are_the_better_start():
    """Unequal spikes: scan 2 has the mean energy of scan 10 from the top k, not from a random frame.

    Columns along the eigenvectors refresh nearly independent directions; others only turn slowly.
    """
    energies = 2e4 - np.concatenate([[2e4, 600.0, 20.0], np.zeros(17)])

    def traces(start: Array, first: int) -> Array:
        seeds = (np.random.default_rng([14, first + chain]) for chain in range(20))
        return np.array([bingham.chain(energies, start, 10, rng).trace for rng in seeds])

    top, random = traces(np.eye(20)[:, :3], 0), traces(frame_of(20, 3, seed=15), 100)
    assert mean_is(top[:, 1] - top[:, 9], 0)
    assert not mean_is(random[:, 1] - random[:, 9], 0)


@pytest.mark.parametrize(("d", "k"), [(8, 1), (8, 2), (8, 7), (30, 5)])
def test_the_strongest_energies_still_give_a_frame(d, k):
    energies = np.linspace(0, bingham.STRONGEST, d)
    for start in (np.eye(d)[:, :k], frame_of(d, k, seed=15)):
        frame = bingham.chain(energies, start, 3, np.random.default_rng(16)).frame
        np.testing.assert_allclose(frame.T @ frame, np.eye(k), atol=1e-12)
    top = bingham.chain(energies, np.eye(d)[:, :k], 3, np.random.default_rng(16)).frame
    assert np.linalg.norm(top[k:]) < 1e-5


@pytest.mark.parametrize(
    ("energies", "others"),
    [
        (np.array([0.0, *[2e11] * 59]), frame_of(60, 4, seed=20)),
        (40.0 * np.arange(60), np.eye(60)[:, [3, 50, 0, 17, 8, 29]]),
        (np.array([0.0, 5e13, *[6e13] * 18]), np.eye(20)[:, :2]),
    ],
    ids=["one direction alone, strong", "whole numbers on the axes", "two strong directions held"],
)
def test_rounding_does_not_cost_the_rate(energies, others):
    """Differences of 1e12 or candidates on a pole of G: the rate stays above half of .85/sqrt(q)."""
    law = bingham.conditional(energies, others)
    rate = np.exp(law.log_acceptance(law.propose(2000, np.random.default_rng(21)))).mean()
    assert rate > 0.42 / np.sqrt(law.dimension)


def test_a_lost_floor_is_an_error_and_no_endless_loop():
    law = replace(alone(np.array([0.0, 1.0, 2.0])), floor=-1e6)
    with pytest.raises(ArithmeticError, match="energies up to 2 are not resolved"):
        law.draw(1, np.random.default_rng(22))


def test_memory_is_of_the_order_of_the_frame():
    energies, start = np.linspace(0, 1e5, 2000), np.eye(2000)[:, :3]
    tracemalloc.start()
    bingham.chain(energies, start, 1, np.random.default_rng(17))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


def test_bad_arguments_are_refused_by_name_and_value():
    rng = np.random.default_rng(18)
    with pytest.raises(ValueError, match="scans must be at least 1, got 0"):
        bingham.chain(np.zeros(4), np.eye(4)[:, :2], 0, rng)
    with pytest.raises(ValueError, match="k must be between 1 and 3, got 4"):
        bingham.chain(np.zeros(4), np.eye(4), 1, rng)
    with pytest.raises(ValueError, match=r"matrix must have eigenvalues within 1e\+14 .*got 2e\+14"):
        bingham.energies(np.diag([0.0, 2e14]))
