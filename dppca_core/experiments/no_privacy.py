"""What k components of n patients err without privacy: one number, whatever stands beside it.

Methods without privacy are run on rows inside a public bound and on rows of length 1. The one of these ways
with the least median error counts. Sparse methods are told how many features matter: any method that keeps
more errs by what it chooses wrongly, and a private one that chooses otherwise may then be better. The number
depends on the population, n and k alone: not on epsilon, trust, hospitals or a private method's settings.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dppca_core import datasets
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.experiments import draws
from dppca_core.experiments.draws import Population
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.populations.synthetic import Synthetic
from dppca_core.privacy import Budget
from dppca_core.records import SCALINGS

NO_PRIVACY = "no privacy"  # the name of these runs, where those of methods have the method's
UNPROTECTED = ("pca", "sparse_pca", "sparse_pca_shrunk")
_UNUSED = Budget(1.0, 1e-5)  # methods without privacy are given one, and spend nothing


class Errors(NamedTuple):
    """Hold the errors of one draw of patients, one for each of `ways`."""

    sin: Array
    angle: Array
    energy: Array  # captured, as a share of the best; empty where it is not asked for


def ways(population: Population) -> tuple[tuple[str, str], ...]:
    """Return the ways to do without privacy, (method, scaling) each; PCA alone where sparsity cannot help."""
    sparse = isinstance(population, Synthetic) and population.s < population.d
    return tuple((name, scaling) for name in UNPROTECTED[: None if sparse else 1] for scaling in SCALINGS)


def bases(population: Population, n: int, k: int, *, seed: int = 0, draw: int = 0) -> list[Array]:
    """Return what every way finds in one draw of n patients, (d, k) each, in the order of `ways`."""
    patients = draws.cohort(population, (n,), draws.PUBLIC, seed, draw)
    return bases_of(population, patients, k, ways(population), seed=seed, draw=draw)


def bases_of(
    population: Population,
    patients: Cohort,
    k: int,
    chosen: Sequence[tuple[str, str]],
    *,
    seed: int = 0,
    draw: int = 0,
) -> list[Array]:
    """Return what the chosen ways, of `ways`, find in these patients, (d, k) each; draw: of the patients."""
    cohorts = {"inside": patients, "unit": patients.unit()}  # whose moment is formed once for all methods
    outcome = []
    for name, scaling in chosen:
        options = {"s_hat": population.s} if isinstance(population, Synthetic) and name != "pca" else {}
        rng = draws.generator(seed, draw, name)
        outcome.append(METHODS[name].fit(cohorts[scaling], k=k, budget=_UNUSED, rng=rng, **options).basis)
    return outcome


@lru_cache(maxsize=4096)  # six numbers each, of ten draws in each of four hundred settings
def errors(
    population: Population, n: int, k: int, *, seed: int = 0, draw: int = 0, energy: bool = False
) -> Errors:
    """Return the errors of every way on one draw of n patients, who are those of the other experiments.

    energy: whether captured energy is measured, at the cost of a product each.
    """
    whole = datasets.table(population).n if isinstance(population, str) else n  # the truth of few rows is all
    truth = draws.truth(population, (whole,), k, draws.PUBLIC, seed)
    outcome = bases(population, n, k, seed=seed, draw=draw)
    captured = np.zeros(0)
    if energy:
        moment, best = (
            draws.second_moment(population, (whole,), draws.PUBLIC, seed),
            truth.eigenvalues[:k].sum(),
        )
        captured = np.array(
            [subspace_metrics.captured_energy(basis, moment, float(best)) for basis in outcome]
        )
    stacked = np.stack(outcome)
    sines = subspace_metrics.sin_thetas(stacked, truth.basis)
    return Errors(sines, subspace_metrics.largest_angles(stacked, truth.basis), captured)


def best(sines: Sequence[Array]) -> int:
    """Return which way has the least median error; sines: the errors of each draw, one for each way."""
    return int(np.median(np.stack(sines), axis=0).argmin())


def of_best_way(
    population: Population, n: int, k: int, *, seed: int = 0, repeats: int = 10, energy: bool = False
) -> tuple[int, Errors]:
    """Return which way has the least median error over draws of patients, and its errors, (draws,) each."""
    count = draws.patient_draws(population, n, repeats)
    each = [errors(population, n, k, seed=seed, draw=draw, energy=energy) for draw in range(count)]
    way = best([drawn.sin for drawn in each])
    sin, angle = (np.array([value[way] for value in values]) for values in list(zip(*each, strict=True))[:2])
    captured = np.array([drawn.energy[way] for drawn in each if energy])
    return way, Errors(sin, angle, captured)


def basis(population: Population, n: int, k: int, *, seed: int = 0, repeats: int = 10) -> Array:
    """Return what the best way of `of_best_way` finds in the first draw of patients, (d, k)."""
    way, _ = of_best_way(population, n, k, seed=seed, repeats=repeats)
    return bases(population, n, k, seed=seed)[way]


def error(population: Population, n: int, k: int, *, seed: int = 0, repeats: int = 10) -> float:
    """Return the median error without privacy, ||sin Theta||_F, of the best way."""
    _, errors_of_best = of_best_way(population, n, k, seed=seed, repeats=repeats)
    return float(np.median(errors_of_best.sin))
