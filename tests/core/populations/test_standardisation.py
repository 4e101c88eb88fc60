"""Standardising several hospitals: what is released, what it moves by, what it costs, what it repairs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dppca_core import METHODS, Budget, sin_theta
from dppca_core.accounting import closed_form, gaussian
from dppca_core.populations import clinical
from dppca_core.populations import standardisation as standard
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.site_summaries import RowSite
from dppca_core.populations.standardisation import KINDS, PAID, Summary
from tests.core.laws import follows, uncorrelated

BUDGET = Budget(1.0, 1e-5)
BOUND = 3.0
ROWS = np.random.default_rng(5).standard_normal((40, 6)) * 1.5
BOTH = pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])


def budget_of(neighbours: str) -> Budget:
    return Budget(1.0, 1e-5, neighbours=neighbours)


def sums(rows) -> list[np.ndarray]:
    return [mean * len(rows) for mean in RowSite(rows, BOUND).means(BOUND)]


VECTORS = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).map(np.array)


@given(VECTORS, VECTORS)
def test_one_row_moves_the_sums_by_no_more_than_stated(x, y):
    others = np.ones((2, 3))
    before = sums(np.vstack([others, x]))
    replaced, removed = sums(np.vstack([others, y])), sums(others)
    for neighbours, after in (("replace-one", replaced), ("add-remove", removed)):
        allowed = standard.sensitivities(budget_of(neighbours))
        for moved, limit in zip(zip(before, after, strict=True), allowed, strict=True):
            assert np.linalg.norm(moved[0] - moved[1]) <= limit + 1e-9


def test_the_sensitivities_are_attained():
    row = np.array([[BOUND, 0.0]])
    opposite, turned = -row, row[:, ::-1]
    moved = [np.linalg.norm(a - b) for a, b in zip(sums(row), sums(opposite), strict=True)]
    assert moved[0] == pytest.approx(2.0)
    assert np.linalg.norm(sums(row)[1] - sums(turned)[1]) == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(
    ("method", "share", "neighbours"),
    [
        ("dps_pca", 0.01, "replace-one"),
        ("dps_pca", 0.9, "add-remove"),
        ("analyze_gauss_sparse", 0.2, "replace-one"),
        ("analyze_gauss_sparse", 0.01, "add-remove"),
        ("dpdis_pca", 0.9, "replace-one"),
        ("dpdis_pca", 0.2, "add-remove"),
    ],
)
def test_means_spreads_and_the_pca_compose_to_the_whole_budget(neighbours, share, method):
    """Reject a planted bug: the PCA keeps the whole budget."""
    budget = budget_of(neighbours)
    rest = standard.remaining_budget(budget, share)
    paid = standard.spends(budget, share)
    together = closed_form.epsilon_of((*paid, *METHODS[method].spends(rest, d=20, k=3)), 1e-5)
    assert together <= budget.epsilon + 1e-12
    assert together == pytest.approx(budget.epsilon, rel=1e-7)
    assert closed_form.epsilon_of((*paid, *METHODS[method].spends(budget, d=20, k=3)), 1e-5) > 1.001
    share_of = closed_form.multiplier_of(paid) ** -2 * gaussian.noise_multiplier(budget) ** 2
    assert share_of == pytest.approx(share)


@BOTH
def test_the_release_is_the_means_plus_its_stated_noise(neighbours):
    """8,000 standardised deviations, each of its own; half the noise, and noise in common, are rejected."""
    site, budget = RowSite(ROWS, BOUND), budget_of(neighbours)
    mean, square = site.means(BOUND)
    deviations = []
    for run in range(2000):
        summary = standard.release(site, BOUND, budget, 0.3, np.random.default_rng([run, 1]))
        by_mean = (summary.mean - mean * BOUND)[:2] / summary.mean_std
        by_square = (summary.square - square * BOUND**2)[:2] / summary.square_std
        deviations.append((*by_mean, *by_square))
    drawn = np.array(deviations)
    assert follows(drawn.ravel(), stats.norm())
    assert not follows(drawn.ravel() / 2, stats.norm())
    for first, second in itertools.combinations(drawn.T, 2):
        assert uncorrelated(first, second)
    assert not uncorrelated(drawn[:, 0], drawn[:, 0] + drawn[:, 1])
    z = gaussian.noise_multiplier(budget) * math.sqrt(2 / 0.3)
    by_mean, by_square = standard.sensitivities(budget)
    assert summary.mean_std == pytest.approx(by_mean * z * BOUND / len(ROWS))
    assert summary.square_std == pytest.approx(by_square * z * BOUND**2 / len(ROWS))


def test_without_noise_the_constants_are_mean_and_standard_deviation():
    site = RowSite(ROWS, 100.0)
    constants = standard.constants(standard.exact_summary(site, 100.0))
    np.testing.assert_allclose(constants.centre, ROWS.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(constants.scale, ROWS.std(axis=0), atol=1e-9)
    moment = standard.cohort([RowSite(ROWS, 100.0)], [constants], 0.1).pooled.dense() * 100.0**2
    np.testing.assert_allclose(moment, np.corrcoef(ROWS.T), atol=1e-9)


def test_what_is_nothing_but_noise_gives_way_to_the_public_range():
    constants = standard.constants(Summary(np.full(3, 40.0), np.full(3, 9e3), 1e4, 1e8))
    np.testing.assert_allclose(constants.centre, 0, atol=1e-3)
    np.testing.assert_allclose(constants.scale, 1, atol=1e-3)


def test_what_is_pooled_is_made_of_what_was_released():
    parts = [RowSite(ROWS[:10], BOUND), RowSite(ROWS[10:], BOUND)]
    whole = standard.exact_summary(RowSite(ROWS, BOUND), BOUND)
    pooled = standard.pool([standard.exact_summary(part, BOUND) for part in parts], [10, 30])
    np.testing.assert_allclose(pooled.mean, whole.mean)
    np.testing.assert_allclose(pooled.square, whole.square)
    noisy = [Summary(whole.mean, whole.square, 0.4, 0.8)] * 2
    assert standard.pool(noisy, [20, 20]).mean_std == pytest.approx(0.4 / math.sqrt(2))


def plain_error(strength: float, kind: str, n: int = 10**7) -> float:
    model = ClinicalModel(strength=strength, differences=("shift", "scale"))
    drawn = clinical.draw(model, clinical.sizes(n), 0, 0)
    bound = standard.raw_bound(drawn, 1e-9)
    summaries = [standard.exact_summary(site, bound) for site in drawn] if kind in PAID else []
    printed = [hospital.printed for hospital in clinical.hospitals(model)]
    by = standard.constants_by_site(drawn, kind, printed, summaries)
    basis = METHODS["pca"].fit(
        standard.cohort(drawn, by, 1e-9), k=3, budget=BUDGET, rng=np.random.default_rng(0)
    )
    return sin_theta(basis.basis, model.basis())


@pytest.mark.parametrize("kind", KINDS)
def test_where_hospitals_do_not_differ_every_way_finds_the_truth_in_the_limit(kind):
    assert plain_error(0.0, kind) < 0.01


def test_where_they_do_what_is_the_hospitals_own_repairs_it():
    assert plain_error(1.0, "within-site") < 0.01
    assert plain_error(1.0, "own-ranges") < 0.1
    assert min(plain_error(1.0, kind) for kind in ("public", "pooled")) > 0.5


def test_where_delta_alone_covers_what_is_left_delta_is_lowered():
    budget = Budget(0.01, 0.5)
    rest = standard.remaining_budget(budget, 0.2)
    assert rest.epsilon == budget.epsilon and rest.delta < budget.delta
    precision = (
        gaussian.noise_multiplier(rest) ** -2 + closed_form.multiplier_of(standard.spends(budget, 0.2)) ** -2
    )
    assert gaussian.noise_multiplier(budget) ** -2 == pytest.approx(precision, rel=1e-7)


@pytest.mark.parametrize("share", [0.0, 1.0, float("nan")])
def test_a_share_beyond_the_budget_is_refused(share):
    with pytest.raises(ValueError, match="share must lie strictly between 0 and 1"):
        standard.remaining_budget(BUDGET, share)


def test_only_exact_accounting_is_split():
    with pytest.raises(ValueError, match="accounting must be one of exact"):
        standard.remaining_budget(Budget(1.0, 1e-5, accounting="zcdp"), 0.2)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of"):
        standard.constants_by_site([RowSite(ROWS, BOUND)], "by eye", [], [])
