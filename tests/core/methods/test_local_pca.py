"""Test the largest hospital alone: PCA of its own patients and of nobody else's."""

import numpy as np

from dppca_core import METHODS, Budget, Cohort, sin_theta

BUDGET = Budget(1.0, 1e-5)


def fit(name: str, rows: list[np.ndarray]) -> np.ndarray:
    return (
        METHODS[name].fit(Cohort.from_rows(rows, 9.0), k=2, budget=BUDGET, rng=np.random.default_rng(0)).basis
    )


def test_it_is_pca_of_the_largest_hospital():
    """Its place among the hospitals does not matter; of two equal ones the first counts."""
    small, large, other = (
        np.random.default_rng(i).standard_normal((n, 6)) for i, n in enumerate((20, 50, 50))
    )
    alone = fit("pca", [large])
    for rows in ([small, large], [large, small], [small, large, other]):
        assert sin_theta(fit("local_pca", rows), alone) < 1e-12
        assert sin_theta(fit("pca", rows), alone) > 0.1
    assert sin_theta(fit("local_pca", [other, large]), alone) > 0.1
