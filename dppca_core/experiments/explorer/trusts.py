"""The method recommended under each trust, and what it recovers: the same on every page of these patients.

A trust says whom hospitals trust, one of TRUSTS: one place, sealed sums, or nobody. The share recovered is
1 - sin^2 Theta/k, in %.
"""

import math
from collections.abc import Sequence

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS, Recommendation, recommend
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import share_recovered
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.records import SIGNAL

UNPROTECTED = ("pca", "sparse_pca", "sparse_pca_shrunk")


def signal(experiment: ExplorerExperiment) -> float:
    """Return k lambda_k/tr Sigma, about the share of variance that the components carry, as if declared.

    For a table or invented rows nobody knows it, and the usual guess stands in.
    """
    population = experiment.population
    return population.signal if isinstance(population, SpikedModel) else SIGNAL


def recommended(experiment: ExplorerExperiment, epsilon: float, trust: str) -> Recommendation:
    """Return the method recommended under a trust model, one of TRUSTS, from public numbers alone.

    It may ask for less trust, and is then the same method, with the same runs, as under that trust. A
    simulated population is public, so that its eigenvalues are known.
    """
    population = experiment.population
    return recommend(
        trust,
        n=experiment.n,
        d=experiment.d,
        k=experiment.k,
        budget=Budget(epsilon, experiment.delta, experiment.neighbours),
        s_hat=None if experiment.choose_rows else experiment.s_hat,
        providers=experiment.providers,
        model=population if isinstance(population, SpikedModel) else None,
    )


def methods_shown(experiment: ExplorerExperiment, epsilon: float) -> tuple[str, ...]:
    """Return the methods that a page shows: recommended under some trust, or without privacy."""
    names = {*(recommended(experiment, epsilon, trust).method for trust in TRUSTS), *UNPROTECTED}
    return tuple(name for name in METHODS if name in names)


def by_trust(names: Sequence[str]) -> dict[str, str]:
    """Return which of the methods that a page shows belongs to each trust, as `recommended` chose them.

    It is the one that asks for this trust, or else the one of the next lower trust: more trust gains little
    there, and the runs are the same.
    """
    asks = {METHODS[name].trust: name for name in names}
    shown, method = dict[str, str](), ""
    for trust in reversed(TRUSTS):  # from the least
        shown[trust] = method = asks.get(trust, method)
    return shown


def spread(sines: Sequence[float], k: int) -> Array:
    """Return the 10, 50 and 90 % quantiles of the share recovered, in %, over runs; NaN without any.

    sines: sin Theta of each run.
    """
    return quantiles(100 * share_recovered(np.array(sines), k)) if len(sines) else np.full(3, math.nan)


def share_recovered_quantiles(results: Results, name: str, epsilon: float) -> Array:
    """Return the quantiles of `spread` over the runs of a method that have been measured so far, (3,)."""
    return spread([cell.sin[-1] for cell in results.measured(name, epsilon)], results.experiment.k)


def best_unprotected_share(results: Results, epsilon: float) -> float:
    """Return the largest median share that a method without privacy recovers, in %; NaN before any run."""
    # Of each method's 10, 50 and 90 % quantiles the second is the median; fmax passes over NaN.
    return float(
        np.fmax.reduce([share_recovered_quantiles(results, name, epsilon)[1] for name in UNPROTECTED])
    )
