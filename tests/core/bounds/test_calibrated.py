"""Test fitted constants: the one that made the data comes back, and its interval covers as stated."""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.fit_constant import fit_constant
from tests.core.problems import ROOMY

BASE = replace(ROOMY, n=10**6)
SWEEP = [replace(BASE, budget=replace(BASE.budget, epsilon=epsilon)) for epsilon in (0.02, 0.05, 0.2, 1.0)]
FITTED = [name for name, rule in BOUNDS.items() if rule.fits]


def noisy(name: str, constant: float, rng: np.random.Generator, repeats: int = 15) -> list[np.ndarray]:
    """Return errors spread by a fifth around the bound at `constant`, a lognormal's median."""
    rule = BOUNDS[name]
    centres = [rule(setting, **{rule.fits: constant}).final for setting in SWEEP]
    return [centre * np.exp(rng.normal(0, 0.2, repeats)) for centre in centres]


@pytest.mark.parametrize("name", FITTED)
def test_the_constant_comes_back(name):
    """Errors that lie on the bound give it exactly; the interval is then a point."""
    rule = BOUNDS[name]
    on_it = [np.full(3, rule(setting, **{rule.fits: 2.5}).final) for setting in SWEEP]
    fit = fit_constant(rule, SWEEP, on_it, np.random.default_rng(0), resamples=20)
    assert fit.value == pytest.approx(2.5, rel=1e-3)
    assert (fit.low, fit.high) == pytest.approx((fit.value, fit.value))
    assert fit.settings == 4


@pytest.mark.parametrize("name", ["wang_xu_low", "analyze_gauss"])
def test_the_interval_covers(name):
    """At nominal 95 %, 15 repeats and four settings, at least 85 % of 200 intervals cover.

    A binomial at 85 % falls to 73 % with probability below ALPHA; the percentile bootstrap of medians is only
    nearly exact. Planted: intervals of a quarter of the width.
    """
    rule, inside, narrow = BOUNDS[name], 0, 0
    for run in range(200):
        fit = fit_constant(
            rule,
            SWEEP,
            noisy(name, 2.0, np.random.default_rng([run, 1])),
            np.random.default_rng([run, 2]),
            resamples=200,
        )
        inside += fit.low <= 2.0 <= fit.high
        middle, half = fit.value, (fit.high - fit.low) / 8
        narrow += middle - half <= 2.0 <= middle + half
    assert inside > 0.73 * 200
    assert not narrow > 0.73 * 200


def test_other_constants_are_held():
    rule = BOUNDS["ge2018"]
    measured = noisy("ge2018", 1.0, np.random.default_rng(3))
    plain = fit_constant(rule, SWEEP, measured, np.random.default_rng(4))
    assert fit_constant(rule, SWEEP, measured, np.random.default_rng(4), c2=5.0) == plain  # only in `why`
    repeated = fit_constant(rule, SWEEP, measured, np.random.default_rng(4))
    assert repeated == plain


def test_what_cannot_be_fitted_is_refused_by_name():
    rng = np.random.default_rng(0)
    ones = [np.ones(3)] * 4
    with pytest.raises(ValueError, match="free constant that scales it, got dps_prediction"):
        fit_constant(BOUNDS["dps_prediction"], SWEEP, ones, rng)
    with pytest.raises(ValueError, match="free constant that scales it, got noisy_power"):
        fit_constant(BOUNDS["noisy_power"], SWEEP, ones, rng)
    flat = [replace(setting, eigenvalues=np.full(100, 0.1)) for setting in SWEEP]
    with pytest.raises(ValueError, match="wang_xu_low is void, or nothing was measured, at every setting"):
        fit_constant(BOUNDS["wang_xu_low"], flat, ones, rng)
    with pytest.raises(ValueError, match="wang_xu_low is void, or nothing was measured"):
        fit_constant(BOUNDS["wang_xu_low"], SWEEP, [np.zeros(3)] * 4, rng)
    with pytest.raises(ValueError, match="shorter"):
        fit_constant(BOUNDS["wang_xu_low"], SWEEP, ones[:1], rng)
    with pytest.raises(ValueError, match="c is what is fitted"):
        fit_constant(BOUNDS["wang_xu_low"], SWEEP, ones, rng, c=2.0)
    with pytest.raises(ValueError, match=r"wang_xu_low takes no constant .c9.: did you mean c\?"):
        fit_constant(BOUNDS["wang_xu_low"], SWEEP, ones, rng, c9=2.0)
    for bad in ([], [np.nan], [-1.0]):
        with pytest.raises(ValueError, match="finite errors of at least 0"):
            fit_constant(BOUNDS["wang_xu_low"], SWEEP, [*ones[:3], np.array(bad)], rng)


def test_no_constant_reaches_below_the_other_terms():
    """Analyze Gauss's sampling term is not scaled by C: errors far below it have no constant."""
    with pytest.raises(ValueError, match="no constant C makes analyze_gauss match: its other terms decide"):
        fit_constant(BOUNDS["analyze_gauss"], SWEEP, [np.full(3, 1e-9)] * 4, np.random.default_rng(0))


def test_void_settings_are_left_out():
    rule = BOUNDS["ge2018"]
    scarce = replace(BASE, n=100)
    assert not rule(scarce).terms
    measured = noisy("ge2018", 1.0, np.random.default_rng(3))
    with_void = fit_constant(rule, [*SWEEP, scarce], [*measured, np.ones(15)], np.random.default_rng(5))
    assert with_void == fit_constant(rule, SWEEP, measured, np.random.default_rng(5))
