"""Test DP-Oja: patients divided into groups, each used once, and the law of freshly drawn groups."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dppca_core import METHODS, Budget, Cohort, Provider, Release, SpikedModel, sin_theta
from dppca_core.accounting import gaussian
from dppca_core.arrays import MATRIX_LIMIT, Array, Divisible
from dppca_core.methods import dp_oja
from dppca_core.numerics import linalg
from dppca_core.numerics.moments import DenseMoment, RowMoment, SumMoment
from dppca_core.numerics.wishart import wishart_factor
from dppca_core.populations.gaussian_patients import FreshMoment
from tests.core.laws import ALPHA, follows, mean_is, same_law

METHOD = METHODS["dp_oja"]
BUDGET = Budget(1.0, 1e-5)
NO_NOISE = Budget(1e12, 0.5)
SIZES = (3, 50, 7)


def numbered(sizes: tuple[int, ...] = SIZES) -> Cohort:
    """Return hospitals whose patients carry a number: row i is (i + 1) / n in its first column."""
    n = sum(sizes)
    rows = np.zeros((n, 3))
    rows[:, 0] = (np.arange(n) + 1) / n
    return Cohort.from_rows(np.split(rows, np.cumsum(sizes)[:-1]), 1.0)


def dealt(cohort: Cohort, sizes: list[int], seed: int) -> list[Array]:
    groups = cohort.pooled.batches(sizes, np.random.default_rng(seed))
    return [np.rint(group.rows[:, 0] * cohort.n).astype(int) - 1 for group in groups]


@pytest.mark.parametrize(
    ("sizes", "hospitals"),
    [([60], SIZES), ([30, 30], (60,)), ([1, 2, 57], (1,) * 60), ([6] * 10, SIZES), ([1] * 60, (1,) * 60)],
)
def test_groups_partition_the_patients(sizes, hospitals):
    """Everybody is in one group, of the sizes asked for, whatever their hospital."""
    groups = dealt(numbered(hospitals), sizes, 0)
    assert [len(group) for group in groups] == sizes
    assert sorted(np.concatenate(groups)) == list(range(60))


def test_a_hospital_alone_deals_its_own_patients():
    whole = numbered((60,))
    alone = Cohort((whole[0],), whole[0].moment)
    for ours, theirs in zip(dealt(alone, [6] * 10, 3), dealt(whole, [6] * 10, 3), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_groups_are_dealt_at_random():
    """Each patient is in the first of ten groups with chance 1/10 (binomial at ALPHA); always is rejected."""
    cohort, runs = numbered(), 2000
    first = [dealt(cohort, [6] * 10, seed)[0] for seed in range(runs)]
    counts = np.bincount(np.concatenate(first), minlength=60)
    worst = min(stats.binomtest(int(count), runs, 0.1).pvalue for count in counts)
    assert worst > ALPHA / 60
    assert stats.binomtest(runs, runs, 0.1).pvalue < ALPHA / 60
    # Pairs as well: those of the second hospital follow the hypergeometric law.
    share = [np.count_nonzero((group >= 3) & (group < 53)) for group in first]
    assert mean_is(share, 5.0)
    assert mean_is((np.array(share) - 5.0) ** 2, stats.hypergeom(60, 50, 6).var())


@pytest.mark.parametrize(
    ("n", "batches", "sizes"), [(60, 7, [9] * 4 + [8] * 3), (4, 10, [1] * 4), (1, 10, [1])]
)
def test_a_run_uses_every_patient_once(n, batches, sizes, monkeypatch):
    """Groups are as equal as whole numbers allow; their moments add up to the whole."""
    groups: list[RowMoment] = []
    release = dp_oja.release
    monkeypatch.setattr(
        dp_oja, "release", lambda moment, *given: groups.append(moment) or release(moment, *given)
    )
    rows = np.random.default_rng(0).standard_normal((n, 5))
    cohort = Cohort.from_rows([rows], 3.0)
    METHOD.fit(cohort, k=2, budget=BUDGET, rng=np.random.default_rng(0), batches=batches)
    assert [len(group.rows) for group in groups] == sizes
    total = sum(len(group.rows) * group.dense() for group in groups)
    np.testing.assert_allclose(total, n * cohort.pooled.dense(), atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (17, 3), (40, 9_000), (400, 500)])
def test_a_groups_product_is_that_of_its_rows(n, d):
    """Rows are gathered piece by piece, of one or several tables, with all or some rows of the block."""
    rng = np.random.default_rng(0)
    tables = [rng.standard_normal((part, d)) / math.sqrt(d) for part in (n, 2, n)]
    (group,) = Cohort.from_rows(tables, 3.0).pooled.batches([2 * n + 2], rng)
    block, some = rng.standard_normal((d, 2)), np.arange(0, d, 2)
    wanted = group.rows.T @ (group.rows @ block) / (2 * n + 2)
    np.testing.assert_allclose(group.apply(block), wanted, rtol=1e-10, atol=1e-14)
    sparse = linalg.scatter_rows(block[some], some, d)
    wanted = group.rows.T @ (group.rows @ sparse) / (2 * n + 2)
    np.testing.assert_allclose(group.apply(block[some], some), wanted, rtol=1e-10, atol=1e-14)


def test_rows_wider_than_the_stated_size_form_no_matrix():
    assert Cohort.from_rows([np.ones((40, 3))], 3.0)[0].moment.tall
    wide = RowMoment(np.zeros((1, MATRIX_LIMIT + 1)))
    many = RowMoment(np.broadcast_to(wide.rows, (MATRIX_LIMIT, MATRIX_LIMIT + 1)))
    assert not many.tall
    assert RowMoment(np.broadcast_to(np.zeros((1, MATRIX_LIMIT)), (MATRIX_LIMIT, MATRIX_LIMIT))).tall


# Fresh groups of a population.

D, K = 5, 2
ROOT = np.diag([3.0, 1.0, 0.5, 2.0, 0.1]) @ linalg.orthonormalise(
    np.random.default_rng(5).standard_normal((D, D))
)
BLOCK = linalg.orthonormalise(np.random.default_rng(6).standard_normal((D, K)))
BOUND = 2.0
DRAWS = 4000

Draw = Callable[[int, np.random.Generator], Array]


def from_rows(n: int, rng: np.random.Generator) -> Array:
    rows = rng.standard_normal((n, D)) @ ROOT.T / BOUND
    return rows.T @ (rows @ BLOCK) / n


def fresh(n: int, rng: np.random.Generator) -> Array:
    return FreshMoment(ROOT, BOUND, n, rng).apply(BLOCK)


def by_parts(n: int, rng: np.random.Generator, *, lost: bool) -> Array:
    """Compute `FreshMoment.apply` with L lost behind N, or with another L there."""
    directions, upper = np.linalg.qr(ROOT.T @ BLOCK)
    factor = wishart_factor(n, K, rng)
    beside = np.eye(K) if lost else wishart_factor(n, K, rng)
    normal = rng.standard_normal((D, beside.shape[1]))
    normal -= directions @ (directions.T @ normal)
    mixed = directions @ factor @ factor.T + normal @ beside.T
    return np.asarray(ROOT @ mixed @ upper / (n * BOUND**2))


def statistics(draw: Draw, n: int, seed: int) -> dict[str, Array]:
    """Return a quadratic form, what leaves the span, their ratio, and one entry."""
    rng = np.random.default_rng(seed)
    drawn = np.array([draw(n, rng) for _ in range(DRAWS)])
    inside = BLOCK.T @ drawn
    form = inside.trace(axis1=1, axis2=2)
    outside = np.linalg.norm(drawn - BLOCK @ inside, axis=(1, 2))
    return {"form": form, "outside": outside, "ratio": outside / form, "entry": drawn[:, 0, 1]}


def agree(first: Draw, second: Draw, n: int) -> bool:
    here, there = statistics(first, n, 0), statistics(second, n, 1)
    return all(same_law(here[name], there[name]) for name in here)


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_fresh_groups_have_the_law_of_rows(n):
    """Four statistics pass KS at ALPHA, also of fewer patients than columns."""
    assert agree(fresh, from_rows, n)


@pytest.mark.parametrize("lost", [True, False], ids=["L lost", "another L"])
def test_a_planted_error_in_the_law_is_rejected(lost):
    assert not agree(lambda n, rng: by_parts(n, rng, lost=lost), from_rows, 3)


@pytest.mark.parametrize("n", [1, 40])
def test_the_mean_of_fresh_groups_is_the_covariance(n):
    """Every entry passes at ALPHA; without the bound it is rejected."""
    rng = np.random.default_rng(2)
    drawn = np.array([fresh(n, rng) for _ in range(DRAWS)])
    expected = ROOT @ ROOT.T @ BLOCK / BOUND**2
    for at in np.ndindex(D, K):
        assert mean_is(drawn[:, *at], expected[at])
    assert not mean_is(drawn[:, 0, 0], BOUND**2 * expected[0, 0])


def test_fresh_groups_read_only_the_rows_that_count():
    """A block at some rows is the same as the block with zeros elsewhere."""
    rows = np.array([1, 4])
    block = np.array([[0.6, 0.0], [0.8, 1.0]])
    short = FreshMoment(ROOT, BOUND, 7, np.random.default_rng(0)).apply(block, rows)
    full = FreshMoment(ROOT, BOUND, 7, np.random.default_rng(0)).apply(linalg.scatter_rows(block, rows, D))
    np.testing.assert_allclose(short, full, atol=1e-12)


def test_a_rank_deficient_population_is_drawn_too():
    """Nothing leaves the span of the covariance."""
    root = ROOT * np.array([1.0, 1, 0, 0, 0])  # columns: the covariance has rank 2
    drawn = FreshMoment(root, BOUND, 9, np.random.default_rng(0)).apply(BLOCK)
    left, sizes, _ = np.linalg.svd(root)
    assert sizes[2] < 1e-12
    np.testing.assert_allclose(left[:, 2:].T @ drawn, 0, atol=1e-12)


# The iteration.

MODEL = SpikedModel(d=60, k=3, s=20, spike=100.0, bulk=(0.0, 10.0), seed=2)
MANY = 10**6


def errors(name: str, n: int, budget: Budget, runs: int = 8, **options: object) -> Array:
    errors_of_runs = []
    for run in range(runs):
        cohort = MODEL.draw(n, 1, np.random.default_rng([run, 1]))
        estimate = METHODS[name].fit(
            cohort, k=3, budget=budget, rng=np.random.default_rng([run, 2]), **options
        )
        errors_of_runs.append(sin_theta(estimate.basis, MODEL.basis))
    return np.array(errors_of_runs)


@pytest.mark.parametrize("n", [10**4, 10**6])
def test_without_noise_it_finds_the_truth(n):
    """Half of the patients serve the approach, so it errs within twice the error of PCA on all of them."""
    plain = errors("pca", n, NO_NOISE)
    assert plain.mean() < 3 / np.sqrt(n / 60)
    assert plain.mean() < errors("dp_oja", n, NO_NOISE).mean() < 2 * plain.mean()


def test_rows_and_fresh_groups_give_the_same_error():
    """200 runs of each, in small groups, agree at ALPHA; twice the noise is rejected."""
    small = SpikedModel(d=8, k=2, s=3, spike=100.0, bulk=(0.1, 1.0), seed=4)
    rng = np.random.default_rng(0)

    def run(cohort: Cohort, budget: Budget) -> float:
        return sin_theta(METHOD.fit(cohort, k=2, budget=budget, rng=rng, batches=5).basis, small.basis)

    bound = small.norm_bound(3000)
    drawn = [run(small.draw(3000, 2, rng), BUDGET) for _ in range(200)]
    rows = [run(Cohort.from_rows(list(small.rows(3000, rng)), bound), BUDGET) for _ in range(200)]
    assert same_law(drawn, rows)
    assert not same_law(drawn, [run(small.draw(3000, 2, rng), Budget(0.5, 1e-5)) for _ in range(200)])


def test_the_price_of_one_pass():
    """Ten groups err about sqrt 2 times as much as ten rounds over all, T/sqrt(T/2) for sqrt T."""
    ratio = errors("dp_oja", MANY, BUDGET, batches=10).mean() / errors("noisy_power", MANY, BUDGET).mean()
    assert 1.1 < ratio < 1.7


def test_the_late_steps_are_a_mean(monkeypatch):
    """The answer spans the mean of H_t / l_t over the last five of ten groups, to a tenth of its error."""
    messages: list[tuple[Array, Array]] = []
    release = dp_oja.release

    def listen(moment: object, block: Array, *given: object) -> Array:
        messages.append((block, release(moment, block, *given)))
        return messages[-1][1].copy()

    monkeypatch.setattr(dp_oja, "release", listen)
    cohort = MODEL.draw(MANY, 1, np.random.default_rng(0))
    basis = METHOD.fit(cohort, k=3, budget=BUDGET, rng=np.random.default_rng(0)).basis

    def mean(late: list[tuple[Array, Array]]) -> Array:
        aligned = (
            message @ np.linalg.solve(block.T @ message, block.T @ MODEL.basis) for block, message in late
        )
        return linalg.orthonormalise(sum(aligned))

    error = sin_theta(basis, MODEL.basis)
    assert sin_theta(basis, mean(messages[5:])) < 0.2 * error
    assert sin_theta(basis, mean(messages[7:])) > 0.2 * error


@pytest.mark.parametrize(
    ("neighbours", "k", "moved"), [("replace-one", 2, 2**0.5), ("replace-one", 1, 1), ("add-remove", 2, 1)]
)
def test_the_noise_is_that_of_one_release_in_each_group(neighbours, k, moved, monkeypatch):
    """N(0, (moved z / b)^2) passes at ALPHA, reported for the smallest group; 1.2 times is rejected."""
    messages: list[Array] = []
    release = dp_oja.release
    monkeypatch.setattr(dp_oja, "release", lambda *given: messages.append(release(*given)) or messages[-1])
    budget = Budget(1.0, 1e-5, neighbours)
    cohort = Cohort.from_rows([np.zeros((23, 1000))], 1.0)
    estimate = METHOD.fit(cohort, k=k, budget=budget, rng=np.random.default_rng(0), batches=5)
    scaled = np.concatenate([b * m.ravel() for b, m in zip((5, 5, 5, 4, 4), messages, strict=True)])
    std = moved * gaussian.noise_multiplier(budget)
    assert follows(scaled, stats.norm(scale=std))
    assert not follows(scaled, stats.norm(scale=1.2 * std))
    assert estimate.noise_std == pytest.approx(std / 4)


def test_groups_cost_together_what_one_costs():
    once = (Release(gaussian.noise_multiplier(BUDGET)),)
    cohort = numbered()
    for batches in (1, 7, 60):
        estimate = METHOD.fit(cohort, k=1, budget=BUDGET, rng=np.random.default_rng(0), batches=batches)
        assert estimate.spent == once == METHOD.spends(BUDGET, d=3, k=1, batches=batches)
        assert estimate.bytes_sent == 8 * 3 * batches
        assert len(estimate.iterates) == batches + 1


def test_a_cohort_without_rows_is_refused_by_name():
    """The moment is held as one matrix, or as several."""
    dense = Provider(9, DenseMoment(np.eye(4) / 4))
    for pooled in (dense.moment, SumMoment((dense, dense))):
        cohort = Cohort((dense, dense), pooled)
        with pytest.raises(ValueError, match=r"^cohort must hold rows, or be drawn from a population"):
            METHOD.fit(cohort, k=1, budget=BUDGET, rng=np.random.default_rng(0))
    assert isinstance(numbered().pooled, Divisible)
    with pytest.raises(ValueError, match="batches must be at least 1, got 0"):
        METHOD.fit(numbered(), k=1, budget=BUDGET, rng=np.random.default_rng(0), batches=0)
