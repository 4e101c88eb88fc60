"""Rows with heavy tails: their law, what clipping leaves of it, and moments drawn at a cost without n.

Every statistical test rejects a planted bug, and errs with the chance ALPHA where it can.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dppca_core import METHODS, Budget, SpikedModel
from dppca_core.bounds import BOUNDS
from dppca_core.cohort import Cohort
from dppca_core.experiments import draws
from dppca_core.experiments.explorer import closed_forms
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.explorer.trusts import recommended
from dppca_core.numerics.subspace_metrics import sin_theta
from dppca_core.numerics.unit_rows import expected_unit_eigenvalues, unit_rows
from dppca_core.populations import heavy_tails
from dppca_core.populations.heavy_tails import clipped_eigenvalues
from tests.core.laws import ALPHA, Z

GAUSSIAN = SpikedModel(d=6, k=2, s=4, spike=20.0, bulk=(1.0, 5.0), seed=3)
HEAVY = replace(GAUSSIAN, tails=4.0)


def drawn(model: SpikedModel, n: int, seed: int = 0) -> np.ndarray:
    return np.concatenate(list(model.rows(n, np.random.default_rng(seed))))


def clipped(model: SpikedModel, n: int, bound: float, seed: int = 0) -> np.ndarray:
    rows = drawn(model, n, seed)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), bound)


def test_rows_have_the_covariance_and_the_tails_of_students_t():
    """At 6 degrees, whose fourth moments exist; a coordinate's law by Kolmogorov and Smirnov."""
    model = replace(GAUSSIAN, tails=6.0)
    rows = drawn(model, 200_000)
    products = np.einsum("ni,nj->nij", rows, rows)
    standard_errors = products.std(axis=0) / np.sqrt(len(rows))
    assert (np.abs(products.mean(axis=0) - model.covariance()) < Z * standard_errors).all()
    first = rows[:, 0] / np.sqrt(model.covariance()[0, 0])
    assert stats.kstest(first * np.sqrt(6 / 4), stats.t(6).cdf).pvalue > ALPHA
    assert stats.kstest(first, stats.norm.cdf).pvalue < ALPHA


def test_rows_of_length_1_are_those_of_gaussian_patients():
    units = (unit_rows(drawn(HEAVY, 200_000)) @ HEAVY.vectors) ** 2
    errors = units.std(axis=0) / np.sqrt(len(units))
    expected = expected_unit_eigenvalues(HEAVY.eigenvalues)
    assert (np.abs(units.mean(axis=0) - expected) < Z * errors).all()
    heavy, normal = (model.draw(5000, 3, np.random.default_rng(1)) for model in (HEAVY, GAUSSIAN))
    for ours, theirs in ((heavy.pooled, normal.pooled), (heavy[1].moment, normal[1].moment)):
        np.testing.assert_allclose(ours.unit().dense(), theirs.unit().dense(), atol=1e-14)


@pytest.mark.parametrize("tails", [2.5, 4.0, 30.0])
def test_clipped_eigenvalues_are_those_of_clipped_rows(tails):
    """Within 1 %, which their own simulation takes, and sampling; those of unclipped rows are not."""
    model = replace(GAUSSIAN, tails=tails)
    bound = model.norm_bound(10**9)
    assert bound == pytest.approx(3 * np.sqrt(model.eigenvalues.sum()))
    squares = (clipped(model, 400_000, bound) @ model.vectors) ** 2
    error = Z * squares.std(axis=0) / np.sqrt(len(squares)) + 0.01 * squares.mean(axis=0)
    values = model.scaled_eigenvalues(bound)
    assert (np.abs(squares.mean(axis=0) - values) < error).all()
    if tails < 30:
        assert not (np.abs(squares.mean(axis=0) - model.eigenvalues / bound**2) < error).all()


def test_clipped_eigenvalues_of_light_tails_and_a_far_bound_are_the_covariances():
    values = np.array([5.0, 2.0, 1.0])
    np.testing.assert_allclose(clipped_eigenvalues(values, 1e4, 1e6), values / 1e8, rtol=1e-4)


def test_the_second_moment_has_the_covariances_eigenvectors():
    bound = HEAVY.norm_bound(1)
    rows = clipped(HEAVY, 400_000, bound, seed=5)
    np.testing.assert_allclose(HEAVY.second_moment(bound), rows.T @ rows / len(rows), atol=2e-4)


def traces(n: int, runs: int, model: SpikedModel, seed: int) -> np.ndarray:
    return np.array(
        [np.trace(model.draw(n, 1, np.random.default_rng([seed, i])).pooled.dense()) for i in range(runs)]
    )


def test_few_patients_have_the_exact_law(monkeypatch):
    """The trace and the largest eigenvalue of 20 patients' moments, beside rows drawn one by one."""
    n, runs, bound = 20, 1500, HEAVY.norm_bound(20)

    def statistics(matrices):
        return np.array([[np.trace(m), np.linalg.eigvalsh(m)[-1]] for m in matrices])

    seeds = [np.random.default_rng([1, i]) for i in range(runs)]
    moments = [HEAVY.draw(n, 1, rng).pooled for rng in seeds]
    assert all(moment.exact for moment in moments)
    ours = statistics([moment.dense() for moment in moments])
    rows = clipped(HEAVY, n * runs, bound, seed=2).reshape(runs, n, -1)
    theirs = statistics([part.T @ part / n for part in rows])
    for column in range(2):
        assert stats.ks_2samp(ours[:, column], theirs[:, column]).pvalue > ALPHA
    monkeypatch.setattr(heavy_tails, "mixing_factors", lambda n, tails, rng: np.ones(n))  # a planted bug
    light = statistics([HEAVY.draw(n, 1, np.random.default_rng([1, i])).pooled.dense() for i in range(runs)])
    assert stats.ks_2samp(light[:, 0], theirs[:, 0]).pvalue < ALPHA


def test_many_patients_have_the_mean_and_the_spread_of_rows_drawn_one_by_one():
    """Of 6,000 patients, of whom 1,000 rows stand in: entries in the eigenbasis; not the spread of 1,000."""
    n, runs, bound = 6000, 300, HEAVY.norm_bound(1)
    ours = np.stack([HEAVY.draw(n, 1, np.random.default_rng([3, i])).pooled.dense() for i in range(runs)])
    assert not HEAVY.draw(n, 1, np.random.default_rng(0)).pooled.exact
    rows = clipped(HEAVY, n * runs, bound, seed=4).reshape(runs, n, -1)
    theirs = np.einsum("rni,rnj->rij", rows, rows) / n
    turned = [HEAVY.vectors.T @ each @ HEAVY.vectors for each in (ours, theirs)]
    means, stds = ([getattr(each, name)(axis=0) for each in turned] for name in ("mean", "std"))
    gap = np.abs(means[0] - means[1]) / np.hypot(*stds) * np.sqrt(runs)
    off = ~np.eye(HEAVY.d, dtype=bool)  # E itself is simulated to 1 %
    assert (gap[off] < Z).all()
    np.testing.assert_allclose(np.diag(means[0]), np.diag(means[1]), rtol=0.02)
    # A standard deviation of 300 runs is known to 1/sqrt(600).
    ratio = stds[0] / stds[1]
    assert (np.abs(np.log(ratio)) < Z * np.sqrt(2 / (2 * runs))).all()
    assert (np.abs(np.log(ratio * np.sqrt(6))) > Z * np.sqrt(2 / (2 * runs))).all()


def test_errors_are_those_of_rows_drawn_one_by_one():
    """The geometric mean of sin^2 of PCA at 20,000 patients, 10 % apart at most: twice what was seen."""
    model = SpikedModel(d=20, k=2, s=6, spike=30.0, tails=3.0)
    n, runs, bound = 20_000, 40, model.norm_bound(1)
    fit = METHODS["pca"].fit

    def error(cohort: Cohort) -> float:
        estimate = fit(cohort, k=2, budget=Budget(1.0, 1e-6), rng=np.random.default_rng(0))
        return 2 * np.log(sin_theta(estimate.basis, model.basis))

    ours = [error(model.draw(n, 1, np.random.default_rng([5, i]))) for i in range(runs)]
    rows = [Cohort.from_rows([drawn(model, n, seed=100 + i)], bound) for i in range(runs)]
    theirs = [error(cohort) for cohort in rows]
    spread = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(runs)
    assert abs(np.mean(ours) - np.mean(theirs)) < max(0.1, Z * spread)


def test_hospitals_have_their_patients_and_one_pass_fresh_ones():
    cohort = HEAVY.draw(3000, (2000, 1000), np.random.default_rng(0))
    weighted = sum(provider.n * provider.moment.dense() for provider in cohort) / cohort.n
    np.testing.assert_allclose(weighted, cohort.pooled.dense(), atol=0.01)
    first, second = cohort.pooled.batches((500, 500), np.random.default_rng(1))
    assert not np.allclose(first.dense(), second.dense(), atol=1e-4)
    assert np.trace(first.dense()) == pytest.approx(np.trace(second.dense()), rel=0.2)
    assert np.trace(first.dense()) != pytest.approx(np.trace(second.dense()), rel=1e-6)


def test_the_truth_is_that_of_clipped_rows():
    truth = draws.truth(HEAVY, (1000,), 2, draws.PUBLIC, 0)
    np.testing.assert_array_equal(truth.basis, HEAVY.basis)
    np.testing.assert_array_equal(truth.eigenvalues, HEAVY.scaled_eigenvalues(HEAVY.norm_bound(1)))
    moment = draws.second_moment(HEAVY, (1000,), draws.PUBLIC, 0)
    np.testing.assert_allclose(np.linalg.eigvalsh(moment)[::-1], truth.eigenvalues, atol=1e-12)
    unit = draws.truth(HEAVY, (1000,), 2, draws.Scaling("unit"), 0)
    np.testing.assert_array_equal(unit.eigenvalues, HEAVY.eigenvalues)


def test_closed_forms_for_gaussian_rows_say_that_they_do_not_apply():
    experiment = ExplorerExperiment(HEAVY, n=100_000, k=2, s_hat=4, delta=1e-6)
    results = Results(experiment)
    normal = Results(replace(experiment, population=GAUSSIAN))
    for name in ("dps_prediction", "analyze_gauss_prediction", "ge2018", "sparse_minimax"):
        bound = closed_forms.evaluate(results, name, 1.0)
        assert not bound.applies and any("heavy tails" in line for line in bound.failed)
        assert not any("heavy" in line for line in closed_forms.evaluate(normal, name, 1.0).failed)
    ours, theirs = (closed_forms.evaluate(each, "two_stage_prediction", 1.0) for each in (results, normal))
    assert ours.applies == theirs.applies and ours.total == pytest.approx(theirs.total, rel=1e-9)
    assert (
        BOUNDS["gaussian_floor"](results.setting(1.0)).failed
        == BOUNDS["gaussian_floor"](replace(results.setting(1.0), tails=None)).failed
    )


def test_the_recommended_method_scales_rows_to_length_1():
    experiment = ExplorerExperiment(HEAVY, n=100_000, k=2, s_hat=6, delta=1e-6, providers=1)
    for trust in ("central", "secure aggregation", "untrusted server"):
        advice = recommended(experiment, 1.0, trust)
        assert METHODS[advice.method].scaling == "unit"
        assert advice.error == pytest.approx(
            recommended(replace(experiment, population=GAUSSIAN), 1.0, trust).error, rel=0.05
        )


@pytest.mark.parametrize("tails", [2.0, 0.0, -1.0, float("nan"), float("inf"), "4"])
def test_tails_without_a_covariance_are_refused(tails):
    with pytest.raises(ValueError, match="tails"):
        replace(GAUSSIAN, tails=tails)
