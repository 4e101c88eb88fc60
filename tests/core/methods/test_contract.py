"""Test what every method of the registry must keep. A new file in `methods/` is tested here, unedited."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from inspect import signature
from itertools import combinations, cycle, product

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, Estimate, Method, Provider, Release, SpikedModel, sin_theta
from dppca_core.arrays import Array
from dppca_core.numerics import linalg
from dppca_core.numerics.moments import DenseMoment, RowMoment
from dppca_core.privacy import ACCOUNTINGS, NEIGHBOURS
from scripts import method_pages
from tests.core.laws import same_law
from tests.core.problems import SMALL, small_cohort

EVERY = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
PRIVATE = {name: method for name, method in METHODS.items() if method.private}
EVERY_PRIVATE = pytest.mark.parametrize("method", PRIVATE.values(), ids=PRIVATE.keys())
SPARSE = {name: method for name, method in METHODS.items() if "s_hat" in method.uses}
EVERY_SPARSE = pytest.mark.parametrize("method", SPARSE.values(), ids=SPARSE.keys())
# One pass over the patients in batches is not an eigenproblem of their moment, noise or not; nor is that of
# rows of length 1 (test_two_stage).
WHOLE = {
    name: method
    for name, method in METHODS.items()
    if "batches" not in method.uses and method.scaling == "inside"
}
EVERY_WHOLE = pytest.mark.parametrize("method", WHOLE.values(), ids=WHOLE.keys())

BUDGET = Budget(1.0, 1e-5)
BUDGETS = [Budget(1.0, 1e-5, relation, accounting) for relation in NEIGHBOURS for accounting in ACCOUNTINGS]
# Each relation and accounting at budgets far from 1 as well.
MORE_BUDGETS = [replace(budget, epsilon=epsilon) for budget in BUDGETS for epsilon in (0.01, 1.0, 10.0)]
# The fewest scans of a chain, where a test does not ask how well it has mixed.
QUICK = {"ppca": {"scans": 4}}
NO_NOISE = Budget(1e9, 0.5)
MANY = 10**13  # patients with whom also noise that does not vanish with epsilon (Wishart's) is below 1e-9


def run(
    method: Method, cohort: Cohort, *, k: int = 2, budget: Budget = BUDGET, seed: int = 0, **options
) -> Estimate:
    return method.fit(cohort, k=k, budget=budget, rng=np.random.default_rng(seed), **options)


def is_basis(basis: Array, d: int, k: int) -> bool:
    return basis.shape == (d, k) and np.allclose(basis.T @ basis, np.eye(k), atol=1e-12)


def plain(moment: Array, k: int) -> Array:
    return np.linalg.eigh(moment)[1][:, -k:]


@EVERY
def test_the_answer_is_an_orthonormal_basis(method):
    """Every k from one direction to all but one (d = 8) meets two budgets; iterates are bases as well."""
    for budget, k in zip(BUDGETS, (1, 2, 7) * 2, strict=True):
        estimate = run(method, small_cohort(), k=k, budget=budget, **QUICK.get(method.name, {}))
        assert is_basis(estimate.basis, SMALL.d, k), (budget, k)
        for iterate in estimate.iterates:
            np.testing.assert_allclose(iterate.T @ iterate, np.eye(k), atol=1e-8)
        if estimate.iterates:
            np.testing.assert_array_equal(estimate.iterates[-1], estimate.basis)


@EVERY
def test_the_generator_is_the_only_randomness(method):
    once, twice, other = (run(method, small_cohort(), seed=seed).basis for seed in (0, 0, 1))
    np.testing.assert_array_equal(once, twice)
    assert not (method.private and np.array_equal(once, other))


@EVERY
def test_the_cohort_is_not_modified(method):
    """Moments, drawn or from rows, and the rows themselves stay as they were."""
    rows = [np.random.default_rng(i).standard_normal((n, 8)) for i, n in enumerate((3, 50))]
    kept = [part.copy() for part in rows]
    for cohort in (small_cohort(), Cohort.from_rows(rows, 2.0)):
        moments = [cohort.pooled, *(provider.moment for provider in cohort)]
        before = [moment.dense().copy() for moment in moments]
        run(method, cohort)
        for moment, dense in zip(moments, before, strict=True):
            np.testing.assert_array_equal(moment.dense(), dense)
    for part, copy in zip(rows, kept, strict=True):
        np.testing.assert_array_equal(part, copy)


@EVERY_WHOLE
@pytest.mark.parametrize("k", [1, 2])
def test_without_noise_it_is_plain_pca(method, k):
    """The answer is numpy's eigenvectors of one hospital's moment; for k = 1 a gap is made."""
    moment = small_cohort(n=MANY, providers=1).pooled.dense()
    if k == 1:  # leave only the first of the two spikes
        second = plain(moment, 2)[:, :1]
        moment = moment - second @ second.T * (second.T @ moment @ second) * 0.99
    cohort = Cohort((Provider(MANY, DenseMoment(moment.copy())),), DenseMoment(moment.copy()))
    estimate = run(method, cohort, k=k, budget=NO_NOISE)
    assert sin_theta(estimate.basis, plain(moment, k)) < 1e-5
    assert (
        sin_theta(
            METHODS["pca"].fit(cohort, k=k, budget=BUDGET, rng=np.random.default_rng(0)).basis,
            plain(moment, k),
        )
        < 1e-12
    )


@EVERY
@pytest.mark.parametrize("k", [1, 2])
def test_without_noise_hospitals_that_share_a_subspace_find_it(method, k):
    """Where rows fill k directions exactly, averaging, compressing and streaming agree."""
    flat = SpikedModel(d=8, k=k, s=3, spike=100.0, bulk=(0.0, 0.0), seed=4)
    cohort = flat.draw(MANY, 3, np.random.default_rng(0))
    assert sin_theta(run(method, cohort, k=k, budget=NO_NOISE).basis, flat.basis) < 1e-5


@pytest.mark.parametrize("method", [method for method in SPARSE.values() if method.name in WHOLE])
def test_without_noise_it_is_plain_sparse_pca(method):
    """The answer is the best of all 56 supports of three rows, by brute force, and that of `sparse_pca`."""
    cohort = small_cohort(n=10**6)
    moment = cohort.pooled.dense()

    def energy(rows: tuple[int, ...]) -> float:
        return float(np.linalg.eigvalsh(moment[np.ix_(rows, rows)])[-2:].sum())

    best = list(max(combinations(range(SMALL.d), SMALL.s), key=energy))
    expected = np.zeros((SMALL.d, 2))
    expected[best] = plain(moment[np.ix_(best, best)], 2)

    basis = run(method, cohort, budget=NO_NOISE, s_hat=SMALL.s).basis
    reference = run(METHODS["sparse_pca"], cohort, s_hat=SMALL.s).basis
    assert np.flatnonzero(basis.any(axis=1)).tolist() == best
    assert sin_theta(basis, expected) < 1e-6
    assert sin_theta(basis, reference) < 1e-6


@EVERY_SPARSE
def test_a_sparse_answer_has_s_hat_rows(method):
    """Or fewer, where rows are shrunk at the end."""
    rows = np.count_nonzero(run(method, small_cohort(), s_hat=4).basis.any(axis=1))
    shrinks = method.name == "sparse_pca_shrunk" or "shrink" in signature(method.fit).parameters
    assert rows <= 4 if shrinks else rows == 4


@EVERY_SPARSE
@pytest.mark.parametrize("s_hat", [1, 9])
def test_a_bad_s_hat_is_refused_by_name_and_value(method, s_hat):
    """test_checks holds the table of other bad numbers."""
    with pytest.raises(ValueError, match=f"s_hat must be between 2 and 8, got {s_hat}"):
        run(method, small_cohort(), s_hat=s_hat)


STARTED = {name: m for name, m in METHODS.items() if "start" in signature(m.fit).parameters}


@pytest.mark.parametrize("method", STARTED.values(), ids=STARTED.keys())
def test_a_start_that_breaks_the_sensitivity_is_refused(method):
    """Noise would vanish beside so long a start."""
    with pytest.raises(ValueError, match="start must have orthonormal columns"):
        run(method, small_cohort(), start=1e9 * SMALL.basis)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        *(({"k": k}, rf"k must be .*got {k}") for k in (0, -1, 8, 9, 2.0, True, np.nan)),
        ({"cohort": None}, "cohort must be a Cohort, got None"),
        ({"budget": 1}, "budget must be a Budget, got 1"),
        ({"rng": 7}, "rng must be a Generator, got 7"),
        ({"cohort": Cohort.from_rows([np.zeros((2, 1))], 1.0)}, "k must be between 1 and 0, got 2"),
        (
            {"cohort": Cohort.from_rows([np.ones((2, 20_531))], 100.0)},
            r"3\.4 GB at d = 20,531.*noisy_power",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_shared_arguments_are_refused_by_name_and_value(changed, message):
    """The registry checks them around every `fit`, before any work."""
    shared = {"cohort": small_cohort(), "k": 2, "budget": BUDGET, "rng": np.random.default_rng(0)} | changed
    with pytest.raises(ValueError, match=message):
        METHODS["analyze_gauss"].fit(shared.pop("cohort"), **shared)


def test_only_methods_that_form_a_matrix_are_limited_in_features():
    skipped = {name for name, method in METHODS.items() if method.skip(20_531)}
    assert skipped == {name for name, method in METHODS.items() if method.matrix}
    assert not any(method.skip(2_000) for method in METHODS.values())


def test_a_row_beyond_the_bound_counts_as_one_on_it():
    """The cohort clips: no method can forget it, and no row is worth more than another."""
    rows = np.random.default_rng(0).standard_normal((40, 8))
    rows[7] *= 3.0 / np.linalg.norm(rows[7])
    longer = rows.copy()
    longer[7] *= 1e6
    within, beyond = (Cohort.from_rows([part], 3.0).pooled.dense() for part in (rows, longer))
    np.testing.assert_allclose(within, beyond, rtol=1e-12, atol=1e-15)


def test_an_empty_hospital_is_refused_by_name():
    with pytest.raises(ValueError, match=r"rows must be a non-empty matrix, got shape \(0, 8\)"):
        Cohort.from_rows([np.eye(8), np.zeros((0, 8))], 3.0)


ODD = {
    "one patient": [np.eye(8)[:1] + 0.5],
    "one patient in each hospital": [row[None] for row in np.eye(8)[:3] + 0.1],
    "fewer patients than features": [np.random.default_rng(0).standard_normal((3, 8))],
    "one hospital": [np.random.default_rng(1).standard_normal((40, 8))],
    "a constant column": [np.random.default_rng(2).standard_normal((40, 8)) * (np.arange(8) > 0) + 1.0],
    "a column of zeros": [np.random.default_rng(3).standard_normal((40, 8)) * (np.arange(8) > 0)],
    "the same row many times": [np.tile(np.arange(8.0), (40, 1)), np.arange(8.0)[None]],
    "only zeros": [np.zeros((20, 8)), np.zeros((2, 8))],
}


@EVERY
def test_odd_tables_still_give_a_basis(method):
    """Each table meets both budgets, one with two components and the other with one."""
    for i, (name, rows) in enumerate(ODD.items()):
        for k, budget in ((2, (BUDGET, NO_NOISE)[i % 2]), (1, (NO_NOISE, BUDGET)[i % 2])):
            estimate = run(
                method, Cohort.from_rows(rows, 3.0), k=k, budget=budget, **QUICK.get(method.name, {})
            )
            assert is_basis(estimate.basis, 8, k), (name, budget)


@EVERY_WHOLE
def test_rows_and_their_matrix_are_the_same_input(method):
    """For n < d, the rows and the d x d matrix of the same rows give the same answer."""
    cohort = Cohort.from_rows([np.random.default_rng(0).standard_normal((3, 8))], 2.0)
    assert isinstance(cohort[0].moment, RowMoment)
    dense = DenseMoment(cohort.pooled.dense())
    same = Cohort((Provider(3, dense),), dense, cohort.bound)
    assert sin_theta(run(method, cohort).basis, run(method, same).basis) < 1e-8


def order_matters(fit: Callable[..., Estimate], **options) -> bool:
    """Return whether the error's law changes with the order of the hospitals (KS, at ALPHA)."""
    parts = [next(SMALL.rows(n, np.random.default_rng(n))) for n in (4, 20, 300)]
    forward, backward = Cohort.from_rows(parts, 20.0), Cohort.from_rows(parts[::-1], 20.0)

    def errors(cohort: Cohort, first: int) -> list[float]:
        seeds = (np.random.default_rng([first, run]) for run in range(40))
        bases = (fit(cohort, k=2, budget=BUDGET, rng=rng, **options).basis for rng in seeds)
        # Rounded: without noise all errors are one number, up to the order of summation.
        return [round(sin_theta(basis, SMALL.basis), 9) for basis in bases]

    return not same_law(errors(forward, 0), errors(backward, 1))


@EVERY
def test_the_order_of_hospitals_does_not_matter(method):
    assert not order_matters(method.fit, **QUICK.get(method.name, {}))


def test_a_planted_method_that_reads_one_hospital_is_caught():
    def first_hospital(cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator) -> Estimate:
        noise = linalg.isotropic_noise(cohort.features, 1e-3, rng)
        return Estimate(linalg.top_eigenspace(cohort[0].moment.dense() + noise, k))

    assert order_matters(first_hospital)


@EVERY
def test_noise_is_reported_exactly_where_it_is_spent(method):
    estimate = run(method, small_cohort(n=10**6))
    assert bool(estimate.spent) == method.private, "give the estimate `spent`, what `spends` returns"
    assert method.private == (method.guarantee != "none")
    assert method.private == (method.true_epsilon(BUDGET, d=SMALL.d, k=2) is not None)
    if any(isinstance(event, Release) for event in estimate.spent):
        assert estimate.noise_std > 0, "give the estimate `noise_std`, of the noise in what is released"
    if not method.private:
        assert estimate.noise_std == 0
    assert estimate.bytes_sent > 0 or method.trust == "none", "give the estimate its `bytes_sent`"
    assert 0 < estimate.seconds < 60


@EVERY_PRIVATE
def test_what_is_spent_is_known_beforehand(method):
    """This holds also where the paper's constant is not private."""
    for budget, k in zip(MORE_BUDGETS, cycle((1, 2))):
        estimate = run(method, small_cohort(), k=k, budget=budget, **QUICK.get(method.name, {}))
        expected = method.spends(budget, d=SMALL.d, k=k)
        assert estimate.spent == expected, f"`spent` of the estimate is what `spends` returns: {budget}, {k}"


@EVERY_PRIVATE
def test_what_is_spent_is_within_the_budget(method):
    """`accounting` composes what is known beforehand, and test_accounting holds it to dp-accounting."""
    for budget, k in product(MORE_BUDGETS, (1, 2)):
        if budget.accounting == "as-printed":
            continue
        assert method.true_epsilon(budget, d=SMALL.d, k=k) <= budget.epsilon * (1 + 1e-9), (budget, k)


@EVERY_PRIVATE
def test_more_epsilon_means_less_noise(method):
    budgets = (Budget(e, 1e-5) for e in (0.1, 1.0, 10.0))
    stds = [run(method, small_cohort(n=10**6), budget=budget).noise_std for budget in budgets]
    if any(stds):  # what is drawn from an exponential law has no standard deviation to tell
        assert stds == sorted(stds, reverse=True)
        assert len(set(stds)) == 3


@EVERY
def test_every_method_is_documented(method):
    """Module, `fit`, the step that reads rows, title and reference are there; `uses` names real controls."""
    assert METHODS[method.name] is method and "\nReferences:\n" in method.fit.__doc__
    lacks = list(method_pages.lacking(method, import_module(f"dppca_core.methods.{method.name}")))
    assert lacks == [], f"change dppca_core/methods/{method.name}.py"
