"""Audit noisy second moments: the statistic is the coordinate along the direction in which they move."""

from collections.abc import Callable
from functools import partial

import numpy as np

from dppca_core.arrays import Array
from dppca_core.auditing.cases import pairs
from dppca_core.auditing.cases.pairs import Case, Pair, gaussian_case, orthogonal_pair
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import dpdis_pca, mod_sulq, sulq
from dppca_core.privacy import Budget, Event

Release = Callable[[Cohort, Budget, np.random.Generator], Array]


def _case(
    title: str, budget: Budget, release: Release, spent: tuple[Event, ...], pair: Pair | None = None
) -> Case:
    """Return the case of one noisy moment, read along the direction in which the pair moves it.

    release(cohort, budget, rng) returns the noisy moment, (3, 3). spent: what is claimed. pair: None is the
    orthogonal pair of two patients.
    """
    chosen = pair or orthogonal_pair(budget)
    coordinate = pairs.coordinate_along(pairs.difference_of_sums(chosen))

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        return cohort.n * coordinate(release(cohort, budget, rng))

    return gaussian_case(title, chosen, mechanism, spent, budget)


def pooled(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return a case for each shape of noise, of the moment that Analyze Gauss and CAPE release.

    k plays no part here and below: a moment is released before components are taken from it.
    """
    spent = symmetric_gaussian.spends(budget)
    releases = {
        shape: partial(symmetric_gaussian.release, noise=shape) for shape in symmetric_gaussian.SHAPES
    }
    return tuple(_case(f"moment, {shape} noise", budget, draw, spent) for shape, draw in releases.items())


def one_hospital(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return what one hospital of DPdisPCA releases before its compression, which is post-processing."""

    def release(cohort: Cohort, budget: Budget, rng: np.random.Generator) -> Array:
        return dpdis_pca.release(cohort[0], budget, rng, noise=None)

    return (_case("one hospital's moment", budget, release, dpdis_pca.spends(budget)),)


def one_user(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return what one user of the local model sends: a cohort is that user alone, n = 1."""
    release = partial(symmetric_gaussian.release, noise=None, trust="local")
    spent, pair = symmetric_gaussian.spends(budget), orthogonal_pair(budget, n=1)
    return (_case("one user's message", budget, release, spent, pair),)


def sulq_cases(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the one release of SULQ, whose noise depends on the number of features, 3 here."""
    return (_case("moment", budget, sulq.release, sulq.spends(budget, d=3)),)


def mod_sulq_cases(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the one release of MOD-SULQ, whose noise depends on the number of features, 3 here."""
    return (_case("moment", budget, mod_sulq.release, mod_sulq.spends(budget, d=3)),)
