"""The population recipe, its public row bound, and how patients are split over hospitals."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from dppca_core import SpikedModel
from dppca_core.populations import elliptical
from dppca_core.populations.spiked import largest_of_bulk
from tests.core.laws import ALPHA, Z

MODEL = SpikedModel(d=12, k=3, s=5, spike=50.0, bulk=(1.0, 4.0), seed=7)
EDGES = pytest.mark.parametrize(
    "model",
    [
        MODEL,
        SpikedModel(d=2, k=1, s=1),
        SpikedModel(d=5, k=4, s=5),
        SpikedModel(d=6, k=2, s=2, bulk=(0.0, 0.0)),
        SpikedModel(d=6, k=2, s=6, bulk=(3.0, 3.0)),
    ],
    ids=["typical", "smallest", "k = d - 1", "no bulk", "flat bulk"],
)


@EDGES
def test_the_recipe_is_kept(model):
    values, basis, covariance = model.eigenvalues, model.basis, model.covariance()
    assert values.shape == (model.d,)
    assert (values[: model.k] == model.spike).all()
    assert (np.diff(values) <= 0).all()
    assert (values[model.k :] >= model.bulk[0]).all()
    assert (values[model.k :] <= model.bulk[1]).all()
    np.testing.assert_allclose(basis.T @ basis, np.eye(model.k), atol=1e-14)
    assert np.count_nonzero(basis.any(axis=1)) == model.s  # the others are zero to the bit
    np.testing.assert_allclose(covariance, covariance.T, atol=1e-12)
    np.testing.assert_allclose(covariance @ basis, model.spike * basis, atol=1e-10)
    np.testing.assert_allclose(np.linalg.eigvalsh(covariance)[::-1], values, atol=1e-10)


def test_the_same_recipe_is_the_same_population():
    same = SpikedModel(d=12, k=3, s=5, spike=50.0, bulk=(1.0, 4.0), seed=7)
    first = MODEL.covariance()
    elliptical.clear_caches()
    np.testing.assert_array_equal(same.covariance(), first)
    other = SpikedModel(d=12, k=3, s=5, spike=50.0, bulk=(1.0, 4.0), seed=8)
    assert not np.array_equal(other.basis, MODEL.basis)
    assert not np.array_equal(other.eigenvalues, MODEL.eigenvalues)


def test_spikes_fall_geometrically_and_stay_as_they_were_where_they_are_equal():
    model = SpikedModel(d=12, k=3, s=5, spike=50.0, bulk=(1.0, 4.0), seed=7, fall=0.25)
    np.testing.assert_allclose(model.spikes, (50.0, 25.0, 12.5))
    np.testing.assert_allclose(np.linalg.eigvalsh(model.covariance())[::-1][:3], model.spikes)
    np.testing.assert_array_equal(model.basis, MODEL.basis)
    np.testing.assert_array_equal(model.eigenvalues[3:], MODEL.eigenvalues[3:])
    assert SpikedModel(d=12, k=1, s=5, fall=0.25).spikes == (100.0,)
    with pytest.raises(ValueError, match="fall"):
        SpikedModel(d=12, k=2, s=5, spike=(50.0, 20.0), fall=0.5)
    with pytest.raises(ValueError, match="bulk"):  # the weakest spike would be within the bulk
        SpikedModel(d=12, k=2, s=5, spike=50.0, fall=0.2)


@pytest.mark.parametrize("correlation", [0.3, 0.9])
def test_a_correlated_bulk_leaves_the_spikes_and_correlates_neighbours(correlation):
    """Sigma = U spikes U^T + P (b R) P, built here from its definition."""
    model = SpikedModel(d=40, k=2, s=6, spike=200.0, bulk=(1.0, 4.0), seed=7, correlation=correlation)
    U, order = model.basis, np.arange(40)
    R = correlation ** np.abs(order[:, None] - order)
    P = np.eye(40) - U @ U.T
    expected = 200.0 * U @ U.T + P @ (2.5 * R) @ P
    np.testing.assert_allclose(model.covariance(), expected, atol=1e-11)
    values, vectors = np.linalg.eigh(expected)
    np.testing.assert_allclose(model.eigenvalues, values[::-1], atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(vectors[:, -2:].T @ U), np.sqrt(2))
    assert np.count_nonzero(U.any(axis=1)) == 6
    np.testing.assert_array_equal(U, SpikedModel(d=40, k=2, s=6, seed=7).basis)
    assert model.eigenvalues[2] < largest_of_bulk(model.bulk, correlation)


def test_a_correlated_bulk_above_the_weakest_spike_is_refused():
    """With .9 it may reach 19 times its variance, here 5."""
    assert largest_of_bulk((0.0, 10.0), 0.9) == pytest.approx(95.0)
    SpikedModel(d=12, k=2, s=5, spike=96.0, correlation=0.9)
    with pytest.raises(ValueError, match="correlation"):
        SpikedModel(d=12, k=2, s=5, spike=94.0, correlation=0.9)


def test_the_support_is_not_the_first_coordinates():
    """Ties in sorting would favour those."""
    supports = {
        tuple(np.flatnonzero(SpikedModel(d=12, k=1, s=3, seed=seed).basis.any(axis=1))) for seed in range(8)
    }
    assert len(supports) > 4


@pytest.mark.parametrize("array", ["basis", "root"])
def test_what_is_cached_cannot_be_written_to(array):
    cached = MODEL.basis if array == "basis" else elliptical._root(MODEL)
    with pytest.raises(ValueError, match="read-only"):
        cached[0, 0] = 1.0


@pytest.mark.parametrize(("n", "failure"), [(1, 0.1), (20, 0.1), (20, 0.5), (500, 0.2)])
def test_the_bound_fails_as_often_as_it_says(n, failure):
    """Share of data sets with a row beyond B: binomial, at ALPHA, after the tail's 1 %.

    Half and twice the failure are rejected.
    """
    sets = 400_000 // n
    rows = next(MODEL.rows(sets * n, np.random.default_rng(n), chunk=sets * n))
    longest = np.linalg.norm(rows, axis=1).reshape(sets, n).max(axis=1)

    def consistent(bound: float) -> bool:
        seen = int((longest > bound).sum())
        allowed = failure * np.array([0.99, 1.01])
        too_many = stats.binom.sf(seen - 1, sets, min(allowed[1], 1.0))
        too_few = stats.binom.cdf(seen, sets, allowed[0])
        return bool(min(too_many, too_few) > ALPHA / 2)

    assert consistent(MODEL.norm_bound(n, failure))
    assert not consistent(MODEL.norm_bound(n, failure / 2))
    assert not consistent(MODEL.norm_bound(n, min(2 * failure, 0.9)))


@pytest.mark.parametrize(
    ("d", "n", "failure"),
    [(2, 1, 0.5), (2, 10**9, 0.5), (5, 1, 0.01), (5, 100_000, 0.01), (1000, 10, 0.5), (1000, 10**9, 0.5)],
)
def test_the_bound_for_equal_eigenvalues(d, n, failure):
    """|row|^2 / lambda ~ chi2_d: B^2 to 1 %."""
    tail = -np.expm1(np.log1p(-failure) / n)
    expected = 2.5 * stats.chi2.isf(tail, d)
    assert elliptical.norm_bound(np.full(d, 2.5), n, failure) ** 2 == pytest.approx(expected, rel=0.01)


@given(d=st.integers(5, 1000), n=st.integers(1, 10**12), failure=st.floats(1e-9, 0.99))
@example(d=1000, n=2, failure=0.9537826447741578)  # the root finder passes the mean itself
def test_the_bound_exists_for_any_risk(d, n, failure):
    """1 % on B^2 also around the mean of |row|^2 and below it, where few patients may well be longer."""
    expected = stats.chi2.isf(-np.expm1(np.log1p(-failure) / n), d)
    assert elliptical.norm_bound(np.ones(d), n, failure) ** 2 == pytest.approx(expected, rel=0.01)


def test_oracle_13_the_bound_of_the_published_experiment():
    """theory.md, oracle 13: B^2 = 9074 for a spectrum of trace 5331, here rescaled to that trace; 1 %."""
    values = SpikedModel(d=1000, k=5, s=10).eigenvalues.copy()
    values[5:] *= (5331 - values[:5].sum()) / values[5:].sum()
    assert elliptical.norm_bound(values, 100_000, 0.01) ** 2 == pytest.approx(9074, rel=0.01)


@given(
    failure=st.floats(1e-6, 0.5),
    n=st.integers(2, 10**12),
    factor=st.floats(1.01, 10),
)
def test_more_patients_or_less_risk_need_a_longer_bound(failure, n, factor):
    bound = MODEL.norm_bound(n, failure)
    assert bound < MODEL.norm_bound(n, failure / factor)
    assert bound <= MODEL.norm_bound(int(np.ceil(n * factor)), failure)


sizes = st.integers(1, 60).flatmap(lambda many: st.tuples(st.integers(many, 10**9), st.just(many)))


@given(case=sizes, share=st.floats(0, 1))
def test_hospital_sizes(case, share):
    n, providers = case
    split = elliptical.hospital_sizes(n, providers, share)
    assert sum(split) == n
    assert len(split) == providers
    assert min(split) >= 1
    others = split if share <= 1 / providers else split[1:]
    assert max(others, default=0) - min(others, default=0) <= 1
    if providers > 1 and share > 1 / providers:
        assert split[0] == min(round(n * share), n - providers + 1)


def build(**changed: object) -> SpikedModel:
    return SpikedModel(**{"d": 10, "k": 2, "s": 4, **changed})


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"d": 1}, "d must be at least 2, got 1"),
        ({"d": 10.0}, r"d must be a whole number, got 10\.0"),
        ({"k": 10, "s": 10}, "k must be between 1 and 9, got 10"),
        ({"k": True}, "k must be a whole number, got True"),
        ({"s": 1}, "s must be between 2 and 10, got 1"),
        ({"s": 11}, "s must be between 2 and 10, got 11"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": 0.5}, r"seed must be a whole number, got 0\.5"),
        ({"spike": 0.0}, r"spike must be positive and finite, got 0\.0"),
        ({"spike": np.nan}, "spike must be positive and finite, got nan"),
        ({"spike": 1e101}, r"spike must lie between 1e-100 and 1e\+100, got 1e\+101"),
        ({"spike": "100"}, "spike must be a number, got '100'"),
        ({"bulk": 5.0}, r"bulk must be a pair .*got 5\.0"),
        ({"bulk": ()}, r"bulk must be a pair .*got \(\)"),
        ({"bulk": (0.0, 100.0)}, r"bulk .*got \(0\.0, 100\.0\)"),
        ({"bulk": (5.0, 1.0)}, r"bulk .*got \(5\.0, 1\.0\)"),
        ({"bulk": (-1.0, 1.0)}, r"bulk .*got -1\.0"),
        ({"bulk": (np.nan, 1.0)}, r"bulk .*got nan"),
    ],
    ids=str,
)
def test_a_bad_recipe_is_refused_by_name_and_value(changed, says):
    with pytest.raises(ValueError, match=says):
        build(**changed)


@pytest.mark.parametrize(
    ("n", "providers", "says"),
    [
        (0, 1, "n must be at least 1, got 0"),
        (10.0, 1, r"n must be a whole number, got 10\.0"),
        (10, 0, "providers must be at least 1, got 0"),
        (10, 2.0, r"providers must be a whole number, got 2\.0"),
        (3, 4, "n must be at least 4, got 3"),
        (10, (3, 4), "providers must add up to n = 10, got 7"),
        (10, (10, 0), "n must be at least 1, got 0"),
        (10, (4.0, 6.0), r"n must be a whole number, got 4\.0"),
    ],
    ids=str,
)
def test_a_bad_draw_is_refused_by_name_and_value(n, providers, says):
    with pytest.raises(ValueError, match=says):
        MODEL.draw(n, providers, np.random.default_rng(0))


def test_numpy_integers_are_whole_numbers():
    cohort = MODEL.draw(np.int64(10), np.int64(2), np.random.default_rng(0))
    assert [provider.n for provider in cohort] == [5, 5]


@pytest.mark.parametrize("failure", [0.0, 1.0, -0.1, np.nan])
def test_a_bad_failure_is_refused_by_name_and_value(failure):
    with pytest.raises(ValueError, match=f"failure must lie strictly between 0 and 1, got .*{failure}"):
        MODEL.norm_bound(10, failure)


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_a_bad_share_is_refused_by_name_and_value(share):
    with pytest.raises(ValueError, match=f"largest_share must lie between 0 and 1, got .*{share}"):
        elliptical.hospital_sizes(10, 2, share)


def test_a_draw_is_scaled_by_its_bound():
    n = 10**9
    cohort = MODEL.draw(n, (n - 3, 3), np.random.default_rng(0), failure=0.2)
    assert cohort.bound == MODEL.norm_bound(n, 0.2)
    # Each entry has a standard error of at most sqrt(2/n) times the largest variance.
    error = Z * np.sqrt(2 / n) * MODEL.spike
    np.testing.assert_allclose(cohort.pooled.dense() * cohort.bound**2, MODEL.covariance(), atol=error)


def test_the_generator_is_the_only_randomness():
    draws = [MODEL.draw(50, 2, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    dense = [draw[0].moment.dense() for draw in draws]
    np.testing.assert_array_equal(dense[0], dense[1])
    assert not np.array_equal(dense[0], dense[2])
    rng = np.random.default_rng(1)
    first, second = MODEL.draw(50, 2, rng), MODEL.draw(50, 2, rng)
    assert not np.array_equal(first.pooled.dense(), second.pooled.dense())
