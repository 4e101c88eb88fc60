"""Eigenvalues paid for by themselves: how far a row moves them, their noise, their price."""

import math
import multiprocessing
import os
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dppca_core import Budget
from dppca_core.accounts.book import OverLimitError, ReleaseSteps
from dppca_core.numerics import moments
from dppca_core.release import discrete_gaussian, spectrum
from dppca_core.release.spectrum import SpectrumRequest
from tests.core.accounts.paying import payer
from tests.core.release.summing import sum_rows

ALPHA = 1e-6  # of each statistical test here; noise comes from the operating system, so no seed
D, N = 8, 500
ROWS = moments.clip_rows(np.random.default_rng(0).standard_normal((N, D)) * np.arange(D, 0, -1), 12.0)
rows = st.lists(st.floats(-1e6, 1e6), min_size=D, max_size=D).map(np.array)


def made(request, parts, pays, **options):
    names = [f"column {i}" for i in range(parts[0].shape[1])]
    return spectrum.make(request, parts, pays, **{"features": names, "public": {"bound": 12.0}, **options})


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
    result = made(SpectrumRequest(Budget(1e6, 1e-5)), [ROWS[:200], ROWS[200:]], payer())
    np.testing.assert_allclose(result.eigenvalues, np.linalg.eigvalsh(ROWS.T @ ROWS / N)[::-1], atol=1e-4)


def drawn(factor=1.0):
    """Noise of three releases over that of one entry of the moment; eigenvalues 60 apart stay in order.

    factor: of the multiplier that the payment says was paid for.
    """
    d, budget, account = 40, Budget(1.0, 1e-5), payer()
    counts = 60 * np.arange(1, d + 1)
    patients = np.repeat(np.eye(d), counts, axis=0)
    releases = [made(SpectrumRequest(budget), [patients], account).eigenvalues for _ in range(3)]
    paid = account.balance().events[0].noise_multiplier * math.sqrt(2)
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
    made(SpectrumRequest(Budget(0.1, 1e-5)), [ROWS], account)
    assert account.balance().spent().epsilon == pytest.approx(0.1, rel=1e-3)
    with pytest.raises(OverLimitError):
        made(SpectrumRequest(Budget(0.1, 1e-5)), [ROWS], account)
    assert len(account.balance().payments) == 1


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        (Budget(1.0, 1e-5, accounting="as-printed"), "one of exact, zcdp"),
        (Budget(1.0, 1e-5, "add-remove"), "those of the account"),
    ],
)
def test_what_is_not_private_here_is_refused(budget, says):
    with pytest.raises(ValueError, match=says):
        made(SpectrumRequest(budget), [ROWS], payer())


@pytest.mark.parametrize("dies", ["before", "after"])
def test_an_interrupted_one_goes_on_for_nothing_with_the_same_numbers(tmp_path, monkeypatch, dies):
    """Killed between its payment and its draw, or once the draw is kept and before it is finished."""
    request, path = SpectrumRequest(Budget(0.1, 1e-5)), tmp_path / "book"
    pays, drawn, add_noise = payer(path=path), [], discrete_gaussian.add_noise

    def noted(whole, std):
        if not drawn and dies == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        drawn.append(add_noise(whole, std))
        return drawn[-1]

    def killed():
        """Pay and draw in a process of its own, and die."""
        monkeypatch.setattr(discrete_gaussian, "add_noise", noted)
        monkeypatch.setattr(ReleaseSteps, "finish", lambda *given: os.kill(os.getpid(), signal.SIGKILL))
        made(request, [ROWS], payer(path=path))

    process = multiprocessing.get_context("fork").Process(target=killed)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    (payment,) = pays.balance().payments
    monkeypatch.setattr(discrete_gaussian, "add_noise", noted if dies == "after" else add_noise)
    first = made(request, [ROWS], payer(path=path), resumed=payment)
    assert not drawn  # of a draw that was kept nothing is drawn again
    again = made(request, [ROWS], payer(path=path), resumed=payment)
    assert again.document == first.document and first.payment == payment
    assert pays.balance().payments == (payment,)
    for changed in ({"public": {}}, {"features": ["x"] * D}):
        with pytest.raises(ValueError, match="something else"):
            made(request, [ROWS], payer(path=path), resumed=payment, **changed)
    with pytest.raises(ValueError, match="something else"):
        made(SpectrumRequest(Budget(0.2, 1e-5)), [ROWS], payer(path=path), resumed=payment)


def test_the_numbers_are_those_of_the_noise_in_order(monkeypatch):
    """To the bit: (whole + noise) g/n, sorted and cut at 0."""
    monkeypatch.setattr(discrete_gaussian, "add_noise", lambda whole, std: whole + 3.0 - 50.0 * np.arange(D))
    result = made(SpectrumRequest(Budget(1.0, 1e-5)), [ROWS], payer())
    values = spectrum.whole_eigenvalues(sum_rows([ROWS], D)) + 3.0 - 50.0 * np.arange(D)
    expected = np.maximum(np.sort(values * spectrum.rounding_step(N, D) / N)[::-1], 0.0)
    np.testing.assert_array_equal(result.eigenvalues, expected)


def test_it_is_not_paid_at_another_price_than_was_shown():
    account = payer()
    shown = account.balance()
    made(SpectrumRequest(Budget(0.1, 1e-5)), [ROWS], account, expected=shown)
    with pytest.raises(ValueError, match="meanwhile"):
        made(SpectrumRequest(Budget(0.1, 1e-5)), [ROWS], account, expected=shown)


def test_only_its_own_plain_form_is_a_request():
    request = SpectrumRequest(Budget(0.1, 1e-5), 3)
    assert SpectrumRequest.from_asked(spectrum.as_asked(request, [3], ["a"], {}, False)) == request
    for plain in ({}, {"spectrum": None}, {"spectrum": {"budget": {"epsilon": 1.0}}}):
        with pytest.raises(ValueError, match="no request for eigenvalues"):
            SpectrumRequest.from_asked(plain)
