"""Small and published problems that several test files share."""

from functools import lru_cache

import numpy as np

from dppca_core import METHODS, Budget, Setting, SpikedModel, sin_theta
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.populations.elliptical import hospital_sizes

SMALL = SpikedModel(d=8, k=2, s=3, spike=100.0, bulk=(0.1, 1.0), seed=4)

# Ge et al. 2018, section 5. theory.md's oracles belong to a spectrum of trace 5331; this seed is the
# first whose trace is within 1 of it.
GE = SpikedModel(d=1000, k=5, s=10, spike=100.0, bulk=(0.0, 10.0), seed=10)
GE_N = 100_000
GE_FAILURE = 0.5  # the median of the largest row stands in for "divided by the largest row"

# Where bounds are evaluated, with room for all of Theorem 4.3's assumptions but those on its free constants.
ROOMY = Setting(
    d=100,
    n=10**8,
    k=2,
    s=5,
    s_hat=20,
    providers=4,
    iterations=10,
    eigenvalues=np.repeat([0.5, 0.4, 0.1], [1, 1, 98]),
    budget=Budget(1.0, 1e-5),
    tau=4.0,
)


def small_cohort(n: int = 400, providers: int | tuple[int, ...] = 3, seed: int = 0) -> Cohort:
    """Patients of SMALL."""
    return SMALL.draw(n, providers, np.random.default_rng([seed, n]))


def setting_at(model: SpikedModel, n: int, budget: Budget, **changed: object) -> Setting:
    """Return a population's setting at n patients of one hospital, in ten rounds that keep every row."""
    base = {"s_hat": model.d, "providers": 1, "iterations": 10} | changed
    scaled = model.eigenvalues / model.norm_bound(n) ** 2
    return Setting(
        **{"d": model.d, "n": n, "k": model.k, "s": model.s, "eigenvalues": scaled, "budget": budget, **base}
    )


def simulate(model: SpikedModel, setting: Setting, method: str, runs: int, **options: object) -> Array:
    """Return sin Theta of `runs` runs with other patients and noise; the first of many hospitals has half."""
    sizes = hospital_sizes(setting.n, setting.providers, largest_share=0.5)
    errors = []
    for run in range(runs):
        cohort = model.draw(setting.n, sizes, np.random.default_rng([run, 5]))
        rng = np.random.default_rng([run, 6])
        estimate = METHODS[method].fit(cohort, k=setting.k, budget=setting.budget, rng=rng, **options)
        errors.append(sin_theta(estimate.basis, model.basis))
    return np.array(errors)


@lru_cache(maxsize=2)
def ge_cohort(index: int) -> Cohort:
    """The published experiment's patients, at one hospital."""
    return GE.draw(GE_N, 1, np.random.default_rng([index, 1]), failure=GE_FAILURE)


@lru_cache(maxsize=16)
def ge_dps_errors(epsilon: float, delta: float, accounting: str, burn_in: int, runs: int) -> Array:
    """Final sin Theta of DPS-PCA (T = 10, s_hat = 50), over two draws of patients, shape (runs,)."""
    budget = Budget(epsilon, delta, accounting=accounting)
    return np.array(
        [
            sin_theta(
                METHODS["dps_pca"]
                .fit(
                    ge_cohort(run % 2),
                    k=GE.k,
                    budget=budget,
                    rng=np.random.default_rng([run, 2]),
                    s_hat=50,
                    burn_in=burn_in,
                )
                .basis,
                GE.basis,
            )
            for run in range(runs)
        ]
    )
