"""Noisy second moments: the statistic is the coordinate along the direction in which the moment moves."""

from collections.abc import Callable

import numpy as np

from dppca_core.arrays import Array
from dppca_core.auditing.cases.pairs import Case, Pair, along, axes, gaussian_case, moved
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import dpdis_pca, mod_sulq, sulq
from dppca_core.privacy import Budget, Event

Release = Callable[[Cohort, np.random.Generator], Array]


def _case(
    title: str, budget: Budget, release: Release, spent: tuple[Event, ...], pair: Pair | None = None
) -> Case:
    chosen = pair or axes(budget)
    coordinate = along(moved(chosen))

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        return cohort.n * coordinate(release(cohort, rng))

    return gaussian_case(title, chosen, mechanism, spent, budget)


def pooled(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the one release of Analyze Gauss, its sparse version and CAPE, with either shape of noise."""

    def case(shape: str) -> Case:
        def release(cohort: Cohort, rng: np.random.Generator) -> Array:
            return symmetric_gaussian.release(cohort, budget, rng, shape)

        return _case(f"moment, {shape} noise", budget, release, symmetric_gaussian.spends(budget))

    return tuple(case(shape) for shape in symmetric_gaussian.SHAPES)


def one_hospital(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return DPdisPCA's release before its compression, which is post-processing."""

    def release(cohort: Cohort, rng: np.random.Generator) -> Array:
        return dpdis_pca.release(cohort[0], budget, rng, None)

    return (_case("one hospital's moment", budget, release, dpdis_pca.spends(budget)),)


def one_user(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return what one user of the local model sends, n = 1."""

    def release(cohort: Cohort, rng: np.random.Generator) -> Array:
        return symmetric_gaussian.release(cohort, budget, rng, None, "local")

    return (
        _case("one user's message", budget, release, symmetric_gaussian.spends(budget), axes(budget, n=1)),
    )


def sulq_cases(budget: Budget, k: int) -> tuple[Case, ...]:

    def release(cohort: Cohort, rng: np.random.Generator) -> Array:
        return sulq.release(cohort, budget, rng)

    return (_case("moment", budget, release, sulq.spends(budget, d=3)),)


def mod_sulq_cases(budget: Budget, k: int) -> tuple[Case, ...]:

    def release(cohort: Cohort, rng: np.random.Generator) -> Array:
        return mod_sulq.release(cohort, budget, rng)

    return (_case("moment", budget, release, mod_sulq.spends(budget, d=3)),)
