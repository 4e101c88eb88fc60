"""Eigenvalues paid for by themselves: how far a row moves them, their noise, their price."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dppca_core import Budget
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, OverLimitError
from dppca_core.numerics import moments
from dppca_core.release import spectrum
from dppca_core.release.spectrum import SpectrumRequest
from tests.core.accounts.paying import TABLE
from tests.core.release.summing import sum_rows

ALPHA = 1e-6  # of each statistical test here; noise comes from the operating system, so no seed
D, N = 8, 500
ROWS = moments.clip_rows(np.random.default_rng(0).standard_normal((N, D)) * np.arange(D, 0, -1), 12.0)
rows = st.lists(st.floats(-1e6, 1e6), min_size=D, max_size=D).map(np.array)


def payer(limit=1e9, neighbours="replace-one"):
    made = Book().payer(TABLE)
    made.set_limit(Limit(limit, 1e-5, neighbours))
    return made


def whole(last, n=4):
    given_rows = moments.clip_rows(np.vstack([ROWS[: n - 1], last]), 1.0)
    return spectrum.whole_eigenvalues(sum_rows([given_rows], D))


@settings(max_examples=60)
@given(x=rows, y=rows)
def test_a_row_moves_them_by_at_most_the_sensitivity(x, y):
    for budget, other in ((Budget(1.0, 1e-5), y), (Budget(1.0, 1e-5, "add-remove"), np.zeros(D))):
        moved = np.linalg.norm(whole(x) - whole(other)) * spectrum.rounding_step(4, D)
        assert moved <= spectrum.sensitivity(budget, 4, D)


def test_the_sensitivity_is_attained():
    e1, e2, budget = np.eye(D)[0], np.eye(D)[1], Budget(1.0, 1e-5)
    two = [spectrum.whole_eigenvalues(sum_rows([np.array([e1, last])], D)) for last in (e1, e2)]
    moved = np.linalg.norm(two[0] - two[1]) * spectrum.rounding_step(2, D)
    assert moved == pytest.approx(math.sqrt(2))
    assert moved <= spectrum.sensitivity(budget, 2, D) <= moved * (1 + 1e-4)


def test_errors_and_rounding_stay_below_their_allowance():
    """Against 4 d 2^-52 n: the eigensolver on the largest sums, by the exact trace and Frobenius norm."""
    for n, d in ((10**6, 50), (2 * 10**6, 200)):
        step = spectrum.rounding_step(n, d)
        basis = np.linalg.qr(np.random.default_rng(1).standard_normal((d, d)))[0]
        true = n * np.sort(np.random.default_rng(2).dirichlet(np.ones(d)))[::-1]
        computed = np.linalg.eigvalsh((basis * true) @ basis.T)[::-1]
        assert np.abs(computed - true).max() < step / 2


def test_with_hardly_any_noise_they_are_the_eigenvalues():
    result = spectrum.make(SpectrumRequest(Budget(1e6, 1e-5)), [ROWS[:200], ROWS[200:]], payer())
    np.testing.assert_allclose(result.eigenvalues, np.linalg.eigvalsh(ROWS.T @ ROWS / N)[::-1], atol=1e-4)


def drawn(factor=1.0):
    """Noise of three releases over that of one entry of the moment; eigenvalues 60 apart stay in order.

    factor: of the multiplier that the payment says was paid for.
    """
    d, budget, account = 40, Budget(1.0, 1e-5), payer()
    counts = 60 * np.arange(1, d + 1)
    patients = np.repeat(np.eye(d), counts, axis=0)
    releases = [spectrum.make(SpectrumRequest(budget), [patients], account).eigenvalues for _ in range(3)]
    paid = account.account().events[0].noise_multiplier * math.sqrt(2)
    return np.concatenate(
        [(len(patients) * eigenvalues - counts[::-1]) / (factor * paid) for eigenvalues in releases]
    )


def chance(values):
    """Return the two-sided chance of a sum of squares as far from its mean, for standard normal values."""
    below = stats.chi2.cdf(float(values @ values), len(values))
    return 2 * min(below, 1 - below)


def test_the_noise_has_its_size():
    assert chance(drawn()) > ALPHA


def test_half_the_noise_is_found_out():
    assert chance(drawn(2.0)) < ALPHA


def test_it_costs_what_was_asked_and_is_refused_beyond_the_limit():
    account = payer(0.12)
    spectrum.make(SpectrumRequest(Budget(0.1, 1e-5)), [ROWS], account)
    assert account.account().spent().epsilon == pytest.approx(0.1, rel=1e-3)
    with pytest.raises(OverLimitError):
        spectrum.make(SpectrumRequest(Budget(0.1, 1e-5)), [ROWS], account)
    assert len(account.account().payments) == 1


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        (Budget(1.0, 1e-5, accounting="as-printed"), "one of exact, zcdp"),
        (Budget(1.0, 1e-5, "add-remove"), "those of the account"),
    ],
)
def test_what_is_not_private_here_is_refused(budget, says):
    with pytest.raises(ValueError, match=says):
        spectrum.make(SpectrumRequest(budget), [ROWS], payer())
