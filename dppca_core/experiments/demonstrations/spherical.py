"""Compare PCA of rows of length 1 with ordinary PCA of the same rows: the price of not choosing a bound.

Rows of length 1 need no bound of the norms, but estimate the directions of E[v v^T], v = x/|x| (spherical
PCA; Marden 1999, Locantore et al. 1999, as recalled). Where the residual is symmetric given the scores, the
two have the same directions; of other rows the distance is what scaling does, before any privacy.
"""

from typing import NamedTuple

import numpy as np

from dppca_core.cohort import Cohort
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import captured_energy, sin_theta
from dppca_core.privacy import Budget

_NO_BUDGET = Budget(1.0, 0.5)  # neither reference is private


class ScalingPrice(NamedTuple):
    """Hold the distance of the two answers, sin Theta, and the share of energy that the scaled one captures.

    energy: of the moment of the rows inside their bound, relative to what ordinary PCA captures of it.
    """

    distance: float
    energy: float


def scaling_price(cohort: Cohort, k: int) -> ScalingPrice:
    """Measure, without privacy, what scaling rows to length 1 does to their k leading directions.

    Args:
        cohort: Patients as rows, or drawn from a population.
        k: Components, below d.

    Returns:
        The distance, without a unit, and the share of energy.

    Raises:
        ValueError: For k out of range, and a moment of unknown rows.
    """
    ordinary, scaled = (
        METHODS["pca"]
        .fit(cohort, k=k, budget=_NO_BUDGET, rng=np.random.default_rng(0), scaling=scaling)
        .basis
        for scaling in ("inside", "unit")
    )
    moment = cohort.pooled.dense()
    best = float(np.trace(ordinary.T @ moment @ ordinary))
    return ScalingPrice(sin_theta(scaled, ordinary), captured_energy(scaled, moment, best))
