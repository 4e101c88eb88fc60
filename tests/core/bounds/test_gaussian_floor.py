"""Test the floor of Gaussian methods: numbers by hand, the tables of its proof, every method on these."""

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.integrate import quad

from dppca_core import METHODS, Budget, Cohort, Setting
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.gaussian_floor import GAUSSIAN, pairs_that_fit, patients_at_floor, sign_error
from dppca_core.numerics import linalg, subspace_metrics
from tests.core.laws import HalfTheNoise, Z

# Like that of a table of 686 patients with breast cancer, of which the trace is 1.
SPECTRUM = np.array([0.27, 0.2, 0.12, 0.1, 0.08, 0.07, 0.05, 0.04, 0.03, 0.02, 0.01, 0.01])
K, D, N = 2, 12, 2400
BUDGET = Budget(1.0, 1e-6)
TABLES = 40


def setting(n: int = N, budget: Budget = BUDGET, eigenvalues: Array = SPECTRUM) -> Setting:
    d = len(eigenvalues)
    return Setting(d, n, K, d, d, 1, 10, eigenvalues, budget)


def floor(at: Setting) -> float:
    return float(BOUNDS["gaussian_floor"](at).total)


def equal_rows(diagonal: Array, count: int) -> Array:
    """Return `count` rows of length 1 whose sum of y y^T is diagonal, with these entries, which add up to it.

    A rotation of two rows keeps the sum; each gives one of them length 1 (Schur and Horn).
    """
    rows = np.zeros((count, len(diagonal)))
    rows[: len(diagonal)] = np.diag(np.sqrt(diagonal))
    squares = np.square(rows).sum(axis=1)
    for _ in range(count - 1):
        long, short = int(np.argmax(squares)), int(np.argmin(squares))
        if squares[long] - squares[short] < 1e-12:
            break
        # |c short + s long|^2 = 1, for the angle between 0 and a right one.
        p, q, dot = squares[long], squares[short], float(rows[long] @ rows[short])
        # q cos^2 + p sin^2 + 2 dot cos sin = 1, in t = tan: (p - 1) t^2 + 2 dot t + q - 1 = 0.
        t = (-dot + math.sqrt(max(dot**2 - (p - 1) * (q - 1), 0.0))) / (p - 1)
        c, s = 1 / math.hypot(1, t), t / math.hypot(1, t)
        rows[[short, long]] = np.array([[c, s], [-s, c]]) @ rows[[short, long]]
        squares[[short, long]] = np.square(rows[[short, long]]).sum(axis=1)
    return rows


@lru_cache
def parts() -> tuple[Array, Array, int]:
    """Return which pairs the tables of the proof have, (k, d - k), the other rows, and m."""
    bound = BOUNDS["gaussian_floor"](setting())
    m = int(bound.quantities["copies"])
    chosen = pairs_that_fit(SPECTRUM[:K], SPECTRUM[K:], m / (2 * N), (N - 2 * D) // m)
    used = np.concatenate([chosen.sum(axis=1), chosen.sum(axis=0)]) * m / (2 * N)
    others = N - m * int(chosen.sum())
    half = equal_rows((SPECTRUM - used) * N / 2, others // 2)
    return chosen, np.vstack([half, -half]), m


def table(rng: np.random.Generator) -> Array:
    """Return one table of the proof, (N, D), with signs at random."""
    chosen, others, m = parts()
    rows = [others]
    for i, j in np.argwhere(chosen):
        row = np.zeros(D)
        row[i], row[K + j] = math.sqrt(0.5), rng.choice([-1, 1]) * math.sqrt(0.5)
        rows.append(np.repeat([row, -row], m // 2, axis=0))
    return np.vstack(rows)


@lru_cache
def cohorts() -> list[tuple[Cohort, Array]]:
    """Return TABLES tables, each with its own components, (D, K)."""
    tables = (table(np.random.default_rng([run, 1])) for run in range(TABLES))
    return [(Cohort.from_rows([rows], 1.0), linalg.top_eigenspace(rows.T @ rows / N, K)) for rows in tables]


def squared_errors(name: str, generator: type[np.random.Generator] = np.random.Generator) -> Array:
    """Return sin^2 of one run of a method on each of TABLES tables, against the table's own components."""
    result = []
    for run, (cohort, truth) in enumerate(cohorts()):
        rng = generator(np.random.PCG64([run, 2]))
        estimate = METHODS[name].fit(cohort, k=K, budget=BUDGET, rng=rng)
        result.append(subspace_metrics.sin_theta(estimate.basis, truth) ** 2)
    return np.array(result)


def below(errors: Array) -> bool:
    """Return whether the mean square is below the floor's by Z standard errors: one in a million."""
    limit = float(errors.mean() + Z * errors.std(ddof=1) / math.sqrt(len(errors)))
    return limit < floor(setting()) ** 2


def test_the_tables_of_the_proof_are_as_it_says():
    """Rows of length 1 and mean 0; the moment has the spectrum but for the pairs, which turn it by h."""
    chosen, _, m = parts()
    rows = table(np.random.default_rng(0))
    assert rows.shape == (N, D) and chosen.sum() >= 15
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-12)
    moment = rows.T @ rows / N
    np.testing.assert_allclose(moment.diagonal(), SPECTRUM, atol=1e-9)
    expected = np.diag(SPECTRUM)
    expected[:K, K:] = np.where(chosen, np.sign(moment[:K, K:]) * m / (2 * N), 0.0)
    expected[K:, :K] = expected[:K, K:].T
    np.testing.assert_allclose(moment, expected, atol=1e-9)
    h = m / (2 * N) / (SPECTRUM[:K, None] - SPECTRUM[None, K:])
    turned = subspace_metrics.sin_theta(linalg.top_eigenspace(moment, K), np.eye(D, K))
    assert turned == pytest.approx(math.sqrt(np.square(h[chosen]).sum()), rel=0.05)


def test_it_is_held_against_all_methods_of_gaussian_noise():
    assert {"analyze_gauss", "dps_pca", "noisy_power", "two_stage", "stacked_rounds"} <= set(GAUSSIAN)
    assert not {"pca", "ppca", "wishart"} & set(GAUSSIAN)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_no_gaussian_method_is_below_the_floor(name):
    assert not below(squared_errors(name))


def test_a_method_that_adds_half_the_noise_is_seen_below():
    assert below(squared_errors("analyze_gauss", HalfTheNoise))


def test_analyze_gauss_is_at_most_1_45_times_the_floor_where_all_pairs_fit():
    at = setting(n=10**6)
    bound, noise = BOUNDS["gaussian_floor"](at), BOUNDS["analyze_gauss_prediction"](at).terms["privacy"]
    assert bound.quantities["pairs"] == K * (D - K)
    assert noise / bound.total == pytest.approx(1.444, abs=0.01)


def test_by_hand():
    """z = 4.2247 at epsilon 1, delta 1e-6: m = 10, a = 1.1835, and all 20 pairs."""
    z = gaussian.noise_multiplier(BUDGET)
    a = 10 / (2 * z)
    inside = quad(lambda x: math.exp(-((x - a) ** 2) / 2) / math.cosh(a * x) ** 2, -20, 20)[0]
    gaps = SPECTRUM[:K, None] - SPECTRUM[None, K:]
    expected = z / 1e6 * a * math.sqrt(inside / math.sqrt(2 * math.pi) * np.square(1 / gaps).sum())
    at = BOUNDS["gaussian_floor"](setting(n=10**6))
    assert at.quantities["copies"] == 10 and at.total == pytest.approx(expected, rel=1e-6)
    assert at.applies


@pytest.mark.parametrize("a", [0.1, 1.0, 3.0, 8.0])
def test_the_error_of_a_sign(a):
    inside = quad(lambda x: math.exp(-((x - a) ** 2) / 2) / math.cosh(a * x) ** 2, -30, 30, points=[0, a])[0]
    assert sign_error(a) == pytest.approx(inside / math.sqrt(2 * math.pi), rel=1e-6)


def test_adding_or_removing_a_patient_halves_the_floor():
    removed = setting(n=10**6, budget=Budget(1.0, 1e-6, "add-remove"))
    assert floor(removed) == pytest.approx(floor(setting(n=10**6)) / 2, rel=0.03)


def test_pairs_take_no_more_than_eigenvalues_have():
    for used in (0.001, 0.01, 0.05):
        chosen = pairs_that_fit(SPECTRUM[:K], SPECTRUM[K:], used, 1000)
        assert (chosen.sum(axis=1) * used <= SPECTRUM[:K] + 1e-9).all()
        assert (chosen.sum(axis=0) * used <= SPECTRUM[K:] + 1e-9).all()
    assert pairs_that_fit(SPECTRUM[:K], SPECTRUM[K:], 0.001, 7).sum() == 7


def test_too_few_patients_have_no_floor():
    """No pair has its rows beside the others, and the record says so."""
    bound = BOUNDS["gaussian_floor"](setting(n=20))
    assert not bound.terms and any(line.startswith("patients n = 20") for line in bound.failed)


@pytest.mark.parametrize("target", [0.02, 0.1, 0.4])
@pytest.mark.parametrize(
    "budget", [BUDGET, Budget(0.1, 1e-6), Budget(4.0, 1e-8), Budget(1.0, 1e-6, "add-remove")], ids=str
)
def test_the_patients_at_the_floor_are_those_of_halving_the_rule(budget, target):
    """And beyond them it stays below the target, though it rises wherever another pair fits."""
    n = patients_at_floor(setting(budget=budget), target)
    low, high = round(0.9 * n), 2 * n  # on both sides of the target
    assert floor(setting(low, budget)) > target > floor(setting(high, budget))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if floor(setting(middle, budget)) >= target else (low, middle)
    assert low == n
    beyond = {round(share * n) for share in np.geomspace(1.02, 10, 40)} | {n + 1}
    assert max(floor(setting(more, budget)) for more in beyond) < target


def test_no_patients_are_at_the_floor_where_there_is_none():
    """So for an error that takes too few for a pair to fit, and for a spectrum without a gap."""
    assert patients_at_floor(setting(), 1.4) == 0
    assert patients_at_floor(setting(eigenvalues=np.full(D, 1 / D)), 0.1) == 0


def test_noise_as_printed_has_no_floor():
    bound = BOUNDS["gaussian_floor"](setting(budget=Budget(1.0, 1e-6, accounting="as-printed")))
    assert not bound.applies and any("not as printed" in line for line in bound.failed)
