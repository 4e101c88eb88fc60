"""Test the auditor itself: how often it accuses the innocent, what it sees, and what it refuses.

The false-alarm rate is the `alpha` of each audit. AUDITS audits of a mechanism exactly at its claim must not
raise more alarms than that rate explains, but for a chance of ALPHA.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dppca_core import METHODS, Budget, Cohort
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.auditing import lower_bound
from tests.core.laws import ALPHA

AUDITS = 1000
DRAWS = 400
NOMINAL = 0.05
EPSILON, DELTA = 1.0, 0.01
MU = 1 / gaussian.noise_multiplier(Budget(EPSILON, DELTA))

Draw = Callable[[int, np.random.Generator], tuple[Array, Array]]
BOUNDS = (lower_bound.clopper_pearson, lower_bound.gaussian_tradeoff)
TWO = tuple(Cohort.from_rows([row[None]], 1.0) for row in np.eye(2))


def gaussians(shift: float) -> Draw:
    return lambda n, rng: (shift + rng.standard_normal(n), rng.standard_normal(n))


def responses(epsilon: float) -> Draw:
    """Return randomised response, which is exactly (epsilon, 0)-private."""
    honest = 1 / (1 + math.exp(-epsilon))
    return lambda n, rng: (1.0 * (rng.random(n) < honest), 1.0 * (rng.random(n) >= honest))


def false_alarms(
    bound: Callable[..., lower_bound.LowerBound], draw: Draw, delta: float, audits: int = AUDITS
) -> int:
    rng = np.random.default_rng(0)
    results = (bound(*draw(DRAWS, rng), delta=delta, alpha=NOMINAL) for _ in range(audits))
    return sum(result.epsilon > EPSILON for result in results)


def too_many(alarms: int, audits: int = AUDITS) -> bool:
    return bool(stats.binom.sf(alarms - 1, audits, NOMINAL) < ALPHA)


EXACTLY_AT_THE_CLAIM = pytest.mark.parametrize(
    ("bound", "draw", "delta"),
    [
        (lower_bound.clopper_pearson, responses(EPSILON), 0.0),
        (lower_bound.clopper_pearson, gaussians(MU), DELTA),
        (lower_bound.gaussian_tradeoff, gaussians(MU), DELTA),
        (lower_bound.gaussian_tradeoff, gaussians(-MU), DELTA),
    ],
    ids=["randomised response", "Gaussian", "trade-off", "trade-off, other way round"],
)


@EXACTLY_AT_THE_CLAIM
def test_false_alarms_are_no_more_than_alpha(bound, draw, delta):
    assert not too_many(false_alarms(bound, draw, delta))


@EXACTLY_AT_THE_CLAIM
def test_rates_in_place_of_their_limits_would_raise_too_many(bound, draw, delta, monkeypatch):
    """The planted bug shows what the simulation is worth."""

    def rates(hits: Array, trials: Array, tail: float) -> tuple[Array, Array]:
        share = np.clip(hits / trials, 1 / DRAWS, 1 - 1 / DRAWS)
        return share, share

    monkeypatch.setattr(lower_bound, "limits", rates)
    assert too_many(false_alarms(bound, draw, delta, 300), 300)


@pytest.mark.parametrize(
    ("bound", "size", "caught"),
    [
        (lower_bound.gaussian_tradeoff, 1.0, False),
        (lower_bound.gaussian_tradeoff, 0.85, True),
        (lower_bound.clopper_pearson, 1.0, False),
        (lower_bound.clopper_pearson, 0.7, True),
    ],
)
def test_what_an_audit_can_see(bound, size, caught):
    """The noise has this size instead of 1; 50,000 draws, at ALPHA."""
    here, there = gaussians(MU / size)(50_000, np.random.default_rng(1))
    assert (bound(here, there, delta=DELTA, alpha=ALPHA).epsilon > EPSILON) is caught


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 10.0])
def test_the_trade_off_bound_comes_close(epsilon):
    """It lies above .8 of the truth with 100,000 draws, and above what events show."""
    mu = 1 / gaussian.noise_multiplier(Budget(epsilon, DELTA))
    here, there = gaussians(mu)(100_000, np.random.default_rng(2))
    close = lower_bound.gaussian_tradeoff(here, there, delta=DELTA, alpha=ALPHA)
    plain = lower_bound.clopper_pearson(here, there, delta=DELTA, alpha=ALPHA)
    assert 0.8 * epsilon < close.epsilon <= epsilon
    assert plain.epsilon < close.epsilon
    assert close.epsilon == pytest.approx(gaussian.epsilon_of(1 / close.mu, DELTA))


def test_the_trade_off_bound_is_for_gaussian_claims_only():
    """Randomised response keeps epsilon = 1, which the other bound grants; its mu has a larger epsilon."""
    here, there = responses(1.0)(50_000, np.random.default_rng(3))
    assert lower_bound.clopper_pearson(here, there, delta=1e-6, alpha=ALPHA).epsilon <= 1.0
    assert lower_bound.gaussian_tradeoff(here, there, delta=1e-6, alpha=ALPHA).epsilon > 2.0


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("leak", [(1.0, 0.0), (0.0, 1.0), (math.inf, -math.inf)])
def test_an_output_that_tells_the_cohorts_apart_has_no_small_epsilon(bound, leak):
    here, there = (np.full(10_000, value) for value in leak)
    assert bound(here, there, delta=DELTA, alpha=ALPHA).epsilon > 6


@pytest.mark.parametrize("bound", BOUNDS)
def test_nothing_to_see_is_zero(bound):
    result = bound(np.ones(100), np.ones(100), delta=DELTA, alpha=ALPHA)
    assert result.epsilon == 0.0
    assert result.alpha == ALPHA


def test_a_mechanism_gives_numbers_one_by_one_or_many_at_once():
    """Both are cut to the draws asked for."""

    def many(cohort: Cohort, rng: np.random.Generator) -> Array:
        return cohort.pooled.dense()[0, 0] + rng.standard_normal(7)

    rng = np.random.default_rng(4)
    assert lower_bound.sample(many, TWO[0], 20, rng).shape == (20,)
    assert lower_bound.sample(lambda cohort, rng: rng.random(), TWO[0], 20, rng).shape == (20,)
    result = lower_bound.audit(
        many, TWO, delta=DELTA, draws=2000, rng=rng, bound=lower_bound.gaussian_tradeoff
    )
    assert 0 < result.mu < 1
    assert result.alpha == 0.05


def test_any_method_is_a_mechanism():
    """A fit that reads the moment without noise is caught; at this budget the method itself is not."""

    def shown_epsilon(name: str) -> float:
        def mechanism(cohort, rng):
            return METHODS[name].fit(cohort, k=1, budget=Budget(1.0, DELTA), rng=rng).basis[0, 0] ** 2

        rng = np.random.default_rng(5)
        return lower_bound.audit(mechanism, TWO, delta=DELTA, draws=300, rng=rng, alpha=ALPHA).epsilon

    assert shown_epsilon("pca") > 1.0
    assert shown_epsilon("analyze_gauss") <= 1.0


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(
    ("draws", "options", "message"),
    [
        (np.ones(19), {}, "draws must be at least 20, got 19"),
        (np.full(50, np.nan), {}, "statistic must be a number in every draw, got NaN"),
        (np.ones(50), {"alpha": 1.0}, "alpha must lie strictly between 0 and 1, got 1.0"),
        (np.ones(50), {"delta": 1.5}, "delta must lie .*between 0 and 1, got 1.5"),
    ],
)
def test_what_cannot_be_audited_is_refused_by_name_and_value(bound, draws, options, message):
    with pytest.raises(ValueError, match=message):
        bound(draws, np.ones(50), **{"delta": 0.1, "alpha": 0.1, **options})


def test_a_mechanism_that_gives_nothing_is_refused():
    with pytest.raises(ValueError, match="mechanism must give at least one number a call, got none"):
        lower_bound.sample(lambda cohort, rng: np.empty(0), TWO[0], 20, np.random.default_rng(0))
