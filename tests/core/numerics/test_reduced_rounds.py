"""Test rounds without patients against the same rounds in all d rows, and what is concluded from them.

Two samples of 64 and 200 runs have means within 4.9 standard errors of their difference (a false alarm in a
million); a tenth less noise is rejected at these settings.
"""

import math

import numpy as np
import pytest

from dppca_core.numerics import linalg, reduced_rounds
from dppca_core.numerics.reduced_rounds import GradedRows, SpikedRows

ROWS = SpikedRows(120, 8, (0.03, 0.03), 0.004)


def full_rounds(rows: SpikedRows, std: float, rounds: int, s_hat: int, burn_in: int, runs: int) -> np.ndarray:
    rng, k, errors = np.random.default_rng(5), len(rows.spikes), []
    for _ in range(runs):
        truth = np.zeros((rows.d, k))
        truth[: rows.s] = linalg.orthonormalise(rng.standard_normal((rows.s, k)))
        basis = linalg.orthonormalise(rng.standard_normal((rows.d, k)))
        for step in range(rounds):
            product = (truth * (np.array(rows.spikes) - rows.bulk)) @ (truth.T @ basis) + rows.bulk * basis
            basis = linalg.orthonormalise(product + std * rng.standard_normal(basis.shape))
            if step >= burn_in and s_hat < rows.d:
                kept = linalg.largest_rows(basis, s_hat)
                basis = linalg.scatter_rows(linalg.orthonormalise(basis[kept]), kept, rows.d)
        errors.append(k - np.square(truth.T @ basis).sum())
    return np.array(errors)


def agree(first: np.ndarray, second: np.ndarray) -> bool:
    error = math.sqrt(first.var() / len(first) + second.var() / len(second))
    return abs(first.mean() - second.mean()) < 4.9 * error


def test_draws_are_kept_while_they_are_small_and_nobody_changes_them(monkeypatch):
    kept = reduced_rounds.draw(ROWS, 3, 8)
    assert reduced_rounds.draw(ROWS._replace(bulk=0.001), 3, 8) is kept
    with pytest.raises(ValueError, match="read-only"):
        kept.noise[:] = 0.0
    monkeypatch.setattr(reduced_rounds, "_MOST_KEPT", 100)
    anew = reduced_rounds.draw(ROWS, 3, 8)
    assert anew is not kept
    np.testing.assert_array_equal(anew.noise, kept.noise)


@pytest.mark.parametrize(("std", "rounds", "s_hat"), [(1e-3, 6, 120), (1e-3, 6, 24), (2.5e-3, 3, 120)])
def test_a_run_in_few_rows_errs_as_one_in_all(std, rounds, s_hat):
    draws = reduced_rounds.draw(ROWS, rounds, 64)

    def reduced(noise: float) -> np.ndarray:
        return reduced_rounds.truncated_power(
            ROWS, noise, 0.0, s_hat=s_hat, rounds=rounds, burn_in=2, draws=draws
        )

    full = full_rounds(ROWS, std, rounds, s_hat, 2, 200)
    assert agree(reduced(std), full)
    assert not agree(reduced(0.6 * std), full)


def test_without_noise_the_truth_is_found():
    draws = reduced_rounds.draw(ROWS, 40, 4)
    errors = reduced_rounds.truncated_power(ROWS, 0.0, 0.0, s_hat=120, rounds=40, burn_in=0, draws=draws)
    assert errors.max() < 1e-12
    leading, basis = reduced_rounds.stacked(ROWS, [1e-9] * 12, 0.0, 4, draws)
    assert reduced_rounds.squared_errors(draws, basis).max() < 1e-6
    kept = reduced_rounds.kept_rows(ROWS, draws, leading, 24).summary()
    assert kept == pytest.approx((1.0, 0.0, 0.0), abs=1e-12)


def test_a_spike_that_rounding_leaves_about_zero_gives_a_number():
    rows = SpikedRows(3, 3, (1.0, 1.0, 1e-17), 0.0)
    draws = reduced_rounds.draw(rows, 1, 16)
    leading, basis = reduced_rounds.stacked(rows, (1e-3,), 0.0, 0, draws)
    assert np.isfinite(leading).all() and np.isfinite(basis).all()


def test_rows_that_matter_are_missed_where_too_few_are_kept():
    draws = reduced_rounds.draw(ROWS, 12, 16)
    leading, _ = reduced_rounds.stacked(ROWS, [1e-9] * 12, 0.0, 4, draws)
    kept = reduced_rounds.kept_rows(ROWS, draws, leading, 7).summary()
    lightest = np.square(draws.truth[:, :8]).sum(axis=2).min(axis=1).mean()
    assert kept.chance == 0.0 and kept.missed == pytest.approx(lightest, rel=1e-6)


def test_a_population_where_every_row_matters_has_no_rows_of_noise():
    rows = SpikedRows(10, 10, (0.3,), 0.01)
    draws = reduced_rounds.draw(rows, 4, 8)
    leading, _ = reduced_rounds.stacked(rows, [1e-3] * 4, 0.0, 1, draws)
    assert reduced_rounds.kept_rows(rows, draws, leading, 10).summary() == pytest.approx((1.0, 0.0, 0.0))


def test_the_best_number_of_rounds_grows_as_noise_falls():
    """Without noise every round helps; with much of it the best of a few is far from the ten of the paper."""
    rows = SpikedRows.declared(200, 3, 10, 0.1, energy=1 / 3)
    best = [
        reduced_rounds.best_rounds(rows, lambda T, s=s: s * math.sqrt(T), 10**14, s_hat=20, burn_in=2)
        for s in (1e-12, 1e-6, 5e-4)
    ]
    assert best[0] == reduced_rounds.MOST_ROUNDS and best == sorted(best, reverse=True) and best[2] <= 6


@pytest.mark.parametrize("std", [1e-3, 4e-3])
def test_a_flat_bulk_in_the_eigenbasis_gives_the_errors_of_rows_of_noise(std):
    """Of stacked rounds, by the mean of their logarithms; a quarter less noise is rejected."""
    graded = GradedRows.reduced(np.r_[ROWS.spikes, np.full(ROWS.d - 2, ROWS.bulk)], 2)
    assert graded.trace == pytest.approx(ROWS.trace)

    def errors(rows: GradedRows | SpikedRows, draws: reduced_rounds.Draws, noise: float) -> np.ndarray:
        _, basis = reduced_rounds.stacked(rows, [noise] * 8, 0.0, 2, draws)
        return np.log(reduced_rounds.squared_errors(draws, basis))

    flat = errors(ROWS, reduced_rounds.draw(ROWS, 8, 64), std)
    assert agree(errors(graded, graded.draw(8, 200), std), flat)
    assert not agree(errors(graded, graded.draw(8, 200), 0.75 * std), flat)


def test_a_stack_is_that_of_the_rounds_and_its_basis_spans_its_top_directions():
    """By the eigenvectors of the sum of two rounds' squares."""
    draws = reduced_rounds.draw(ROWS, 3, 4)
    leading, basis = reduced_rounds.stacked(ROWS, [1e-3] * 3, 0.0, 1, draws)
    # The second round, and the third, each alone.
    second, _ = reduced_rounds.stacked(ROWS, [1e-3] * 2, 0.0, 1, draws)
    third, _ = reduced_rounds.stacked(ROWS, [1e-3] * 3, 0.0, 2, draws)
    for run in range(4):
        values, vectors = np.linalg.eigh(second[run] @ second[run].T + third[run] @ third[run].T)
        top = vectors[:, -2:]
        np.testing.assert_allclose(basis[run] @ basis[run].T, top @ top.T, atol=1e-5)
        np.testing.assert_allclose(np.square(leading[run]).sum(), values[-2:].sum(), rtol=1e-9)


def test_values_of_a_graded_bulk_are_means_that_stand_for_all(monkeypatch):
    monkeypatch.setattr(reduced_rounds, "_MOST_VALUES", 4)
    rows = GradedRows.reduced(np.array([9.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]), 1)
    assert rows.spikes == (9.0,) and len(rows.bulk) == 4
    assert rows.each.sum() == 7 and rows.each @ rows.bulk == pytest.approx(29.0)
    assert rows.trace == 38.0
    np.testing.assert_array_equal(rows.counts, [1.0, *rows.each])
    few = GradedRows.reduced(np.array([9.0, 8.0, 6.0]), 1)
    np.testing.assert_array_equal(few.values, [9.0, 8.0, 6.0])
    draws = rows.draw(2, 3)
    assert draws.noise.shape == (3, 3, 5, 1)
    np.testing.assert_array_equal(draws.truth[0, :, 0], [1.0, 0.0, 0.0, 0.0, 0.0])
