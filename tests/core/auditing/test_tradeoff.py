"""Test the attack that has to land on the trade-off curve, its limits, and what delta allows."""

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget
from dppca_core.accounting import gaussian
from dppca_core.auditing import (
    clopper_pearson,
    lower_bound,
    membership,
    outright_publication,
)
from dppca_core.auditing.cases import planted
from dppca_core.auditing.cases.planted import BUGS, METHODS_ATTACKED
from dppca_core.experiments.demonstrations.attacks import PORTION, AttackDraws, AttackExperiment
from dppca_core.experiments.demonstrations.neighbours import picture
from dppca_core.methods import METHODS
from tests.core import laws
from tests.core.laws import ALPHA


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (200, 4000)])
def test_limits_are_where_the_count_becomes_rare(hits, trials):
    """scipy's limits are the same."""
    (low,), (high,) = clopper_pearson.limits([hits], [trials], 0.01)
    exact = stats.binomtest(hits, trials).proportion_ci(0.98, "exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    with pytest.raises(ValueError, match="hits must lie between 0 and their trials"):
        clopper_pearson.limits([hits + trials + 1], [trials], 0.01)


# --- the attack -----------------------------------------------------------------------------------------

# What one place releases has the law of what a hospital with noise of its own sends.
DRAWN = [method for method in METHODS_ATTACKED if method != "two_stage"]
BUDGET = Budget(4.0, 0.01)
FEW = 1000  # for all but noise that is right, or right but for sqrt 2, where patients are replaced


@lru_cache(maxsize=64)  # the honest release is drawn once for all bugs of a method
def drawn(
    kind: str, method: str = "dps_pca", budget: Budget = BUDGET, count: int = 2000, **options: int
) -> tuple:
    draws = AttackDraws(
        AttackExperiment(**({"method": method, "budget": budget, "k": 2, "steps": 3, "seed": 0} | options))
    )
    while (cell := draws.next_missing(kind, count)) is not None:
        draws.try_cell(*cell)
    here, there = draws.readings(kind, count)
    here.flags.writeable = there.flags.writeable = False  # others get the same arrays
    return draws, here, there


@pytest.mark.parametrize("method", DRAWN)
@pytest.mark.parametrize(("relation", "k"), [("replace-one", 2), ("add-remove", 1)])
def test_the_attack_lands_on_the_exact_curve_and_with_half_the_noise_off_it(method, relation, k):
    """Each statement errs with probability ALPHA at most."""
    # The setting that the audit of bugs has is left to its defaults, so that it is drawn once.
    more = {} if (relation, k) == (BUDGET.neighbours, 2) else {"budget": Budget(4.0, 0.01, relation), "k": k}
    limit = membership.threshold(0.2)
    draws, here, there = drawn("true", method, count=FEW if more else 2000, **more)
    rates = membership.measured(here, there, limit, 1 - ALPHA)
    assert draws.attacked.budget == Budget(4.0, 0.01, relation) and draws.attacked.k == k
    assert draws.case.mu == pytest.approx(1 / gaussian.noise_multiplier(draws.attacked.budget), rel=1e-6)
    assert membership.on_curve(rates, draws.case.mu)
    assert rates.false_alarm_span[0] < 0.2 < rates.false_alarm_span[1]
    assert not membership.on_curve(rates, 2 * draws.case.mu)
    _, here, there = drawn("half", method, count=FEW, **more)
    broken = membership.measured(here, there, draws.case.mu / 2, 1 - ALPHA)
    assert not membership.on_curve(broken, draws.case.mu) and membership.on_curve(broken, 2 * draws.case.mu)


@pytest.mark.parametrize("method", DRAWN)
def test_without_noise_the_attack_never_errs(method):
    draws, here, there = drawn("silent", method, count=PORTION)
    rates = membership.measured(here, there, draws.case.mu / 2)
    assert (rates.false_alarms, rates.misses, rates.right) == (0.0, 0.0, 1.0)
    assert 0.98 < 1 - rates.miss_span[1] < 1


def test_intervals_err_as_rarely_as_they_say():
    """Of 300 attacks at level 0.8 no more miss the truth than 60 explain but for ALPHA; narrow ones do."""
    rng, mu, limit = np.random.default_rng(0), 1.0, membership.threshold(0.2)
    attacks = [
        membership.measured(mu + rng.standard_normal(300), rng.standard_normal(300), limit, 0.8)
        for _ in range(300)
    ]
    most = stats.binom.isf(ALPHA, 300, 0.2)
    assert sum(not membership.on_curve(rates, mu) for rates in attacks) <= most
    points = [
        rates._replace(false_alarm_span=(rates.false_alarms,) * 2, miss_span=(rates.misses,) * 2)
        for rates in attacks
    ]
    assert sum(not membership.on_curve(rates, mu) for rates in points) > most


@pytest.mark.parametrize("method", DRAWN)
@pytest.mark.parametrize("bug", BUGS)
def test_the_audit_refutes_every_bug_and_only_the_bug(method, bug):
    """Each false alarm has probability ALPHA at most."""
    draws, *honest = drawn("true", method)
    result = lower_bound.gaussian_tradeoff(*honest, delta=BUDGET.delta, alpha=ALPHA)
    assert 0.6 * BUDGET.epsilon < result.epsilon <= draws.case.epsilon
    reason = planted.why_no_bug(bug, method, BUDGET, 2)
    if reason is not None:
        unit = METHODS[method].scaling == "unit"
        assert (bug == "shared" and method != "dps_pca") or (bug == "unclipped" and unit)
        alone = AttackDraws(draws.attacked)
        alone.try_cell(bug, 0)
        assert alone.failed[bug, 0].startswith(f"bug must break the release, but {reason}")
        return
    here, there = drawn(bug, method, count=2000 if bug == "sensitivity" else FEW)[1:]
    result = lower_bound.gaussian_tradeoff(here, there, delta=BUDGET.delta, alpha=ALPHA)
    assert result.epsilon > BUDGET.epsilon
    with np.errstate(divide="ignore"):
        moved = (here.mean() - there.mean()) / there.std()
    assert draws.drawn(bug).mu == (math.inf if moved > 1e9 else pytest.approx(moved, rel=0.1))


def test_a_bug_that_breaks_nothing_is_named():
    added = Budget(1.0, 1e-5, "add-remove")
    assert planted.why_no_bug("sensitivity", "analyze_gauss", added, 3) == "1 is the right sensitivity here"
    assert planted.why_no_bug("sensitivity", "dps_pca", BUDGET, 1) == "1 is the right sensitivity here"
    assert planted.why_no_bug("sensitivity", "ldp_pca", BUDGET, 1) is None
    assert planted.why_no_bug("half", "ldp_pca", added, 1) is None


def test_draws_are_told_by_what_they_are():
    """Draws do not depend on their order, and differ for another portion or seed."""
    first, here, there = drawn("true", count=3 * PORTION)
    second = AttackDraws(first.attacked)
    for portion in (2, 0, 1):
        second.try_cell("true", portion)
    np.testing.assert_array_equal(np.stack(second.readings("true", 3 * PORTION)), np.stack([here, there]))
    assert len(set(here.tolist())) == len(here) and not set(here) & set(there)
    assert not set(here) & set(drawn("true", seed=1)[1])
    other = AttackDraws(first.attacked)
    other.try_cell("true", 1)
    assert len(other.readings("true", 1000)[0]) == 0 and other.next_missing("true", 1000) == ("true", 0)


@pytest.mark.parametrize(("n", "delta"), [(100, 0.01), (100_000, 1e-5), (10**9, 1e-10)])
def test_what_is_published_is_what_a_simulation_publishes(n, delta):
    """20,000 runs of one draw for each patient are counted; 5 standard errors are allowed."""
    published = outright_publication.published(n, delta)
    counts = np.random.default_rng(0).binomial(n, delta, 20_000)
    assert published.expected == pytest.approx(counts.mean(), abs=5 * counts.std() / math.sqrt(20_000))
    assert published.chance_of_any == pytest.approx((counts > 0).mean(), abs=5 * 0.5 / math.sqrt(20_000))
    assert np.quantile(counts, [0.1, 0.5, 0.9]).tolist() == [published.low, published.middle, published.high]


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_the_picture_s_two_patients_move_a_release_as_far_as_any(relation):
    """The readings follow N(0, 1) and N(mu, 1), but for ALPHA; mu of the other relation is off."""
    drawn_picture = picture(Budget(2.0, 0.01, relation), 1000)
    assert drawn_picture.mu == pytest.approx(1 / gaussian.noise_multiplier(Budget(2.0, 0.01)))
    here, there = (
        [person.reading for person in side]
        for side in (drawn_picture.with_patient, drawn_picture.without_patient)
    )
    assert laws.follows(here, stats.norm(drawn_picture.mu)) and laws.follows(there, stats.norm())
    assert not laws.follows(here, stats.norm(math.sqrt(2) * drawn_picture.mu))
    assert (drawn_picture.instead is None) is (relation == "add-remove")
    rows = np.vstack([drawn_picture.others, drawn_picture.patient])
    assert np.linalg.norm(rows, axis=1).max() == pytest.approx(1.0)


@pytest.mark.parametrize(("tries", "level"), [(1, 0.95), (7, 0.9), (40, 0.95), (41, 0.5), (10_001, 0.99)])
def test_a_coins_luck_is_the_exact_binomial_interval(tries, level):
    assert membership.coin_span(tries, level) == stats.binom.interval(level, tries, 0.5)


@pytest.mark.parametrize(("tries", "level"), [(0, 0.95), (40, 0.0), (40, 1.0)])
def test_a_coin_without_tries_is_refused(tries, level):
    with pytest.raises(ValueError, match=r"tries|level"):
        membership.coin_span(tries, level)
