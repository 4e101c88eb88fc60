"""Diagnostics on traces whose answer is known: independent, autoregressive, stuck, drifting, constant."""

import numpy as np
import pytest
from scipy.signal import lfilter

from dppca_core.numerics import mcmc_diagnostics


def autoregressive(rho: float, chains: int, scans: int) -> np.ndarray:
    """Draw a stationary AR(1) of unit variance: its autocorrelation time is (1 + rho)/(1 - rho)."""
    rng = np.random.default_rng([int(100 * rho), chains])
    noise = rng.standard_normal((chains, scans + 500)) * np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], noise)[:, 500:]


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.9])
def test_the_autocorrelation_time_of_an_autoregression(rho):
    """Within 10 % from 20 chains of 5,000 scans; a trace thinned by two is told apart."""
    traces, expected = autoregressive(rho, 20, 5000), (1 + rho) / (1 - rho)
    assert mcmc_diagnostics.autocorrelation_time(traces) == pytest.approx(expected, rel=0.1)
    if rho:
        assert mcmc_diagnostics.autocorrelation_time(traces[:, ::2]) < 0.8 * expected


def test_r_hat_of_mixed_chains_is_one():
    assert mcmc_diagnostics.split_r_hat(autoregressive(0.5, 4, 5000)) == pytest.approx(1, abs=0.01)


def test_r_hat_is_its_formula():
    """Two halves (0, 2) and (4, 6): W = 2, B/h = 8, h = 2."""
    assert mcmc_diagnostics.split_r_hat(np.array([[0.0, 2.0, 4.0, 6.0]])) == pytest.approx(
        np.sqrt(0.5 + 8 / 2)
    )


@pytest.mark.parametrize("kind", ["stuck apart", "drifting"])
def test_r_hat_flags_a_bad_chain(kind):
    traces = autoregressive(0.0, 2, 200)
    if kind == "stuck apart":
        traces[1] += 3
    else:
        traces += np.linspace(4, 0, 200)
    assert mcmc_diagnostics.split_r_hat(traces) > 1.3


def test_traces_that_never_move():
    assert mcmc_diagnostics.split_r_hat(np.ones((2, 8))) == 1
    assert mcmc_diagnostics.split_r_hat(np.repeat([[1.0], [2.0]], 8, axis=1)) == np.inf
    assert mcmc_diagnostics.autocorrelation_time(np.ones((2, 8))) == 1


@pytest.mark.parametrize("shape", [(8,), (2, 3), (0, 8)])
def test_other_shapes_are_refused_by_name(shape):
    for diagnose in (mcmc_diagnostics.split_r_hat, mcmc_diagnostics.autocorrelation_time):
        with pytest.raises(ValueError, match="traces must have shape"):
            diagnose(np.zeros(shape))
