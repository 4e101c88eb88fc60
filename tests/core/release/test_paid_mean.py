"""A mean that is paid for: its law, its price, what it buys, and what it does not change."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget, Cohort, sin_theta
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.mechanisms import paid_centre, paid_scale
from dppca_core.numerics import linalg, moments
from dppca_core.release import mean_and_scales, private_release, stages
from dppca_core.release.request import OFFERED, Request, noisy_sums
from dppca_core.sklearn import PrivatePCA
from tests.core.accounts.paying import TABLE, begun

ALPHA = 1e-6  # of each statistical test here; noise comes from the operating system, so no seed
D, K, SHARE = 8, 2, 0.2
BUDGET = Budget(1.0, 1e-5)
RNG = np.random.default_rng(3)
OFFSET = np.full(D, 0.5)
SPREAD = np.array([0.3, 0.25] + [0.03] * (D - 2))
ROWS = moments.clip_rows((OFFSET + SPREAD * RNG.standard_normal((4000, D))) / 2.5, 1.0)
PARTS = [ROWS[:2500], ROWS[2500:]]
TRUTH = np.eye(D)[:, :K]
NAMES = [f"column {i}" for i in range(D)]


def request(method="analyze_gauss", budget=BUDGET, share=SHARE, **options):
    return Request(method, D, K, budget, mean_share=share, **options)


@pytest.mark.parametrize("step", [paid_centre, paid_scale])
def test_the_whole_noise_is_added_unless_a_part_is_asked_for(step):
    """5,000 entries have the std to 5 %, but for 1 of 200,000 seeds."""
    draws = [
        step.release(np.zeros((3, 5000)), BUDGET, SHARE, np.random.default_rng(0), **part)
        for part in ({}, {"part": 0.5})
    ]
    (whole, half), std = (np.std(draw - draw.mean()) for draw in draws), step.noise_std(BUDGET, SHARE, 3)
    assert whole == pytest.approx(std, rel=0.05) and half == pytest.approx(std / 2, rel=0.05)


def released(asked, parts=PARTS, payer=None, **options):
    if payer is None:
        payer = Book().payer(TABLE)
        payer.set_limit(Limit(1e9, 1e-5, asked.budget.neighbours))
    return private_release.make(asked, parts, payer, features=NAMES, public={}, **options)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("method", "factor"), [("analyze_gauss", 1.0), ("dpdis_pca", math.sqrt(2))])
def test_the_mean_has_noise_of_the_stated_size(method, factor, neighbours):
    """Kolmogorov-Smirnov at ALPHA of patients who are all zero; 20 % more or less is rejected.

    A fifth moves the law by .054, which 6,800 numbers show but for about ALPHA.
    """
    asked, n = request(method, Budget(1.0, 1e-5, neighbours)), 1000
    z = gaussian.noise_multiplier(asked.budget)
    std = factor * (2.0 if neighbours == "replace-one" else 1.0) * z / math.sqrt(SHARE) / n
    parts = [np.zeros((n // 2, 340))] * 2
    source = stages.Source(parts, noisy_sums(method, len(parts)), asked.budget, begun())
    drawn = [stages.mean(source, mean_and_scales.noise_std(asked, source.bits)) for _ in range(20)]
    scaled = np.concatenate(drawn) / std
    assert stats.kstest(scaled, "norm").pvalue > ALPHA
    assert all(stats.kstest(scaled * wrong, "norm").pvalue < ALPHA for wrong in (0.8, 1.25))


@pytest.mark.parametrize("method", OFFERED)
def test_mean_and_method_cost_what_was_asked(method):
    events = request(method).events
    assert closed_form.epsilon_of(events, 1e-5) == pytest.approx(1.0, rel=1e-6)
    assert closed_form.epsilon_of(events, 1e-5) <= 1.0
    mean, whole = events[0].noise_multiplier, gaussian.noise_multiplier(BUDGET)
    assert (whole / mean) ** 2 == pytest.approx(SHARE)


@pytest.mark.parametrize("method", OFFERED)
def test_it_finds_the_pattern_that_the_mean_hides(method):
    """Centred in public, the first component is the mean, at any budget; the truth is the covariance's."""
    loud = Budget(300.0, 1e-5)
    options = {"rank": D}
    hidden = released(request(method, loud, share=0.0, **options)).basis
    direction = OFFSET / np.linalg.norm(OFFSET)
    assert np.linalg.norm(hidden.T @ direction) > 0.98
    result = released(request(method, loud, **options))
    assert sin_theta(result.basis, TRUTH) < 0.1
    np.testing.assert_allclose(result.document["mean"], ROWS.mean(axis=0), atol=0.01)
    assert result.document["parameters"]["mean share"] == SHARE and "paid for" in result.document["centred"]


def test_a_row_that_was_left_out_stays_zero_and_none_is_longer_than_1():
    rows = np.vstack([ROWS[:50], np.zeros((3, D)), -ROWS[:5] / np.linalg.norm(ROWS[:5], axis=1)[:, None]])
    about = partial(paid_centre.centred, mean=np.full(D, 0.3))
    (moved,) = stages.Source([rows], 1, BUDGET, begun()).changed(about).parts
    assert not moved[50:53].any()
    assert (np.einsum("ij,ij->i", moved, moved) <= 1).all()
    kept = np.linalg.norm(rows - 0.3, axis=1) <= 0.999
    kept[50:53] = False
    np.testing.assert_allclose(moved[kept], (rows - 0.3)[kept], atol=1e-12)


def test_it_goes_on_with_the_mean_that_was_drawn():
    drawn = begun()
    first = drawn.once("mean", lambda: np.arange(3.0))
    np.testing.assert_array_equal(drawn.once("mean", lambda: pytest.fail("drawn twice")), first)


def test_the_rule_takes_more_where_noise_is_larger():
    shares = [paid_centre.share(BUDGET, d=30, n=n) for n in (30, 300, 3000, 30_000, 10**7)]
    assert shares == sorted(shares, reverse=True) and shares[0] == 0.25 and shares[-1] == 0.05
    height = gaussian.noise_multiplier(BUDGET) * math.sqrt(30) / 3000
    assert shares[2] == pytest.approx(math.sqrt(height))


@pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, math.nan])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match="share must lie"):
        request(share=share)


def test_the_pattern_of_rows_without_a_mean_costs_a_little_more():
    """The price where centring was not needed: at a share of .1 the noise grows by a twentieth."""
    rest = gaussian.remaining(BUDGET, 0.1)
    assert gaussian.noise_multiplier(rest) / gaussian.noise_multiplier(BUDGET) == pytest.approx(
        1 / math.sqrt(0.9), rel=1e-6
    )
    top = linalg.top_eigenspace(np.cov(ROWS.T), K)
    assert sin_theta(top, TRUTH) < 0.05  # the oracle of the test above


@pytest.mark.parametrize(("neighbours", "most"), [("add-remove", 1.0), ("replace-one", math.sqrt(2))])
def test_a_row_moves_the_moment_about_a_mean_by_what_is_paid_for(neighbours, most):
    """An emptied row stays empty where that is the relation; moved to -mean it would count for 1.29."""
    mean, row = np.array([0.9, 0.0]), np.array([[0.9, 1.0]])

    def moment(rows, relation):
        moved = paid_centre.centred(rows, mean, relation)
        return moved.T @ moved

    emptied = np.linalg.norm(moment(row, neighbours) - moment(np.zeros((1, 2)), neighbours))
    assert emptied <= most * (1 + 1e-12)
    assert np.linalg.norm(moment(row, "replace-one") - moment(np.zeros((1, 2)), "replace-one")) > 1.2


def test_a_transformer_leaves_empty_rows_empty_where_they_may_be_filled(monkeypatch):
    """Under add or remove the fit's rows at the public centre stay there; the mean is 0.5 of the bound."""
    monkeypatch.setattr(paid_centre, "release", lambda rows, *_: np.full(rows.shape[1], 0.5 / math.sqrt(3)))
    seen, from_rows = [], Cohort.from_rows
    monkeypatch.setattr(
        Cohort, "from_rows", lambda rows, bound: seen.append(rows[0]) or from_rows(rows, bound)
    )
    rows = np.vstack([np.zeros(3), np.full((4, 3), 0.4)])
    for neighbours, declared in (("add-remove", {"declared_n": len(rows)}), ("replace-one", None)):
        given = {"method": "dps_pca", "neighbours": neighbours, "private_center": 0.2, "params": declared}
        PrivatePCA(n_components=1, **given, random_state=0).fit(rows)
    assert not seen[0][0].any() and seen[0][1:].any() and seen[1][0].all()
