"""Test the distance between ordinary PCA and PCA of rows of length 1, without privacy."""

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, SpikedModel, datasets
from dppca_core.numerics.subspace_metrics import captured_energy, sin_theta

# By numpy alone: eigenvectors of X^T X, X clipped to the public bound, and of the same rows at length 1.
TABLES = [("breast_cancer", 1), ("breast_cancer", 3), ("digits", 2), ("digits", 5)]


def scaling_price(cohort: Cohort, k: int) -> tuple[float, float]:
    """Return what scaling rows to length 1 does: sin Theta of both answers, and the share of energy left."""
    unused = {"budget": Budget(1.0, 0.5), "rng": np.random.default_rng(0)}  # neither answer is private
    ordinary, scaled = (
        METHODS["pca"].fit(cohort, k=k, scaling=how, **unused).basis for how in ("inside", "unit")
    )
    moment = cohort.pooled.dense()
    best = float(np.trace(ordinary.T @ moment @ ordinary))
    return sin_theta(scaled, ordinary), captured_energy(scaled, moment, best)


@pytest.mark.parametrize(("name", "k"), TABLES)
def test_a_bundled_table_has_the_distance_that_its_rows_have(name, k):
    cohort = datasets.cohort(name, (datasets.table(name).n,), 0)
    rows = np.concatenate([provider.moment.rows for provider in cohort])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    ordinary, scaled = (np.linalg.eigh(part.T @ part)[1][:, -k:] for part in (rows, rows / lengths))
    sines = np.sqrt(np.maximum(1 - np.linalg.svd(ordinary.T @ scaled)[1] ** 2, 0))
    distance, energy = scaling_price(cohort, k)
    assert distance == pytest.approx(np.linalg.norm(sines), abs=1e-6)
    best, captured = (np.trace(basis.T @ rows.T @ rows @ basis) for basis in (ordinary, scaled))
    assert energy == pytest.approx(captured / best, rel=1e-9) and 0.9 < energy <= 1


def test_of_gaussian_rows_only_sampling_is_left_and_of_skewed_rows_a_floor():
    """20,000 rows: .005 of sampling; lognormal residuals leave .09."""
    model = SpikedModel(d=20, k=2, s=5, seed=1)
    gaussian = Cohort.from_rows([next(model.rows(20_000, np.random.default_rng(0), chunk=20_000))], 60.0)
    rng = np.random.default_rng(1)
    noise = np.exp(rng.standard_normal((20_000, 20)))
    skewed = 10 * rng.standard_normal((20_000, 2)) @ model.basis.T + 4 * (noise - noise.mean(axis=0))
    near, far = (scaling_price(cohort, 2)[0] for cohort in (gaussian, Cohort.from_rows([skewed], 1e3)))
    assert near < 0.01 < 0.05 < far
