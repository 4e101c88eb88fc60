"""Test the choice of rows from a released block: the mixture it is drawn from, and the rows that are kept."""

import math

import numpy as np
import pytest

from dppca_core.numerics import row_selection


def block(d: int, k: int, matter: int, signal: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((d, k))
    rows[:matter] += math.sqrt(signal) * rng.standard_normal((matter, k))
    return rows


@pytest.mark.parametrize("scale", [1.0, 7.0])
def test_the_mixture_is_the_one_drawn(scale):
    """Share and signal of 4,000 rows within three standard errors, about 15 %; the scale within 5 %."""
    fitted = row_selection.mixture(math.sqrt(scale) * block(4000, 3, 400, 30.0))
    assert fitted.scale == pytest.approx(scale, rel=0.05)
    assert fitted.share == pytest.approx(0.1, rel=0.15)
    assert fitted.signal == pytest.approx(30.0, rel=0.15)
    assert fitted.chances[:400].mean() > 0.85 > 0.05 > fitted.chances[400:].mean()


def test_rows_that_stand_out_are_kept_and_few_others():
    rows = block(500, 4, 12, 400.0)
    kept = row_selection.rows_worth_keeping(rows, row_selection.mixture(rows), 0.1, 1e-3, 10**5)
    assert set(range(12)) <= set(kept.tolist()) and len(kept) < 40


def test_more_is_kept_where_the_second_stage_costs_less():
    rows = block(500, 2, 40, 15.0)
    fitted = row_selection.mixture(rows)
    counts = [
        len(row_selection.rows_worth_keeping(rows, fitted, 0.1, std, math.inf)) for std in (1e-2, 1e-3, 1e-4)
    ]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_noise_alone_and_zeros_keep_at_least_k():
    for rows in (block(100, 3, 0, 0.0), np.zeros((100, 3))):
        kept = row_selection.rows_worth_keeping(rows, row_selection.mixture(rows), 0.1, 1e-3, 100)
        assert 3 <= len(kept) <= 100
