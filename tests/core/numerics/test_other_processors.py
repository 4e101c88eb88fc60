"""The same seed gives the same numbers on every processor: LAPACK is free in the signs of eigenvectors.

OpenBLAS has a kernel for each family of processors, and they do not leave the same signs. Here every second
sign is turned, as another kernel may.
"""

import sys

import numpy as np
import pytest
import scipy.linalg

from dppca_core import METHODS, Budget
from dppca_core.numerics import linalg, reduced_rounds, unit_rows
from dppca_core.numerics.reduced_rounds import SpikedRows
from tests.core.problems import SMALL, small_cohort

PRIVATE = [name for name, method in METHODS.items() if method.private]


@pytest.fixture
def turn_signs(monkeypatch):
    """Return a function after which every second eigenvector has its other sign."""

    def turned(eigh):
        def other(*args, **more):
            values, vectors = eigh(*args, **more)
            return values, vectors * (-1.0) ** np.arange(vectors.shape[-1])

        return other

    def turn():
        monkeypatch.setattr(np.linalg, "eigh", turned(np.linalg.eigh))
        monkeypatch.setattr(linalg, "_last_eigenpairs", turned(linalg._last_eigenpairs))
        named = [module for name, module in sys.modules.items() if name.startswith("dppca_core.")]
        for module in named:
            if getattr(module, "eigh", None) is scipy.linalg.eigh:
                monkeypatch.setattr(module, "eigh", turned(scipy.linalg.eigh))

    return turn


def check(compute, turn_signs):
    before = compute()
    turn_signs()
    np.testing.assert_allclose(compute(), before, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", PRIVATE)
def test_a_method_gives_the_same_subspace(name, turn_signs):
    cohort, method = small_cohort(), METHODS[name]
    options = {"s_hat": 4} if "s_hat" in method.uses else {}

    def projector():
        rng = np.random.default_rng(3)
        basis = method.fit(cohort, k=2, budget=Budget(4.0, 1e-3), rng=rng, **options).basis
        return basis @ basis.T

    check(projector, turn_signs)


@pytest.mark.parametrize(("n", "measured"), [(5, 5), (200, 8), (200, 5)])
def test_patients_are_the_same(n, measured, turn_signs):
    """Also where they are fewer than features, and where a hospital does not measure some."""
    present = np.arange(SMALL.d) < measured
    moment = np.diag(SMALL.eigenvalues) + 0.01
    moment *= np.outer(present, present)
    check(lambda: unit_rows.draw_rows_given_moment(moment, n, np.random.default_rng(2)), turn_signs)
    if n > measured:
        rows = unit_rows.draw_rows_given_moment(moment, n, np.random.default_rng(2))
        np.testing.assert_allclose(rows.T @ rows / n, moment, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("s_hat", [12, 120])
def test_rounds_without_patients_are_the_same(s_hat, turn_signs):
    rows = SpikedRows(120, 8, (0.03, 0.02), 0.004)
    draws = reduced_rounds.draw(rows, 3, 8)

    def predicted():
        _, stacked = reduced_rounds.stacked(rows, [0.01] * 3, 1e-6, 1, draws)
        power = reduced_rounds.truncated_power(
            rows, 0.01, 1e-6, s_hat=s_hat, rounds=3, burn_in=1, draws=draws
        )
        return [reduced_rounds.squared_errors(draws, stacked), power]

    check(predicted, turn_signs)


def test_the_largest_entry_of_a_vector_is_positive():
    vectors = np.random.default_rng(0).standard_normal((4, 6, 3))
    fixed = linalg.oriented(vectors.copy())
    assert (np.abs(fixed) == np.abs(vectors)).all()
    assert (fixed.max(axis=1) == np.abs(vectors).max(axis=1)).all()
