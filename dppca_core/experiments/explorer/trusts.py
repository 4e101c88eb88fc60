"""The method recommended under each trust, and what it recovers: the same on every page of these patients."""

import math
from collections.abc import Sequence

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS, Recommendation, recommend
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.mechanisms import two_stage
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import share_recovered
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.records import SIGNAL

UNPROTECTED = ("pca", "sparse_pca", "sparse_pca_shrunk")


def signal(experiment: ExplorerExperiment) -> float:
    """Return the share of the variance that the components are declared to carry."""
    population = experiment.population
    return population.signal if isinstance(population, SpikedModel) else SIGNAL


def recommended(experiment: ExplorerExperiment, epsilon: float, trust: str) -> Recommendation:
    """Return which method is recommended under a trust, from public numbers alone, and why."""
    return recommend(
        trust,
        n=experiment.n,
        d=experiment.d,
        k=experiment.k,
        budget=Budget(epsilon, experiment.delta, experiment.neighbours),
        s_hat=None if experiment.choose_rows else experiment.s_hat,
        providers=experiment.providers,
        signal=signal(experiment),
        rounds=two_stage.ROUNDS,
    )


def shown(experiment: ExplorerExperiment, epsilon: float) -> tuple[str, ...]:
    """Return the methods recommended under all trusts, and those without privacy."""
    names = {*(recommended(experiment, epsilon, trust).method for trust in TRUSTS), *UNPROTECTED}
    return tuple(name for name in METHODS if name in names)


def spread(sines: Sequence[float], k: int) -> Array:
    """Return 10, 50 and 90 % of the share recovered in %, ascending, of runs; NaN without any."""
    return quantiles(100 * share_recovered(np.array(sines), k)) if len(sines) else np.full(3, math.nan)


def measured(results: Results, name: str, epsilon: float) -> Array:
    """Return `spread` of a method's runs so far."""
    return spread([cell.sin[-1] for cell in results.measured(name, epsilon)], results.experiment.k)


def unprotected(results: Results, epsilon: float) -> float:
    """Return the best median share without privacy, in %; NaN before the first run."""
    return float(np.fmax.reduce([measured(results, name, epsilon)[1] for name in UNPROTECTED]))
