"""Clipping, and the four ways to hold a second moment."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dppca_core import Cohort, Provider
from dppca_core.arrays import Array
from dppca_core.numerics import moments
from dppca_core.numerics.moments import DenseMoment, RowMoment, SumMoment

rng = np.random.default_rng(0)
ROWS = rng.standard_normal((30, 6)) * np.geomspace(0.1, 10, 30)[:, None]

finite = st.floats(-1e304, 1e304, allow_subnormal=True)
tables = hnp.arrays(float, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=finite)


def squared_norm(row: Array) -> Fraction:
    return sum((Fraction(float(value)) ** 2 for value in row), Fraction(0))


@given(rows=tables, bound=st.floats(1e-3, 1e6))
@example(rows=np.array([[1e308, -1e308], [5e-324, 0.0], [0.0, 0.0]]), bound=1.0)
def test_clipped_rows_are_finite_and_keep_their_signs(rows, bound):
    clipped = moments.clip_rows(rows, bound)
    assert np.isfinite(clipped).all()
    assert (np.linalg.norm(clipped, axis=1) <= 1 + 1e-12).all()
    seen = np.abs(clipped) > 1e-300
    np.testing.assert_array_equal(np.sign(clipped[seen]), np.sign(rows[seen]))


@pytest.mark.parametrize(("row", "bound"), [([1e308, -1e308], 0.5), ([1.0, 5e-324], 5e-324)])
def test_the_largest_numbers_over_the_smallest_bounds(row, bound):
    """row / bound is beyond the largest double; the clipped row is not."""
    clipped = moments.clip_rows(np.array([row]), bound)
    np.testing.assert_allclose(clipped, [np.array(row) / np.hypot(*row)], rtol=1e-12)


@pytest.mark.parametrize("d", [2, 5, 64])
def test_no_clipped_row_is_longer_than_one(d):
    """In exact arithmetic: every sensitivity rests on |x| <= 1."""
    long = np.random.default_rng(d).standard_normal((200, d)) * 100
    assert max(squared_norm(row) for row in moments.clip_rows(long, 1.0)) <= 1


@given(rows=hnp.arrays(float, (3, 4), elements=st.floats(-1.0, 1.0)), bound=st.floats(2.01, 1e6))
def test_rows_within_the_bound_are_only_divided(rows, bound):
    np.testing.assert_array_equal(moments.clip_rows(rows, bound), rows / bound)


def test_clipping_is_plain_scaling():
    """Against the formula x min(1, B/|x|) / B, on rows on both sides of the bound."""
    norms = np.linalg.norm(ROWS, axis=1, keepdims=True)
    expected = ROWS * np.minimum(1.0, 4.0 / norms) / 4.0
    assert (norms > 4.0).any()
    assert (norms < 4.0).any()
    np.testing.assert_allclose(moments.clip_rows(ROWS, 4.0), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.float16, int])
def test_rows_of_any_kind_are_clipped_in_double_precision(kind):
    """|x| <= 1 would not hold in fewer digits."""
    rows = (ROWS * 100).astype(kind)
    clipped = Cohort.from_rows([rows], 3.0)[0].moment.rows
    np.testing.assert_array_equal(clipped, moments.clip_rows(rows.astype(float), 3.0))


def test_clipping_does_not_touch_its_input():
    before = ROWS.copy()
    moments.clip_rows(ROWS, 0.5)
    np.testing.assert_array_equal(ROWS, before)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_missing_values_are_refused_by_name(bad):
    rows = ROWS.copy()
    rows[3, 2] = bad
    with pytest.raises(ValueError, match="rows must hold finite numbers"):
        Cohort.from_rows([rows], 1.0)


@pytest.mark.parametrize("bound", [0.0, np.nan])
def test_a_bad_bound_is_refused_by_name(bound):
    with pytest.raises(ValueError, match=f"bound must be positive and finite, got .*{bound}"):
        Cohort.from_rows([ROWS], bound)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([], "^rows must hold at least one provider"),
        ([ROWS * 1j], "^rows must hold real numbers, got complex ones"),
        ([ROWS, ROWS[:0]], r"non-empty matrix, got shape \(0, 6\)"),
        ([ROWS[:, :0]], r"non-empty matrix, got shape \(30, 0\)"),
        ([ROWS[0]], r"non-empty matrix, got shape \(6,\)"),
        ([ROWS, ROWS[:, :5]], r"same columns, got \[5, 6\]"),
    ],
    ids=["no provider", "complex", "no rows", "no columns", "a vector", "unequal columns"],
)
def test_bad_rows_are_refused(parts, says):
    with pytest.raises(ValueError, match=says):
        Cohort.from_rows(parts, 1.0)


PARTS = [ROWS[:2], ROWS[2:9], ROWS[9:]]


def test_from_rows_is_the_second_moment_of_the_clipped_rows():
    clipped = [moments.clip_rows(part, 2.0) for part in PARTS]
    cohort = Cohort.from_rows(PARTS, 2.0)
    for provider, part in zip(cohort, clipped, strict=True):
        assert provider.n == len(part)
        np.testing.assert_allclose(provider.moment.dense(), part.T @ part / len(part), atol=1e-15)
    everything = np.concatenate(clipped)
    np.testing.assert_allclose(cohort.pooled.dense(), everything.T @ everything / 30, atol=1e-15)
    assert (len(cohort), cohort.n, cohort.features, cohort.bound) == (3, 30, 6, 2.0)
    whole = Cohort.from_rows([np.eye(3, dtype=int)], 1.0)
    np.testing.assert_allclose(whole.pooled.dense(), np.eye(3) / 3)


FORMS = {
    "dense": DenseMoment(ROWS.T @ ROWS / 30),
    "rows": RowMoment(ROWS.copy()),
    "sum": SumMoment(
        (Provider(9, DenseMoment(ROWS[:9].T @ ROWS[:9] / 9)), Provider(21, RowMoment(ROWS[9:].copy())))
    ),
    "sum of small hospitals": SumMoment(
        tuple(Provider(3, RowMoment(ROWS[first : first + 3].copy())) for first in range(0, 30, 3))
    ),
}
EVERY_FORM = pytest.mark.parametrize("moment", FORMS.values(), ids=FORMS.keys())


@EVERY_FORM
def test_every_form_is_the_same_moment(moment):
    block = rng.standard_normal((6, 2))
    some = np.array([0, 4, 5])
    np.testing.assert_allclose(moment.dense(), ROWS.T @ ROWS / 30, rtol=1e-13)
    np.testing.assert_allclose(moment.apply(block), moment.dense() @ block, rtol=1e-12)
    np.testing.assert_allclose(
        moment.apply(block[some], some), moment.dense()[:, some] @ block[some], rtol=1e-12
    )
    assert moment.features == 6


@EVERY_FORM
def test_a_product_is_a_fresh_array(moment):
    """DPS-PCA adds its noise in place."""
    block = np.eye(6)[:, :2]
    before = moment.apply(block).copy()
    moment.apply(block)[...] = np.nan
    np.testing.assert_array_equal(moment.apply(block), before)


@EVERY_FORM
def test_nobody_can_write_into_a_moment(moment):
    before = moment.dense().copy()
    given_out = moment.dense()
    if given_out.flags.writeable:
        given_out[...] = np.nan
    np.testing.assert_array_equal(moment.dense(), before)


def test_stored_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        FORMS["dense"].dense()[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        FORMS["rows"].rows[0, 0] = 1.0


@pytest.mark.parametrize(("n", "tall"), [(1, False), (3, False), (4, True), (30, True)])
def test_many_rows_are_used_as_a_matrix(n, tall):
    """d = 6: the matrix is the cheaper one from n > d/2 on."""
    assert Cohort.from_rows([ROWS[:n]], 1.0)[0].moment.tall is tall


def test_few_rows_are_multiplied_as_rows():
    """Two of six features: X^T (X block) / n, of the whole block or of its rows that are not zero."""
    moment = RowMoment(ROWS[:2].copy())
    assert not moment.rows.flags.writeable
    matrix = ROWS[:2].T @ ROWS[:2] / 2
    block, some = rng.standard_normal((6, 2)), np.array([1, 4])
    np.testing.assert_allclose(moment.apply(block), matrix @ block, rtol=1e-12)
    np.testing.assert_allclose(moment.apply(block[some], some), matrix[:, some] @ block[some], rtol=1e-12)
    assert "_matrix" not in vars(moment)
    pooled = SumMoment(tuple(Provider(1, RowMoment(ROWS[i : i + 1].copy())) for i in range(2)))
    np.testing.assert_allclose(pooled.apply(block), matrix @ block, rtol=1e-12)
    np.testing.assert_allclose(pooled.apply(block[some], some), matrix[:, some] @ block[some], rtol=1e-12)
    assert not pooled.tall and "_matrix" not in vars(pooled)


def test_small_hospitals_are_one_matrix_together_and_keep_none():
    """Two hundred of them would take two hundred products, or matrices."""
    cohort = Cohort.from_rows(np.split(ROWS, 10), 1.0)
    cohort.pooled.apply(np.eye(6))
    assert cohort.pooled.tall
    assert not any(provider.moment.tall or "_matrix" in vars(provider.moment) for provider in cohort)


def test_few_wide_rows_never_form_a_square_matrix():
    """n = 50, d = 5000: building, and ten products, stay far below the 200 MB of d x d."""
    wide = np.random.default_rng(0).standard_normal((50, 5000))
    block = np.random.default_rng(1).standard_normal((5000, 3))
    tracemalloc.start()
    cohort = Cohort.from_rows([wide[:20], wide[20:]], 100.0)
    products = [cohort.pooled.apply(block) for _ in range(10)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    clipped = moments.clip_rows(wide, 100.0)
    np.testing.assert_allclose(products[-1], clipped.T @ (clipped @ block) / 50, atol=1e-15)
    assert peak < 5000 * 5000 * 8 / 10
