"""Test the published experiment at d = 1000: oracles 5, 6 and 7 of theory.md section 10.

(1, 2: test_gaussian. 3, 4: test_ge2018. 9: test_local_releases. 11: test_metrics. 13: test_spiked.
14: test_fantope.)
Rows are scaled by the median of the largest of n rows; the oracles divide by the largest row itself, whose
square was 8319 where the median is 8150 (theory.md section 7): up to 2 % of an error, 3 % with rounding.
"""

import numpy as np
import pytest

from dppca_core import METHODS, Budget, sin_theta
from tests.core.laws import Z, mean_is
from tests.core.problems import GE, ge_cohort, ge_dps_errors

RUNS = 200
FIGURE_3A = {0.5: 2.22, 1.0: 1.65, 1.5: 0.99, 2.0: 0.72}  # read off the paper
SHEET = {0.5: 2.23, 1.0: 1.67, 1.5: 0.89, 2.0: 0.65}  # theory.md's simulation, 20 to 30 runs


def printed_errors(epsilon: float) -> np.ndarray:
    return ge_dps_errors(epsilon, 0.3, "as-printed", 0, RUNS)


@pytest.mark.parametrize("epsilon", FIGURE_3A)
def test_oracle_5_figure_3a(epsilon):
    """The mean of 200 runs lies within .1 of the paper's curve (and Z standard errors, .02 at most)."""
    errors = printed_errors(epsilon)
    assert errors.std() / np.sqrt(RUNS) < 0.025
    assert mean_is(errors, FIGURE_3A[epsilon], slack=0.1)


@pytest.mark.parametrize("epsilon", SHEET)
def test_oracle_5_the_sheets_own_simulation(epsilon):
    """The means differ by less than .1, or the interval of a difference over 20 and 200 runs (at 1e-3).

    The run-to-run sd of about .25 to .3 between epsilon 1 and 2 is that of losing the support.
    """
    errors = printed_errors(epsilon)
    interval = 3.29 * errors.std() * np.sqrt(1 / 20 + 1 / RUNS)
    assert abs(errors.mean() - SHEET[epsilon]) <= max(0.1, interval)


def test_oracle_5_rejects_a_planted_sensitivity():
    """sqrt 2 for the paper's 2 gives the curve at sqrt 2 epsilon."""
    assert not mean_is(printed_errors(np.sqrt(2)), FIGURE_3A[1.0], slack=0.1)


@pytest.mark.parametrize(("epsilon", "sheet"), [(0.5, 0.633), (1.0, 0.336), (2.0, 0.180)])
def test_oracle_6_exact_accounting_and_burn_in(epsilon, sheet):
    """The accounting is exact with sqrt 2, burn-in 2, delta = 1e-5; at .5 a few runs lose the support."""
    errors = ge_dps_errors(epsilon, 1e-5, "exact", 2, 60)
    assert mean_is(errors, sheet, slack=0.03 * sheet)
    assert not mean_is(errors, sheet / np.sqrt(2), slack=0.03 * sheet)


@pytest.mark.parametrize(
    ("name", "options", "sheet"),
    [("analyze_gauss", {}, 0.328), ("analyze_gauss_sparse", {"s_hat": 50}, 0.112)],
)
def test_oracle_7_one_release(name, options, sheet):
    """The noise is mirrored; isotropic noise is better by sqrt 2 and rejected."""

    def errors(noise: str) -> np.ndarray:
        squares = [
            METHODS[name].fit(
                ge_cohort(run % 2),
                k=GE.k,
                budget=Budget(1.0, 1e-5),
                rng=np.random.default_rng([run, 7]),
                noise=noise,
                **options,
            )
            for run in range(6)
        ]
        return np.array([sin_theta(estimate.basis, GE.basis) for estimate in squares])

    mirrored = errors("mirrored")
    # Six runs: the sd is 1 to 3 % of the error, so Z standard errors are 2 to 6 %.
    assert mirrored.std(ddof=1) * Z / np.sqrt(6) < 0.06 * sheet
    assert mean_is(mirrored, sheet, slack=0.03 * sheet)
    assert not mean_is(errors("isotropic"), sheet, slack=0.03 * sheet)
