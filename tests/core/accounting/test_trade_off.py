"""Test trade-off curves against their definitions, Balle and Wang's formula, conjugates and dp-accounting."""

import json
import math
from statistics import NormalDist

import numpy as np
import pytest
from dp_accounting import pld
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from dppca_core import METHODS, Budget, Guarantee, Release, TradeOff
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounting.trade_off import FALSE_ALARMS

SHARES = np.linspace(0, 1, 1001)
# Close together near both ends, where curves bend.
FINE = np.unique(np.concatenate([[0.0], np.geomspace(1e-9, 1, 4000), np.linspace(0, 1, 40_001)]))
GRID = pytest.mark.parametrize("delta", [1e-5, 0.01, 0.3])
EPSILON = pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
MIXED = pytest.mark.parametrize(
    "events",
    [
        (Release(2.0), Guarantee(0.5)),
        (Release(1.0), Guarantee(0.2, 0.05)),
        (Release(3.0, 4), Guarantee(0.1, 1e-6), Guarantee(0.4)),
        (Release(5.0), Guarantee(0.0, 0.1)),
    ],
    ids=["pure", "much delta", "several", "delta alone"],
)


@GRID
@EPSILON
def test_what_is_allowed_is_what_the_definition_demands(epsilon, delta):
    """A test and its opposite keep 1 - misses <= e^eps false alarms + delta, and the two exchanged."""
    misses = TradeOff.allowed(epsilon, delta).misses(SHARES)
    inside = misses > 0
    power = 1 - misses
    gap = np.minimum(
        math.exp(epsilon) * SHARES + delta - power, math.exp(epsilon) * misses + delta - 1 + SHARES
    )
    assert (gap > -1e-9).all()
    np.testing.assert_allclose(gap[inside], 0, atol=1e-9)  # no test with fewer misses keeps both


@pytest.mark.parametrize("mu", [0.0, 0.1, 1.0, 4.0])
def test_the_gaussian_curve_is_that_of_two_normal_laws(mu):
    """scipy gives the misses of "above t" between N(0, 1) and N(mu, 1)."""
    limits = stats.norm.isf(SHARES[1:-1])
    np.testing.assert_allclose(
        TradeOff.gaussian(mu).misses(SHARES[1:-1]),
        stats.norm.cdf(limits, loc=mu),
        rtol=1e-10,
        atol=1e-15,
    )
    assert TradeOff.gaussian(mu).misses([0.0, 1.0]).tolist() == [1.0, 0.0]


@GRID
@EPSILON
def test_calibrated_noise_touches_what_is_allowed_and_no_less_does(epsilon, delta):
    """They touch at the event of Balle and Wang; a thousandth less noise is below there."""
    multiplier, allowed = gaussian.noise_multiplier(Budget(epsilon, delta)), TradeOff.allowed(epsilon, delta)
    trade_off = TradeOff.from_events([Release(multiplier)])
    alarms, misses = trade_off.touching(epsilon)
    assert misses == pytest.approx(float(trade_off.misses(alarms)), rel=1e-9)
    assert misses == pytest.approx(float(allowed.misses(alarms)), rel=1e-7)
    assert (trade_off.misses(SHARES) >= allowed.misses(SHARES) - 1e-9).all()
    alarms, misses = TradeOff.from_events([Release(multiplier / 1.001)]).touching(epsilon)
    assert misses < float(allowed.misses(alarms))


@pytest.mark.parametrize("mu", [1e-3, 0.27, 1.0, 6.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_the_profile_is_balle_and_wangs_and_its_inverse(mu, epsilon):
    normal, trade_off = NormalDist().cdf, TradeOff.gaussian(mu)
    delta = normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)
    assert trade_off.delta(epsilon) == pytest.approx(delta, rel=1e-9, abs=1e-15)
    if epsilon and delta > 1e-12:
        assert trade_off.epsilon(delta) == pytest.approx(epsilon, rel=1e-6)


def conjugate(trade_off, epsilon):
    """Return max over a of 1 - f(a) - e^epsilon a: the delta that the curve alone gives, from below."""
    corner = brentq(lambda a: float(trade_off.misses(a)) - a, 0, 1)  # where false alarms and misses are equal
    shares = np.append(FINE, corner)
    return float(np.max(1 - trade_off.misses(shares) - math.exp(epsilon) * shares))


@pytest.mark.parametrize(
    "events", [(), (Release(1.0),), (Release(7.0, 4),), (Guarantee(1.0),), (Guarantee(0.7, 0.01),)], ids=str
)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.7, 1.0, 2.0])
def test_the_curve_and_the_profile_are_conjugates(events, epsilon):
    trade_off = TradeOff.from_events(events)
    assert trade_off.delta(epsilon) == pytest.approx(conjugate(trade_off, epsilon), abs=2e-8)


def of_distributions(events):
    """Return the privacy loss of the worst mechanisms with these events, by dp-accounting."""
    interval, total = 1e-4, None
    for event in events:
        if isinstance(event, Release):
            loss = pld.privacy_loss_distribution.from_gaussian_mechanism(
                event.noise_multiplier / math.sqrt(event.steps), value_discretization_interval=interval
            )
        else:
            loss = pld.privacy_loss_distribution.from_privacy_parameters(
                pld.common.DifferentialPrivacyParameters(event.epsilon, event.delta),
                value_discretization_interval=interval,
            )
        total = loss if total is None else total.compose(loss)
    return total


def misses_of(profile, shares):
    """Return the misses that a privacy profile allows: the largest of its lines, (epsilon, delta) each."""
    lines = [
        (1 - delta - math.exp(epsilon) * shares, math.exp(-epsilon) * (1 - delta - shares))
        for epsilon, delta in profile
    ]
    return np.maximum(np.max(lines, axis=(0, 1)), 0)


EPSILONS = np.concatenate([np.linspace(0, 4, 161), np.linspace(4.1, 12, 80)])


@pytest.mark.parametrize("events", [(Release(1.0),), (Release(0.8), Release(2.0, 4))], ids=str)
def test_gaussian_curves_are_dp_accountings(events):
    trade_off, loss = TradeOff.from_events(events), of_distributions(events)
    profile = [(epsilon, loss.get_delta_for_epsilon(epsilon)) for epsilon in EPSILONS]
    ours = [trade_off.delta(epsilon) for epsilon in EPSILONS]
    np.testing.assert_allclose(ours, [delta for _, delta in profile], rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(trade_off.misses(SHARES), misses_of(profile, SHARES), atol=5e-4)


@MIXED
def test_with_guarantees_no_mechanism_is_below_the_curve(events):
    """Of the worst mechanisms dp-accounting's is the exact curve; ours is below, and not far.

    dp-accounting rounds its loss up by 1e-4, and EPSILONS are a grid: both put its curve below the exact one.
    """
    trade_off, loss = TradeOff.from_events(events), of_distributions(events)
    profile = [(epsilon, loss.get_delta_for_epsilon(epsilon)) for epsilon in EPSILONS]
    exact = misses_of(profile, SHARES)
    assert (trade_off.misses(SHARES) <= exact + 5e-4).all()
    assert (trade_off.misses(SHARES) >= exact - 0.15).all()
    for epsilon, delta in profile:
        assert trade_off.delta(epsilon) >= delta - 2e-4
        assert trade_off.delta(epsilon) >= conjugate(trade_off, epsilon) - 1e-9
    # The curve alone without the tangents, as one might take it, claims too much.
    mu, stated = 1 / trade_off.multiplier, trade_off.stated
    v = np.minimum(SHARES + stated.delta, 1.0)
    careless = TradeOff.gaussian(mu).misses(v) * math.exp(-stated.epsilon)
    careless = np.maximum(careless, TradeOff.gaussian(mu).misses(SHARES) - stated.delta)
    assert stated.epsilon == 0 or (careless > exact + 5e-4).any()


@MIXED
def test_with_guarantees_the_curve_is_the_largest_that_basic_composition_gives(events):
    trade_off = TradeOff.from_events(events)
    lowest, stated = trade_off.stated.epsilon, trade_off.stated
    profile = [
        (lowest + x, stated.delta + gaussian.delta_of(trade_off.multiplier, x))
        for x in np.linspace(0, 12, 4001)
    ]
    np.testing.assert_allclose(trade_off.misses(SHARES), misses_of(profile, SHARES), atol=1e-5)
    for epsilon, delta in profile[::400]:
        assert trade_off.delta(epsilon) == pytest.approx(delta, rel=1e-9)
        if stated.delta + 1e-9 < delta < 1:  # less is lost in the sum
            assert closed_form.epsilon_of(events, delta) == pytest.approx(epsilon, rel=1e-6, abs=1e-9)


@MIXED
def test_only_gaussian_events_have_a_mu(events):
    trade_off = TradeOff.from_events(events)
    assert trade_off.mu is None and f"{trade_off.stated.epsilon:.4g}" in trade_off.why_no_mu
    alone = TradeOff.from_events([event for event in events if isinstance(event, Release)])
    assert alone.why_no_mu == "" and alone.mu == pytest.approx(1 / closed_form.multiplier_of(events))
    with pytest.raises(ValueError, match="no μ is stated"):
        trade_off.touching(1.0)


def test_mu_composes():
    assert TradeOff.from_events([Release(4.0, 4), Release(2.0)]).mu == pytest.approx(math.sqrt(0.5))


def test_nothing_released_tells_nothing():
    nothing = TradeOff.from_events([])
    assert nothing == TradeOff() == TradeOff.gaussian(0.0)
    assert (nothing.mu, nothing.delta(0.0), nothing.epsilon(1e-5), nothing.best_guess()) == (0, 0, 0, 0.5)
    np.testing.assert_allclose(nothing.misses(SHARES), 1 - SHARES, atol=1e-15)
    assert nothing.best_guess(0.9) == nothing.posterior(0.1, 0.9) == pytest.approx(0.9)
    with pytest.raises(ValueError, match="mu must be positive"):
        nothing.touching(1.0)


@given(mu=st.floats(-149, 14.9).map(lambda power: 10**power), delta=st.floats(1e-300, 0.5))
def test_no_mu_overflows(mu, delta):
    trade_off = TradeOff.gaussian(mu)
    assert trade_off.mu == pytest.approx(mu, rel=1e-12)
    misses = trade_off.misses(FALSE_ALARMS)
    assert ((misses >= 0) & (misses <= 1)).all() and (np.diff(misses) <= 0).all()
    assert 0.5 <= trade_off.best_guess() <= 1
    assert math.isfinite(trade_off.epsilon(delta)) and 0 <= trade_off.delta(1.0) <= 1
    assert json.loads(json.dumps(trade_off.to_json(), allow_nan=False)) == trade_off.to_json()


@pytest.mark.parametrize(
    "stated", [Guarantee(1e4), Guarantee(1e4, 0.5), Guarantee(math.inf), Guarantee(0.1, 7.0)]
)
def test_a_guarantee_of_nothing_has_no_numbers_that_are_not_numbers(stated):
    for events in ([stated], [stated, Release(1.0)]):
        trade_off = TradeOff.from_events(events)
        misses = trade_off.misses(SHARES)
        assert misses[0] == pytest.approx(max(1 - stated.delta, 0.0))
        assert (misses[1:] < 1e-12).all()
        assert trade_off.delta(0.0) == 1.0 == trade_off.best_guess()


def test_the_attackers_odds_are_the_binary_hypothesis_test_s():
    """The odds are e^epsilon to one at delta = 0; at epsilon = 0 the advantage is delta itself."""
    for epsilon in (0.01, 0.5, 1.0, 10.0):
        share = TradeOff.allowed(epsilon, 0.0).best_guess()
        assert share / (1 - share) == pytest.approx(math.exp(epsilon))
    assert TradeOff.allowed(1e-12, 0.3).best_guess() == pytest.approx(0.65)


@given(
    epsilon=st.floats(0.01, 10),
    delta=st.floats(1e-10, 0.5),
    mu=st.floats(1e-9, 8),
    prior=st.floats(0.01, 0.99),
)
def test_the_best_guess_is_that_of_the_best_test_on_the_curve(epsilon, delta, mu, prior):
    for trade_off in (TradeOff.allowed(epsilon, delta), TradeOff.gaussian(mu)):
        for share in (0.5, prior):
            right = share * (1 - trade_off.misses(FINE)) + (1 - share) * (1 - FINE)
            assert trade_off.best_guess(share) == pytest.approx(right.max(), abs=3e-5)
    assert TradeOff.gaussian(mu).best_guess() == pytest.approx(NormalDist().cdf(mu / 2), abs=1e-12)
    assert TradeOff.allowed(epsilon, delta).best_guess() == pytest.approx(
        (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
    )


def test_the_posterior_is_bayes_rule_at_the_best_test():
    """Of 1,000 people 100 were there; a test with 1 % false alarms at mu = 1 finds 9.24 % of them."""
    trade_off = TradeOff.gaussian(1.0)
    power = 1 - float(trade_off.misses(0.01))
    assert power == pytest.approx(0.0924, abs=1e-4)
    assert trade_off.posterior(0.01, prior=0.1) == pytest.approx(100 * power / (100 * power + 9))
    # Pure privacy multiplies the odds by e^epsilon at most.
    assert TradeOff.allowed(2.0, 0.0).posterior(1e-3, prior=0.2) == pytest.approx(
        0.2 * math.exp(2) / (0.2 * math.exp(2) + 0.8)
    )


def test_records_have_mu_and_the_curve():
    plain = TradeOff.gaussian(0.5).to_json()
    assert (plain["mu"], plain["why no mu"]) == (0.5, "")
    assert plain["misses"][FALSE_ALARMS.index(0.5)] == pytest.approx(NormalDist().cdf(-0.5))
    assert plain["false alarms"] == list(FALSE_ALARMS)
    frame = TradeOff.gaussian(0.5).to_frame()
    assert frame.to_dict("list") == {name: plain[name] for name in ("false alarms", "misses")}
    assert TradeOff.from_events([Guarantee(1.0)]).to_json()["mu"] is None


@pytest.mark.parametrize("accounting", ["exact", "zcdp", "as-printed"])
def test_every_private_method_has_its_epsilon_by_its_curve(accounting):
    for method in METHODS.values():
        budget = Budget(1.0, 1e-5, accounting=accounting)
        trade_off = method.trade_off(budget, d=12, k=2)
        assert (trade_off is None) is (not method.private)
        if trade_off is not None:
            assert trade_off.epsilon(1e-5) == method.true_epsilon(budget, d=12, k=2)


def test_shares_and_parameters_out_of_range_are_refused_by_name():
    with pytest.raises(ValueError, match=r"false_alarms must lie .*got 1\.5"):
        TradeOff.gaussian(1.0).misses(1.5)
    with pytest.raises(ValueError, match="false_alarms"):
        TradeOff.allowed(1.0, 0.1).misses([math.nan])
    with pytest.raises(ValueError, match="epsilon must lie between 0"):
        TradeOff.allowed(-1.0, 0.1)
    with pytest.raises(ValueError, match="delta must lie between 0"):
        TradeOff.allowed(1.0, math.nan)
    with pytest.raises(ValueError, match="mu must be at least 0"):
        TradeOff.gaussian(-1.0)
    with pytest.raises(ValueError, match="noise_multiplier must lie"):
        TradeOff.from_events([Release(0.0)])
    with pytest.raises(ValueError, match="multiplier must lie"):
        TradeOff(0.0)
    for wrong in (0.0, 1.0):
        with pytest.raises(ValueError, match="prior must lie"):
            TradeOff().best_guess(wrong)
        with pytest.raises(ValueError, match="false_alarms must lie"):
            TradeOff().posterior(wrong)
        with pytest.raises(ValueError, match="delta must lie"):
            TradeOff().epsilon(wrong)
