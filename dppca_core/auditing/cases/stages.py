"""Audit what two-stage and stacked methods release: normalised rounds, and moments of rows of length 1.

A round moves most, by nearly 2, from v = (a, c, b, 0) to u = (a, -c, 0, b) at Q = e1 with a and b small.
Stage 2 moves most at the same pair, by sqrt 2, where the server names the last two rows: what is left of v
and u, scaled to length 1, is e1 and e2. So both stages together attain what they spend together, and are
read as one: each in proportion to how far the pair moves it over its variance. Which rows stage 1 names is
audited as well.
"""

import math
from collections.abc import Callable

import numpy as np

from dppca_core.arrays import Array, Provider
from dppca_core.auditing.cases.pairs import Case, Pair, gaussian_case
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product, stacked, symmetric_gaussian, two_stage
from dppca_core.numerics.moments import RowMoment
from dppca_core.privacy import Budget

_TILT = 0.05  # a and b: how far the two rows lean towards Q, and into the rows that the server names
_NAMED = np.array([2, 3])
_STEPS = 2
_SHARE = 0.5


def rows_pair(budget: Budget, x: Array, y: Array) -> Pair:
    """Return two cohorts of two patients that differ in one row; the other row is the last axis."""
    other = np.eye(len(x))[-1]

    def cohort(row: Array) -> Cohort:
        moment = RowMoment(np.array([row, other]))
        return Cohort((Provider(2, moment),), moment)

    return cohort(x), cohort(y if budget.neighbours == "replace-one" else np.zeros_like(x))


def tilted(budget: Budget) -> Pair:
    """Return the pair that moves a round most, with Q = e1, and the moment of the rows that are named."""
    height = math.sqrt(1 - 2 * _TILT**2)
    here, there = np.array([_TILT, height, _TILT, 0, 0]), np.array([_TILT, -height, 0, _TILT, 0])
    return rows_pair(budget, here, there)


def crossed(budget: Budget) -> Pair:
    """Return the pair that makes stage 1 name one row or the other."""
    return rows_pair(budget, np.eye(3)[0], np.eye(3)[1])


def _rounds_read(
    pair: Pair, k: int, stds: tuple[float, ...]
) -> Callable[[Cohort, np.random.Generator], float]:
    """Return a function that releases all rounds and adds up what tells the pair apart."""
    block = np.eye(5)[:, [0, 4][:k]]
    here, there = (cohort.pooled.normalised_product(block) for cohort in pair)
    moved = here - there

    def read(cohort: Cohort, rng: np.random.Generator) -> float:
        rounds = (normalised_product.release(cohort, block, std, rng) / std**2 for std in stds)
        return float(sum(np.vdot(moved, noisy) for noisy in rounds))

    return read


def both_stages(budget: Budget, k: int, noise: two_stage.StageNoise) -> Case:
    """Return the case of all that one run releases, of a server that names the rows that tell most."""
    pair, iterations = tilted(budget), len(noise.round_stds)
    rounds = _rounds_read(pair, k, noise.round_stds)
    here, there = (cohort.pooled.restricted_unit(_NAMED).dense() for cohort in pair)
    moved = (here - there) / noise.block_std**2

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        stage_one = rounds(cohort, rng)
        moment = cohort.pooled.restricted_unit(_NAMED)
        noisy = symmetric_gaussian.with_noise(moment, noise.block_std, "isotropic", rng)
        return stage_one + float(np.vdot(moved, noisy))

    spent = two_stage.spends(budget, iterations=iterations, share=noise.share)
    title = f"{iterations} rounds and the moment of the features kept, k = {k}"
    return gaussian_case(title, pair, mechanism, spent, budget)


def _stages(budget: Budget, k: int, noise: two_stage.StageNoise) -> tuple[Case, ...]:
    first = two_stage.spends(budget, iterations=_STEPS, share=_SHARE)[:-1]
    pair, start = crossed(budget), np.eye(3)[:, :k]

    def named(cohort: Cohort, rng: np.random.Generator) -> float:
        rows = two_stage.release(cohort, noise, start, rng, s_hat=2).rows
        return float(0 in rows) - float(1 in rows)

    return (
        both_stages(budget, k, noise),
        gaussian_case("rows named", pair, named, first, budget, tight=False),
    )


def noise_at(budget: Budget, trust: str = "central", iterations: int = _STEPS) -> two_stage.StageNoise:
    """Return the noise at one place, or of what the first of two equal hospitals sends.

    It sends its own mean, with its share of the noise. The sum of both carries c times one curator's noise,
    and each adds 1/sqrt 2 of that to its own sum.
    """
    factor = 1.0 if trust == "central" else normalised_product.noise_factor(trust, 2) / math.sqrt(2)
    n = tilted(budget)[0].n
    return two_stage.stage_noise(budget, factor, d=5, n=n, share=_SHARE, iterations=iterations)


def one_place(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the cases of both stages at one place, or as sealed sums."""
    return _stages(budget, min(k, 2), noise_at(budget))


def own_noise(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the cases of both stages as the first of two equal hospitals sends them."""
    return _stages(budget, min(k, 2), noise_at(budget, "untrusted server"))


def rounds(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of all rounds of the stacked method."""
    n = tilted(budget)[0].n
    return _all_rounds(budget, min(k, 2), stacked.noise_std(budget, "central", 1, n, _STEPS))


def own_rounds(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of all stacked rounds as the first of two equal hospitals sends them."""
    n = tilted(budget)[0].n
    together = stacked.noise_std(budget, "untrusted server", 2, 2 * n, _STEPS)
    return _all_rounds(budget, min(k, 2), 2 * together / math.sqrt(2))


def _all_rounds(budget: Budget, k: int, std: float) -> tuple[Case, ...]:
    """Return the case of noisy rounds at [e1, e5], weighted as best tells the pair apart."""
    pair, spent = tilted(budget), stacked.spends(budget, iterations=_STEPS)
    read = _rounds_read(pair, k, (std,) * _STEPS)
    return (gaussian_case(f"{_STEPS} normalised rounds, k = {k}", pair, read, spent, budget),)
