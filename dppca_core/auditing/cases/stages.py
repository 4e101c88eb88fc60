"""Audit what two-stage and stacked methods release: normalised rounds, and moments of rows of length 1.

A round moves most, by nearly 2, from v = (a, c) to u = (a, -c) at Q = e1 with a small; a moment, by sqrt 2,
from e1 to e2. No pair does both, so each stage is audited at its own worst pair against what that stage
alone may spend. Which rows stage 1 names is audited as well.
"""

import math

import numpy as np

from dppca_core.arrays import Array, Provider
from dppca_core.auditing.cases.pairs import Case, Pair, along, gaussian_case
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product, stacked, symmetric_gaussian, two_stage
from dppca_core.numerics.moments import RowMoment, SumMoment
from dppca_core.privacy import Budget, Event

_TILT = 0.05  # a: how far the two rows lean towards Q
_STEPS = 2
_SHARE = 0.5


def rows_pair(budget: Budget, x: Array, y: Array) -> Pair:
    """Return two cohorts of two patients that differ in one row; the other row is the third axis."""

    def cohort(row: Array) -> Cohort:
        moment = RowMoment(np.array([row, np.eye(3)[2]]))
        return Cohort((Provider(2, moment),), moment)

    return cohort(x), cohort(y if budget.neighbours == "replace-one" else np.zeros(3))


def tilted(budget: Budget) -> Pair:
    """Return the pair that moves a round most, with Q = e1."""
    height = math.sqrt(1 - _TILT**2)
    return rows_pair(budget, np.array([_TILT, height, 0.0]), np.array([_TILT, -height, 0.0]))


def crossed(budget: Budget) -> Pair:
    """Return the pair that moves a moment most."""
    return rows_pair(budget, np.eye(3)[0], np.eye(3)[1])


def rounds_case(budget: Budget, k: int, stds: tuple[float, ...], spent: tuple[Event, ...]) -> Case:
    """Return the case of all noisy rounds at [e1, e3], weighted as best tells the pair apart."""
    pair, block = tilted(budget), np.eye(3)[:, [0, 2][:k]]
    here, there = (cohort.pooled.normalised_product(block) for cohort in pair)
    coordinate = along(here - there)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        seen = (coordinate(normalised_product.release(cohort, block, std, rng)) / std**2 for std in stds)
        return sum(seen)

    return gaussian_case(f"{len(stds)} normalised rounds, k = {k}", pair, mechanism, spent, budget)


def _stages(budget: Budget, k: int, noise: two_stage.StageNoise) -> tuple[Case, ...]:
    *first, last = two_stage.spends(budget, iterations=_STEPS, share=_SHARE)
    pair, start = crossed(budget), np.eye(3)[:, :k]

    def named(cohort: Cohort, rng: np.random.Generator) -> float:
        rows = two_stage.release(cohort, noise, start, rng, s_hat=2).rows
        return float(0 in rows) - float(1 in rows)

    def block(cohort: Cohort, rng: np.random.Generator) -> float:
        moment = cohort.pooled.restricted_unit(np.arange(3))
        noisy = symmetric_gaussian.with_noise(moment, noise.block_std, "isotropic", rng)
        return float(noisy[0, 0] - noisy[1, 1])

    return (
        rounds_case(budget, k, noise.round_stds, tuple(first)),
        gaussian_case("moment of the rows kept", pair, block, (last,), budget),
        gaussian_case("rows named", pair, named, tuple(first), budget, tight=False),
    )


def _noise(budget: Budget, factor: float, n: int) -> two_stage.StageNoise:
    return two_stage.stage_noise(budget, factor, d=3, n=n, share=_SHARE, iterations=_STEPS)


def one_place(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the cases of both stages at one place, or as sealed sums."""
    return _stages(budget, min(k, 2), _noise(budget, 1.0, crossed(budget)[0].n))


def own_noise(budget: Budget, k: int, trust: str = "untrusted server") -> tuple[Case, ...]:
    """Return the cases of both stages as the first of two equal hospitals sends them.

    It sends its own mean, with its share of the noise. The sum of both carries c times one curator's noise,
    and each adds 1/sqrt 2 of that to its own sum.
    """
    factor = normalised_product.noise_factor(trust, 2) / math.sqrt(2)
    return _stages(budget, min(k, 2), _noise(budget, factor, crossed(budget)[0].n))


def rounds(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of all rounds of the stacked method."""
    std = stacked.noise_std(budget, "central", 1, tilted(budget)[0].n, _STEPS)
    return (rounds_case(budget, min(k, 2), (std,) * _STEPS, stacked.spends(budget, iterations=_STEPS)),)


def own_rounds(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of all stacked rounds as the first of two equal hospitals sends them."""
    first = tilted(budget)[0]
    both = Cohort((first[0], first[0]), SumMoment((first[0], first[0])))
    std = (
        stacked.noise_std(budget, "untrusted server", len(both), both.n, _STEPS)
        * both.n
        / (first.n * math.sqrt(2))
    )
    return (rounds_case(budget, min(k, 2), (std,) * _STEPS, stacked.spends(budget, iterations=_STEPS)),)
