"""Noisy second moments: the statistic is the coordinate along the direction in which the moment moves."""

from collections.abc import Callable

import numpy as np

from dppca_core.arrays import Array
from dppca_core.auditing.cases.pairs import Case, Pair, along, gaussian_case, moved, orthogonal_pair
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import dpdis_pca, mod_sulq, sulq
from dppca_core.privacy import Budget, Event

Release = Callable[[Cohort, np.random.Generator], Array]


def _case(
    title: str, budget: Budget, release: Release, spent: tuple[Event, ...], pair: Pair | None = None
) -> Case:
    chosen = pair or orthogonal_pair(budget)
    coordinate = along(moved(chosen))

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        return cohort.n * coordinate(release(cohort, rng))

    return gaussian_case(title, chosen, mechanism, spent, budget)


def pooled(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the one release of Analyze Gauss, its sparse version and CAPE, with either shape of noise."""

    def case(shape: str) -> Case:
        return _case(
            f"moment, {shape} noise",
            budget,
            lambda cohort, rng: symmetric_gaussian.release(cohort, budget, rng, shape),
            symmetric_gaussian.spends(budget),
        )

    return tuple(case(shape) for shape in symmetric_gaussian.SHAPES)


def one_hospital(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return DPdisPCA's release before its compression, which is post-processing."""
    return (
        _case(
            "one hospital's moment",
            budget,
            lambda cohort, rng: dpdis_pca.release(cohort[0], budget, rng, None),
            dpdis_pca.spends(budget),
        ),
    )


def one_user(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return what one user of the local model sends, n = 1."""
    return (
        _case(
            "one user's message",
            budget,
            lambda cohort, rng: symmetric_gaussian.release(cohort, budget, rng, None, "local"),
            symmetric_gaussian.spends(budget),
            orthogonal_pair(budget, n=1),
        ),
    )


def sulq_cases(budget: Budget, k: int) -> tuple[Case, ...]:
    spent = sulq.spends(budget, d=3)
    return (_case("moment", budget, lambda cohort, rng: sulq.release(cohort, budget, rng), spent),)


def mod_sulq_cases(budget: Budget, k: int) -> tuple[Case, ...]:
    spent = mod_sulq.spends(budget, d=3)
    return (_case("moment", budget, lambda cohort, rng: mod_sulq.release(cohort, budget, rng), spent),)
