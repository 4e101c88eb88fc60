"""Rows of length 1, whole or restricted, from rows and from what drew them.

Each statistical check errs with probability ALPHA (laws.py) and rejects a planted bug: a moment of the
Gaussian rows themselves, divided by its trace.
"""

import numpy as np
import pytest

from dppca_core import Cohort, SpikedModel
from dppca_core.numerics import unit_rows
from dppca_core.numerics.moments import DenseMoment, RowMoment, SumMoment, UnitMoment
from tests.core.laws import same_law

MODEL = SpikedModel(d=6, k=2, s=3, spike=(30.0, 10.0), bulk=(1.0, 4.0), seed=5)
COLUMNS = np.array([0, 2, 3])
DRAWS, FEW = 400, 200
ROWS = np.array(
    [
        [3e200, 4e200, 0.0],
        [3e-200, 0.0, 4e-200],
        [np.nan, 1.0, 1.0],
        [np.inf, 1.0, 1.0],
        [0.0, 0.0, 0.0],
        [5e-324, 0.0, 0.0],
        [1.7e308, -1.7e308, 1.7e308],
    ]
)


def test_rows_have_length_1_or_0_whatever_their_numbers():
    lengths = np.linalg.norm(unit_rows.unit_rows(ROWS), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0, 0, 0, 1, 1], rtol=1e-11)
    assert (lengths <= 1).all()
    np.testing.assert_allclose(unit_rows.unit_rows(ROWS)[0], [0.6, 0.8, 0.0], rtol=1e-11)
    many = np.random.default_rng(0).standard_normal((5000, 7)) * 10.0 ** np.arange(-3, 4)
    assert np.linalg.norm(unit_rows.unit_rows(many), axis=1).max() <= 1


def test_no_row_depends_on_another():
    """To the last bit: a patient whose numbers are extreme changes no other's row."""
    plain = np.random.default_rng(0).standard_normal((50, 3))
    alone = np.vstack([unit_rows.unit_rows(row[None]) for row in (*ROWS, *plain)])
    np.testing.assert_array_equal(unit_rows.unit_rows(np.vstack([ROWS, plain])), alone)
    np.testing.assert_array_equal(unit_rows.unit_rows(plain), alone[len(ROWS) :])


def test_a_restriction_may_be_zero_and_is_scaled_again():
    rows = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 0.5], [0.3, 0.0, 0.4]])
    within = RowMoment(rows).restricted_unit(np.array([0, 1]))
    expected = (np.outer([0.6, 0.8], [0.6, 0.8]) + np.outer([1, 0], [1, 0])) / 3
    np.testing.assert_allclose(within.dense(), expected, rtol=1e-11)
    assert within.exact and within.features == 2


def test_hospitals_rows_together_are_the_mean_of_their_own():
    rng = np.random.default_rng(1)
    parts = [rng.standard_normal((n, 5)) for n in (40, 3)]
    cohort = Cohort.from_rows(parts, 2.0)
    scaled = np.vstack(parts) / np.linalg.norm(np.vstack(parts), axis=1, keepdims=True)
    np.testing.assert_allclose(cohort.pooled.unit().dense(), scaled.T @ scaled / 43, rtol=1e-10)
    assert isinstance(cohort.pooled.unit(), SumMoment) and cohort.pooled.unit().exact


def test_hospitals_that_count_by_weights_do_so_with_rows_of_length_1():
    providers = Cohort.from_rows([np.diag([2.0, 0.0, 0.0])[:1], np.diag([0.0, 0.5, 0.0])[1:2]], 2.0).providers
    weighted = SumMoment(tuple(providers), (3.0, 1.0))
    np.testing.assert_allclose(weighted.unit().dense(), np.diag([0.75, 0.25, 0.0]))
    np.testing.assert_allclose(weighted.restricted_unit(np.array([0, 1])).dense(), np.diag([0.75, 0.25]))


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.unit(),
        lambda m: m.restricted_unit(COLUMNS),
        lambda m: m.normalised_product(MODEL.basis),
    ],
)
def test_a_matrix_alone_does_not_say_how_long_its_rows_were(ask):
    with pytest.raises(ValueError, match="must hold rows, or be drawn from a population"):
        ask(DenseMoment(np.eye(6) / 6))


@pytest.mark.parametrize(("d", "value"), [(1, 2.0), (3, 0.7), (50, 5.0)])
def test_equal_eigenvalues_are_those_of_the_sphere(d, value):
    np.testing.assert_allclose(unit_rows.expected_unit_eigenvalues(np.full(d, value)), 1 / d, rtol=1e-11)


@pytest.mark.parametrize("ratio", [1.5, 7.0, 300.0])
def test_two_unequal_eigenvalues(ratio):
    """E[v_1^2] = r/(1 + r) with r = sqrt(lambda_1/lambda_2): tan of the angle is Cauchy of scale r."""
    expected = unit_rows.expected_unit_eigenvalues(np.array([ratio**2, 1.0]))
    np.testing.assert_allclose(expected, [ratio / (1 + ratio), 1 / (1 + ratio)], rtol=1e-9)


@pytest.mark.parametrize("ratio", [1.0, 3.0, 300.0])
def test_a_round_of_one_axis_of_two(ratio):
    """E[v sign(v_1)] = (E|cos|, 0), tan of the angle Cauchy of scale 1/r: E|cos| by its integral."""
    angles = (np.arange(200_000) + 0.5) / 200_000 * np.pi / 2
    density = (1 / ratio) / ((np.sin(angles) ** 2) + np.cos(angles) ** 2 / ratio**2)
    expected = float((np.cos(angles) * density).sum() / density.sum())
    mean = unit_rows.expected_normalised_product(np.array([ratio**2, 1.0]), np.eye(2)[:, :1])
    np.testing.assert_allclose(mean[:, 0], [expected, 0.0], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    "eigenvalues", [[9.0, 4.0, 1.0, 0.5], [5.0, 4.0, 0.0, 0.0], [100.0, 100.0, 3.0, 2.0]]
)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_round_is_on_average_what_many_rows_give(eigenvalues, k):
    """100,000 rows; within 5 standard errors, which reject a block whose rows were not normalised."""
    rng = np.random.default_rng(k)
    values = np.array(eigenvalues)
    block = np.linalg.qr(rng.standard_normal((4, k)))[0]
    rows = unit_rows.unit_rows(rng.standard_normal((100_000, 4)) * np.sqrt(values))
    mean = unit_rows.expected_normalised_product(values, block)
    assert np.abs(unit_rows.normalised_product(rows, block) - mean).max() < 5 / np.sqrt(100_000)
    assert np.abs(rows.T @ (rows @ block) / 100_000 - mean).max() > 5 / np.sqrt(100_000)


def test_a_round_of_rows_is_written_out():
    rng = np.random.default_rng(6)
    rows, block = rng.standard_normal((7, 5)), np.linalg.qr(rng.standard_normal((5, 2)))[0]
    rows[2] = 0
    block[:, 1] = 0  # no basis: the second entry of every q is 0
    total = np.zeros((5, 2))
    for row in np.delete(rows, 2, axis=0):
        total += np.outer(row / np.linalg.norm(row), block.T @ row / np.linalg.norm(block.T @ row))
    np.testing.assert_allclose(RowMoment(rows).normalised_product(block), total / 7, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("n", [40, 6, 3])
def test_rows_given_a_moment_have_that_moment(n):
    moment = MODEL.draw(n, 1, np.random.default_rng(2)).pooled.dense()
    rows = unit_rows.draw_rows_given_moment(moment, n, np.random.default_rng(3))
    assert rows.shape == (n, 6)
    np.testing.assert_allclose(rows.T @ rows / n, moment, rtol=1e-9, atol=1e-12)


def reading(moment, columns=None):
    """Return two numbers that depend on all entries: along the first spike, and across two coordinates."""
    basis = MODEL.basis[:, 0] if columns is None else MODEL.basis[columns, 0]
    matrix = moment.dense()
    return float(basis @ matrix @ basis), float(matrix[0, -1])


@pytest.mark.parametrize(
    ("n", "providers", "columns"),
    [(30, 1, None), (4, 1, COLUMNS), (30, 2, COLUMNS)],
    ids=["n > d", "n < d, restricted", "a hospital, restricted"],
)
def test_drawn_patients_scaled_to_length_1_have_the_law_of_rows(n, providers, columns):
    drawn, direct, planted = [], [], []
    for seed in range(DRAWS):
        cohort = MODEL.draw(n, providers, np.random.default_rng([seed, n]))
        moment = cohort[0].moment
        scaled = moment.unit() if columns is None else moment.restricted_unit(columns)
        assert scaled.exact
        drawn.append(reading(scaled, columns))
        rows = RowMoment(next(MODEL.rows(cohort[0].n, np.random.default_rng([seed, n, 1]))))
        direct.append(reading(rows.unit() if columns is None else rows.restricted_unit(columns), columns))
        matrix = moment.dense() if columns is None else moment.dense()[np.ix_(columns, columns)]
        planted.append(reading(DenseMoment(matrix / np.trace(matrix)), columns))
    drawn, direct, planted = (np.transpose(readings) for readings in (drawn, direct, planted))
    assert all(same_law(from_moment, from_rows) for from_moment, from_rows in zip(drawn, direct, strict=True))
    assert not all(same_law(bug, from_rows) for bug, from_rows in zip(planted, direct, strict=True))


def test_of_many_patients_all_that_is_asked_moves_together_as_that_of_rows():
    """n = 3000 beyond m = 1000: means within 5 standard errors, and the covariance of three readings.

    One of the moment, one of the restricted moment and one of a round: with patients of their own each, as
    a planted bug has them, they would not be correlated.
    """
    n, block = 3000, MODEL.basis[:, :1]

    def readings(moment) -> list[float]:
        within = block[COLUMNS] / np.linalg.norm(block[COLUMNS])
        return [
            float((block.T @ moment.unit().dense() @ block).item()),
            float((within.T @ moment.restricted_unit(COLUMNS).dense() @ within).item()),
            float((block * moment.normalised_product(block)).sum()),
        ]

    drawn = np.array([readings(MODEL.draw(n, 1, np.random.default_rng([i, 1])).pooled) for i in range(FEW)])
    direct = np.array(
        [readings(RowMoment(next(MODEL.rows(n, np.random.default_rng([i, 2]))))) for i in range(FEW)]
    )
    error = np.hypot(drawn.std(axis=0), direct.std(axis=0)) / np.sqrt(FEW)
    assert (np.abs(drawn.mean(axis=0) - direct.mean(axis=0)) < 5 * error).all()
    np.testing.assert_allclose(drawn.std(axis=0), direct.std(axis=0), rtol=5 / np.sqrt(FEW))
    together, apart = np.corrcoef(drawn.T), np.corrcoef(direct.T)
    np.testing.assert_allclose(together, apart, atol=5 / np.sqrt(FEW))
    assert np.abs(apart - np.eye(3)).max() > 10 / np.sqrt(FEW)


def test_all_that_is_asked_of_patients_is_of_the_same_patients():
    cohort = MODEL.draw(50, (30, 20), np.random.default_rng(4))
    for moment in (cohort.pooled, cohort[0].moment):
        every = np.arange(MODEL.d)
        np.testing.assert_array_equal(moment.unit().dense(), moment.unit().dense())
        np.testing.assert_allclose(moment.restricted_unit(every).dense(), moment.unit().dense(), rtol=1e-10)
    batch = next(cohort.pooled.batches([10], np.random.default_rng(0)))
    assert np.trace(batch.unit().dense()) == pytest.approx(1)


def test_batches_at_length_1_are_those_of_the_rows_themselves():
    rng = np.random.default_rng(4)
    pooled = Cohort.from_rows([rng.standard_normal((n, 5)) for n in (7, 6)], 10.0).pooled
    block, kept = rng.standard_normal((5, 2)), np.array([1, 3, 4])
    batches = pooled.batches([4, 5], np.random.default_rng(0))
    scaled = UnitMoment(pooled).batches([4, 5], np.random.default_rng(0))
    for batch, unit in zip(batches, scaled, strict=True):
        rows = batch.rows.copy()  # a batch is for one product
        alone = RowMoment(rows)
        expected = alone.unit()
        assert unit.dense().trace() == pytest.approx(1)
        np.testing.assert_allclose(unit.apply(block), expected.dense() @ block, rtol=1e-12)
        np.testing.assert_allclose(
            unit.apply(block[:3], kept), expected.dense()[:, kept] @ block[:3], rtol=1e-12
        )
        np.testing.assert_allclose(unit.restricted_unit(kept).dense(), alone.restricted_unit(kept).dense())
        np.testing.assert_allclose(unit.normalised_product(block), alone.normalised_product(block))
    with pytest.raises(ValueError, match="must hold rows"):
        UnitMoment(DenseMoment(np.eye(5) / 5)).batches([1], rng)


def test_an_eigenvalue_that_counts_often_is_as_many():
    values, counts = np.array([9.0, 4.0, 1.0, 0.0]), np.array([1.0, 1.0, 30.0, 5.0])
    repeated = np.repeat(values, counts.astype(int))
    unit = unit_rows.expected_unit_eigenvalues(values, counts)
    np.testing.assert_allclose(counts @ unit, 1.0, rtol=1e-10)
    np.testing.assert_allclose(
        np.repeat(unit, counts.astype(int)), unit_rows.expected_unit_eigenvalues(repeated), rtol=1e-10
    )
    pairs = unit_rows.expected_pair_moments(values, 2, counts)
    np.testing.assert_allclose(pairs[:, 0], unit_rows.expected_pair_moments(repeated, 2)[:, 0], rtol=1e-10)
    none = unit_rows.expected_unit_eigenvalues(values[:3], np.array([1.0, 1.0, 0.0]))
    np.testing.assert_allclose(none[:2], unit_rows.expected_unit_eigenvalues(values[:2]), rtol=1e-10)
