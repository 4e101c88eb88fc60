"""Scales that are paid for between hospitals: their law and price, and the runs after them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget, Cohort, sin_theta
from dppca_core.accounting import closed_form, gaussian
from dppca_core.federated import coordinator, protocol, record
from dppca_core.federated.in_process import InProcess, simulate
from dppca_core.federated.plan import from_dict, to_dict
from dppca_core.federated.protocol import Noise, ProviderState, provider_step
from dppca_core.numerics import linalg, moments
from tests.core.federated import test_mean_round as means

EACH = pytest.mark.parametrize("key", means.RUNS)
MEAN_TOO = pytest.mark.parametrize("mean", [0.0, 0.2])
SHARE = 0.24
# Two factors in all measurements, and the first measurements ten times as spread as the last.
_FACTORS = np.random.default_rng(5).normal(size=(sum(means.SIZES), 2)) * [1.5, 1.0]
_LOADED = _FACTORS @ [[1.0] * means.D, [1, -1] * (means.D // 2)]
_NOISY = _LOADED + 0.3 * np.random.default_rng(6).normal(size=_LOADED.shape)
ROWS = moments.clip_rows(0.1 + _NOISY * np.geomspace(0.1, 0.01, means.D), 1.0)
COHORT = Cohort.from_rows(np.split(ROWS, np.cumsum(means.SIZES)[:-1]), 1.0)


def plan(key, mean=0.2, budget=means.BUDGET, **options):
    return replace(means.plan(key, budget, **options), mean_share=mean, scale_share=SHARE)


@MEAN_TOO
@EACH
def test_mean_scales_and_method_cost_what_was_planned(key, mean):
    which = plan(key, mean)
    states = [ProviderState(i, which, means.COHORT[i], Noise()) for i in range(3)]
    carried = InProcess(states)
    run = coordinator.run(which, carried, start=means.start(which))
    assert run.ended == "" and run.scales is not None and (run.mean is None) == (not mean)
    paid = carried.states[0].spent
    events = [event for number in sorted(paid) for event in paid[number]]
    assert closed_form.epsilon_of(events, 1e-5) == pytest.approx(1.0, rel=1e-6)
    shares = [(gaussian.noise_multiplier(means.BUDGET) / event.noise_multiplier) ** 2 for event in events]
    assert shares[: 1 + bool(mean)] == pytest.approx([mean, SHARE] if mean else [SHARE], rel=1e-6)
    dear = InProcess([replace(state, limit=Budget(0.99, 1e-5)) for state in states])
    assert f"does not allow round {len(run.rounds)}" in coordinator.run(which, dear, start=run.start).ended


@pytest.mark.parametrize(("key", "hospitals"), [("power", 1), ("stages", 3), ("sum", 3)])
def test_the_squares_have_noise_of_the_stated_size(key, hospitals):
    """Kolmogorov-Smirnov at ALPHA of what noise adds to answers without; 20 % more or less is rejected."""
    which = plan(key)
    exchange, rounds = protocol.exchange_of(which), [Noise(silent=True).for_round(2)]
    sites, given = list(means.COHORT)[:hospitals], {"mean": np.zeros(means.D)}

    def mean_of_all(noise):
        sent = [next(iter(exchange.answer(2, i, at, given, noise).values())) for i, at in enumerate(sites)]
        weights = [1 if exchange.sealed else n for n in means.SIZES[:hospitals]]
        return np.tensordot(weights, sent, axes=1) / sum(means.SIZES[:hospitals])

    rounds += [Noise().for_round(2) for _ in range(600)]
    silent, *noisy = map(mean_of_all, rounds)
    squares = [np.square(site.moment.rows).mean(axis=0) for site in sites]
    np.testing.assert_allclose(silent, np.average(squares, axis=0, weights=means.SIZES[:hospitals]))
    trust = 1.0 if exchange.sealed else math.sqrt(hospitals)
    z, n = gaussian.noise_multiplier(means.BUDGET), sum(means.SIZES[:hospitals])
    scaled = np.concatenate([drawn - silent for drawn in noisy]) / (math.sqrt(2) * z * trust / n / SHARE**0.5)
    assert stats.kstest(scaled, "norm").pvalue > means.ALPHA
    assert all(stats.kstest(scaled * wrong, "norm").pvalue < means.ALPHA for wrong in (0.8, 1.25))


@EACH
def test_without_noise_it_is_pca_of_standardised_rows(key):
    exact, whole = key in ("power", "sum", "compressed"), {"s_hat": means.D}
    options = {"compressed": {"rank": means.D}, "projectors": {}, "stages": whole, "sealed stages": whole}
    which = plan(key, 0.2, Budget(1e6, 1e-5), **options.get(key, {"iterations": 20, **whole}))
    silent = [Noise(silent=True)] * 3
    run, _ = simulate(which, COHORT, silent, means.start(which))
    about = ROWS - ROWS.mean(axis=0)
    assert run.scales.divisors == pytest.approx(about.std(axis=0), rel=1e-6)
    truth = linalg.top_eigenspace(np.corrcoef(ROWS.T), means.K)
    # Few of the rows are shortened; averaged projectors, and rows of length 1 only come close.
    assert sin_theta(run.basis, truth) < (0.02 if exact else 0.3)
    plain, _ = simulate(replace(which, scale_share=0.0), COHORT, silent, run.start)
    assert sin_theta(plain.basis, truth) > 0.5


@MEAN_TOO
@EACH
def test_a_run_that_broke_off_after_the_scales_is_resumed_to_the_same_bit(key, mean):
    which = plan(key, mean)
    carried = InProcess([ProviderState(i, which, means.COHORT[i], Noise()) for i in range(3)])
    written: list[str] = []
    whole = coordinator.run(which, carried, start=means.start(which), write=written.append)
    read = record.read("\n".join(written))
    assert [record.opening_line(read), *map(record.round_line, read.rounds)] == written[:-1]
    earlier = record.read("\n".join(written[: 2 + bool(mean)]))
    np.testing.assert_array_equal(earlier.scales.divisors, whole.scales.divisors)
    again = coordinator.run(which, carried, start=None, earlier=earlier)
    np.testing.assert_array_equal(again.basis, whole.basis)


@pytest.mark.parametrize("factor", [np.nan, np.inf, 1e6])
def test_a_hospital_refuses_squares_that_rows_cannot_give(factor):
    state = ProviderState(0, plan("compressed", 0.0), means.COHORT[0], Noise())
    state, _ = provider_step(state, means.asked(1))
    with pytest.raises(ValueError, match="a squares that is not finite or longer than"):
        provider_step(state, means.asked(2, squares=np.full(means.D, factor)))


def test_a_plan_of_scales_reads_back_and_shares_leave_something():
    which = plan("power")
    assert from_dict(to_dict(which)) == which != replace(which, scale_share=0.0)
    with pytest.raises(ValueError, match="share must"):
        replace(which, scale_share=0.8)
