"""A fitted bound on exact sums: the release in floating point, paid for, kept, and no step moved further."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget, sin_theta
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.experiments import fitted_release
from dppca_core.mechanisms.paid_lengths import FittedBound
from dppca_core.numerics import linalg
from dppca_core.release import discrete_gaussian, fitted_bound, private_release, stages
from dppca_core.release.request import FITTED, Request
from dppca_core.release.stages import PatientRows, Source
from tests.core.accounts.paying import TABLE, DictSteps
from tests.core.mechanisms.test_paid_lengths import LAYOUT, draw_rows, released_at_random

ALPHA = 1e-6  # of each statistical test here; noise comes from the operating system, so no seed
D, K, N = LAYOUT.d, 2, 900
ROWS = draw_rows(N, np.random.default_rng(3))
PARTS = [ROWS[:500], ROWS[500:]]
NAMES = [f"column {i}" for i in range(D)]
BUDGET = Budget(1.0, 1e-6)
LOUD = Budget(1e8, 1e-6)


def request(method="analyze_gauss", budget=BUDGET, n=N, hospitals=2, standardised=False):
    return fitted_bound.requested(Request(method, D, K, budget), LAYOUT, n, hospitals, standardised)


def payer_for(asked):
    payer = Book().payer(TABLE)
    payer.set_limit(Limit(1e9, asked.budget.delta, asked.budget.neighbours))
    return payer


def released(asked, parts=PARTS, payer=None, **options):
    payer = payer or payer_for(asked)
    return private_release.make(asked, parts, payer, features=NAMES, public={}, layout=LAYOUT, **options)


@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("method", FITTED)
def test_with_hardly_any_noise_it_is_the_release_in_floating_point(method, standardised):
    asked = request(method, LOUD, standardised=standardised)
    result, rule = released(asked), fitted_bound.rule_of(asked, LAYOUT, N, 2)
    out = fitted_release.fitted_moment(ROWS, rule, np.random.default_rng(0))
    values, vectors = linalg.top_eigenpairs(out.moment, K)
    assert sin_theta(result.basis, vectors) < 1e-3
    document = result.document
    assert document["length after scaling"] == pytest.approx(out.bound, rel=2e-3)
    np.testing.assert_allclose(document["mean"], out.frame.mean + LAYOUT.middle, atol=1e-4)
    np.testing.assert_allclose(result.eigenvalues * out.bound**2, values, rtol=5e-3)
    # Rows that are taken through what the document states have the components that it states.
    shown = (ROWS - document["mean"]) / (document["scales"] or 1) / document["length after scaling"]
    if standardised:
        assert np.std(shown * document["length after scaling"], axis=0) == pytest.approx(1, rel=0.1)
    assert document["fitted bound"]["tails"] == pytest.approx(out.tails, abs=1e-4)
    assert "subtract the mean, divide by the" in document["scores"]


@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize("method", ["analyze_gauss", "own_noise_sparse"])
def test_four_releases_cost_what_was_asked(method, neighbours, standardised):
    asked = request(method, Budget(1.0, 1e-6, neighbours), standardised=standardised)
    payer = payer_for(asked)
    result = released(asked, payer=payer)
    rule = fitted_bound.rule_of(asked, LAYOUT, N, 2)
    assert rule.hospitals == (2 if method == "own_noise_sparse" else 1)
    assert result.payment.events == asked.events and len(asked.events) == 4
    prices = [event.noise_multiplier for event in asked.events]
    assert prices == pytest.approx([rule.price(step).noise_multiplier for step in rule.shares], rel=1e-9)
    assert 1 - 1e-6 < closed_form.epsilon_of(asked.events, 1e-6) <= 1.0
    assert Request.from_plain(payer.drawn(result.payment.id).asked["request"]) == asked


def whole(source, change, unit):
    """Return the exact sum over all patients of what rows add to a step, in units of 4^-bits."""
    return stages.mean(source.changed(change), unit) * source.n * 4.0**source.bits


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize("averaged", [False, True])
def test_no_patient_moves_a_whole_sum_further_than_it_pays_for(neighbours, averaged, complete, monkeypatch):
    """160 pairs; a patient has up to 60 rows where they are averaged, many of them alike or at the ends."""
    monkeypatch.setattr(discrete_gaussian, "add_noise", lambda whole, std: whole)
    rng, budget, kept = np.random.default_rng(5), Budget(1.0, 1e-6, neighbours), DictSteps()
    rule = FittedBound(replace(LAYOUT, complete=complete), budget, 300, averaged=averaged)
    largest = dict.fromkeys(("squares", "mean", "tails", "moment"), 0.0)
    for _ in range(160):
        others = draw_rows(6, rng, corners=0.1)
        pair = []
        for _ in range(2):
            rows = draw_rows(int(rng.choice([1, 2, 7, 60])) if averaged else 1, rng, rng.random())
            rows = np.repeat(rows[:1], len(rows), axis=0) if rng.random() < 0.5 else rows
            pair.append(rows)
        if neighbours == "add-remove" or rng.random() < 0.2:
            pair[1] = np.zeros_like(pair[1])
        squares, mean, tails = released_at_random(rule, rng)
        mean_bound, frame = rule.mean_bound(squares), rule.frame(squares, mean)
        unit = max(rule.count_weight(mean_bound), 1.0)
        bound = rule.bound(tails, frame)
        sums = []
        for mine in pair:
            rows = np.vstack([others, mine])
            weights = np.r_[np.ones(6), np.full(len(mine), 1 / (math.sqrt(len(mine)) * (1 + 1e-12)))]
            part = PatientRows(rows, weights[:, None], 7) if averaged else rows
            source = Source([part], 1, budget, kept)
            fitted = source.changed(lambda rows: rule.fitted(rows, frame, bound))  # noqa: B023
            (moment,) = stages.whole_moments(fitted, D)
            sums.append(
                {
                    "squares": whole(source, rule.squares, 1.0),
                    "mean": unit * whole(source, lambda rows: rule.mean(rows, mean_bound) / unit, 1.0),  # noqa: B023
                    "tails": whole(source, lambda rows: rule.tails(rows, frame), 1.0),  # noqa: B023
                    "moment": moment.total * bound**2,
                }
            )
        for step, at in (("squares", 0), ("mean", mean_bound), ("tails", 0), ("moment", bound)):
            moved = float(np.linalg.norm(sums[0][step] - sums[1][step])) / 4.0**source.bits
            largest[step] = max(largest[step], moved / rule.sensitivity(step, at))
    assert all(0.6 < moved <= 1 + 1e-9 for moved in largest.values()), largest


def test_the_noise_of_every_step_is_gaussian_of_the_stated_size():
    """Kolmogorov-Smirnov at ALPHA of patients who are all zero; 20 % more or less is rejected.

    A moment has 45 numbers with noise, so that 140 are enough.
    """
    asked, parts = request("own_noise_sparse", n=60, hospitals=2), [np.zeros((30, D))] * 2
    rule = fitted_bound.rule_of(asked, LAYOUT, 60, 2)
    drawn = {step: [] for step in rule.shares}
    for run in range(560):
        kept = DictSteps()
        source = Source(parts, 2, asked.budget, kept)
        fit = fitted_bound.fit(rule, source)
        mean = kept.once("mean", lambda: pytest.fail("drawn twice"))
        drawn["squares"].append(fit.squares / rule.mean_std("squares"))
        drawn["mean"].append(mean / rule.mean_std("mean", rule.mean_bound(fit.squares)))
        drawn["tails"].append(fit.tails / rule.mean_std("tails"))
        if run < 140:
            rest = replace(fit.source, budget=asked.remainder.budget)
            moments, _ = stages.moments(rest, unit=False)
            scaled = np.mean(moments, axis=0) * fit.bound**2 / rule.mean_std("moment", fit.bound)
            off = scaled[np.triu_indices(D, 1)] * math.sqrt(2)
            drawn["moment"].append(np.append(scaled.diagonal(), off))
    for step, values in drawn.items():
        measured = np.concatenate(values)
        assert stats.kstest(measured, "norm").pvalue > ALPHA, step
        if len(measured) > 5000:
            assert all(stats.kstest(measured * wrong, "norm").pvalue < ALPHA for wrong in (0.8, 1.25)), step
    spent = sum((1 / event.noise_multiplier) ** 2 for event in asked.events)
    assert spent == pytest.approx(1 / gaussian.noise_multiplier(BUDGET) ** 2, rel=1e-6)


def test_an_interrupted_release_goes_on_and_draws_each_step_once(monkeypatch):
    """It stops before each draw in turn; drawing one again would add to the list of draws."""
    asked, draws, draw = request(hospitals=1), [], discrete_gaussian.add_noise
    payer, room, payment, result = payer_for(asked), 0, None, None

    def counted(whole, std, *more):
        if len(draws) == room:
            raise MemoryError
        draws.append(len(whole))
        return draw(whole, std, *more)

    monkeypatch.setattr(discrete_gaussian, "add_noise", counted)
    for room in (0, 1, 2, 3, 5):  # noqa: B007
        try:
            result = released(asked, [ROWS], payer, resumed=payment)
        except MemoryError:
            (payment,) = payer.balance().payments
    assert draws == [LAYOUT.count, D, 2, D, D * (D - 1) // 2]
    assert result is not None and payer.balance().payments == (result.payment,)


def test_the_noise_of_standardised_loadings_is_what_releases_differ_by():
    """The root mean square over 60 releases, within a third; half as much noise is rejected.

    Noise in the mean and in the scales is left out of it, so that it is too small by some percent.
    """
    rng = np.random.default_rng(1)
    factor = rng.beta(2, 2, (4000, 1)) * 2 - 1
    rows = np.hstack(
        [0.7 * factor + 0.3 * (rng.beta(2, 2, (4000, 4)) * 2 - 1), rng.beta(2, 2, (4000, 4)) - 0.5]
    )
    layout = fitted_bound.Layout.of_numbers(8)
    asked = fitted_bound.requested(
        Request("analyze_gauss", 8, 1, Budget(4.0, 1e-6)), layout, 4000, standardised=True
    )

    def made(asked):
        return private_release.make(
            asked, [rows], payer_for(asked), features=NAMES[:8], public={}, layout=layout
        )

    results = [made(asked) for _ in range(60)]
    first = results[0].basis
    bases = [each.basis * np.sign(np.sum(each.basis * first)) for each in results]
    seen = np.sqrt(np.mean(np.var(bases, axis=0)))
    stated = np.sqrt(np.mean(np.square([each.loading_std for each in results])))
    assert stated / seen == pytest.approx(1, abs=0.33) and abs(stated / 2 / seen - 1) > 0.33
    assert not any(each.is_noise.any() for each in results)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda asked: replace(asked, mean_share=0.2), "shares of a fitted bound must be those of its rule"),
        (lambda asked: replace(asked, k=7), "layout must have 9 columns, in more than 7 directions"),
    ],
)
def test_a_request_that_is_not_the_rules_is_refused_before_it_costs_anything(damage, says):
    asked = damage(request())
    payer = payer_for(asked)
    with pytest.raises(ValueError, match=says):
        released(asked, payer=payer)
    assert not payer.balance().payments


def test_rows_that_were_not_encoded_are_refused_before_they_cost_anything():
    payer = payer_for(request())
    rows = ROWS.copy()
    rows[5, 1:4] = 2 / 3  # all three categories at once
    with pytest.raises(ValueError, match="rows must be encoded as their layout says"):
        released(request(), [rows[:500], rows[500:]], payer)
    with pytest.raises(ValueError, match="needs a layout"):
        private_release.make(request(), PARTS, payer, features=NAMES, public={})
    assert not payer.balance().payments


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "two_stage", "tails_share": 0.02}, "method must be one of"),
        ({"squares_share": 0.02}, "are for a fitted bound"),
        ({"standardised": True}, "are for a fitted bound"),
        ({"tails_share": 0.02, "scale_share": 0.1}, "scale_share must be 0"),
    ],
)
def test_a_request_checks_itself(options, says):
    with pytest.raises(ValueError, match=says):
        Request(**{"method": "analyze_gauss", "d": D, "k": K, "budget": BUDGET} | options)
